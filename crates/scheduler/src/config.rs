//! Which targets and jobs does the configuration file describe?
//!
//! One TOML file. Every key of the design is known; those that this version does not obey are
//! refused by name, in the same breath as everything else that is wrong.

mod check;
mod file;
mod job;
mod problem;
mod target;
mod toml_error;

use std::fs;
use std::path::Path;

use wire::escape::printable;
use wire::options::nearest;

use crate::error::Error;
use problem::{Problems, Source};

pub use job::{Attributes, DefaultExcludes, Job, JobWork, default_excludes};
pub use problem::Problem;
pub use target::{Daemon, Ssh, Target, Via};

/// Holds all targets and jobs, in the order of the file.
#[derive(Clone, Debug)]
pub struct Config {
    /// The machines that jobs go to.
    pub targets: Vec<Target>,
    /// What goes there.
    pub jobs: Vec<Job>,
}

impl Config {
    /// Reads and checks a file.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be read, else as [`Config::parse`].
    pub fn read(path: &Path) -> Result<Config, Error> {
        let text = fs::read_to_string(path).map_err(|source| Error::io("read", path, source))?;
        Config::parse(&text, path)
    }

    /// Checks a configuration; `file` is what the messages call it.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] with everything that is wrong, each drawn with its line.
    pub fn parse(text: &str, file: &Path) -> Result<Config, Error> {
        let source = Source { text, file };
        let read: file::File = toml::from_str(text).map_err(|error| Error::Config {
            problems: vec![toml_error::problem(&source, &error)],
        })?;
        let mut problems = Problems::new(source);
        let config = read.check(&mut problems);
        match problems.into_found() {
            problems if problems.is_empty() => Ok(config),
            problems => Err(Error::Config { problems }),
        }
    }

    /// Finds a target by its name.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`], with the name that was probably meant.
    pub fn target(&self, name: &str) -> Result<&Target, Error> {
        let found = self.targets.iter().find(|target| target.name == name);
        let known = self.targets.iter().map(|target| target.name.as_str());
        found.ok_or_else(|| unknown("target", name, known))
    }

    /// Finds a job by its name.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`], with the name that was probably meant.
    pub fn job(&self, name: &str) -> Result<&Job, Error> {
        let found = self.jobs.iter().find(|job| job.name == name);
        let known = self.jobs.iter().map(|job| job.name.as_str());
        found.ok_or_else(|| unknown("job", name, known))
    }

    /// Iterates over the jobs of a target, in the order of the file.
    pub fn jobs_of<'a>(&'a self, target: &'a Target) -> impl Iterator<Item = &'a Job> {
        self.jobs.iter().filter(|job| job.target == target.name)
    }
}

fn unknown<'a>(
    what: &'static str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Error {
    Error::Unknown {
        what,
        name: printable(name.as_bytes()),
        nearest: nearest(name, known.clone()).map(str::to_string),
        known: known.map(str::to_string).collect(),
    }
}

#[cfg(test)]
mod tests;
