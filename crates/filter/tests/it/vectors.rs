//! Recorded verdicts of a stock rsync.

use filter::{ActiveFilter, RuleList, Settings, Side, Verdict};
use serde_json::Value;

use crate::fixture::{Tree, options};
use crate::walk::{mirror, sent};

fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/filters.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn cases(kind: &str, expected: usize) -> Vec<Value> {
    let cases = vectors()[kind].as_array().unwrap().clone();
    assert_eq!(cases.len(), expected, "number of {kind} cases");
    cases
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

fn add_files(tree: &mut Tree, dir: &str, names: &Value, contents: &Value) {
    for name in strings(names) {
        tree.add(dir, &name, b"");
    }
    for (name, text) in contents.as_object().unwrap() {
        tree.add(dir, name, text.as_str().unwrap().as_bytes());
    }
}

#[test]
fn single_patterns_match_as_recorded() {
    for case in cases("match", 232) {
        let mut rules = RuleList::new(Settings::default());
        rules.add_filter(case["rule"].as_str().unwrap().as_bytes(), &mut |_| Ok(None)).unwrap();
        let filter = ActiveFilter::new(&rules, Side::Sender, b"/w/s");
        let path = case["path"].as_str().unwrap();
        let verdict = filter.check(path.as_bytes(), case["is_dir"].as_bool().unwrap());
        assert_eq!(verdict == Verdict::Exclude, case["excluded"].as_bool().unwrap(), "{case}");
    }
}

#[test]
fn rule_lists_choose_the_recorded_names() {
    for case in cases("tree", 94) {
        let mut tree = Tree::default();
        add_files(&mut tree, "s", &case["tree"], &case["files"]);
        let source = case["source"].as_str().unwrap();
        let outcome = options(&strings(&case["options"]), &tree)
            .and_then(|options| sent(&tree, &options, source));
        match outcome {
            Ok(mut listed) => {
                let mut expected = strings(&case["listed"]);
                expected.sort();
                listed.sort();
                assert_eq!(case["exit"], 0, "{case}");
                assert_eq!(listed, expected, "{case}");
            }
            Err(error) => assert_eq!(case["exit"], error.exit_code(), "{case}: {error}"),
        }
    }
}

#[test]
fn deletions_spare_the_recorded_names() {
    for case in cases("delete", 21) {
        let mut tree = Tree::default();
        add_files(&mut tree, "s", &case["source_tree"], &case["source_files"]);
        add_files(&mut tree, "d", &case["dest_tree"], &case["dest_files"]);
        let options = options(&strings(&case["options"]), &tree).unwrap();
        let left = mirror(&mut tree, &options).unwrap();
        assert_eq!(left, strings(&case["dest_after"]), "{case}");
    }
}
