//! Which options say how a file gets over and into its place?

use super::selection::{local_path, raised};
use super::{OptionSpec, Rejection, flag, switch, valued};
use crate::dialect::{CompressName, SumName};
use crate::escape::printable;
use crate::exit;
use crate::limits;
use crate::options::{AltDest, AltDestKind, Append, Batch, OptionError, Options, number, size};
use crate::setup::CompressWish;

const NO_BATCH: &str = "`repl rsync` writes and reads batch files";

/// The number of alternative directories that rsync takes.
const ALT_DESTS: usize = 20;

pub(super) const OPTIONS: &[OptionSpec] = &[
    switch(&["whole-file", "W"], "copy files whole", |o, on| o.whole_file = Some(on)),
    valued(&["block-size", "B"], "SIZE", "the block size of the delta", |o, text| {
        let fits = match size(text) {
            Err(why) if !why.ends_with("large") => return Err(why.into()),
            bytes => bytes.ok().and_then(|bytes| u32::try_from(bytes).ok()),
        };
        let fits = fits.filter(|bytes| *bytes <= limits::BLOCK_LEN);
        let bytes = fits.ok_or_else(|| "is too large (max: 128.00K)".to_string())?;
        o.block_size = (bytes > 0).then_some(bytes);
        Ok(())
    })
    .key("block_size"),
    valued(&["checksum-choice", "cc"], "STR", "choose the checksum", checksum_choice),
    valued(&["checksum-seed"], "NUM", "set the seed of the block sums", |o, text| {
        o.checksum_seed = number(text)?;
        Ok(())
    }),
    switch(&["compress", "z"], "compress file data on its way", compress).key("compress"),
    valued(&["compress-choice", "zc"], "STR", "choose the compression", compress_choice)
        .key("compress"),
    flag(&["old-compress"], "compress as zlib", |o| {
        o.compress = CompressWish::Named(CompressName::Zlib);
    })
    .key("compress"),
    flag(&["new-compress"], "compress as zlibx", |o| {
        o.compress = CompressWish::Named(CompressName::Zlibx);
    })
    .key("compress"),
    valued(&["compress-level", "zl"], "NUM", "set the level of compression", |o, text| {
        o.compress_level = Some(number(text)?);
        Ok(())
    }),
    valued(&["compress-threads", "zt"], "NUM", "set the threads of compression", |o, text| {
        o.compress_threads = u32::try_from(number(text)?).unwrap_or(0);
        Ok(())
    }),
    valued(&["skip-compress"], "LIST", "suffixes that are not compressed", |o, text| {
        o.skip_compress = Some(text.to_vec());
        Ok(())
    })
    .key("skip_compress"),
    switch(&["inplace"], "write into the destination files", |o, on| o.inplace = on),
    switch(&["append"], "append data to shorter files", |o, on| {
        o.append = if on { Append::Trusting } else { Append::No };
    }),
    flag(&["append-verify"], "--append, old data in the checksum", |o| {
        o.append = Append::Verifying;
    }),
    switch(&["sparse", "S"], "make holes of zeros", |o, on| o.sparse = on),
    flag(&["preallocate"], "allocate files before writing", |o| o.preallocate = true),
    switch(&["partial"], "keep partially transferred files", |o, on| o.partial = on),
    valued(&["partial-dir"], "DIR", "and keep them in DIR", |o, text| {
        o.partial = true;
        o.partial_dir = Some(text.to_vec());
        Ok(())
    }),
    switch(&["delay-updates"], "put files into place at the end", |o, on| o.delay_updates = on),
    valued(&["temp-dir", "T"], "DIR", "create temporary files in DIR", |o, text| {
        o.temp_dir = Some(text.to_vec());
        Ok(())
    }),
    flag(&["fsync"], "sync every written file", |o| o.fsync = true),
    switch(&["backup", "b"], "keep what is replaced", |o, on| o.backup = on),
    valued(&["backup-dir"], "DIR", "and keep it in DIR", |o, text| {
        o.backup = true;
        o.backup_dir = Some(text.to_vec());
        Ok(())
    }),
    valued(&["suffix"], "SUFFIX", "the suffix of backups", |o, text| {
        if text.contains(&b'/') {
            let text = format!("--suffix cannot contain slashes: {}", printable(text));
            return Err(OptionError::Invalid(text).into());
        }
        o.suffix = Some(text.to_vec());
        Ok(())
    }),
    valued(&["link-dest"], "DIR", "hard-link to files in DIR when unchanged", |o, text| {
        alt_dest(o, AltDestKind::Link, text)
    }),
    valued(&["copy-dest"], "DIR", "copy files from DIR when unchanged", |o, text| {
        alt_dest(o, AltDestKind::Copy, text)
    }),
    valued(&["compare-dest"], "DIR", "leave out files that DIR has", |o, text| {
        alt_dest(o, AltDestKind::Compare, text)
    }),
    switch(&["fuzzy", "y"], "find a similar file as basis", |o, on| {
        o.fuzzy = raised(o.fuzzy, on, 2);
    }),
    switch(&["mkpath"], "create the destination's whole path", |o, on| o.mkpath = on),
    valued(&["write-batch"], "FILE", "write the update to FILE as well", |o, text| {
        batch(o, Batch::Write(local_path(text)?))
    })
    .rsync_only(NO_BATCH),
    valued(&["only-write-batch"], "FILE", "write the update to FILE alone", |o, text| {
        batch(o, Batch::OnlyWrite(local_path(text)?))
    })
    .rsync_only(NO_BATCH),
    valued(&["read-batch"], "FILE", "read the update from FILE", |o, text| {
        batch(o, Batch::Read(local_path(text)?))
    })
    .rsync_only(NO_BATCH),
    flag(&["remove-source-files", "remove-sent-files"], "remove what was sent", |o| {
        o.remove_source_files = true;
    })
    .not_in_config("a backup job never removes its sources"),
];

/// Takes a batch file; the last counts, but nothing is both written and read.
fn batch(options: &mut Options, batch: Batch) -> Result<(), Rejection> {
    let reads = |batch: &Batch| matches!(batch, Batch::Read(_));
    if options.batch.as_ref().is_some_and(|earlier| reads(earlier) != reads(&batch)) {
        let text = "--write-batch and --read-batch can not be used together".to_string();
        return Err(OptionError::Invalid(text).into());
    }
    options.batch = Some(batch);
    Ok(())
}

/// `-z` again after `-z` asks for zlibx; a codec that is already named stays.
fn compress(options: &mut Options, on: bool) {
    options.compress = match options.compress {
        _ if !on => CompressWish::Off,
        CompressWish::Off => CompressWish::Negotiate,
        CompressWish::Negotiate => CompressWish::Named(CompressName::Zlibx),
        named => named,
    };
}

fn compress_choice(options: &mut Options, text: &[u8]) -> Result<(), Rejection> {
    if text.eq_ignore_ascii_case(b"auto") {
        if let CompressWish::Named(_) = options.compress {
            options.compress = CompressWish::Negotiate;
        }
        return Ok(());
    }
    let name = lower(text).and_then(|name| CompressName::parse(&name));
    options.compress = CompressWish::Named(name.ok_or_else(|| unknown("compress", text))?);
    Ok(())
}

fn checksum_choice(options: &mut Options, text: &[u8]) -> Result<(), Rejection> {
    if text.eq_ignore_ascii_case(b"auto") {
        options.checksum_choice = None;
        return Ok(());
    }
    let mut names = text.splitn(2, |byte| *byte == b',');
    let transfer = sum_name(names.next().unwrap_or_default())?;
    let file = names.next().map(sum_name).transpose()?;
    options.checksum_choice = Some((transfer, file.unwrap_or(transfer)));
    Ok(())
}

fn sum_name(text: &[u8]) -> Result<SumName, Rejection> {
    let name = lower(text).and_then(|name| SumName::parse(&name));
    name.ok_or_else(|| unknown("checksum", text))
}

fn unknown(what: &str, text: &[u8]) -> Rejection {
    let text = format!("unknown {what} name: {}", printable(text));
    OptionError::Plain { text, code: exit::UNSUPPORTED }.into()
}

fn lower(text: &[u8]) -> Option<String> {
    std::str::from_utf8(text).ok().map(str::to_ascii_lowercase)
}

fn alt_dest(options: &mut Options, kind: AltDestKind, dir: &[u8]) -> Result<(), Rejection> {
    let alt = options.alt_dest.get_or_insert_with(|| AltDest { kind, dirs: Vec::new() });
    if alt.kind != kind {
        let (now, before) = (kind.option(), alt.kind.option());
        let text = format!("ERROR: the {now} option conflicts with the {before} option");
        return Err(OptionError::Invalid(text).into());
    }
    if alt.dirs.len() == ALT_DESTS {
        let text = format!("ERROR: at most {ALT_DESTS} {} args may be specified", kind.option());
        return Err(OptionError::Invalid(text).into());
    }
    alt.dirs.push(dir.to_vec());
    Ok(())
}
