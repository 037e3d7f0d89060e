//! What do `--help`, `--version`, `--info=help` and `--debug=help` print?
//!
//! All is in rsync's shape, for scripts read it. What rsync is called by, its version and its
//! protocol stand in the first line where they always do; the version names both the rsync whose
//! command line this is and the program that does the work.

use super::{Effect, OptionSpec, Status, all};
use crate::auth::AuthDigest;
use crate::dialect::{CompressName, SumName};
use crate::limits;
use crate::options::{DEBUG_BY_VERBOSITY, Debug, INFO_BY_VERBOSITY, Info};

/// The rsync whose command line and output are followed.
pub const LIKE_RSYNC: &str = "3.5.0";

/// The column in which explanations begin.
const COLUMN: usize = 25;
/// Lists are broken before they get longer.
const WIDTH: usize = 76;

/// What this program can do, as rsync names it: the word, and its name and value in JSON.
const CAPABILITIES: [(&str, &str, &str); 22] = [
    ("64-bit files", "file_bits", "64"),
    ("64-bit inums", "inum_bits", "64"),
    ("64-bit timestamps", "timestamp_bits", "64"),
    ("64-bit long ints", "long_int_bits", "64"),
    ("no socketpairs", "socketpairs", "false"),
    ("symlinks", "symlinks", "true"),
    ("symtimes", "symtimes", "true"),
    ("hardlinks", "hardlinks", "true"),
    ("hardlink-specials", "hardlink_specials", "true"),
    ("hardlink-symlinks", "hardlink_symlinks", "true"),
    ("IPv6", "IPv6", "true"),
    ("atimes", "atimes", "true"),
    ("batchfiles", "batchfiles", "true"),
    ("inplace", "inplace", "true"),
    ("append", "append", "true"),
    ("ACLs", "ACLs", "true"),
    ("xattrs", "xattrs", "true"),
    ("optional secluded-args", "secluded_args", "\"optional\""),
    ("iconv", "iconv", "true"),
    ("prealloc", "prealloc", "true"),
    ("stop-at", "stop_at", "true"),
    ("no crtimes", "crtimes", "false"),
];

/// Options that are on unless their negative is given.
const USUALLY_ON: [&str; 3] = ["motd", "implied-dirs", "inc-recursive"];
/// Options that no person needs to know.
const UNTOLD: [&str; 2] = ["qsort", "msgs2stderr"];

/// Returns what `--version` prints; `own` is the version of this program.
pub fn version(own: &str) -> String {
    let capabilities: Vec<&str> = CAPABILITIES.iter().map(|(word, ..)| *word).collect();
    let mut text = first_line(own);
    text += &format!("repl {own}: rsync's protocol and command line, written anew\n");
    text += "Capabilities:\n";
    text += &broken(&capabilities, ", ");
    text += "Checksum list:\n";
    text += &broken(&sums(true), " ");
    text += "Compress list:\n";
    text += &broken(&compressions(), " ");
    text += "Daemon auth list:\n";
    text += &broken(&AuthDigest::OFFERED.map(AuthDigest::name), " ");
    text + "\nFree software under the MIT licence or the Apache licence 2.0, as you like;\n\
            it comes without any warranty.\n"
}

/// Returns what `-VV` prints.
pub fn version_json(own: &str) -> String {
    let capabilities: Vec<String> =
        CAPABILITIES.iter().map(|(_, name, value)| format!("\"{name}\": {value}")).collect();
    let capabilities: Vec<&str> = capabilities.iter().map(String::as_str).collect();
    let list = |name: &str, names: &[&str]| {
        format!("  \"{name}\": [\n    \"{}\"\n  ],\n", names.join("\", \""))
    };
    let mut text = String::from("{\n  \"program\": \"rsync\",\n");
    text += &format!("  \"version\": \"{LIKE_RSYNC}-repl-{own}\",\n");
    text += &format!("  \"protocol\": \"{}.0\",\n", limits::PROTOCOL_MAX);
    text += &format!("  \"capabilities\": {{\n{}  }},\n", broken(&capabilities, ", "));
    text += &list("checksum_list", &sums(false));
    text += &list("compress_list", &compressions());
    text += &list("daemon_auth_list", &AuthDigest::OFFERED.map(AuthDigest::name));
    text + "  \"license\": \"MIT OR Apache-2.0\"\n}\n"
}

/// Returns what `--help` prints for a program that is called `program`.
pub fn help(program: &str, own: &str) -> String {
    let mut text = version(own);
    text += "\nCopies files to, from and on this machine, and sends only what has changed.\n\n";
    let forms = [
        "SRC [SRC]... DEST",
        "SRC [SRC]... [USER@]HOST:DEST",
        "SRC [SRC]... [USER@]HOST::DEST",
        "SRC [SRC]... rsync://[USER@]HOST[:PORT]/DEST",
        "[USER@]HOST:SRC [DEST]",
        "[USER@]HOST::SRC [DEST]",
        "rsync://[USER@]HOST[:PORT]/SRC [DEST]",
    ];
    for (at, form) in forms.iter().enumerate() {
        let start = if at == 0 { "Usage:" } else { "  or  " };
        text += &format!("{start} {program} [OPTION]... {form}\n");
    }
    text += "With one colon a remote shell reaches HOST; with two, or with rsync://, it is a\n\
             daemon there, and SRC or DEST begins with the name of one of its modules.\n\n\
             Options\n";
    for spec in all().filter(|spec| is_told(spec)) {
        text += &option_line(spec);
    }
    text += &line("--no-OPTION", "turn an option off again (e.g. --no-D)");
    text + &line("--help, -h (*)", "show this help (* -h is help only as the only word)")
}

/// Returns what `--info=help` prints.
pub fn info_help() -> String {
    let added = INFO_BY_VERBOSITY.iter().enumerate().map(|(verbosity, added)| {
        let words = added.iter().map(|(info, level)| match level {
            1 => Info::WORDS[*info as usize].to_string(),
            level => format!("{}{level}", Info::WORDS[*info as usize]),
        });
        format!("{verbosity}) {}\n", words.collect::<Vec<_>>().join(","))
    });
    level_help("--info", &Info::WORDS, &Info::ABOUT, &added.collect::<String>())
}

/// Returns what `--debug=help` prints.
pub fn debug_help() -> String {
    let added = DEBUG_BY_VERBOSITY.iter().enumerate();
    let added = added.map(|(at, words)| format!("{}) {words}\n", at + 2));
    level_help("--debug", &Debug::WORDS, &Debug::ABOUT, &added.collect::<String>())
}

fn level_help(option: &str, words: &[&str], about: &[&str], added: &str) -> String {
    let told = words.iter().zip(about).map(|(word, about)| format!("{word:<10} {about}\n"));
    format!(
        "OPT and OPT1 stand for level 1, OPT2 for level 2, and so on; OPT0 is silence.\n\n{}\n\
         ALL        Everything that {option} has (e.g. all4)\n\
         NONE       Nothing of it (same as all0)\n\
         HELP       This text\n\n\
         What each level of verbosity adds:\n{added}",
        told.collect::<String>()
    )
}

fn first_line(own: &str) -> String {
    let protocol = limits::PROTOCOL_MAX;
    format!("rsync  version {LIKE_RSYNC}-repl-{own}  protocol version {protocol}\n")
}

fn sums(told: bool) -> Vec<&'static str> {
    let name = |sum: SumName| match sum {
        SumName::Xxh64 if told => "xxh64 (xxhash)",
        sum => sum.name(),
    };
    SumName::OFFERED.into_iter().chain([SumName::None]).map(name).collect()
}

fn compressions() -> Vec<&'static str> {
    let offered = CompressName::OFFERED.into_iter().chain([CompressName::None]);
    offered.map(CompressName::name).collect()
}

/// Joins words into indented lines.
fn broken(words: &[&str], between: &str) -> String {
    let mut text = String::new();
    let mut current = String::from("   ");
    for (at, word) in words.iter().enumerate() {
        let after = if at + 1 == words.len() { "" } else { between.trim_end() };
        if current.len() + 1 + word.len() + after.len() > WIDTH {
            text += &current;
            text.push('\n');
            current = String::from("   ");
        }
        current += &format!(" {word}{after}");
    }
    text + &current + "\n"
}

/// Tells whether the help lists an option: what works, and is no matter between two programs.
fn is_told(spec: &OptionSpec) -> bool {
    let name = spec.names[0];
    let works = match spec.status {
        Status::Works => true,
        Status::RsyncOnly(_) => matches!(spec.effect, Effect::Value(..) | Effect::Flag(_)),
        Status::Never(_) => false,
    };
    (works && !UNTOLD.contains(&name)) || name == "version"
}

fn option_line(spec: &OptionSpec) -> String {
    let mut long = spec.names.iter().filter(|name| name.len() > 1);
    let short = spec.names.iter().find(|name| name.len() == 1);
    let value = spec.value.map(|value| format!("={value}")).unwrap_or_default();
    let off = USUALLY_ON.contains(&spec.names[0]);
    let left = match (long.next(), short) {
        (Some(name), _) if off => format!("--no-{name}"),
        (Some(name), Some(letter)) => format!("--{name}{value}, -{letter}"),
        (Some(name), None) => format!("--{name}{value}"),
        (None, letter) => format!("-{}", letter.copied().unwrap_or_default()),
    };
    let others: Vec<String> = long.map(|name| format!("--{name}")).collect();
    let mut about = if off { format!("do not {}", spec.help) } else { spec.help.to_string() };
    if !others.is_empty() && !off {
        about += &format!(" (aka {})", others.join(", "));
    }
    line(&left, &about)
}

fn line(left: &str, about: &str) -> String {
    format!("{left:<width$} {about}\n", width = COLUMN - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_find_version_and_protocol_where_rsync_prints_them() {
        let text = version("0.1.0");
        let first = text.lines().next().unwrap();
        assert_eq!(first, "rsync  version 3.5.0-repl-0.1.0  protocol version 32");
        assert!(text.contains("\nCompress list:\n    zstd lz4 zlibx zlib none\n"));
        assert!(text.contains("xattrs, optional secluded-args, iconv"));
        assert!(text.lines().all(|line| line.len() < 81));
        let json: serde_json::Value = serde_json::from_str(&version_json("0.1.0")).unwrap();
        assert_eq!(json["version"], "3.5.0-repl-0.1.0");
        assert_eq!(json["capabilities"]["xattrs"], true);
    }

    #[test]
    fn the_help_explains_every_option_in_one_line_of_rsyncs_shape() {
        let text = help("rsync", "0.1.0");
        for line in [
            "--verbose, -v            say more\n",
            "--block-size=SIZE, -B    the block size of the delta\n",
            "--no-motd                do not show the daemon's message of the day\n",
            "-D                       same as --devices --specials\n",
            "--version, -V            show the version\n",
        ] {
            assert!(text.contains(line), "{line}");
        }
        assert!(text.contains("Usage: rsync [OPTION]... SRC [SRC]... DEST\n"));
        assert!(!text.contains("--server") && !text.contains("--crtimes"));
        assert!(text.contains("--write-batch=FILE") && text.contains("--list-only"));
    }

    #[test]
    fn the_levels_are_explained_in_rsyncs_shape() {
        assert!(info_help().ends_with(
            "0) NONREG\n1) COPY,DEL,FLIST,MISC,NAME,STATS,SYMSAFE\n\
             2) BACKUP,MISC2,MOUNT,NAME2,REMOVE,SKIP\n"
        ));
        assert!(debug_help().contains("\nDELTASUM   "));
        assert!(debug_help().ends_with("5) CHDIR,DELTASUM4,FLIST4,FUZZY2,HASH,HLINK\n"));
    }
}
