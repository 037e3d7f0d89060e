//! Does the ssh command lead through a real OpenSSH server, and does it keep ssh's own rules?

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use transport::*;
use wire::options::IpFamily;

use crate::caller::{Caller, free_port, open_error, push_to};
use crate::sshd::Sshd;

#[test]
fn ssh_leads_to_the_rsync_there_brings_its_code_back_and_is_cancelled_at_once() {
    let sshd = Sshd::start();
    let target = format!("{}/", sshd.dir.path().display());
    let session = Caller::new().open(&sshd.route("known_hosts"), &push_to(&target)).unwrap();
    assert_eq!(session.protocol, 32);
    let ending = session.connection.finish();
    assert_eq!(ending.end, FarEnd::Exited(12), "{}", ending.stderr);

    let mut session = Caller::new().open(&sshd.route("known_hosts"), &push_to(&target)).unwrap();
    let canceller = session.connection.canceller.clone();
    let reader = &mut session.connection.reader;
    let took = thread::scope(|scope| {
        let blocked = scope.spawn(move || std::io::copy(reader, &mut std::io::sink()));
        let start = Instant::now();
        canceller.cancel(Reason::Signal);
        assert!(blocked.join().unwrap().is_err());
        start.elapsed()
    });
    assert!(took < Duration::from_millis(200), "{took:?}");
    let start = Instant::now();
    session.connection.finish();
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[test]
fn an_unknown_host_key_and_a_key_that_is_not_allowed_fail_with_what_to_do() {
    let sshd = Sshd::start();
    let error = open_error(&sshd.route("no_hosts"));
    assert_eq!(error.exit_code(), 255);
    assert!(error.to_string().contains("host key is not accepted"), "{error}");

    fs::write(sshd.at("authorized_keys"), "").unwrap();
    let error = open_error(&sshd.route("known_hosts"));
    assert_eq!(error.exit_code(), 255);
    assert!(error.to_string().contains("ssh login was not accepted"), "{error}");
    assert!(error.hint().unwrap().contains("ssh-copy-id"));
}

#[test]
fn a_real_ssh_that_cannot_connect_ends_with_255_and_its_own_words() {
    let options = SshOptions { port: Some(free_port()), ..SshOptions::default() };
    let host = FarHost {
        name: "127.0.0.1".into(),
        user: None,
        family: Some(IpFamily::V4),
        rsync_path: b"rsync".to_vec(),
    };
    let error = open_error(&Route::Shell { shell: RemoteShell::ssh(&options), host });
    assert_eq!(error.exit_code(), 255);
    assert!(error.to_string().contains("Connection refused"), "{error}");
    assert!(error.hint().unwrap().contains("ssh is switched on"));
}
