//! How small files are opened and read before it is their turn.
//!
//! A few threads take the files that were asked for next, in the order of the requests, so that
//! a slow disk works while the connection does. What they have not begun when its turn comes,
//! the sender reads itself; on a fast disk that is nearly everything.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use tree::Dir;

use crate::small_file::{self, Opened, SMALL_FILE};

/// Threads that read.
const THREADS: usize = 2;
/// Files that may be read ahead.
const MAX_FILES: usize = 32;
/// Bytes that may be read ahead.
const MAX_BYTES: u64 = 1 << 20;

#[derive(Debug)]
enum State {
    Waiting,
    Running,
    Done(tree::Result<Opened>),
    Taken,
}

/// A small file that was asked for.
#[derive(Debug)]
pub(crate) struct Job {
    dir: Arc<Dir>,
    name: Vec<u8>,
    size: u64,
    state: Mutex<State>,
    done: Condvar,
}

impl Job {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> tree::Result<Opened> {
        small_file::open(&self.dir, &self.name, self.size)
    }

    /// Reads it, unless the sender has taken it in the meantime.
    fn run(&self) {
        let mut state = self.lock();
        if !matches!(*state, State::Waiting) {
            return;
        }
        *state = State::Running;
        drop(state);
        let opened = self.read();
        *self.lock() = State::Done(opened);
        self.done.notify_one();
    }

    /// Takes the content; reads it here and now if nobody has begun to.
    fn take(&self) -> tree::Result<Opened> {
        let mut state = self.lock();
        loop {
            match std::mem::replace(&mut *state, State::Taken) {
                State::Done(opened) => return opened,
                State::Running => {
                    *state = State::Running;
                    state = self
                        .done
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                }
                State::Waiting | State::Taken => {
                    drop(state);
                    return self.read();
                }
            }
        }
    }
}

#[derive(Debug, Default)]
struct Queue {
    jobs: VecDeque<Arc<Job>>,
    closed: bool,
}

type Shared = (Mutex<Queue>, Condvar);

/// The threads and what they are asked to do.
#[derive(Debug, Default)]
pub(crate) struct ReadAhead {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// What was planned, in request order, with its size.
    planned: VecDeque<(i32, Arc<Job>)>,
    planned_bytes: u64,
}

impl ReadAhead {
    /// Tells whether another file may be planned.
    pub(crate) fn has_room(&self) -> bool {
        self.planned.len() < MAX_FILES && self.planned_bytes < MAX_BYTES
    }

    /// Asks for the file of the request `ndx`. Long files are left alone.
    pub(crate) fn plan(&mut self, ndx: i32, dir: Arc<Dir>, name: &[u8], size: u64) {
        if size > SMALL_FILE {
            return;
        }
        let (state, done) = (Mutex::new(State::Waiting), Condvar::new());
        let job = Arc::new(Job {
            dir,
            name: name.to_vec(),
            size,
            state,
            done,
        });
        self.planned_bytes += size;
        self.planned.push_back((ndx, Arc::clone(&job)));
        if self.threads.is_empty() {
            self.start();
        }
        lock(&self.shared).jobs.push_back(job);
        self.shared.1.notify_one();
    }

    /// Returns the file of the request `ndx`, if it was planned.
    pub(crate) fn take(&mut self, ndx: i32) -> Option<tree::Result<Opened>> {
        if self
            .planned
            .front()
            .is_none_or(|(planned, _)| *planned != ndx)
        {
            return None;
        }
        let (_, job) = self.planned.pop_front()?;
        self.planned_bytes -= job.size;
        Some(job.take())
    }

    fn start(&mut self) {
        for _ in 0..THREADS {
            let shared = Arc::clone(&self.shared);
            let builder = std::thread::Builder::new().stack_size(64 << 10);
            // Without the thread the sender reads everything itself.
            self.threads.extend(builder.spawn(move || work(&shared)));
        }
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        lock(&self.shared).closed = true;
        self.shared.1.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has nothing left to do.
            let _ = thread.join();
        }
    }
}

fn lock(shared: &Shared) -> MutexGuard<'_, Queue> {
    shared.0.lock().unwrap_or_else(PoisonError::into_inner)
}

fn work(shared: &Shared) {
    loop {
        let mut queue = lock(shared);
        let job = loop {
            if queue.closed {
                return;
            }
            match queue.jobs.pop_front() {
                Some(job) => break job,
                None => queue = shared.1.wait(queue).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(queue);
        job.run();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_back_in_request_order_whoever_read_them() {
        let temp = tempfile::tempdir().unwrap();
        for n in 0..20 {
            std::fs::write(
                temp.path().join(n.to_string()),
                vec![n; usize::from(n) * 100],
            )
            .unwrap();
        }
        let root = tree::Root::open(temp.path()).unwrap();
        let dir = Arc::new(root.open_dir(b".").unwrap());
        let mut ahead = ReadAhead::default();
        for n in 0..20u8 {
            ahead.plan(
                n.into(),
                Arc::clone(&dir),
                n.to_string().as_bytes(),
                u64::from(n) * 100,
            );
        }
        assert!(ahead.take(3).is_none(), "the order is that of the requests");
        for n in 0..20u8 {
            let Some(Ok(Opened::Whole(content))) = ahead.take(n.into()) else {
                panic!("{n}")
            };
            assert_eq!(content, vec![n; usize::from(n) * 100]);
        }
    }
}
