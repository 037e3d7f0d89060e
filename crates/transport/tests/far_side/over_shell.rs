//! Does a remote shell lead to a stock rsync, and are its failures understood?

use std::io::Read;
use std::thread;
use std::time::{Duration, Instant};

use transport::*;
use wire::options::Options;
use wire::server_args::{Channel, Direction, server_args};

use crate::caller::{
    Caller, LOCAL_SHELL, account, free_port, open_error, push_to, set_up, shell, words,
};

#[test]
fn a_remote_shell_leads_to_a_real_rsync_at_every_protocol() {
    let dir = tempfile::tempdir().unwrap();
    let target = format!("{}/", dir.path().display());
    for protocol in 29..=32 {
        let mut caller = Caller { protocol, ..Caller::new() };
        let mut session = caller.open(&shell(LOCAL_SHELL, "rsync"), &push_to(&target)).unwrap();
        assert_eq!(session.protocol, protocol);
        set_up(&mut session);
        // Ended without a file list, the server takes the connection for broken.
        let ending = session.connection.finish();
        assert_eq!(ending.end, FarEnd::Exited(12), "{}", ending.stderr);
        assert!(ending.stderr.contains("connection unexpectedly closed"), "{}", ending.stderr);
        assert!(!caller.stderr.lock().unwrap().is_empty());
    }
}

#[test]
fn a_pipe_to_a_program_works_and_secluded_arguments_arrive() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options { recursive: true, secluded_args: true, ..Options::default() };
    let target = format!("{}/", dir.path().display());
    let list = server_args(&options, Channel::Shell, Direction::ToServer, &[target.as_bytes()]);
    let arguments = FarArguments::new(&list, &options);
    assert!(arguments.open.len() == 2 && arguments.secluded.is_some());
    let pipe = Route::Pipe { words: words(&["rsync"]), terminal: Terminal::Absent };
    let mut session = Caller::new().open(&pipe, &arguments).unwrap();
    set_up(&mut session);
}

#[test]
fn a_session_with_a_real_rsync_is_cancelled_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let target = format!("{}/", dir.path().display());
    let mut session = Caller::new().open(&shell(LOCAL_SHELL, "rsync"), &push_to(&target)).unwrap();
    set_up(&mut session);
    let canceller = session.connection.canceller.clone();
    let other = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        canceller.cancel(Reason::Signal);
        Instant::now()
    });
    let error = session.connection.reader.read(&mut [0; 8]).unwrap_err();
    assert!(other.join().unwrap().elapsed() < Duration::from_millis(200));
    assert_eq!(reason_of(&error).and_then(Reason::exit_code), Some(20));
    assert_eq!(session.connection.finish().end, FarEnd::Unknown);
}

#[test]
fn noise_of_the_shell_there_is_shown() {
    let error = open_error(&shell(LOCAL_SHELL, "printf 'Welcome to \\033[1mnas\\n'; rsync"));
    assert_eq!(error.exit_code(), 2);
    assert!(error.to_string().contains("\"Welcome to \\x1b[1mnas\\n"), "{error}");
    assert!(error.hint().unwrap().contains(".bashrc"));
}

#[test]
fn an_rsync_that_is_not_found_ends_with_127_and_one_that_cannot_run_with_126() {
    let error = open_error(&shell(LOCAL_SHELL, "rsync-that-is-not-here"));
    assert_eq!(error.exit_code(), 127);
    assert!(error.to_string().contains("rsync-that-is-not-here"), "{error}");
    assert!(error.hint().unwrap().contains("--rsync-path"));
    let error = open_error(&shell(LOCAL_SHELL, "/etc/passwd"));
    assert_eq!(error.exit_code(), 126);
}

#[test]
fn a_remote_shell_that_is_not_installed_is_named() {
    let error = open_error(&shell(b"no-such-shell -x", "rsync"));
    assert_eq!(error.exit_code(), 14);
    assert!(error.to_string().contains("no-such-shell"), "{error}");
}

#[test]
fn a_synology_whose_service_is_off_is_told_in_its_own_words() {
    let script = "echo 'Permission denied, please try again.' >&2; \
                  echo 'rsync service is no running (code 43)' >&2; exit 43; :";
    let error = open_error(&shell(LOCAL_SHELL, script));
    assert!(error.to_string().contains("rsync service is off"), "{error}");
    assert!(error.hint().unwrap().contains("Enable rsync service"));
    assert_eq!(error.exit_code(), 43);
}

#[test]
fn a_session_that_is_cancelled_before_it_begins_does_not_begin() {
    let mut caller = Caller::new();
    caller.canceller.cancel(Reason::Signal);
    let endpoint = Endpoint { host: "127.0.0.1".into(), port: free_port(), ..Endpoint::default() };
    let daemon = Route::Daemon { endpoint, proxy: None, account: account("open") };
    for route in [shell(LOCAL_SHELL, "rsync"), daemon] {
        let error = caller.open(&route, &push_to("/nowhere/")).unwrap_err();
        assert_eq!(error.exit_code(), 20, "{error}");
    }
}
