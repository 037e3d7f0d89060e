//! Are good files read as they are meant, and is each bad one shown where it is wrong?

use std::path::Path;

use wire::options::{FilterOption, Options, parse};
use wire::setup::CompressWish;

use super::*;

const EXAMPLE: &str = include_str!("../../../../examples/ds214.toml");
/// The file of the design, with every key there is.
const DESIGN: &str = include_str!("tests/design.toml");
/// Bad files and how they are shown, one behind the other.
const WRONG: &str = include_str!("tests/wrong.txt");

/// What every case of [`WRONG`] begins with.
const TARGET: &str = "[targets.nas]\nhost = \"nas\"\nvia = \"daemon\"\nmodule = \"m\"\n";
const JOB: &str = "[jobs.j]\ntarget = \"nas\"\nsources = [\"/a\"]\n";

fn parsed(text: &str) -> Config {
    Config::parse(text, Path::new("t.toml")).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(text: &str) -> String {
    let error = Config::parse(text, Path::new("t.toml")).unwrap_err();
    assert_eq!(error.exit_code(), 1);
    error.to_string()
}

fn options(keys: &str) -> Options {
    let config = parsed(&format!("{TARGET}{JOB}{keys}"));
    config.jobs[0].options(DefaultExcludes::TakenIn)
}

#[test]
fn the_example_is_read_as_it_is_meant() {
    let config = parsed(EXAMPLE);
    let target = config.target("ds214").unwrap();
    let Via::Daemon(daemon) = &target.via else { panic!("{target:?}") };
    assert_eq!((daemon.module.as_str(), daemon.port), ("NetBackup", 873));
    assert_eq!(daemon.password_file.as_deref(), Some(Path::new("/etc/repl/ds214.secret")));

    let job = config.job("nightly").unwrap();
    assert_eq!(target.destination(&job.name), b"ds918/nightly/");
    assert_eq!(config.jobs_of(target).count(), 1);
    let mut expected = Options::archive();
    let words = "-HAX --numeric-ids --delete -x --exclude=*.tmp --exclude=/photo/cache/ \
        --exclude=@eaDir/ --exclude=#recycle/ --exclude=#snapshot/ --exclude=.repl/";
    let words: Vec<Vec<u8>> = words.split(' ').map(Into::into).collect();
    parse(&words, &mut expected).unwrap();
    assert_eq!(job.options(DefaultExcludes::LeftOut), expected);
}

#[test]
fn each_key_of_a_job_says_what_the_rsync_option_says() {
    let cases = [
        ("", "-aHAX --numeric-ids"),
        ("attributes = []", "-a --numeric-ids"),
        ("attributes = [\"hard-links\"]", "-aH --numeric-ids"),
        ("attributes = []\ncompress = \"none\"", "-a --numeric-ids"),
        ("attributes = []\ncompress = \"auto\"", "-az --numeric-ids"),
        ("attributes = []\ncompress = \"zstd\"", "-a --zc=zstd --numeric-ids"),
        (
            "attributes = []\ncompress = \"auto\"\nskip_compress = \"gz/jpg\"",
            "-az --skip-compress=gz/jpg --numeric-ids",
        ),
        ("attributes = []\nblock_size = 4096", "-aB4096 --numeric-ids"),
        ("attributes = []\nblock_size = \"16K\"", "-aB16384 --numeric-ids"),
        (
            "attributes = []\nfilter = [\"+x\"]\nexclude = [\"y\"]\noptions = [\"-F\"]",
            "-a -f+x --exclude=y -F --numeric-ids",
        ),
        (
            "attributes = []\ndelete = true\noptions = [\"--delete-after\", \"--timeout\", \"60\"]",
            "-a --delete-after --timeout=60 --numeric-ids",
        ),
        (
            "attributes = []\noptions = [\"--no-numeric-ids\", \"-M--fake-super\"]",
            "-aM--fake-super",
        ),
    ];
    for (keys, line) in cases {
        let words: Vec<Vec<u8>> = line.split(' ').map(Into::into).collect();
        let mut expected = Options::default();
        parse(&words, &mut expected).unwrap();
        assert_eq!(options(keys), expected, "{keys}");
    }
    assert_eq!(options("").compress, CompressWish::Off);
}

#[test]
fn the_default_excludes_come_last_and_can_be_taken_in() {
    let config = parsed(&format!("{TARGET}{JOB}filter = [\"+ @eaDir/\"]\n"));
    let job = &config.jobs[0];
    let filters = job.options(DefaultExcludes::LeftOut).filters;
    assert_eq!(filters[0], FilterOption::Filter(b"+ @eaDir/".to_vec()));
    assert_eq!(filters[1], FilterOption::Exclude(b"@eaDir/".to_vec()));
    assert_eq!(job.options(DefaultExcludes::TakenIn).filters.len(), 1);
}

#[test]
fn a_job_has_its_own_directory_below_every_kind_of_path() {
    let over_ssh = |path: &str| {
        parsed(&format!("[targets.nas]\nhost = \"nas\"\nvia = \"ssh\"\n{path}\n{JOB}"))
    };
    let cases = [
        ("", "j/"),
        ("path = \"\"", "j/"),
        ("path = \"/\"", "/j/"),
        ("path = \"/volume1/b/\"", "/volume1/b/j/"),
        ("path = \"~/b\"", "~/b/j/"),
    ];
    for (path, destination) in cases {
        let config = over_ssh(path);
        let found = config.targets[0].destination(&config.jobs[0].name);
        assert_eq!(found, destination.as_bytes(), "{path}");
    }
}

#[test]
fn a_job_can_fetch_and_a_target_can_be_a_disk() {
    let job = "[jobs.j]\ntarget = \"disk\"\ndirection = \"pull\"\nfrom = [\"photo/\", \"a\"]\n\
        into = \"/srv/copy\"\n";
    let config = parsed(&format!("[targets.disk]\nvia = \"path\"\npath = \"/mnt/usb/\"\n{job}"));
    let (target, job) = (&config.targets[0], &config.jobs[0]);
    assert_eq!(target.via, Via::Path);
    let JobWork::Pull { from, into } = &job.work else { panic!("{job:?}") };
    assert_eq!(target.below(&from[0]), b"/mnt/usb/photo/");
    assert_eq!(into, Path::new("/srv/copy"));
}

#[test]
fn targets_and_jobs_stay_in_the_order_of_the_file() {
    let more = "[jobs.b]\ntarget = \"nas\"\nsources = [\"/x/\", \"/y/.\", \"/z/\"]\n\
        [jobs.a]\ntarget = \"nas\"\nsources = [\"/\"]\n";
    let config = parsed(&format!("{JOB}{more}{TARGET}"));
    let names: Vec<&str> = config.jobs.iter().map(|job| job.name.as_str()).collect();
    assert_eq!(names, ["j", "b", "a"]);
    let JobWork::Push { sources } = &config.jobs[1].work else { panic!() };
    assert_eq!(sources[0].as_os_str(), "/x/");
}

#[test]
fn a_name_that_is_not_there_is_told_with_the_nearest() {
    let config = parsed(&format!("{TARGET}{JOB}"));
    let cases = [
        (config.target("nsa").unwrap_err(), "no target is called \"nsa\", did you mean \"nas\"?"),
        (config.job("x\u{1b}yz").unwrap_err(), "no job is called \"x\\x1byz\"; there are j"),
    ];
    for (error, message) in cases {
        assert_eq!((error.to_string().as_str(), error.exit_code()), (message, 1));
    }
    let error = parsed("").job("a").unwrap_err();
    assert_eq!(error.to_string(), "no job is called \"a\"; the configuration has none");
}

#[test]
fn the_file_of_the_design_is_refused_by_the_name_of_each_later_key() {
    let text = refusal(DESIGN);
    let refused: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once("the key `")?.1.strip_suffix("; remove it"))
        .filter_map(|rest| rest.strip_suffix("` is known but this version does not do it yet"))
        .collect();
    let later = [
        "timezone",
        "wake",
        "power_off",
        "bandwidth",
        "schedule",
        "window",
        "snapshots",
        "guard",
        "verify",
        "hooks",
        "notify",
        "bandwidth",
    ];
    assert_eq!(refused, later, "{text}");

    let is_later = |line: &&str| !later.iter().any(|key| line.starts_with(&format!("{key} = ")));
    let without: Vec<&str> = DESIGN.lines().filter(is_later).collect();
    parsed(&without.join("\n"));
}

#[test]
fn every_mistake_is_drawn_with_its_line() {
    let mut shown = String::new();
    for case in WRONG.split("=====\n").filter(|case| !case.is_empty()) {
        let text = case.split("-----\n").next().unwrap();
        let whole = text.replace("(target)\n", TARGET).replace("(job)\n", JOB);
        shown.push_str(&format!("=====\n{text}-----\n{}\n", refusal(&whole)));
    }
    assert!(shown == WRONG, "{shown}");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = Config::read(Path::new("/no/such.toml")).unwrap_err();
    assert!(error.to_string().starts_with("cannot read /no/such.toml: "), "{error}");
    assert_eq!(error.exit_code(), 1);
}
