//! How small files get into their places: a few threads create them while the next are received.
//!
//! All files of one directory go to the same thread, because the system lets one at a time into
//! a directory in any case.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Scope;

use tree::Dir;

use crate::board::Asked;
use crate::error::Error;
use crate::finish::Finish;
use crate::handover::Handover;
use crate::site_dirs::SiteDirs;
use crate::trouble::Doing;

/// Files that may wait for one thread.
const WAITING: usize = 16;
/// Threads at most.
const MAX_THREADS: usize = 4;

/// A file that is complete but for its place.
pub(super) struct Job {
    pub(super) asked: Asked,
    pub(super) dir: Arc<Dir>,
    pub(super) name: Vec<u8>,
    pub(super) content: Content,
}

/// What goes into the file.
pub(super) enum Content {
    Bytes(Vec<u8>),
    /// The source itself, of a copy on one machine.
    Source(File),
}

/// The threads, and what they are given.
pub(super) struct Workers {
    queues: Vec<SyncSender<Job>>,
}

impl Workers {
    /// Starts the threads; they end when this is dropped.
    pub(super) fn start<'s>(
        scope: &'s Scope<'s, '_>,
        finish: Finish<'s>,
        handover: Option<&'s Handover>,
    ) -> Self {
        let threads =
            std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MAX_THREADS));
        let queues = (0..threads).map(|_| {
            let (give, take) = sync_channel(WAITING);
            scope.spawn(move || work(&take, finish, handover));
            give
        });
        Self { queues: queues.collect() }
    }

    /// Gives a file to the thread of its directory.
    pub(super) fn give(&self, job: Job) {
        let at = Arc::as_ptr(&job.dir).addr() / size_of::<Dir>() % self.queues.len();
        // A thread only ends when its queue does.
        let _ = self.queues[at].send(job);
    }
}

fn work(jobs: &Receiver<Job>, finish: Finish<'_>, handover: Option<&Handover>) {
    let mut dirs = SiteDirs::default();
    while let Ok(job) = jobs.recv() {
        let ok = put(&job, finish, handover, &mut dirs);
        finish.done(&job.asked, ok);
    }
}

fn put(job: &Job, finish: Finish<'_>, handover: Option<&Handover>, dirs: &mut SiteDirs) -> bool {
    let mut staged = match finish.stage(&job.asked, &job.dir, &job.name) {
        Ok(staged) => staged,
        Err(error) => {
            finish.problem(Doing::MAKE_TEMP, error);
            return false;
        }
    };
    let written = match &job.content {
        Content::Bytes(data) => staged.file.write_all(data),
        Content::Source(source) => {
            let len = source.metadata().map_or(0, |metadata| metadata.len());
            let goes_on = || handover.is_none_or(|handover| !handover.is_closed());
            tree::copy_whole_while(source, &staged.file, len, &goes_on).map(|_| ())
        }
    };
    match written {
        Ok(()) => finish.place(&job.asked, staged, (&job.dir, &job.name), dirs),
        Err(error) => {
            finish.board.end(Err(Error::Write(error)));
            false
        }
    }
}
