//! How bytes get from one local file into another with the least work: shared blocks where the
//! file system can (`FICLONE`), else a copy inside the kernel, else read and write.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::io::Errno;

/// Below this length the two calls of a plain copy are the cheapest.
const SMALL_FILE: u64 = 64 << 10;

const PIECE: usize = 256 << 10;
/// So much is copied before somebody may stop it.
const STEP: u64 = 64 << 20;

/// Copies the first `len` bytes of `from` into `to`, which is new and empty, and returns how
/// many there were.
pub fn copy_whole(from: &File, to: &File, len: u64) -> io::Result<u64> {
    copy_whole_while(from, to, len, &|| true)
}

/// Does the same as long as `goes_on` says so, which is asked now and then.
///
/// # Errors
///
/// What the system said, or `Interrupted` when it does not go on.
pub fn copy_whole_while(
    from: &File,
    to: &File,
    len: u64,
    goes_on: &dyn Fn() -> bool,
) -> io::Result<u64> {
    if len < SMALL_FILE {
        return copy_by_hand(from, 0, to, 0, len);
    }
    if rustix::fs::ioctl_ficlone(to, from).is_ok() {
        let shared = to.metadata()?.len();
        if shared > len {
            to.set_len(len)?;
        }
        return Ok(shared.min(len));
    }
    let mut done = 0;
    while done < len && goes_on() {
        let step = STEP.min(len - done);
        let copied = copy_range(from, done, to, done, step)?;
        done += copied;
        if copied < step {
            return Ok(done);
        }
    }
    if done < len { Err(io::ErrorKind::Interrupted.into()) } else { Ok(done) }
}

/// Copies up to `len` bytes between two places and returns how many there were. The files'
/// own positions stay.
pub fn copy_range(
    from: &File,
    from_offset: u64,
    to: &File,
    to_offset: u64,
    len: u64,
) -> io::Result<u64> {
    let mut done = 0;
    while done < len {
        let (mut source, mut target) = (from_offset + done, to_offset + done);
        let piece = usize::try_from(len - done).unwrap_or(usize::MAX).min(1 << 30);
        match rustix::fs::copy_file_range(from, Some(&mut source), to, Some(&mut target), piece) {
            // The end, or a file of the kernel's whose length is not known beforehand.
            Ok(0) => break,
            Ok(copied) => done += copied as u64,
            Err(Errno::INTR) => {}
            Err(errno) if is_for_others(errno) => break,
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(done + copy_by_hand(from, from_offset + done, to, to_offset + done, len - done)?)
}

/// Tells whether the files are merely not of the kind that the call copies.
fn is_for_others(errno: Errno) -> bool {
    let reasons =
        [Errno::XDEV, Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::PERM, Errno::BADF];
    reasons.contains(&errno)
}

fn copy_by_hand(
    from: &File,
    from_offset: u64,
    to: &File,
    to_offset: u64,
    len: u64,
) -> io::Result<u64> {
    let mut buffer = vec![0; usize::try_from(len).unwrap_or(PIECE).min(PIECE)];
    let mut done = 0;
    while done < len {
        let room = usize::try_from(len - done).unwrap_or(PIECE).min(PIECE);
        match from.read_at(&mut buffer[..room], from_offset + done) {
            Ok(0) => break,
            Ok(filled) => {
                to.write_all_at(&buffer[..filled], to_offset + done)?;
                done += filled as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_copy_what_is_there_and_stop_at_the_end() {
        let content: Vec<u8> = (0..300_000u32).flat_map(u32::to_le_bytes).collect();
        let from = tempfile::tempfile().unwrap();
        from.write_all_at(&content, 0).unwrap();
        for copy in [copy_range, copy_by_hand] {
            let to = tempfile::tempfile().unwrap();
            assert_eq!(copy(&from, 5, &to, 3, 2_000_000).unwrap(), 1_199_995);
            let mut copied = vec![0; 1_199_998];
            to.read_exact_at(&mut copied, 0).unwrap();
            assert_eq!(copied[3..], content[5..]);
        }
        for len in [1000, 1_200_000] {
            let to = tempfile::tempfile().unwrap();
            assert_eq!(copy_whole(&from, &to, len).unwrap(), len);
        }
    }
}
