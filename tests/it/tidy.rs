//! Is the house in order: arrows downwards, short files that say what they are for, within the budget?

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use walkdir::WalkDir;

/// The floor of each crate; an arrow leads to a lower one.
const FLOORS: [(&str, u32); 10] = [
    ("wire", 0),
    ("delta", 0),
    ("filter", 0),
    ("tree", 0),
    ("engine", 1),
    ("transport", 2),
    ("vault", 3),
    ("scheduler", 4),
    ("daemon", 4),
    ("repl", 5),
];

/// The most lines that a file may have, tests included.
const LONGEST_FILE: usize = 499;

/// The budget of the whole house in lines of code, without tests, comments and empty lines: past
/// it something is said twice.
const LARGEST_HOUSE: usize = 40_000;

/// File names that say nothing.
const EMPTY_NAMES: [&str; 7] = ["utils", "util", "helpers", "common", "misc", "types", "core"];

#[test]
fn every_arrow_between_crates_leads_downwards() {
    let floors = BTreeMap::from(FLOORS);
    let metadata = cargo_metadata();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let floor = floors.get(name).unwrap_or_else(|| panic!("crate {name} has no floor"));
        for dependency in package["dependencies"].as_array().unwrap() {
            let below = dependency["name"].as_str().unwrap();
            let allowed = floors.get(below).is_none_or(|other| other < floor);
            assert!(allowed, "{name} (floor {floor}) depends on {below}, which is not below it");
        }
    }
}

#[test]
fn every_crate_takes_its_lints_and_its_versions_from_the_root() {
    for package in cargo_metadata()["packages"].as_array().unwrap() {
        let manifest = fs::read_to_string(package["manifest_path"].as_str().unwrap()).unwrap();
        let name = package["name"].as_str().unwrap();
        assert!(manifest.contains("[lints]\nworkspace = true"), "{name} has lints of its own");
        let parts = manifest.split("\n[").filter(|part| part.contains("dependencies]"));
        let lines = parts.flat_map(|part| part.lines().skip(1)).filter(|line| line.contains('='));
        for line in lines.filter(|_| name != "repl") {
            assert!(line.contains("workspace"), "{name} chooses a version itself: {line}");
        }
    }
}

fn cargo_metadata() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--format-version=1", "--no-deps", "--offline"]).current_dir(root());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_file_is_short_and_begins_with_the_question_that_it_answers() {
    for path in source_files() {
        let text = fs::read_to_string(&path).unwrap();
        let shown = path.display();
        assert!(text.starts_with("//! "), "{shown} does not say what it is for");
        let lines = text.lines().count();
        assert!(lines <= LONGEST_FILE, "{shown} has {lines} lines");
        let stem = path.file_stem().unwrap().to_str().unwrap();
        assert!(!EMPTY_NAMES.contains(&stem), "{shown} is named after nothing");
    }
}

#[test]
fn nothing_is_unsafe_and_nothing_is_left_for_later() {
    let marks = ["unsafe {", "unsafe fn", "todo!", "unimplemented!", "FIXME", "TODO", "XXX"];
    for path in source_files().filter(|path| !path.ends_with("tidy.rs")) {
        let text = fs::read_to_string(&path).unwrap();
        for mark in marks {
            assert!(!text.contains(mark), "{} contains {mark}", path.display());
        }
    }
}

#[test]
fn the_house_is_within_its_budget() {
    let own = source_files().filter(|path| !is_test(path));
    let lines: usize = own.map(|path| lines_without_tests(&path)).sum();
    println!("{lines} lines");
    assert!(lines <= LARGEST_HOUSE, "{lines} lines");
}

fn lines_without_tests(path: &Path) -> usize {
    let text = fs::read_to_string(path).unwrap();
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
    text.lines().take_while(|line| *line != "#[cfg(test)]").filter(is_code).count()
}

fn is_test(path: &Path) -> bool {
    let path = path.strip_prefix(root()).unwrap();
    path.components().any(|part| part.as_os_str() == "tests") || path.ends_with("tests.rs")
}

fn source_files() -> impl Iterator<Item = PathBuf> {
    let folders = ["cli", "crates", "tests", "benches", "examples"];
    let entries = folders.into_iter().flat_map(|folder| WalkDir::new(root().join(folder)));
    let paths = entries.filter_map(Result::ok).map(walkdir::DirEntry::into_path);
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
}
