//! How do the names of `--files-from` cross the connection?
//!
//! They always go to the sending side: each ends in a NUL, and an empty one ends them all
//! (docs/protocol/connection.md, "Names of --files-from").

use std::io::BufRead;

use crate::error::{Error, Result};
use crate::limits;

/// Appends names and the end of them; an empty name is left out.
pub fn put_names(out: &mut Vec<u8>, names: &[Vec<u8>]) {
    for name in names.iter().filter(|name| !name.is_empty()) {
        out.extend_from_slice(name);
        out.push(0);
    }
    out.push(0);
}

/// Reads names up to the empty one. They take no more memory than was sent for them.
pub fn read_names<R: BufRead + ?Sized>(r: &mut R) -> Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    loop {
        let name = read_name(r)?;
        if name.is_empty() {
            return Ok(names);
        }
        names.push(name);
    }
}

fn read_name<R: BufRead + ?Sized>(r: &mut R) -> Result<Vec<u8>> {
    let mut name = Vec::new();
    loop {
        let ready = r.fill_buf()?;
        if ready.is_empty() {
            return Err(Error::Closed);
        }
        let end = ready.iter().position(|byte| *byte == 0);
        let part = end.unwrap_or(ready.len());
        if name.len() + part > limits::PATH {
            return Err(Error::Malformed("a name of --files-from is too long".into()));
        }
        name.extend_from_slice(&ready[..part]);
        r.consume(part + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_names_are_read_and_written_alike_and_a_cut_is_an_error() {
        let names = [b"a.txt".to_vec(), b"d/b".to_vec()];
        let mut out = Vec::new();
        put_names(&mut out, &names);
        assert_eq!(out, b"a.txt\0d/b\0\0");
        let rest = &mut &b"a.txt\0d/b\0\0more"[..];
        assert_eq!((read_names(rest).unwrap(), *rest), (names.to_vec(), &b"more"[..]));
        for end in 0..out.len() {
            assert!(read_names(&mut &out[..end]).is_err());
        }
        assert!(read_names(&mut &vec![b'x'; limits::PATH + 1][..]).is_err());
    }
}
