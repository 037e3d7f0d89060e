//! Does a symlink that a third process swaps in, again and again, ever lead a run out of the tree?

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::harness::{Program, repl, temp_dir};
use crate::words;

/// How long each way of resolving names has to stand it.
const TRIAL: Duration = Duration::from_secs(10);
const SWAP_PAUSE: Duration = Duration::from_micros(100);
const FILES: usize = 60;

/// How a run resolves names of several components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kernel {
    HasOpenat2,
    /// A filter answers that there is no such call.
    HasNoOpenat2,
}

#[test]
fn no_run_is_led_astray_with_openat2() {
    swap_while_running(Kernel::HasOpenat2);
}

#[test]
fn no_run_is_led_astray_without_openat2() {
    swap_while_running(Kernel::HasNoOpenat2);
}

/// Makes `openat2` fail with ENOSYS in the program that it starts.
fn without_openat2(program: Program) -> Program {
    let prctl = if cfg!(target_arch = "x86_64") { 157 } else { 167 };
    let script = format!(
        "my @code = ([0x20,0,0,0],[0x15,0,1,437],[6,0,0,0x50026],[6,0,0,0x7fff0000]);\
         my $code = join '', map {{ pack 'SCCL', @$_ }} @code;\
         my $filter = pack 'S x6 P', scalar @code, $code;\
         syscall({prctl}, 22, 2, $filter) == 0 or die 'no filter';\
         exec {{ $ARGV[0] }} @ARGV"
    );
    program.behind(&["perl", "-e", &script])
}

struct Place {
    inside: PathBuf,
    source: PathBuf,
    outside: PathBuf,
}

impl Place {
    fn new(folder: &Path) -> Self {
        let [inside, source, outside] = ["in", "source", "outside"].map(|name| folder.join(name));
        for base in [&inside, &source] {
            fs::create_dir_all(base.join("a/real/sub")).unwrap();
        }
        fs::create_dir_all(outside.join("sub")).unwrap();
        for number in 0..FILES {
            fs::write(source.join(format!("a/real/{number}")), format!("new {number}")).unwrap();
            fs::write(source.join(format!("a/real/sub/{number}")), "new").unwrap();
            // What a run may delete, and must not delete here.
            fs::write(outside.join(format!("surplus-{number}")), "kept").unwrap();
            fs::write(outside.join(format!("sub/surplus-{number}")), "kept").unwrap();
        }
        symlink("leads/nowhere", source.join("a/real/symlink")).unwrap();
        symlink("../../outside", inside.join("a/away")).unwrap();
        Self { inside, source, outside }
    }

    /// Changes place: the directory is a way out, and the way out a directory.
    fn swap(&self) {
        let [real, away] = ["real", "away"].map(|name| self.inside.join("a").join(name));
        // A run may have removed one of them for a moment.
        let _ = renameat_with(CWD, &real, CWD, &away, RenameFlags::EXCHANGE);
        if !away.exists() {
            let _ = symlink("../../outside", &away);
        }
    }

    fn expect_outside_untouched(&self, mode: u32, what: &str) {
        for dir in [self.outside.clone(), self.outside.join("sub")] {
            let names = fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name());
            let strange: Vec<_> = names
                .filter(|name| name != "sub" && !name.as_encoded_bytes().starts_with(b"surplus-"))
                .collect();
            assert!(strange.is_empty(), "{strange:?} outside after {what}");
            let expected = FILES + usize::from(dir == self.outside);
            assert_eq!(fs::read_dir(&dir).unwrap().count(), expected, "something is gone: {what}");
            assert_eq!(fs::metadata(&dir).unwrap().mode(), mode, "another mode after {what}");
        }
    }
}

fn swap_while_running(kernel: Kernel) {
    let folder = temp_dir();
    let place = Place::new(folder.path());
    let mode = fs::metadata(&place.outside).unwrap().mode();
    for dir in ["a/real", "a/real/sub"] {
        let kept = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(place.source.join(dir), kept).unwrap();
    }
    let server = format!("--rsync-path={} rsync", env!("CARGO_BIN_EXE_repl"));
    let rsh = folder.path().join("rsh");
    fs::write(&rsh, "shift\nexec sh -c \"exec $*\"\n").unwrap();
    let rsh = format!("sh {}", rsh.display());
    let source = format!("{}/", place.source.display());
    let ways: [&[&str]; 4] = [
        &["-aI", "--delete"],
        &["-aI", "--inplace"],
        &["-aI", "--delete-after"],
        &["-aI", "--backup", "--force"],
    ];
    let (done, mut runs) = (AtomicBool::new(false), 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                place.swap();
                // Long enough for a few steps of a run in between.
                std::thread::sleep(SWAP_PAUSE);
            }
        });
        let _stop = AtTheEnd(&done);
        let end = Instant::now() + TRIAL;
        while Instant::now() < end {
            let options = ways[runs % ways.len()];
            let mut words = words!["rsync"].to_vec();
            words.extend(options.iter().map(Into::into));
            words.extend(words![
                "-e",
                rsh,
                server,
                source,
                format!("far:{}", place.inside.display())
            ]);
            let program = match kernel {
                Kernel::HasOpenat2 => repl(words),
                Kernel::HasNoOpenat2 => without_openat2(repl(words)),
            };
            let run = program.run();
            run.expect_no_panic();
            assert!([0, 23, 24].contains(&run.code()), "{}", run.told());
            place.expect_outside_untouched(mode, &run.told());
            runs += 1;
        }
    });
    println!("{runs} runs, {kernel:?}");
    assert!(runs > 20, "only {runs} runs");
}

/// Stops the third process however the trial ends.
struct AtTheEnd<'a>(&'a AtomicBool);

impl Drop for AtTheEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
