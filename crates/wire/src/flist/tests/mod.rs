//! Do the lists that are written mean what they should, to a real rsync and to a reader?

mod hostile;
mod inline_names;
mod recorded;
mod round_trip;
mod single;
mod speed;

use std::io::Read;

use super::ReceivedEntry;
use super::{FlistDecoder, FlistEncoder, FlistFields, IdKind, ListStep, NameLookup};
use crate::dialect::{Compat, CompressName, Dialect, SumName};
use crate::error::Result;

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

/// Reads a whole list, and the I/O error at its end.
fn read_list(decoder: &mut FlistDecoder, r: &mut impl Read) -> Result<(Vec<ReceivedEntry>, i32)> {
    let mut list = Vec::new();
    loop {
        match decoder.next(r)? {
            ListStep::Entry(entry) => list.push(entry),
            ListStep::End { io_error } => return Ok((list, io_error)),
        }
    }
}
