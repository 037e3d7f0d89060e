//! What ran when, and what became of it?
//!
//! One JSON object a line, appended and synced after each run. A run that is killed while it
//! writes leaves half a line, which is not read; the next record begins on a line of its own.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The file in the state directory.
const FILE_NAME: &str = "history.jsonl";

/// Tells what became of one run of a job.
///
/// Sizes are bytes, times are seconds since 1970. Numbers that an older version did not write are
/// read as 0.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunRecord {
    /// The job's name.
    pub job: String,
    /// The target's name.
    pub target: String,
    /// When it began.
    pub start: i64,
    /// When it ended.
    pub end: i64,
    /// How it ended; 0 is well.
    pub exit_code: i32,
    /// Entries in the file list.
    pub files: u64,
    /// Files whose data was sent.
    pub transferred_files: u64,
    /// Entries that were created on the far side.
    pub created_files: u64,
    /// Entries that were deleted on the far side.
    pub deleted_files: u64,
    /// Entries that failed.
    pub errors: u64,
    /// Bytes sent over the connection.
    pub sent_bytes: u64,
    /// Bytes received over it.
    pub received_bytes: u64,
    /// Bytes of file data that had to be sent.
    pub literal_bytes: u64,
    /// Bytes of file data that the far side had.
    pub matched_bytes: u64,
    /// Size of all files.
    pub total_size: u64,
    /// How many files had at least 16 MiB.
    pub large_files: u64,
    /// The size of the largest file.
    pub largest_size: u64,
}

/// Is the history in a state directory.
#[derive(Clone, Debug)]
pub struct History {
    path: PathBuf,
}

impl History {
    /// Takes the history of a state directory, which need not exist yet.
    pub fn in_state_dir(state_dir: &Path) -> History {
        History { path: state_dir.join(FILE_NAME) }
    }

    /// Appends a record and makes sure that it is on the disk.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the directory or the file cannot be written.
    pub fn append(&self, record: &RunRecord) -> Result<(), Error> {
        self.try_append(record).map_err(|source| Error::io("write", &self.path, source))
    }

    /// Reads all records, the oldest first; no file is no history.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the file is there and cannot be read.
    pub fn records(&self) -> Result<Vec<RunRecord>, Error> {
        let mut records = Vec::new();
        self.each(|record| records.push(record))?;
        Ok(records)
    }

    /// Reads the newest record of a job, whatever came of it.
    ///
    /// # Errors
    ///
    /// As [`History::records`].
    pub fn last_run(&self, job: &str) -> Result<Option<RunRecord>, Error> {
        let mut last = None;
        self.each(|record| {
            if record.job == job {
                last = Some(record);
            }
        })?;
        Ok(last)
    }

    fn each(&self, visit: impl FnMut(RunRecord)) -> Result<(), Error> {
        match self.try_each(visit) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::io("read", &self.path, error))
            }
            _ => Ok(()),
        }
    }

    fn try_each(&self, mut visit: impl FnMut(RunRecord)) -> io::Result<()> {
        let mut lines = BufReader::new(File::open(&self.path)?);
        let mut line = Vec::new();
        while lines.read_until(b'\n', &mut line)? > 0 {
            // Half a line, from a run that was killed while it wrote, is not a record.
            if let Ok(record) = serde_json::from_slice(&line) {
                visit(record);
            }
            line.clear();
        }
        Ok(())
    }

    fn try_append(&self, record: &RunRecord) -> io::Result<()> {
        let is_new = !self.path.try_exists()?;
        let dir = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(dir)?;
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(&self.path)?;
        let mut line = Vec::new();
        if ends_torn(&mut file)? {
            line.push(b'\n');
        }
        serde_json::to_writer(&mut line, record)?;
        line.push(b'\n');
        file.write_all(&line)?;
        file.sync_all()?;
        if is_new { File::open(dir)?.sync_all() } else { Ok(()) }
    }
}

/// Tells whether the last line has no end.
fn ends_torn(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(job: &str, start: i64) -> RunRecord {
        RunRecord { job: job.to_string(), start, end: start + 60, ..RunRecord::default() }
    }

    #[test]
    fn the_last_run_of_each_job_is_found_again() {
        let dir = tempfile::tempdir().unwrap();
        let history = History::in_state_dir(&dir.path().join("repl"));
        assert_eq!(history.records().unwrap(), []);
        assert_eq!(history.last_run("a").unwrap(), None);

        let runs = [record("a", 1), record("b", 2), record("a", 3)];
        for run in &runs {
            history.append(run).unwrap();
        }
        assert_eq!(history.records().unwrap(), runs);
        assert_eq!(history.last_run("a").unwrap(), Some(record("a", 3)));
        assert_eq!(history.last_run("c").unwrap(), None);
    }

    #[test]
    fn a_history_torn_anywhere_loses_the_torn_record_alone() {
        let dir = tempfile::tempdir().unwrap();
        let history = History::in_state_dir(dir.path());
        history.append(&record("a", 1)).unwrap();
        history.append(&record("a", 2)).unwrap();
        let whole = fs::read(&history.path).unwrap();
        let first_len = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for cut in first_len..whole.len() - 1 {
            fs::write(&history.path, &whole[..cut]).unwrap();
            assert_eq!(history.records().unwrap(), [record("a", 1)], "cut at {cut}");
            history.append(&record("a", 3)).unwrap();
            assert_eq!(history.records().unwrap(), [record("a", 1), record("a", 3)], "{cut}");
        }
    }

    #[test]
    fn a_record_of_another_version_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let history = History::in_state_dir(dir.path());
        let line = "{\"job\":\"a\",\"start\":5,\"colour\":\"red\"}\nnot JSON\n";
        fs::write(&history.path, line).unwrap();
        let expected = RunRecord { job: "a".to_string(), start: 5, ..RunRecord::default() };
        assert_eq!(history.records().unwrap(), [expected]);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let error = History::in_state_dir(&file).append(&record("a", 1)).unwrap_err();
        assert!(error.to_string().starts_with("cannot write "), "{error}");
        assert!(error.to_string().contains("file/history.jsonl"), "{error}");
    }
}
