//! Rules and files that are refused, and what is said about them.

use std::io;

use proptest::prelude::*;

use filter::{ActiveFilter, Error, RuleList, Settings, Side};

fn add(rule: &str) -> Result<RuleList, Error> {
    let mut rules = RuleList::new(Settings::default());
    rules.add_filter(rule.as_bytes(), &mut |_| Ok(None))?;
    Ok(rules)
}

#[test]
fn stock_refuses_these_rules_with_exit_code_1() {
    let rules = [
        "! x",
        "clear ",
        "!_",
        "clear_",
        " - d",
        "#",
        "exclude\td",
        "-\td",
        "excludes d",
        "exclude!d",
        "exclude",
        "-",
        "-s",
        "- ",
        "-d",
        "-s,r d",
        "-,,s d",
        ":-- .x",
        ":-+ .x",
        ":-C .x",
        ":C- .x",
        ":e",
        ":+C .x",
        "--s d",
        "-+ d",
        "+- d",
        "Hn a",
        "Pr a",
        "H",
        "He a",
        "-e a",
        "dir-merge,-C a",
        ":! .x",
        "HC",
        "Hs d",
        "-w a",
        "-n a",
        "x d",
        ".",
        "-foo d",
    ];
    for rule in rules {
        let error = add(rule).expect_err(rule);
        assert_eq!(error.exit_code(), 1, "{rule}: {error}");
    }
}

#[test]
fn stock_takes_these_rules() {
    let rules = [
        "",
        "clear",
        "clear,",
        "!,",
        "!",
        "-ss d",
        ":nn .x",
        ":Cn .x",
        ":nC",
        ":wC",
        ":C .x",
        ":Ce",
        "-C foo",
        "-C ",
        "exclude,C",
        "-pC",
        "+C",
        "-C!",
        "P,p a",
        "Hp a",
        "H/ a",
        "H! a",
        "Hx a",
        "H, a",
        "hide,p a",
        "-,s d",
        ":x .rf",
        ": ..",
        ": /",
        "dir-merge nope",
    ];
    for rule in rules {
        add(rule).expect(rule);
    }
}

#[test]
fn a_message_names_the_rule_the_file_and_the_line() {
    let mut rules = RuleList::new(Settings::default());
    let contents = b"- a\r\n\r\n# b\r\nbad\x1b rule\r\n";
    let error = rules
        .add_filter(b". list", &mut |_| Ok(Some(contents.to_vec())))
        .expect_err("a rule without a name");
    assert_eq!(
        error.to_string(),
        "filter rule \"bad\\x1b rule\" in \"list\" line 4: no such rule; \
         one of - + . : ! H S P R or its long name must stand first"
    );
}

#[test]
fn a_missing_merge_file_ends_with_exit_code_11() {
    let error = add(". nope").expect_err("nothing to merge");
    assert_eq!(error.exit_code(), 11);
    assert_eq!(
        error.to_string(),
        "cannot read the filter file \"nope\" named in an option: no such file"
    );
}

#[test]
fn files_that_merge_each_other_end_at_depth_32() {
    let mut rules = RuleList::new(Settings::default());
    let chain = |last: u32| {
        move |path: &[u8]| {
            let number: u32 = std::str::from_utf8(&path[1..]).unwrap().parse().unwrap();
            let next = format!(". m{}\n", number + 1);
            Ok(Some(if number == last { b"- a\n".to_vec() } else { next.into_bytes() }))
        }
    };
    rules.add_filter(b". m0", &mut chain(31)).unwrap();
    let error = rules.add_filter(b". m0", &mut chain(32)).unwrap_err();
    assert!(matches!(error, Error::TooDeep { .. }));
    assert_eq!(error.exit_code(), 11);
}

#[test]
fn a_directory_cannot_add_merge_files_without_end() {
    let rules = add(": .rf").unwrap();
    let mut filter = ActiveFilter::new(&rules, Side::Sender, b"/w");
    let more: String = (0..300).map(|number| format!(": .f{number}\n")).collect();
    let read = &mut |path: &[u8]| Ok(path.ends_with(b"/.rf").then(|| more.clone().into_bytes()));
    let error = filter.enter_dir(b"", read).unwrap_err();
    assert!(matches!(error, Error::TooManyMerges { .. }));
}

#[test]
fn an_error_of_the_reader_is_passed_on_with_the_path() {
    let rules = add(": .rf").unwrap();
    let mut filter = ActiveFilter::new(&rules, Side::Sender, b"/w/");
    let error = filter
        .enter_dir(b"a/b", &mut |_| Err(io::Error::from(io::ErrorKind::PermissionDenied)))
        .unwrap_err();
    assert_eq!(error.to_string(), "cannot read the filter file \"/w/a/b/.rf\": permission denied");
}

#[test]
fn a_rule_too_long_for_rsync_is_refused() {
    let error = add(&format!("- {}", "x".repeat(4096))).expect_err("a long pattern");
    assert!(error.to_string().ends_with("it is too long"), "{error}");
    add(&format!("- {}", "x".repeat(4095))).expect("a pattern just short enough");
}

proptest! {
    #[test]
    fn no_rule_and_no_file_makes_it_panic(
        rule in "[-+.:!HSPRa-z,_/ \\*\\[\\]\\\\x00Cnwexrps]{0,12}",
        contents in "([-+.:!HSPR][-+/!Cnwexrps]{0,3}[ _][a*/.\\[\\]!?\\\\-]{1,6}\n|!\n|[\\x00-\\xff]{0,9}){0,6}",
        path in "[a/.\\[-]{1,9}",
    ) {
        let mut rules = RuleList::new(Settings::default());
        let file = contents.as_bytes();
        let _ = rules.add_filter(rule.as_bytes(), &mut |_| Ok(Some(file.to_vec())));
        let _ = rules.add_exclude_from(b"list", file);
        let _ = rules.add_filter(b": .rf", &mut |_| Ok(None));
        let mut filter = ActiveFilter::new(&rules, Side::Receiver, b"/w");
        for dir in ["", "a", "a/a"] {
            let _ = filter.enter_dir(dir.as_bytes(), &mut |_| Ok(Some(file.to_vec())));
            filter.check(path.as_bytes(), true);
            filter.hit_in_doomed_dir(path.as_bytes(), false);
            filter.check_xattr(path.as_bytes());
        }
        filter.leave_dir();
        let _ = rules.wire_rules(31);
    }
}
