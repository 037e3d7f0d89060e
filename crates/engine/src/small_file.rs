//! How a small file is read: at once, with as few system calls as possible.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use tree::Dir;

use crate::look::Look;

/// The longest file that is read into memory as a whole.
pub(crate) const SMALL_FILE: u64 = 128 << 10;

/// A file that is ready to be sent.
#[derive(Debug)]
pub(crate) enum Opened {
    /// The whole content, which was short.
    Whole(Vec<u8>),
    /// The open file and its present length.
    Long(File, u64),
}

impl Opened {
    /// Returns the length that is promised to the far side.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Whole(content) => content.len() as u64,
            Self::Long(_, size) => *size,
        }
    }
}

/// Opens `name`; one that was listed with a small size is read at once.
pub(crate) fn open(look: Look, dir: &Dir, name: &[u8], listed_size: u64) -> tree::Result<Opened> {
    let mut file = look.open(dir, name)?;
    if listed_size <= SMALL_FILE {
        // One byte more than the file has: a shorter answer means that its end was reached.
        let mut content = vec![0; usize::try_from(listed_size).unwrap_or(0) + 1];
        if let Ok(filled) = file.read(&mut content)
            && filled < content.len()
        {
            content.truncate(filled);
            return Ok(Opened::Whole(content));
        }
        // It has grown, or it does not read like a file: begin again, as with a long one.
        file = look.open(dir, name)?;
    }
    match look.len(&mut file).map_err(|error| failed(dir.path_of(name), error))? {
        Some(len) => Ok(Opened::Long(file, len)),
        None => {
            let error = std::io::Error::other("it is no regular file any more");
            Err(failed(dir.path_of(name), error))
        }
    }
}

fn failed(path: PathBuf, source: std::io::Error) -> tree::Error {
    tree::Error::Io { op: "open", path, source }
}
