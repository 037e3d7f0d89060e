//! Do the lists that are written mean what they should, to a real rsync and to a reader?

mod decoder;
mod inline_names;
mod recorded;
mod round_trip;
mod single;
mod speed;

use super::{FlistEncoder, FlistFields, IdKind, NameLookup};
use crate::dialect::{Compat, CompressName, Dialect, SumName};

fn dialect(protocol: u32, compat: u32) -> Dialect {
    Dialect {
        protocol,
        compat: Compat::from_bits(compat),
        seed: 0,
        transfer_sum: SumName::Md5,
        file_sum: SumName::Md5,
        compress: CompressName::None,
    }
}

fn encoder(dialect: &Dialect, fields: FlistFields, names: NameLookup) -> FlistEncoder {
    FlistEncoder::new(dialect, fields, names).unwrap()
}

/// Every even id has a name.
fn even_ids_have_names() -> NameLookup {
    Box::new(|kind: IdKind, id| (id % 2 == 0).then(|| format!("{kind:?}{id}").into_bytes()))
}
