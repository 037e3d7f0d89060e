//! How files are read, and compressed, before it is their turn.
//!
//! A few threads take the files that were asked for next, in the order of the requests: small
//! ones where the disk makes us wait, longer ones where there is something to compress. What they
//! have not begun when its turn comes, the sender does itself; and while it waits for one that
//! they have begun, it takes the next.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use tree::Dir;

use crate::error::Result;
use crate::look::Look;
use crate::pack::{PackRules, Packed, Packer};
use crate::small_file::{self, Opened};

/// Threads at most, where there are so many processors.
const MAX_THREADS: usize = 3;
/// Files that may be ready or in the making.
const MAX_FILES: usize = 32;
/// Their lengths together.
const MAX_BYTES: u64 = 4 << 20;

/// What is done with a file ahead of its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recipe {
    Read,
    Pack,
}

/// A file that is ready for its turn.
#[derive(Debug)]
pub(crate) enum Ready {
    Opened(Opened),
    Packed(Packed),
}

#[derive(Debug)]
enum State {
    Waiting,
    Running,
    Done(Result<Ready>),
    Taken,
}

/// A file that was asked for.
#[derive(Debug)]
struct Job {
    recipe: Recipe,
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

    /// Makes it, unless somebody else has begun to.
    fn run(&self, worker: &mut Worker) {
        let mut state = self.lock();
        if !matches!(*state, State::Waiting) {
            return;
        }
        *state = State::Running;
        drop(state);
        let ready = worker.make(self);
        *self.lock() = State::Done(ready);
        self.done.notify_one();
    }

    fn is_running(&self) -> bool {
        matches!(*self.lock(), State::Running)
    }

    /// Waits for it and takes it.
    fn take(&self) -> Option<Result<Ready>> {
        let mut state = self.lock();
        while matches!(*state, State::Running) {
            state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        match std::mem::replace(&mut *state, State::Taken) {
            State::Done(ready) => Some(ready),
            _ => None,
        }
    }
}

/// Whoever makes files ready: a thread, or the sender while it waits.
struct Worker {
    look: Look,
    rules: Option<PackRules>,
    packer: Option<Packer>,
}

impl Worker {
    fn make(&mut self, job: &Job) -> Result<Ready> {
        match (job.recipe, self.rules) {
            (Recipe::Pack, Some(rules)) => {
                let packer = self.packer.get_or_insert_with(|| Packer::new(rules));
                packer.pack(self.look, &job.dir, &job.name, job.size).map(Ready::Packed)
            }
            _ => Ok(Ready::Opened(small_file::open(self.look, &job.dir, &job.name, job.size)?)),
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
pub(crate) struct ReadAhead {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    own: Worker,
    /// What was planned, in request order.
    planned: VecDeque<(i32, Arc<Job>)>,
    planned_bytes: u64,
}

impl ReadAhead {
    /// Prepares to plan; threads are started when the first file is planned.
    pub(crate) fn new(look: Look, rules: Option<PackRules>) -> Self {
        let own = Worker { look, rules, packer: None };
        Self {
            shared: Arc::default(),
            threads: Vec::new(),
            own,
            planned: VecDeque::new(),
            planned_bytes: 0,
        }
    }

    /// Tells whether files are compressed at all.
    pub(crate) fn packs(&self) -> bool {
        self.own.rules.is_some()
    }

    /// Tells whether another file may be planned.
    pub(crate) fn has_room(&self) -> bool {
        self.planned.len() < MAX_FILES && self.planned_bytes < MAX_BYTES
    }

    /// Asks for the file of the request `ndx`.
    pub(crate) fn plan(&mut self, ndx: i32, recipe: Recipe, dir: Arc<Dir>, name: &[u8], size: u64) {
        let (state, done) = (Mutex::new(State::Waiting), Condvar::new());
        let job = Arc::new(Job { recipe, dir, name: name.to_vec(), size, state, done });
        self.planned_bytes += size;
        self.planned.push_back((ndx, Arc::clone(&job)));
        if self.threads.is_empty() {
            self.start();
        }
        lock(&self.shared).jobs.push_back(job);
        self.shared.1.notify_one();
    }

    /// Returns the file of the request `ndx`, if it was planned.
    pub(crate) fn take(&mut self, ndx: i32) -> Option<Result<Ready>> {
        if self.planned.front().is_none_or(|(planned, _)| *planned != ndx) {
            return None;
        }
        let (_, job) = self.planned.pop_front()?;
        self.planned_bytes -= job.size;
        job.run(&mut self.own);
        while job.is_running() {
            let next = lock(&self.shared).jobs.pop_front();
            match next {
                Some(next) => next.run(&mut self.own),
                None => break,
            }
        }
        job.take()
    }

    fn start(&mut self) {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        for _ in 0..cores.saturating_sub(1).clamp(1, MAX_THREADS) {
            let shared = Arc::clone(&self.shared);
            let (look, rules) = (self.own.look, self.own.rules);
            let builder = std::thread::Builder::new().stack_size(256 << 10);
            // Without the thread the sender does everything itself.
            self.threads.extend(builder.spawn(move || work(&shared, look, rules)));
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

fn work(shared: &Shared, look: Look, rules: Option<PackRules>) {
    let mut worker = Worker { look, rules, packer: None };
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
        job.run(&mut worker);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_back_in_request_order_whoever_read_them() {
        let temp = tempfile::tempdir().unwrap();
        for n in 0..20 {
            std::fs::write(temp.path().join(n.to_string()), vec![n; usize::from(n) * 100]).unwrap();
        }
        let root = tree::Root::open(temp.path()).unwrap();
        let dir = Arc::new(root.open_dir(b".").unwrap());
        let mut ahead = ReadAhead::new(Look::default(), None);
        for n in 0..20u8 {
            ahead.plan(
                n.into(),
                Recipe::Read,
                Arc::clone(&dir),
                n.to_string().as_bytes(),
                u64::from(n) * 100,
            );
        }
        assert!(ahead.take(3).is_none(), "the order is that of the requests");
        for n in 0..20u8 {
            let Some(Ok(Ready::Opened(Opened::Whole(content)))) = ahead.take(n.into()) else {
                panic!("{n}")
            };
            assert_eq!(content, vec![n; usize::from(n) * 100]);
        }
    }
}
