//! The night: which jobs there are, where they go, and what became of them.
//!
//! # Purpose
//!
//! Reads the configuration file into targets and jobs, turns a job into the options of a session,
//! and keeps the history of what ran. The calendar, waking and powering off come here too.
//!
//! # Invariants
//!
//! - Nothing in the configuration is ignored: a key that this version does not obey is an error
//!   that says so, as is a key that nobody knows.
//! - The environment is not read here: whoever calls hands in what it says
//!   ([`places::Surroundings`]).
//! - A line of the history is whole or it is not read.
//!
//! # Example
//!
//! ```
//! use std::path::Path;
//! use scheduler::config::{Config, DefaultExcludes};
//!
//! let text = r#"
//!     [targets.ds214]
//!     host = "ds214.lan"
//!     via = "daemon"
//!     module = "NetBackup"
//!
//!     [jobs.nightly]
//!     target = "ds214"
//!     sources = ["/volume1/photo"]
//! "#;
//! let config = Config::parse(text, Path::new("repl.toml"))?;
//! let job = config.job("nightly")?;
//! assert_eq!(config.target(&job.target)?.destination(&job.name), b"nightly/");
//! assert!(job.options(DefaultExcludes::LeftOut).numeric_ids);
//! # Ok::<(), scheduler::Error>(())
//! ```

pub mod config;
pub mod error;
pub mod history;
pub mod mounts;
pub mod places;
pub mod sync;

pub use error::Error;
