//! Which options are tried, and what lies at the destination before?

/// A set of options with what they need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionSet {
    pub(crate) name: &'static str,
    pub(crate) options: &'static str,
    /// What is done in the folder that holds `src`, `older` and `dst` before, besides laying the older tree at `dst`.
    pub(crate) before: &'static str,
    /// The sources below `src`, separated by blanks.
    pub(crate) sources: &'static str,
    /// Whether `older` is a copy of its own, whose files the run links to.
    pub(crate) own_older: bool,
    /// Whether the destination is empty rather than the older tree.
    pub(crate) new: bool,
    pub(crate) holes: bool,
    /// Too slow for every run.
    pub(crate) slow: bool,
}

const PLAIN: OptionSet = OptionSet {
    name: "",
    options: "",
    before: "",
    sources: "src/",
    own_older: false,
    new: false,
    holes: false,
    slow: false,
};

const fn set(name: &'static str, options: &'static str) -> OptionSet {
    OptionSet { name, options, ..PLAIN }
}

const fn new(name: &'static str, options: &'static str) -> OptionSet {
    OptionSet { name, options, new: true, ..PLAIN }
}

const fn after(name: &'static str, options: &'static str, before: &'static str) -> OptionSet {
    OptionSet { before, ..set(name, options) }
}

pub(crate) const ALL: [OptionSet; 22] = [
    set("-a", "-a"),
    new("-a, new", "-a"),
    set("-aHAX", "-aHAX"),
    new("-aHAX, new", "-aHAX --numeric-ids"),
    set("-a --delete", "-a --delete"),
    set("-az zstd", "-az --zc=zstd"),
    set("-az lz4", "-az --zc=lz4"),
    set("-az zlibx", "-az --zc=zlibx"),
    set("-az zlib", "-az --zc=zlib"),
    set("-az", "-az"),
    set("-ac", "-ac"),
    set("--inplace", "-a --inplace"),
    set("--append-verify", "-a --append-verify"),
    after(
        "--partial-dir after a cut",
        "-a --partial-dir=.cut",
        "mkdir dst/files/.cut; head -c 1500000 src/files/big-text >dst/files/.cut/big-text
        head -c 9000 src/names/new >dst/files/.cut/unrelated; mkdir dst/names/.cut; head -c 9000 src/names/new >dst/names/.cut/new",
    ),
    OptionSet { new: true, own_older: true, ..set("--link-dest", "-aH --link-dest=../older") },
    set("--fuzzy", "-ay --delete-after"),
    after("--backup-dir", "-ab --delete --backup-dir=../kept", "mkdir kept"),
    set("--delay-updates", "-a --delete-delay --delay-updates"),
    OptionSet {
        sources: "src",
        ..after(
            "-R --files-from",
            "-aR --files-from=list",
            "printf 'files/text-700\\nnames/\\ndeep/a-folder-in-a-folder\\nlinks/./other\\nmodes/file-4755\\nmissing\\n' >list",
        )
    },
    after("filters with merge files", "-a --delete -F --filter=:_.rules",
        "cp -p src/.rules dst/; mkdir dst/many/spared",
    ),
    OptionSet { holes: true, new: true, ..set("--sparse", "-aS") },
    OptionSet { new: true, ..set("--fake-super -X", "-aX") },
];

/// Sets that only the full matrix runs.
pub(crate) const SLOW: [OptionSet; 1] = [OptionSet {
    sources: "large",
    slow: true,
    new: true,
    holes: true,
    ..after(
        "a file over 4 GiB",
        "-aS",
        "mkdir large; truncate -s 4400M large/file; echo end >>large/file; touch -d 2020-01-01 large/file large",
    )
}];
