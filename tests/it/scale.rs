//! Do long lists, many directories and changed large files among small ones come through, in bounded memory?

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::harness::compare::assert_stock_finds_nothing;
use crate::harness::odd_tree::set_mtime;
use crate::harness::random::Random;
use crate::harness::{Daemon, FarSide, Rsync, Way, repl, temp_dir};
use crate::words;

/// More entries than the sender keeps the far side ahead by.
const LONG: usize = 12_000;

fn many_files(dir: &Path, count: usize) {
    fs::create_dir_all(dir).unwrap();
    for n in 0..count {
        fs::write(dir.join(format!("file-{n}")), "").unwrap();
    }
}

#[test]
fn a_long_directory_comes_through_wherever_it_stands_and_again_unchanged() {
    let folder = temp_dir();
    for long_at in ["", "a", "m/inner", "z"] {
        let source = folder.path().join(format!("source-{}", long_at.replace('/', "-")));
        for small in ["a", "b", "m", "m/inner", "m/last", "z"] {
            many_files(&source.join(small), 3);
        }
        many_files(&source.join(long_at), LONG);
        let far = FarSide::start(Way::Pipe, Rsync::Installed);
        for sent in ["sent 12,0", "sent 0 of 12,0"] {
            let run = repl(far.push(&[], &source, "copy"))
                .within(Duration::from_secs(60))
                .run()
                .expect_success();
            assert!(run.stdout().contains(sent), "{}", run.told());
        }
        assert_stock_finds_nothing(&source, &far.folder("copy"), &[]);
    }
}

#[test]
fn a_tree_of_thousands_of_nested_directories_comes_through() {
    let folder = temp_dir();
    let source = folder.path().join("source");
    for n in 0..3_000 {
        let dir = source.join(format!("{}/{}/{}", n % 10, n % 100, n));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("one"), n.to_string()).unwrap();
    }
    for options in [&["--protocol=29"][..], &["--no-inc-recursive"], &[]] {
        let far = FarSide::start(Way::Pipe, Rsync::Installed);
        repl(far.push(options, &source, "copy")).run().expect_success();
        assert_stock_finds_nothing(&source, &far.folder("copy"), &[]);
    }
}

#[test]
fn a_run_over_a_hundred_thousand_files_needs_little_memory() {
    // Source and copy are the same: nothing is to be done but to look.
    let far = FarSide::start(Way::Pipe, Rsync::Installed);
    let source = far.folder("copy");
    for n in 0..100 {
        many_files(&source.join(n.to_string()), 1_000);
    }
    let run = repl(far.push(&[], &source, "copy")).run().expect_success();
    assert!(run.stdout().contains("sent 0 of 100,000 files"), "{}", run.told());
    // An unoptimized program brings more of itself into memory than the one that is shipped.
    assert!(run.peak_bytes < 16 << 20, "{} bytes", run.peak_bytes);
}

#[test]
fn a_large_file_changed_since_the_last_run_has_a_session_of_its_own() {
    let folder = temp_dir();
    let source = folder.path().join("data");
    fs::create_dir_all(&source).unwrap();
    let mut image = Random::new(1).bytes(64 << 20);
    fs::write(source.join("image"), &image).unwrap();
    for n in 0..40 {
        fs::write(source.join(format!("letter-{n}")), Random::new(n).text(300_000)).unwrap();
    }
    let daemon = Daemon::start(Rsync::Installed);
    let config = folder.path().join("repl.toml");
    let text = format!(
        "[targets.nas]\nhost = \"127.0.0.1\"\nvia = \"daemon\"\nport = {}\nmodule = \"m\"\n\
         [jobs.night]\ntarget = \"nas\"\nsources = [\"{}\"]\n",
        daemon.port,
        source.display()
    );
    fs::write(&config, text).unwrap();
    let state = folder.path().join("state");
    let push = || {
        repl(words!["push", "--config", &config, "--to", "nas", "-vv"])
            .env("XDG_STATE_HOME", &state)
            .run()
            .expect_success()
    };
    push();
    for edit in (0..image.len()).step_by(1 << 20) {
        image[edit + 5] ^= 1;
    }
    fs::write(source.join("image"), &image).unwrap();
    // Times are compared by the second, and the first run may have ended in this one.
    set_mtime(&source.join("image"), 2_000_000_000, 0);
    let second = push();
    let told = second.stdout();
    assert!(told.contains("two sessions") && told.contains("2048-byte blocks"), "{told}");
    assert!(told.contains("sent 1 of 41 files"), "{told}");
    assert_stock_finds_nothing(&source, &daemon.root().join("night/data"), &[]);
}
