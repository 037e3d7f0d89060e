//! Merge files within merge files, anchors, and the directories above a transfer, as a stock rsync
//! was seen to treat them.

use crate::fixture::{Tree, options};
use crate::walk::sent;

const FILES: [&str; 6] = ["a.c", "b.h", "d/e.c", "d/f.o", "d/g/h.c", "k/z"];

fn words(rules: &[&str]) -> Vec<String> {
    rules.iter().flat_map(|rule| ["-f".to_owned(), (*rule).to_owned()]).collect()
}

/// Lists what the rules leave out of the tree with these further files.
fn left_out(rules: &[&str], files: &[(&str, &str)]) -> Vec<String> {
    let mut tree = Tree::default();
    for name in FILES {
        tree.add("s", name, b"");
    }
    for (name, contents) in files {
        tree.add("s", name, contents.as_bytes());
    }
    let listed = sent(&tree, &options(&words(rules), &tree).unwrap(), "s/").unwrap();
    let mut all = sent(&tree, &options(&[], &tree).unwrap(), "s/").unwrap();
    all.retain(|name| !listed.contains(name));
    all
}

#[test]
fn modifiers_of_a_merge_pass_to_its_rules() {
    let dirs = [("../xf", "- k\n- a.c\n")];
    assert_eq!(left_out(&[". xf/"], &dirs), ["k/", "k/z"]);
    let dirs = [(".rf", "- k\n- a.c\n")];
    assert_eq!(left_out(&[": .rf/"], &dirs), ["k/", "k/z"]);
    let plain = [(".rf", "- a.c\n")];
    assert_eq!(left_out(&[":x .rf"], &plain), ["a.c"]);
    assert_eq!(left_out(&[":r .rf"], &plain), [""; 0]);
    let default_name = [("../.cvsignore", "- a.c")];
    assert_eq!(left_out(&[".C"], &default_name), ["a.c"]);
}

#[test]
fn an_exclamation_mark_clears_only_where_rules_or_cvs_words_are_read() {
    let files = [(".rf", "!\na.c\n!\nb.h\n"), ("../xf", "!\na.c\n!\nb.h\n")];
    assert_eq!(left_out(&[":- .rf"], &files), ["a.c", "b.h"]);
    assert_eq!(left_out(&["- k", ".- xf"], &files), ["a.c", "b.h", "k/", "k/z"]);
    assert_eq!(left_out(&["- k", ".C xf"], &files), ["b.h"]);
    assert_eq!(left_out(&["- k", ".-w xf"], &files), ["a.c", "b.h", "k/", "k/z"]);
    assert_eq!(left_out(&[": .rf"], &[("d/.rf", "- f.o\n!\n- e.c\n")]), ["d/e.c"]);
}

#[test]
fn the_absolute_modifier_takes_the_anchor_from_a_directory_file() {
    let files = [("d/.rf", "-/ /w/s/d/e.c\n-/ /d/f.o\n-/ s/d/g\n")];
    assert_eq!(left_out(&[": .rf"], &files), ["d/e.c", "d/g/", "d/g/h.c"]);
    let files = [("d/.rf", "-/ /f.o\n-/ d/e.c\n")];
    assert_eq!(left_out(&[": .rf"], &files), ["d/e.c"]);
    let files = [("d/.rf", "/e.c\nd/f.o\n/d/f.o\n/w/s/d/g\n")];
    assert_eq!(left_out(&[":-/ .rf"], &files), ["d/f.o", "d/g/", "d/g/h.c"]);
}

#[test]
fn an_anchor_is_literal_even_in_a_directory_named_like_a_wildcard() {
    // Here a stock rsync takes the brackets of the directory for a set, and finds nothing.
    let files = [("q[1]/x1", ""), ("q[1]/.rf", "- /x*\n")];
    assert_eq!(left_out(&[": .rf"], &files), ["q[1]/x1"]);
}

#[test]
fn a_merge_within_a_directory_file_is_found_from_the_root_or_from_that_directory() {
    let files = [("d/.rf", ". ./sub/x\n"), ("d/sub/x", ". ./y\n- e.c\n"), ("d/y", "- f.o\n")];
    assert_eq!(left_out(&[": .rf"], &files), ["d/e.c", "d/f.o"]);
    let files = [("d/.rf", ". sub\n"), ("sub", "- f.o\n")];
    assert_eq!(left_out(&[": .rf"], &files), ["d/f.o"]);
}

#[test]
fn a_directory_file_can_begin_another_that_ends_with_it() {
    let outer = ("d/.rf", ": .zz\n");
    assert_eq!(left_out(&[": .rf"], &[outer, (".zz", "- k\n- g\n")]), [""; 0]);
    assert_eq!(left_out(&[": .rf"], &[outer, ("d/.zz", "- f.o\n"), ("k/.zz", "- z")]), ["d/f.o"]);
    let below = ("d/g/.zz", "- h.c");
    assert_eq!(left_out(&[": .rf"], &[outer, below]), ["d/g/h.c"]);
    assert_eq!(left_out(&[":n .rf"], &[outer, below]), [""; 0]);
    let cleared = ("d/.rf", ": .zz\n!\n- e.c\n");
    assert_eq!(left_out(&[": .rf"], &[cleared, below]), ["d/e.c"]);
    let mutual = ("d/.zz", "- h.c\n: .rf\n");
    assert_eq!(left_out(&[": .rf"], &[outer, mutual]), ["d/g/h.c"]);
}

#[test]
fn a_directory_file_can_ask_for_files_above_it() {
    let above = (".zz", "- g\n- a.c\n- /d/e.c\n");
    let gone = ["d/e.c", "d/g/", "d/g/h.c"];
    assert_eq!(left_out(&[": .rf"], &[("d/.rf", ": /.zz\n"), above]), gone);
    assert_eq!(left_out(&[": .rf"], &[("d/.rf", ": ../.zz\n"), above]), gone);
    assert_eq!(left_out(&[": .rf"], &[("d/.rf", ": sub/.zz\n"), above]), [""; 0]);
}

#[test]
fn the_same_name_twice_is_one_merge_and_still_hides_its_file() {
    let files = [("d/.rf", "- a.c\n"), (".rf", "- .rf\n")];
    assert_eq!(left_out(&[":e .rf", "- h.c", ":ne .rf"], &files), [".rf", "d/.rf", "d/g/h.c"]);
    assert_eq!(left_out(&[": .rf", ":e x/.rf"], &files), [".rf", "d/.rf"]);
}

/// Lists what the rules let through of a source in a tree that has filter files above it.
fn sent_from_below(rules: &[&str], relative: bool, source: &str) -> Vec<String> {
    let mut tree = Tree::default();
    for name in ["1", "2", "3", "in/1", "in/2", "in/3"] {
        tree.add("up/src/path", name, b"");
    }
    tree.add("up", ".rsync-filter", b"- /src/path/1\n- 2\n- /other/q/3\n");
    tree.add("up/src", ".rsync-filter", b"- /path/in/3\n- /in/1\n");
    let mut options = options(&words(rules), &tree).unwrap();
    options.relative = relative;
    sent(&tree, &options, source).unwrap()
}

#[test]
fn a_merge_rule_with_a_path_reads_the_directories_above_the_transfer() {
    let everywhere = [": /.rsync-filter"];
    assert_eq!(sent_from_below(&everywhere, false, "up/src/path/"), ["3", "in/", "in/1"]);
    let below = ["path/", "path/3", "path/in/", "path/in/1"];
    assert_eq!(sent_from_below(&everywhere, false, "up/src/path"), below);
    assert_eq!(
        sent_from_below(&[": ../../.rsync-filter"], false, "up/src/path/"),
        ["3", "in/", "in/1"]
    );
    let relative = sent_from_below(&everywhere, true, "up/./src/path/");
    assert_eq!(relative, ["src/", "src/path/", "src/path/3", "src/path/in/", "src/path/in/1"]);
    assert_eq!(sent_from_below(&everywhere, false, "up/src/path/2"), ["2"]);
    assert_eq!(sent_from_below(&[":n /.rsync-filter"], false, "up/src/path/").len(), 7);
}

#[test]
fn the_path_of_a_merge_rule_counts_from_the_directory_entered_first() {
    let parent_only = ["1", "2", "3", "in/", "in/1", "in/2"];
    assert_eq!(sent_from_below(&[": ../.rsync-filter"], false, "up/src/path/"), parent_only);
    let normal = sent_from_below(&[": ../x/../.rsync-filter"], false, "up/src/path/");
    assert_eq!(normal, parent_only);
    let named = sent_from_below(&[": ../.rsync-filter"], false, "up/src/path");
    assert_eq!(named.len(), 7);
    let elsewhere = sent_from_below(&[": src/.rsync-filter"], false, "up/src/path");
    assert_eq!(elsewhere.len(), 8);
    let absolute = sent_from_below(&[": /w/up/src/.rsync-filter"], false, "up/src/path");
    assert_eq!(absolute.len(), 7);
}
