//! Is bad news told in one clear line, with the right exit code, with nothing lost, and soon?

use std::fs;
use std::io::Write;
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::harness::compare::{self, Look, Times};
use crate::harness::daemon::{self, free_port};
use crate::harness::program::contents_of;
use crate::harness::proxy::{Fault, Proxy};
use crate::harness::random::Random;
use crate::harness::scripted_server::ScriptedServer;
use crate::harness::{Daemon, FarSide, Outcome, Program, Rsync, Sshd, Way, repl, temp_dir};
use crate::words;

/// Bad news must not need longer than this, apart from a time limit that the person has chosen.
const SOON: Duration = Duration::from_secs(10);

/// A small source, and a copy of it that shows whether anything was lost.
struct Source {
    folder: TempDir,
}

impl Source {
    fn new() -> Self {
        let folder = temp_dir();
        for root in ["source", "before"] {
            let root = folder.path().join(root);
            fs::create_dir_all(root.join("inner")).unwrap();
            fs::write(root.join("letter"), "dear reader\n").unwrap();
            fs::write(root.join("inner/large"), Random::new(7).bytes(3 << 20)).unwrap();
        }
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("source")
    }

    /// Starts a push of the source to `to`.
    fn push(&self, to: impl AsRef<str>) -> Program {
        repl(words!["push", "--to", to.as_ref(), contents_of(&self.path())]).within(SOON)
    }

    /// Fails when the source is no longer what it was.
    fn expect_untouched(&self) {
        let look = Look { times: Times::Ignored, attributes: true, ..Look::CLOSELY };
        compare::assert_equal(&self.folder.path().join("before"), &self.path(), look);
    }
}

/// Fails unless the run ended with `code` and one line on stderr that has every one of `words`.
#[track_caller]
fn expect_told(run: Outcome, code: i32, words: &[&str]) {
    run.expect_no_panic();
    let run = run.expect_code(code);
    let stderr = run.stderr().to_lowercase();
    let line =
        stderr.lines().find(|line| words.iter().all(|word| line.contains(&word.to_lowercase())));
    assert!(line.is_some(), "no line with all of {words:?}: {}", run.told());
    let lines = stderr.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines <= 3, "the news drowns in {lines} lines: {}", run.told());
    assert!(!stderr.contains('\x1b'), "escape codes: {}", run.told());
}

#[test]
fn an_unknown_host_is_named() {
    let source = Source::new();
    // The domain `invalid` never exists; a machine without any name server answers the same.
    let run = source.push("rsync://no-such-host.invalid/m/").run();
    expect_told(run, 10, &["no-such-host.invalid"]);
    source.expect_untouched();
}

#[test]
fn an_unknown_host_behind_ssh_is_named() {
    let source = Source::new();
    let run = source.push("no-such-host.invalid:/srv").args(["-e", "ssh -F none"]).run();
    expect_told(run, 255, &["no-such-host.invalid"]);
    source.expect_untouched();
}

#[test]
fn a_closed_port_is_named() {
    let source = Source::new();
    let port = free_port();
    let run = source.push(daemon::url(port, "")).run();
    expect_told(run, 10, &["127.0.0.1", &port.to_string(), "refused"]);
    source.expect_untouched();
}

#[test]
fn a_wrong_password_is_told_with_user_and_module() {
    let source = Source::new();
    let secrets = temp_dir();
    let (server_file, client_file) =
        (secrets.path().join("secrets"), secrets.path().join("password"));
    write_secret(&server_file, "anna:right\n");
    let lines = format!("auth users = anna\nsecrets file = {}", server_file.display());
    let daemon = Daemon::start_with(Rsync::Installed, &lines);
    let to = format!("rsync://anna@127.0.0.1:{}/m/", daemon.port);
    write_secret(&client_file, "wrong\n");
    let option = format!("--password-file={}", client_file.display());
    let run = source.push(&to).arg(&option).run();
    expect_told(run, 5, &["password", "anna", "m"]);
    assert!(is_empty(daemon.root()));

    // The same with the right one, from the file and from the environment.
    write_secret(&client_file, "right\n");
    source.push(&to).arg(&option).run().expect_success();
    source.push(&to).env("RSYNC_PASSWORD", "right").run().expect_success();
    source.expect_untouched();
}

#[test]
fn a_password_file_that_others_can_read_is_refused() {
    let source = Source::new();
    let folder = temp_dir();
    let file = folder.path().join("password");
    fs::write(&file, "right\n").unwrap();
    fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    let secrets = folder.path().join("secrets");
    write_secret(&secrets, "anna:right\n");
    let lines = format!("auth users = anna\nsecrets file = {}", secrets.display());
    let daemon = Daemon::start_with(Rsync::Installed, &lines);
    let to = format!("rsync://anna@127.0.0.1:{}/m/", daemon.port);
    let run = source.push(to).arg("--password-file").arg(&file).run();
    expect_told(run, 1, &[file.to_str().unwrap(), "chmod"]);
    assert!(is_empty(daemon.root()));
}

fn write_secret(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, PermissionsExt::from_mode(0o600)).unwrap();
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn an_unknown_module_is_named() {
    let source = Source::new();
    let daemon = Daemon::start(Rsync::Installed);
    let run = source.push(format!("rsync://127.0.0.1:{}/volume1/", daemon.port)).run();
    expect_told(run, 5, &["volume1", "module"]);
    source.expect_untouched();
}

#[test]
fn a_read_only_module_is_told() {
    let source = Source::new();
    for rsync in Rsync::ALL {
        let daemon = Daemon::start_with(rsync, "read only = yes");
        let run = source.push(daemon.url("")).run();
        expect_told(run, 1, &["read only"]);
    }
    source.expect_untouched();
}

#[test]
fn a_path_that_is_not_there_is_named_with_the_way_out() {
    let source = Source::new();
    for way in [Way::Daemon, Way::Ssh] {
        let far = FarSide::start(way, Rsync::Installed);
        let run = repl(far.push(&[], &source.path(), "not/there/yet")).within(SOON).run();
        let code = run.code();
        assert!(code == 11 || code == 3, "{}", run.told());
        expect_told(run, code, &["not/there/yet"]);
        let made = repl(far.push(&["--mkpath"], &source.path(), "not/there/yet")).run();
        made.expect_success();
    }
    source.expect_untouched();
}

#[test]
fn a_source_that_is_not_there_is_named() {
    let source = Source::new();
    let daemon = Daemon::start(Rsync::Installed);
    let run = source.push(daemon.url("")).args(["/no-such-folder", "/no/such/folder"]).run();
    expect_told(run, 23, &["/no-such-folder"]);
    // What is there has arrived all the same.
    assert!(daemon.root().join("letter").exists());
}

#[test]
fn an_rsync_that_is_not_on_the_far_path_is_told_with_the_option_to_set() {
    let source = Source::new();
    let sshd = Sshd::start();
    let folder = temp_dir();
    let run = source
        .push(sshd.to(folder.path()))
        .args(["-e", &sshd.rsh(), "--rsync-path=/usr/syno/bin/rsync"])
        .run();
    expect_told(run, 127, &["/usr/syno/bin/rsync", "not found", "--rsync-path"]);
    source.expect_untouched();
}

#[test]
fn an_ssh_that_lets_nobody_in_is_told() {
    let source = Source::new();
    let sshd = Sshd::start_with("AllowUsers somebody-else");
    let run = source.push(sshd.to(Path::new("/tmp"))).args(["-e", &sshd.rsh()]).run();
    expect_told(run, 255, &["permission denied"]);
}

#[test]
fn the_noise_of_a_far_shell_is_shown() {
    let source = Source::new();
    let sshd = Sshd::start_with(
        "ForceCommand echo 'Welcome to DiskStation'; eval \"$SSH_ORIGINAL_COMMAND\"",
    );
    let folder = temp_dir();
    let run = source.push(sshd.to(folder.path())).args(["-e", &sshd.rsh()]).run();
    expect_told(run, 2, &["Welcome to DiskStation"]);
    assert!(is_empty(folder.path()));
}

#[test]
fn a_full_disk_is_told_and_no_half_file_stands_under_its_name() {
    for rsync in [Rsync::Installed, Rsync::V3_2_3] {
        let source = Source::new();
        let daemon = Daemon::start_on_small_disk(rsync, 2 << 20);
        let run = source.push(daemon.url("")).run();
        expect_told(run, 11, &["no space left", "inner/"]);
        assert!(!daemon.root().join("inner/large").exists());
        source.expect_untouched();
    }
}

#[test]
fn a_connection_that_is_cut_in_the_middle_is_told_and_the_next_run_completes_it() {
    let source = Source::new();
    let daemon = Daemon::start(Rsync::Installed);
    for after in [100, 1_000, 100_000, 2_000_000] {
        let proxy = Proxy::to(daemon.port, Fault::CutAfter(after));
        let run = source.push(daemon::url(proxy.port, "")).run();
        let code = run.code();
        assert!(code == 12 || code == 10, "{}", run.told());
        expect_told(run, code, &["connection"]);
        assert!(!daemon.root().join("inner/large").exists());
    }
    source.push(daemon.url("")).run().expect_success();
    compare::assert_stock_finds_nothing(&source.path(), daemon.root(), &[]);
}

#[test]
fn a_far_side_that_falls_silent_meets_the_time_limit() {
    let source = Source::new();
    let daemon = Daemon::start(Rsync::Installed);
    for after in [0, 60, 300, 500_000] {
        let proxy = Proxy::to(daemon.port, Fault::StallAfter(after));
        let run =
            source.push(daemon::url(proxy.port, "")).args(["--timeout=2", "--contimeout=2"]).run();
        let wall = run.wall;
        let code = run.code();
        assert!(code == 30 || code == 35, "{}", run.told());
        expect_told(run, code, &["2"]);
        assert!(wall < Duration::from_secs(6), "{wall:?}");
    }
    source.expect_untouched();
}

#[test]
fn a_far_side_that_never_greets_meets_the_connection_time_limit() {
    let source = Source::new();
    let silent = ScriptedServer::start(|_| {});
    let run = source.push(daemon::url(silent.port, "")).arg("--contimeout=1").run();
    expect_told(run, 35, &["127.0.0.1"]);
}

#[test]
fn a_daemon_of_an_old_protocol_is_told_with_its_number() {
    let source = Source::new();
    for greeting in [&b"@RSYNCD: 28\n"[..], b"@RSYNCD: 20\n"] {
        let old = ScriptedServer::saying(greeting.to_vec());
        let run = source.push(daemon::url(old.port, "")).run();
        let number = String::from_utf8_lossy(&greeting[9..11]).into_owned();
        expect_told(run, 2, &["protocol", &number, "29"]);
    }
}

#[test]
fn an_rsync_of_an_old_protocol_behind_a_shell_is_told_with_its_number() {
    let source = Source::new();
    let folder = temp_dir();
    let rsh = folder.path().join("rsh");
    fs::write(&rsh, "printf '\\034\\000\\000\\000'; cat >/dev/null\n").unwrap();
    let run = source.push("far:/srv").arg("-e").arg(format!("sh {}", rsh.display())).run();
    expect_told(run, 2, &["protocol", "28", "29"]);
}

#[test]
fn something_that_is_no_rsync_daemon_is_told_with_what_it_said() {
    let source = Source::new();
    let other = ScriptedServer::start(|client| {
        let _ = client.write_all(b"SSH-2.0-OpenSSH_9.2p1\r\n");
        let _ = client.shutdown(Shutdown::Write);
    });
    let run = source.push(daemon::url(other.port, "")).run();
    expect_told(run, 5, &["SSH-2.0-OpenSSH_9.2p1"]);
}

#[test]
fn a_wrong_key_in_the_configuration_is_drawn_with_the_right_word() {
    let (run, file) = push_with_config("[targets.nas]\nhost = \"127.0.0.1\"\nmodul = \"m\"\n");
    expect_drawn(run, &[&format!("{file}:3:1"), "modul", "module"]);
}

#[test]
fn a_key_of_a_later_release_is_refused_by_name_and_not_ignored() {
    let (run, _) = push_with_config(
        "[targets.nas]\nhost = \"127.0.0.1\"\nvia = \"daemon\"\nmodule = \"m\"\nwake = { mac = \"00:11:32:aa:bb:cc\" }\n",
    );
    expect_drawn(run, &["`wake`", "yet"]);
}

#[test]
fn a_wrong_type_in_the_configuration_is_drawn() {
    let (run, file) = push_with_config("[targets.nas]\nhost = \"127.0.0.1\"\nport = \"many\"\n");
    expect_drawn(run, &[&format!("{file}:3"), "port"]);
}

#[test]
fn a_target_that_the_configuration_lacks_is_named_with_those_it_has() {
    let folder = temp_dir();
    let config = folder.path().join("repl.toml");
    fs::write(&config, "[targets.ds214]\nhost = \"127.0.0.1\"\nvia = \"daemon\"\nmodule = \"m\"\n")
        .unwrap();
    let run = repl(words!["push", "--config", &config, "--to", "ds241"]).run();
    expect_drawn(run, &["ds241", "ds214"]);
}

fn push_with_config(text: &str) -> (Outcome, String) {
    let folder = temp_dir();
    let config = folder.path().join("repl.toml");
    fs::write(&config, text).unwrap();
    let run = repl(words!["push", "--config", &config, "--to", "nas"]).within(SOON).run();
    (run, config.display().to_string())
}

/// Fails unless the run ended as wrong usage does, with every one of `words` somewhere on stderr.
#[track_caller]
fn expect_drawn(run: Outcome, words: &[&str]) {
    run.expect_no_panic();
    let run = run.expect_code(1);
    for word in words {
        assert!(run.stderr().contains(word), "no {word}: {}", run.told());
    }
}
