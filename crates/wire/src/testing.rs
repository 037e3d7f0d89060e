//! Which readers and writers do the tests of this crate share?

use std::io::{self, IoSlice, Read, Write};

/// A reader that gives at most `step` bytes at once, now and then fewer.
pub(crate) struct Trickle<'a> {
    bytes: &'a [u8],
    step: usize,
    reads: usize,
}

impl<'a> Trickle<'a> {
    pub(crate) fn new(bytes: &'a [u8], step: usize) -> Self {
        Self { bytes, step, reads: 0 }
    }
}

impl Read for Trickle<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.reads += 1;
        if self.reads.is_multiple_of(5) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let limit = if self.reads.is_multiple_of(3) { 1 } else { self.step };
        let count = limit.min(out.len()).min(self.bytes.len());
        let (now, later) = self.bytes.split_at(count);
        out[..count].copy_from_slice(now);
        self.bytes = later;
        Ok(count)
    }
}

/// A writer that takes at most `step` bytes at once and counts its calls.
pub(crate) struct CountingWriter {
    pub(crate) bytes: Vec<u8>,
    pub(crate) writes: usize,
    pub(crate) step: usize,
}

impl Default for CountingWriter {
    fn default() -> Self {
        Self { bytes: Vec::new(), writes: 0, step: usize::MAX }
    }
}

impl Write for CountingWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.writes += 1;
        let mut room = self.step;
        for slice in slices {
            let count = room.min(slice.len());
            self.bytes.extend_from_slice(&slice[..count]);
            room -= count;
        }
        Ok(self.step - room)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Decodes a string of hexadecimal digits; blanks are left out.
pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    assert_eq!(digits.len() % 2, 0, "odd number of hexadecimal digits");
    let digit = |byte: u8| (byte as char).to_digit(16).expect("a hexadecimal digit") as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}
