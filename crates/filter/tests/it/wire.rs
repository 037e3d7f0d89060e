//! The texts that a stock rsync sends for the same options, and what a server makes of them.

use filter::{Closing, CvsIgnore, Error, RuleList, Settings};

const BUILT_IN_CVS: &str = "RCS SCCS CVS CVS.adm RCSLOG cvslog.* tags TAGS .make.state \
    .nse_depinfo *~ #* .#* ,* _$* *$ *.old *.bak *.BAK *.orig *.rej .del-* *.a *.olb *.o *.obj \
    *.so *.exe *.Z *.elc *.ln core .svn/ .git/ .hg/ .bzr/";

fn list(delete_excluded: bool, rules: &[&str]) -> RuleList {
    let cvs_ignore = CvsIgnore { home_file: Vec::new(), variable: b"e1 e2".to_vec() };
    let mut list = RuleList::new(Settings { cvs_ignore, delete_excluded, ..Settings::default() });
    let merged = b"- a\n:n .q\n+ b/\n- /c\n";
    for rule in rules {
        list.add_filter(rule.as_bytes(), &mut |_| Ok(Some(merged.to_vec()))).unwrap();
    }
    list
}

fn texts(list: &RuleList, protocol: u32) -> Vec<String> {
    let texts = list.wire_rules(protocol).unwrap();
    texts.into_iter().map(|text| String::from_utf8(text).unwrap()).collect()
}

/// The built-in CVS list with a prefix, and the words of `$CVSIGNORE` with another.
fn cvs(built_in: &str, own: &str) -> Vec<String> {
    let built_in = BUILT_IN_CVS.split_whitespace().map(|word| format!("{built_in} {word}"));
    built_in.chain([format!("{own} e1"), format!("{own} e2")]).collect()
}

#[test]
fn prefixes_are_brought_into_the_one_order() {
    let cases: [(&[&str], &[&str]); 17] = [
        (&[":es .x"], &["- .x"]),
        (&[":e /a/.x"], &["- .x", ": /a/.x"]),
        (&[":pe .x"], &["- .x", ":p .x"]),
        (&[":exsrp/ .x"], &["- .x", ":/xsrp .x"]),
        (&[":Ce"], &["- .cvsignore", ":C .cvsignore"]),
        (&[":+w/ .x"], &[":/w+ .x"]),
        (&[".s r1"], &[]),
        (&[".r r1"], &["-r a", ":nr .q", "+r b/", "-r /c"]),
        (&["-/!sr a/"], &["-/!sr a/"]),
        (&["P a", "R b", "H c", "S d", "Hp! /x"], &["-r a", "+r b"]),
        (&["-Csp"], &[]),
        (&["-x user.*", "-xr a"], &["-x user.*", "-xr a"]),
        (
            &[":n- .a", ":nw .a", ":nw- .b", ":w .c", ":n .d/"],
            &[":n- .a", ":nw- .b", ":w .c", ":n .d/"],
        ),
        (&["- foo//", "- /", "- //"], &["- foo//", "- /", "- //"]),
        (&[": .rf", ": .rf", ":e .rf"], &[": .rf", "- .rf"]),
        (&["- a", "-_b ", "exclude,r c d"], &["- a", "- b ", "-r c d"]),
        (&["- d", "!", "- k"], &["- k"]),
    ];
    for (rules, expected) in cases {
        assert_eq!(texts(&list(false, rules), 31), expected, "{rules:?}");
    }
}

#[test]
fn old_style_options_are_sent_as_rules() {
    let mut list = list(false, &[]);
    list.add_exclude(b"- a").unwrap();
    list.add_exclude(b"!").unwrap();
    list.add_exclude(b" c").unwrap();
    list.add_include(b"d/").unwrap();
    assert_eq!(texts(&list, 32), ["-  c", "+ d/"]);
}

#[test]
fn cvs_rules_are_expanded_in_place() {
    assert_eq!(texts(&list(false, &["-C"]), 31), cvs("-p", "-"));
    assert_eq!(texts(&list(false, &["-C foo"]), 29), cvs("-", "-"));
    assert_eq!(texts(&list(false, &["+C"]), 31), cvs("+p", "+"));
    assert_eq!(texts(&list(false, &["-!C"]), 31), cvs("-!p", "-!"));
}

#[test]
fn implied_rules_follow_in_stock_order() {
    let closing =
        Closing { backup_suffix: Some(b"~"), partial_dir: Some(b".pp"), cvs_exclude: true };
    for (protocol, partial, built_in) in [(29, "- .pp/", "-"), (31, "-p .pp/", "-p")] {
        let mut list = list(false, &[]);
        list.add_rsync_filter().unwrap();
        list.add_rsync_filter().unwrap();
        list.add_exclude(b"x").unwrap();
        list.close(&closing).unwrap();
        let head = [": /.rsync-filter", "- .rsync-filter", "- x", "-r *~", partial];
        let mut expected: Vec<_> = head.map(str::to_owned).into();
        expected.push(":C .cvsignore".to_owned());
        expected.extend(cvs(built_in, "-"));
        assert_eq!(texts(&list, protocol), expected);
    }
}

#[test]
fn an_absolute_partial_dir_adds_nothing() {
    let mut list = list(false, &[]);
    list.close(&Closing { partial_dir: Some(b"/a"), ..Closing::default() }).unwrap();
    assert!(list.is_empty());
}

#[test]
fn delete_excluded_keeps_rules_without_a_side_at_home() {
    let rules = ["- a", "P b", ": .x", ":- .y", ":C", "-sr c", "-C", ":s .z", ":r .w", "S e"];
    let mut list = list(true, &rules);
    list.close(&Closing { backup_suffix: Some(b"~"), ..Closing::default() }).unwrap();
    assert_eq!(texts(&list, 31), ["-r b", ": .x", "-sr c", ":r .w"]);
}

#[test]
fn a_perishable_rule_is_too_new_for_protocol_29() {
    for rule in ["-p a", ":pe .x"] {
        let error = list(false, &[rule]).wire_rules(29).unwrap_err();
        assert!(matches!(error, Error::TooNew { .. }));
        assert_eq!(error.exit_code(), 2);
    }
    assert_eq!(texts(&list(false, &["-sp a"]), 29), [""; 0]);
}

fn pull_texts(list: &RuleList, protocol: u32) -> Vec<String> {
    let texts = list.wire_rules_for_pull(protocol);
    texts.into_iter().map(|text| String::from_utf8(text).unwrap()).collect()
}

#[test]
fn a_pull_sends_what_concerns_the_sender_as_recorded() {
    let rules =
        ["- a", "P b", "H c", "+sr d/", "-p e", ": .rf", ":e .rg", ":pn- .rh", "-C", "-Csp", "-Cr"];
    let new = "- a|-s c|+sr d/|-p e|: .rf|- .rg|: .rg|:n-p .rh|-C |-Csp ";
    let old = "- a|-s c|+sr d/|- e|: .rf|- .rg|: .rg|:n- .rh|-C |-Cs ";
    for (protocol, expected) in [(32, new), (30, new), (29, old)] {
        assert_eq!(pull_texts(&list(false, &rules), protocol).join("|"), expected);
    }
    let rules = ["- a", "P b", ":C", ": .x", ":- .y"];
    let expected = ["- a", ":C .cvsignore", ": .x", ":- .y"];
    assert_eq!(pull_texts(&list(true, &rules), 32), expected);
}

#[test]
fn a_pull_sends_the_partial_dir_and_leaves_the_cvs_option_to_the_sender() {
    let closing =
        Closing { backup_suffix: Some(b"~"), partial_dir: Some(b".pp"), cvs_exclude: true };
    for (protocol, partial) in [(32, "-p .pp/"), (29, "- .pp/")] {
        let mut list = list(false, &["- z"]);
        list.close(&closing).unwrap();
        assert_eq!(pull_texts(&list, protocol), ["- z", partial]);
    }
}

#[test]
fn a_server_reads_back_what_it_would_be_sent() {
    let rules = ["-/!sr a/", "-p e", ":nw+ .a", ":C", "-Csp", "+ x y", "-x user.*", "-r /k", "- /"];
    let list = list(false, &rules);
    let texts = list.wire_rules_for_pull(32);
    let there = RuleList::from_wire(&texts, Settings::default()).unwrap();
    assert_eq!(there.wire_rules_for_pull(32), texts);
    assert!(there.has_xattr_rules());
    let texts = list.wire_rules(32).unwrap();
    let there = RuleList::from_wire(&texts, Settings::default()).unwrap();
    assert_eq!(there.wire_rules(32).unwrap(), texts);
}

#[test]
fn a_server_knows_the_long_grammar_and_opens_no_file() {
    let read = |rules: &[&[u8]]| {
        let rules: Vec<_> = rules.iter().map(|rule| rule.to_vec()).collect();
        RuleList::from_wire(&rules, Settings::default())
    };
    let list = read(&[b"- gone", b"clear", b"protect,p /a", b"hide_b"]).unwrap();
    assert_eq!(texts(&list, 32), ["-rp /a"]);
    assert_eq!(pull_texts(&list, 32), ["-s b"]);
    let refused = read(&[b". /etc/shadow"]).unwrap_err();
    assert!(matches!(refused, Error::Merge { .. }), "{refused}");
    let refused = read(&[b"exclude"]).unwrap_err();
    assert!(refused.to_string().contains("in the far side's list"), "{refused}");
    let merges: Vec<_> = (0..300).map(|n| format!(": .f{n}").into_bytes()).collect();
    let refused = RuleList::from_wire(&merges, Settings::default()).unwrap_err();
    assert!(matches!(refused, Error::TooManyMerges { .. }), "{refused}");
}
