//! Which letters does the far side get, in which order?

use crate::dialect::CompressName;
use crate::options::{Options, StderrMode};
use crate::setup::CompressWish;

use super::Direction;

/// The capabilities of this client as rsync spells them; `i` for the file list in parts is
/// added where the options permit it.
const CAPABILITIES: &[u8] = b"LsfxCIvu";

/// Returns the cluster of letters without its dash.
pub(super) fn letters(options: &Options, direction: Direction) -> Vec<u8> {
    let o = options;
    let push = |wanted: bool| u8::from(wanted && direction == Direction::ToServer);
    let pull = |wanted: bool| u8::from(wanted && direction == Direction::FromServer);
    let fuzzy = if o.alt_dest.is_some() { o.fuzzy } else { o.fuzzy.min(1) };
    let counted: [(u8, u8); 34] = [
        (b's', o.secluded_args.into()),
        (b'v', o.verbose),
        (b'q', (o.quiet && o.stderr != StderrMode::Client).into()),
        (b'b', o.backup.into()),
        (b'u', o.update.into()),
        (b'n', o.dry_run.into()),
        (b'l', o.links.into()),
        (b'd', names_dirs(o).into()),
        (b'K', push(o.keep_dirlinks)),
        (b'm', push(o.prune_empty_dirs)),
        (b'O', push(o.omit_dir_times)),
        (b'J', push(o.omit_link_times)),
        (b'y', push(true) * fuzzy),
        (b'L', pull(o.copy_links)),
        (b'k', pull(o.copy_dirlinks)),
        (b'W', o.sends_whole_files().into()),
        (b'H', o.hard_links),
        (b'o', o.owner.into()),
        (b'g', o.group.into()),
        (b'D', o.devices.into()),
        (b't', o.times.into()),
        (b'U', o.atimes),
        (b'p', o.perms.into()),
        (b'E', push(o.executability && !o.perms)),
        (b'A', o.acls.into()),
        (b'X', o.xattrs),
        (b'r', o.recursive.into()),
        (b'c', o.checksum.into()),
        (b'C', o.cvs_exclude.into()),
        (b'I', o.ignore_times.into()),
        (b'R', o.relative.into()),
        (b'x', o.one_file_system),
        (b'S', o.sparse.into()),
        (b'z', compresses_by_letter(o).into()),
    ];
    let mut letters = Vec::new();
    for (letter, count) in counted {
        letters.extend(std::iter::repeat_n(letter, count.into()));
    }
    if o.own_protocol() >= 30 {
        let in_parts = match direction {
            Direction::ToServer => o.may_inc_recurse(),
            Direction::FromServer => o.may_receive_in_parts(),
        };
        letters.extend_from_slice(if in_parts { b"e.i" } else { b"e." });
        letters.extend_from_slice(CAPABILITIES);
    }
    letters
}

/// Tells whether `z` is sent: for the negotiated codec, and for zlib, which old servers take it for.
fn compresses_by_letter(options: &Options) -> bool {
    matches!(options.compress, CompressWish::Negotiate | CompressWish::Named(CompressName::Zlib))
}

/// Tells whether `d` is sent: where names of `--files-from` bring directories along, the far side
/// knows it.
fn names_dirs(options: &Options) -> bool {
    let implied = options.files_from.is_some() && options.said.dirs != Some(true);
    !options.recursive && options.lists_dirs() && !implied
}
