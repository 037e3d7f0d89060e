//! How runs of zeros become holes, and how space is reserved and given back.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::FallocateFlags;
use rustix::io::{Errno, retry_on_intr};

/// What is judged at once to be zeros or not (sheet 3, 6.6).
const PIECE: u64 = 1 << 10;

static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// What stands where a hole shall be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// Nothing: the file is new, and what is not written is a hole.
    Empty,
    /// Old content, which holes are punched into.
    Old,
}

/// Writes a file front to back and leaves out its zeros.
#[derive(Debug)]
pub struct SparseWriter<'a> {
    file: &'a File,
    ground: Ground,
    /// Where the zeros begin that are owed.
    hole_start: u64,
    offset: u64,
}

impl<'a> SparseWriter<'a> {
    /// Starts at the front of `file`.
    pub fn new(file: &'a File, ground: Ground) -> Self {
        Self { file, ground, hole_start: 0, offset: 0 }
    }

    /// Writes the next bytes.
    pub fn write(&mut self, data: &[u8]) -> io::Result<()> {
        let mut rest = data;
        while !rest.is_empty() {
            let zeros = self.run(rest, true);
            self.offset += zeros as u64;
            rest = &rest[zeros..];
            let content = self.run(rest, false);
            if content > 0 {
                self.make_hole()?;
                self.file.write_all_at(&rest[..content], self.offset)?;
                self.offset += content as u64;
                self.hole_start = self.offset;
                rest = &rest[content..];
            }
        }
        Ok(())
    }

    /// Leaves the next `len` bytes as they are.
    pub fn skip(&mut self, len: u64) -> io::Result<()> {
        self.make_hole()?;
        self.offset += len;
        self.hole_start = self.offset;
        Ok(())
    }

    /// Makes the last hole, cuts the file off where it ends, and returns its length.
    pub fn finish(mut self) -> io::Result<u64> {
        self.make_hole()?;
        self.file.set_len(self.offset)?;
        Ok(self.offset)
    }

    /// Cuts the file off where the last hole begins, so that nothing stays allocated behind it.
    pub fn cut_off(&mut self) -> io::Result<()> {
        self.file.set_len(self.hole_start)
    }

    /// Counts the bytes at the start of `data`, up to a boundary of pieces in the file, that are
    /// zeros or are not.
    fn run(&self, data: &[u8], zeros: bool) -> usize {
        let mut end = 0;
        while end < data.len() {
            let into_piece = (self.offset + end as u64) % PIECE;
            let next = data.len().min(end + (PIECE - into_piece) as usize);
            if is_zero(&data[end..next]) != zeros {
                break;
            }
            end = next;
        }
        end
    }

    fn make_hole(&mut self) -> io::Result<()> {
        if self.ground == Ground::Old && self.offset > self.hole_start {
            punch_hole(self.file, self.hole_start, self.offset - self.hole_start)?;
        }
        self.hole_start = self.offset;
        Ok(())
    }
}

fn is_zero(data: &[u8]) -> bool {
    // The first byte settles nearly every piece of content.
    data.first().is_none_or(|byte| *byte == 0)
        && data.chunks(64).all(|chunk| chunk.iter().fold(0, |all, byte| all | byte) == 0)
}

/// Makes a range of the file read as zeros, without blocks of its own where the file system can.
/// The file does not grow.
pub fn punch_hole(file: &File, offset: u64, len: u64) -> io::Result<()> {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    match retry_on_intr(|| rustix::fs::fallocate(file, flags, offset, len)) {
        Err(Errno::NOTSUP | Errno::NOSYS) => {}
        other => return Ok(other?),
    }
    let end = file.metadata()?.len().min(offset.saturating_add(len));
    let mut at = offset;
    while at < end {
        let piece = usize::try_from(end - at).unwrap_or(ZEROS.len()).min(ZEROS.len());
        file.write_all_at(&ZEROS[..piece], at)?;
        at += piece as u64;
    }
    Ok(())
}

/// Whether a file grows when space is reserved for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserve {
    /// It keeps its size; the blocks wait behind its end.
    KeepSize,
    /// It gets the whole size at once.
    Grow,
}

/// Reserves blocks for the first `len` bytes (`--preallocate`).
pub fn preallocate(file: &File, len: u64, reserve: Reserve) -> io::Result<()> {
    if len == 0 {
        return Ok(());
    }
    let flags = match reserve {
        Reserve::KeepSize => FallocateFlags::KEEP_SIZE,
        Reserve::Grow => FallocateFlags::empty(),
    };
    Ok(retry_on_intr(|| rustix::fs::fallocate(file, flags, 0, len))?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    fn content() -> Vec<u8> {
        let mut content = vec![0; 1 << 20];
        for at in [70_000, 70_001, 200_000, 500_000, 999_999] {
            content[at] = 7;
        }
        content[300_000..400_000].fill(9);
        content
    }

    fn read(file: &File) -> Vec<u8> {
        let mut all = vec![0; file.metadata().unwrap().len() as usize];
        file.read_exact_at(&mut all, 0).unwrap();
        all
    }

    #[test]
    fn zeros_take_no_room_however_the_writes_are_cut() {
        let content = content();
        for (ground, step) in [(Ground::Empty, 777), (Ground::Old, 32_768), (Ground::Old, 5000)] {
            let file = tempfile::tempfile().unwrap();
            if ground == Ground::Old {
                file.write_all_at(&vec![0xff; 2 << 20], 0).unwrap();
            }
            let mut writer = SparseWriter::new(&file, ground);
            content.chunks(step).for_each(|data| writer.write(data).unwrap());
            assert_eq!(writer.finish().unwrap(), 1 << 20);
            assert!(read(&file) == content);
            file.sync_all().unwrap();
            let used = file.metadata().unwrap().blocks() * 512;
            assert!(used < 200_000, "{used} bytes are used");
        }
    }

    #[test]
    fn skipped_bytes_stay_and_reserved_ones_do_not_show() {
        let file = tempfile::tempfile().unwrap();
        preallocate(&file, 100_000, Reserve::KeepSize).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 0);
        preallocate(&file, 4000, Reserve::Grow).unwrap();
        file.write_all_at(&[1; 4000], 0).unwrap();
        let mut writer = SparseWriter::new(&file, Ground::Old);
        writer.write(&[0; 1500]).unwrap();
        writer.skip(500).unwrap();
        writer.write(&[0; 1000]).unwrap();
        writer.finish().unwrap();
        assert_eq!(read(&file), [vec![0; 1500], vec![1; 500], vec![0; 1000]].concat());
    }
}
