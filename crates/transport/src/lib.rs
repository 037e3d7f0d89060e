//! The way to the other machine: a pipe, a remote shell, an rsync daemon's port.
//!
//! # Purpose
//!
//! Takes what the user wrote (`nas:dir`, `nas::module/dir`, `rsync://…`), goes there, starts or
//! enters the rsync on the other side, and hands over a [`Connection`]: two blocking halves on
//! which the binary set-up comes next. A server has one to its client
//! ([`Connection::over_stdio`]). Watches the time limits, and ends the session in order.
//!
//! # Invariants
//!
//! - Any thread can stop a session at once through its [`Canceller`]; both halves return, and the
//!   first reason is what everybody sees.
//! - A program in between, such as ssh, never outlives its connection, and waiting for it is
//!   bounded.
//! - There is no thread for a limit that is not set.
//! - Text from outside is made printable before it is handed on.
//! - ssh's own rules hold: the user's `ssh_config`, the host key check.
//!
//! # What it does not do
//!
//! It reads neither environment nor configuration, and never prints; what is said meanwhile goes
//! to callbacks. It does not know files, file lists or options: the arguments for the server come
//! ready-made.
//!
//! # Example
//!
//! ```no_run
//! use transport::*;
//!
//! let options = RouteOptions {
//!     shell: RemoteShell::ssh(&SshOptions::default()),
//!     shell_for_daemons: false,
//!     rsync_path: b"rsync".to_vec(),
//!     port: None,
//!     family: None,
//!     bind: None,
//!     default_user: "nobody".into(),
//!     daemon: DaemonWay::default(),
//! };
//! let place = Place::parse(b"nas::backup/laptop")?;
//! let route = Route::to(&place, &options).expect("not a local path");
//! let arguments = FarArguments {
//!     open: ["--server", "-logDtpre.iLsfxCIvu", ".", "backup/laptop"]
//!         .map(|word| word.as_bytes().to_vec())
//!         .to_vec(),
//!     secluded: None,
//! };
//! let hooks = Hooks {
//!     stderr: Box::new(|line| eprintln!("{line}")),
//!     motd: &mut |line| println!("{line}"),
//!     passwords: &mut PasswordSources::default(),
//! };
//! let canceller = Canceller::new();
//! let session = open(&route, 32, &arguments, &Limits::default(), hooks, &canceller)?;
//! println!("protocol {}", session.protocol);
//! # Ok::<(), transport::Error>(())
//! ```

mod activity;
mod advice;
mod canceller;
mod connection;
mod daemon;
mod dsm;
mod error;
mod far_program;
mod open;
mod own_files;
mod password;
mod place;
mod proxy;
mod route;
mod shell;
mod shell_words;
mod socket_options;
mod stderr_tail;
mod stream;
mod tcp;
mod watchdog;

pub use activity::Activity;
pub use advice::{Advice, translate};
pub use canceller::{Canceller, Reason};
pub use connection::{Connection, Ending, reason_of};
pub use error::Error;
pub use far_program::FarEnd;
pub use open::{FarArguments, Hooks, Limits, Session, list_modules, open};
pub use password::{PasswordSources, Prompt};
pub use place::{HostSpec, Place};
pub use proxy::Proxy;
pub use route::{Account, DaemonWay, Route, RouteOptions};
pub use shell::{FarHost, RemoteShell, SshOptions, Terminal};
pub use socket_options::SocketOptions;
pub use stderr_tail::LineSink;
pub use tcp::{Endpoint, RSYNC_PORT};
pub use watchdog::IdleLimit;
