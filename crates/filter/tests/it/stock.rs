//! Random lists of rules, decided by the rsync of this machine and by us.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::fixture::{Tree, options};
use crate::walk::sent;

/// A small generator of repeatable choices (xorshift).
struct Choices(u64);

impl Choices {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// A pattern of pieces that the names of the tree are made of.
fn pattern(choices: &mut Choices) -> String {
    let pieces = [
        "a",
        "b",
        "ab",
        "c.o",
        ".o",
        "*",
        "**",
        "?",
        "/",
        "/",
        "[ab]",
        "[!a]",
        "[^b.]",
        "[[:alpha:]]",
        "[a-c]",
        "[c-a]",
        "[]a]",
        "[b-",
        "\\a",
        "\\*",
        "*b*",
        "a*",
        "***",
        ".",
        "x",
        "[[:digit:]-z]",
    ];
    let count = 1 + choices.below(4);
    let mut text: String = (0..count).map(|_| choices.of(&pieces)).collect();
    if choices.below(4) == 0 {
        text.insert(0, '/');
    }
    if choices.below(4) == 0 {
        text.push('/');
    }
    text
}

fn rule(choices: &mut Choices) -> String {
    let names = ["-", "-", "-", "+", "+", "H", "S", "P", "-!", "-s", "-r", "-p", "+!", "-/", "-x"];
    format!("{} {}", choices.of(&names), pattern(choices))
}

/// The rules of a per-directory file.
fn merge_file(choices: &mut Choices) -> String {
    let lines = (0..1 + choices.below(3)).map(|_| match choices.below(8) {
        0 => "!\n".to_owned(),
        1 => ": .r2\n".to_owned(),
        2 => "# a\n".to_owned(),
        _ => rule(choices) + "\n",
    });
    lines.collect()
}

fn random_options(choices: &mut Choices) -> Vec<String> {
    let mut words = Vec::new();
    for _ in 0..1 + choices.below(4) {
        let text = match choices.below(10) {
            0 => format!("--exclude={}", pattern(choices)),
            1 => format!("--include={}", pattern(choices)),
            2 => {
                choices.of(&["-f:_.rf", "-f:n_.rf", "-f:e_.rf", "-f:-_.rf", "-f:s_.rf"]).to_owned()
            }
            3 => choices.of(&["-C", "-F", "-f-C", "-f:C", "-m"]).to_owned(),
            _ => format!("-f{}", rule(choices)),
        };
        words.push(text);
    }
    words
}

fn random_tree(choices: &mut Choices) -> Tree {
    let mut tree = Tree::default();
    let names = [
        "a",
        "b/a",
        "b/b",
        "b/ab/c.o",
        "ab/a/b/a",
        "ab/a/c.o",
        "ab/x",
        "c.o",
        "x/a/ab",
        "x/b.o",
        "x/ab/a/c.o/b",
        ".a/b",
        "bb",
        "a.b",
        "-a",
        "b/]a",
    ];
    for name in names {
        tree.add("s", name, b"");
    }
    for dir in ["", "b/", "ab/a/", "x/", "x/ab/a/"] {
        for name in [".rf", ".r2", ".cvsignore", ".rsync-filter"] {
            if choices.below(3) == 0 {
                tree.add("s", &format!("{dir}{name}"), merge_file(choices).as_bytes());
            }
        }
    }
    tree
}

/// Runs rsync over the tree on disk; gives what it lists, or the exit code.
fn ask_stock(root: &Path, words: &[String]) -> Result<Vec<String>, i32> {
    let output = Command::new("rsync")
        .args(["-rn", "-8", "--out-format=%n"])
        .args(words)
        .args(["s/", "d/"])
        .current_dir(root)
        .env("LC_ALL", "C.UTF-8")
        .env("HOME", root)
        .env_remove("CVSIGNORE")
        .output()
        .unwrap();
    match output.status.code() {
        Some(0) => {
            let listed = String::from_utf8(output.stdout).unwrap();
            Ok(listed.lines().filter(|name| *name != "./").map(str::to_owned).collect())
        }
        code => Err(code.unwrap()),
    }
}

#[test]
fn random_rule_lists_choose_what_a_stock_rsync_chooses() {
    let mut choices = Choices(0x9e37_79b9_7f4a_7c15);
    let mut left_something_out = 0;
    for round in 0..20 {
        let tree = random_tree(&mut choices);
        let everything = sent(&tree, &options(&[], &tree).unwrap(), "s/").unwrap().len();
        let disk = tempdir(&tree);
        for _ in 0..10 {
            let words = random_options(&mut choices);
            let stock = sorted(ask_stock(disk.path(), &words));
            let ours = options(&words, &tree).and_then(|options| sent(&tree, &options, "s/"));
            let ours = sorted(ours.map_err(|error| error.exit_code()));
            let rules: Vec<_> = tree.files.iter().filter(|(_, text)| !text.is_empty()).collect();
            assert_eq!(ours, stock, "round {round}: {words:?} with {rules:?}");
            left_something_out += usize::from(ours.is_ok_and(|names| names.len() < everything));
        }
    }
    assert!(left_something_out > 80, "only {left_something_out} of 200 lists matter");
}

fn sorted(outcome: Result<Vec<String>, i32>) -> Result<Vec<String>, i32> {
    outcome.map(|mut names| {
        names.sort();
        names
    })
}

fn tempdir(tree: &Tree) -> tempfile::TempDir {
    let disk = tempfile::tempdir().unwrap();
    fs::create_dir(disk.path().join("d")).unwrap();
    for (name, contents) in &tree.files {
        let path = disk.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }
    disk
}
