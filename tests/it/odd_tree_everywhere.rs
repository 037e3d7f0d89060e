//! Does a tree with one of everything arrive equal at each protocol, by each way, at each stock rsync?

use crate::harness::compare::{self, Look};
use crate::harness::odd_tree::{self, Odd};
use crate::harness::{FarSide, Rsync, Way, repl, stock, temp_dir};

#[test]
fn protocol_29_carries_the_odd_tree() {
    push_everywhere(29);
}

#[test]
fn protocol_30_carries_the_odd_tree() {
    push_everywhere(30);
}

#[test]
fn protocol_31_carries_the_odd_tree() {
    push_everywhere(31);
}

#[test]
fn protocol_32_carries_the_odd_tree() {
    push_everywhere(32);
}

/// Pushes the tree new, again, and after days of use, by each way to each stock rsync.
fn push_everywhere(protocol: u32) {
    for way in [Way::Daemon, Way::Ssh, Way::Pipe] {
        for rsync in Rsync::ALL {
            println!("protocol {protocol}, {way:?}, {rsync:?}");
            push_three_nights(protocol, way, rsync);
        }
    }
}

fn push_three_nights(protocol: u32, way: Way, rsync: Rsync) {
    let folder = temp_dir();
    let source = folder.path().join("source");
    odd_tree::build(&source, Odd::for_protocol(protocol));
    let far = FarSide::start(way, rsync);
    let chosen = format!("--protocol={protocol}");
    let mut options = vec![chosen.as_str(), "--delete", "--json"];
    let mut look = Look::for_protocol(protocol.min(rsync.newest_protocol()));
    if protocol < 30 {
        options.extend(["--no-acls", "--no-xattrs"]);
        look.attributes = false;
    }
    let words = far.push(&options, &source, "copy");
    let further: &[&str] = if look.attributes { &["-AX"] } else { &[] };

    repl(&words).run().expect_success();
    compare::assert_equal(&source, &far.folder("copy"), look);
    compare::assert_stock_finds_nothing(&source, &far.folder("copy"), further);

    let again = repl(&words).run().expect_success();
    assert_eq!(super::output::summary_of(&again).files_sent, 0, "{}", again.told());

    odd_tree::live_in(&source);
    repl(&words).run().expect_success();
    compare::assert_equal(&source, &far.folder("copy"), look);
    compare::assert_stock_finds_nothing(&source, &far.folder("copy"), further);
}

#[test]
fn what_stock_refuses_at_protocol_29_ends_with_its_code_and_its_reason() {
    let folder = temp_dir();
    let source = folder.path().join("source");
    std::fs::create_dir(&source).unwrap();
    let far = FarSide::start(Way::Pipe, Rsync::Installed);
    for (option, reason) in [("-A", "acls"), ("-X", "xattrs")] {
        let options = [option, "--protocol=29"];
        let theirs = stock(Rsync::Installed, far.stock_push(&options, &source, "stock")).run();
        let ours = repl(far.push(&options, &source, "ours")).run();
        assert_eq!(ours.code(), theirs.code(), "{}{}", ours.told(), theirs.told());
        for word in [reason, "29", "30"] {
            assert!(ours.stderr().contains(word), "no {word}: {}", ours.told());
            assert!(theirs.stderr().contains(word), "no {word}: {}", theirs.told());
        }
    }
}
