//! What is copied, and with which options?

use std::path::PathBuf;

use toml::{Spanned, Value};
use wire::CompressName;
use wire::escape::printable;
use wire::limits::BLOCK_LEN;
use wire::options::{
    DeleteTiming, FilterOption, Options, nearest, parse_config, refused_in_config, size,
};
use wire::setup::CompressWish;

use super::Target;
use super::check::{self, Below};
use super::file::{AttributeKey, CompressKey, DirectionKey, JobKeys, Text};
use super::problem::Problems;

/// What a NAS keeps beside the files of people, and what `repl` keeps beside its copies.
const DEFAULT_EXCLUDES: [&str; 4] = ["@eaDir/", "#recycle/", "#snapshot/", ".repl/"];

/// Is one thing to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its name in the configuration, and that of its directory on the target.
    pub name: String,
    /// The name of its target.
    pub target: String,
    /// What is copied, and in which direction.
    pub work: JobWork,
    /// What is kept beyond `-a`.
    pub attributes: Attributes,
    options: Options,
}

/// Tells what a job copies; a slash at the end of a source means the content, as in rsync.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobWork {
    /// To the target.
    Push {
        /// Absolute paths of this machine.
        sources: Vec<PathBuf>,
    },
    /// From the target.
    Pull {
        /// Paths below the target's own.
        from: Vec<String>,
        /// The directory of this machine that gets them.
        into: PathBuf,
    },
}

/// Tells what a job keeps beyond `-a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributes {
    /// Access control lists.
    pub acls: bool,
    /// Extended attributes.
    pub xattrs: bool,
    /// Hard links.
    pub hard_links: bool,
    /// Whether the file names them; those of the default are left out where the far side cannot.
    pub named: bool,
}

/// Tells whether the directories that a NAS makes for itself are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultExcludes {
    /// They are, unless a rule of the job takes them in.
    LeftOut,
    /// They are not (`--no-default-excludes`).
    TakenIn,
}

impl Job {
    /// Returns the options of a session for this job.
    ///
    /// They are `-a`, the attributes, `--numeric-ids`, the rules of `filter`, then those of
    /// `exclude`, what the other keys and `options` say, and last the default excludes.
    pub fn options(&self, excludes: DefaultExcludes) -> Options {
        let mut options = self.options.clone();
        if excludes == DefaultExcludes::LeftOut {
            options.filters.extend(self::default_excludes());
        }
        options
    }
}

/// Returns the rules that leave out what a NAS makes for itself.
pub fn default_excludes() -> impl Iterator<Item = FilterOption> {
    DEFAULT_EXCLUDES.into_iter().map(|pattern| FilterOption::Exclude(pattern.into()))
}

impl JobKeys {
    /// Checks what the keys say together.
    pub(super) fn check(
        self,
        name: String,
        targets: &[Target],
        problems: &mut Problems<'_>,
    ) -> Job {
        check_target(&self.target, targets, problems);
        let work = self.check_work(problems);
        let attributes = attributes(self.attributes.as_deref());
        let options = self.check_options(attributes, problems);
        Job { name, target: self.target.into_inner(), work, attributes, options }
    }

    /// Checks that the keys of one direction are there, and those of the other are not.
    fn check_work(&self, problems: &mut Problems<'_>) -> JobWork {
        let pulls = self.direction.as_ref().is_some_and(|key| *key.get_ref() == DirectionKey::Pull);
        let span = self.target.span();
        let sources = ("sources", self.sources.as_ref().map(Spanned::span));
        let from = ("from", self.from.as_ref().map(Spanned::span));
        let into = ("into", self.into.as_ref().map(Spanned::span));
        let (needed, strange): (&[_], &[_]) = match pulls {
            true => (&[from, into], &[sources]),
            false => (&[sources], &[from, into]),
        };
        let direction = if pulls { "pull" } else { "push" };
        for (key, _) in needed.iter().filter(|(_, found)| found.is_none()) {
            let message = format!("a job that is to {direction} needs the key `{key}`");
            problems.add(span.clone(), message);
        }
        for (key, found) in strange {
            if let Some(span) = found {
                let message = format!("the key `{key}` is not for a job that is to {direction}");
                problems.add_key(key, span.clone(), message);
            }
        }
        if !pulls {
            let sources = self.sources.as_ref();
            sources.inspect(|sources| check_sources(sources, problems));
            return JobWork::Push {
                sources: sources.map_or_else(Vec::new, |sources| paths(sources.get_ref())),
            };
        }
        let from = self.from.as_ref();
        from.inspect(|from| check_from(from, problems));
        let into = self.into.as_ref();
        if let Some(into) = into.filter(|into| !into.get_ref().starts_with('/')) {
            problems.add(into.span(), "the directory must be an absolute path");
        }
        JobWork::Pull {
            from: from.into_iter().flat_map(|from| from.get_ref()).map(text_of).collect(),
            into: into.map_or_else(PathBuf::new, |into| PathBuf::from(into.get_ref())),
        }
    }

    fn check_options(&self, attributes: Attributes, problems: &mut Problems<'_>) -> Options {
        let mut options = Options::archive();
        options.numeric_ids = true;
        options.acls = attributes.acls;
        options.xattrs = attributes.xattrs.into();
        options.hard_links = attributes.hard_links.into();
        options.delete = self.delete.then_some(DeleteTiming::ByProtocol);
        options.filters = self.rules();
        options.compress = compress_wish(self.compress.unwrap_or(CompressKey::None));
        options.skip_compress = self.skip_compress.as_ref().map(bytes);
        options.block_size =
            self.block_size.as_ref().and_then(|value| check_block_size(value, problems));
        if self.compress.is_none_or(|compress| compress == CompressKey::None)
            && let Some(list) = &self.skip_compress
        {
            let message = "the key `skip_compress` does nothing without `compress`";
            problems.add_key("skip_compress", list.span(), message);
        }
        self.check_words(&mut options, problems);
        options
    }

    fn rules(&self) -> Vec<FilterOption> {
        let rules = self.filter.iter().map(|rule| FilterOption::Filter(bytes(rule)));
        rules.chain(self.exclude.iter().map(|rule| FilterOption::Exclude(bytes(rule)))).collect()
    }

    /// Obeys the words of the key `options`.
    fn check_words(&self, options: &mut Options, problems: &mut Problems<'_>) {
        let words: Vec<Vec<u8>> = self.options.iter().map(bytes).collect();
        let before = options.clone();
        if let Err(error) = parse_config(&words, options) {
            // The word to blame is the first with which the same goes wrong.
            let same = |count: &usize| {
                parse_config(&words[..*count], &mut before.clone()).as_ref() == Err(&error)
            };
            let count = (1..=words.len()).find(same).unwrap_or(words.len());
            let span = self.options[count - 1].span();
            return problems.add(span, error.to_string());
        }
        for (word, text) in words.iter().zip(&self.options) {
            if let Some(why) = hidden_refusal(word, options) {
                problems.add(text.span(), why);
            }
        }
        if options.deletes() && !self.delete {
            let span = self.options.first().map_or(0..0, Spanned::span);
            problems.add_key("options", span, "these options delete; say `delete = true` as well");
        }
    }
}

/// Returns why a word for the far side alone (`-M`) must not go there.
fn hidden_refusal(word: &[u8], options: &Options) -> Option<String> {
    let remote = options.remote_options.iter().find(|remote| word.ends_with(remote))?;
    if remote.starts_with(b"--del") {
        return Some(format!("{}: the job's key `delete` says it", printable(remote)));
    }
    refused_in_config(remote)
}

fn check_target(target: &Text, targets: &[Target], problems: &mut Problems<'_>) {
    let name: &str = target.as_ref();
    let names = || targets.iter().map(|target| target.name.as_str());
    if names().any(|known| known == name) {
        return;
    }
    let hint = match nearest(name, names()) {
        Some(nearest) => format!("did you mean \"{nearest}\"?"),
        None if targets.is_empty() => "there is none; write [targets.NAME]".to_string(),
        None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
    };
    let name = printable(name.as_bytes());
    problems.add(target.span(), format!("no target is called \"{name}\": {hint}"));
}

fn check_sources(sources: &Spanned<Vec<Text>>, problems: &mut Problems<'_>) {
    if sources.get_ref().is_empty() {
        problems.add(sources.span(), "a job needs at least one source");
    }
    let mut names: Vec<&str> = Vec::new();
    for source in sources.get_ref() {
        let text: &str = source.as_ref();
        if !text.starts_with('/') {
            problems.add(source.span(), "a source must be an absolute path");
            continue;
        }
        match text.rsplit('/').next() {
            // The content goes over without a name of its own.
            None | Some("" | ".") => {}
            Some("..") => problems.add(source.span(), "a source cannot end in `..`"),
            Some(name) if names.contains(&name) => {
                let message = format!("a second source called \"{name}\" would land on the first");
                problems.add(source.span(), message);
            }
            Some(name) => names.push(name),
        }
    }
}

fn check_from(from: &Spanned<Vec<Text>>, problems: &mut Problems<'_>) {
    if from.get_ref().is_empty() {
        problems.add(from.span(), "a job needs at least one source");
    }
    for path in from.get_ref() {
        check::far_path(path, Below::Module, problems);
    }
}

fn attributes(named: Option<&[AttributeKey]>) -> Attributes {
    let has = |attribute| named.is_none_or(|named| named.contains(&attribute));
    Attributes {
        acls: has(AttributeKey::Acls),
        xattrs: has(AttributeKey::Xattrs),
        hard_links: has(AttributeKey::HardLinks),
        named: named.is_some(),
    }
}

/// `auto` is rsync's `-z`: the best codec that both sides have.
fn compress_wish(key: CompressKey) -> CompressWish {
    match key {
        CompressKey::None => CompressWish::Off,
        CompressKey::Auto => CompressWish::Negotiate,
        CompressKey::Zstd => CompressWish::Named(CompressName::Zstd),
        CompressKey::Lz4 => CompressWish::Named(CompressName::Lz4),
        CompressKey::Zlibx => CompressWish::Named(CompressName::Zlibx),
        CompressKey::Zlib => CompressWish::Named(CompressName::Zlib),
    }
}

/// Takes bytes as a number, or a size as rsync writes it.
fn check_block_size(value: &Spanned<Value>, problems: &mut Problems<'_>) -> Option<u32> {
    let bytes = match value.get_ref() {
        Value::Integer(number) => u64::try_from(*number).ok(),
        Value::String(text) => size(text.as_bytes()).ok(),
        _ => None,
    };
    let fitting = bytes.and_then(|bytes| u32::try_from(bytes).ok());
    let fitting = fitting.filter(|bytes| (1..=BLOCK_LEN).contains(bytes));
    if fitting.is_none() {
        problems.add(value.span(), "a block size is like 4096 or \"16K\", at most \"128K\"");
    }
    fitting
}

fn bytes(text: &Text) -> Vec<u8> {
    text.get_ref().as_bytes().to_vec()
}

fn text_of(text: &Text) -> String {
    text.get_ref().clone()
}

fn paths(sources: &[Text]) -> Vec<PathBuf> {
    sources.iter().map(|source| PathBuf::from(source.get_ref())).collect()
}
