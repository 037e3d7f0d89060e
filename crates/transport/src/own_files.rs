//! How does a server talk through the stdin and stdout that it was started with?

use std::io::{self, IoSlice};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

/// Both files, and what wakes a thread that waits for one of them: a pipe cannot be shut down.
#[derive(Debug)]
pub(crate) struct OwnFiles {
    input: OwnedFd,
    output: OwnedFd,
    flags: [OFlags; 2],
    alarm: OwnedFd,
    stopped: AtomicBool,
}

impl OwnFiles {
    /// Takes the files, which must not block: whoever started us sees that too until we end.
    pub(crate) fn take(input: impl AsFd, output: impl AsFd) -> io::Result<Self> {
        let files = OwnFiles {
            flags: [fcntl_getfl(&input)?, fcntl_getfl(&output)?],
            input: input.as_fd().try_clone_to_owned()?,
            output: output.as_fd().try_clone_to_owned()?,
            alarm: eventfd(0, EventfdFlags::CLOEXEC)?,
            stopped: AtomicBool::new(false),
        };
        fcntl_setfl(&files.input, files.flags[0] | OFlags::NONBLOCK)?;
        fcntl_setfl(&files.output, files.flags[1] | OFlags::NONBLOCK)?;
        Ok(files)
    }

    /// Breaks both directions. The end of writing alone shows when the process ends, except on a
    /// socket.
    pub(crate) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        if how == Shutdown::Write {
            return Ok(rustix::net::shutdown(&self.output, rustix::net::Shutdown::Write)?);
        }
        self.stopped.store(true, Relaxed);
        rustix::io::write(&self.alarm, &1_u64.to_ne_bytes())?;
        Ok(())
    }

    pub(crate) fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.stopped.load(Relaxed) {
                return Ok(0);
            }
            match rustix::io::read(&self.input, &mut *buf) {
                Err(Errno::AGAIN) => self.wait(&self.input, PollFlags::IN)?,
                other => return Ok(other?),
            }
        }
    }

    pub(crate) fn write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        loop {
            if self.stopped.load(Relaxed) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            match rustix::io::writev(&self.output, bufs) {
                Err(Errno::AGAIN) => self.wait(&self.output, PollFlags::OUT)?,
                other => return Ok(other?),
            }
        }
    }

    fn wait(&self, file: &OwnedFd, what: PollFlags) -> io::Result<()> {
        let mut both = [PollFd::new(file, what), PollFd::new(&self.alarm, PollFlags::IN)];
        match poll(&mut both, None) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for OwnFiles {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }
}

impl Drop for OwnFiles {
    fn drop(&mut self) {
        // Another process may use the same terminal or file after us.
        let _ = fcntl_setfl(&self.input, self.flags[0]);
        let _ = fcntl_setfl(&self.output, self.flags[1]);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::thread;

    use super::*;

    #[test]
    fn what_waits_for_a_pipe_is_woken_and_the_pipe_is_left_as_it_was() {
        let (never_written, _input_end) = io::pipe().unwrap();
        let (mut output_end, full) = io::pipe().unwrap();
        let files = OwnFiles::take(&never_written, &full).unwrap();
        thread::scope(|scope| {
            let read = scope.spawn(|| files.read(&mut [0; 16]).unwrap());
            let write =
                scope.spawn(|| while files.write_vectored(&[IoSlice::new(&[1; 4096])]).is_ok() {});
            // The writer has begun when something has arrived.
            output_end.read_exact(&mut [0; 4096]).unwrap();
            files.shutdown(Shutdown::Both).unwrap();
            assert_eq!(read.join().unwrap(), 0);
            write.join().unwrap();
        });
        drop(files);
        assert!(!fcntl_getfl(&full).unwrap().contains(OFlags::NONBLOCK));
    }
}
