//! Which keys does the file have, and of which types? Exactly the fields that stand here.
//!
//! The types say what TOML can check; what the values mean is checked in the files beside.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Spanned, Value};

use super::problem::Problems;
use super::{Config, check};

/// A key that is known and not obeyed yet.
pub(super) type Later = Option<Spanned<Value>>;
/// A text with its place.
pub(super) type Text = Spanned<String>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    targets: BTreeMap<Text, TargetKeys>,
    #[serde(default)]
    jobs: BTreeMap<Text, JobKeys>,
    timezone: Later,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TargetKeys {
    pub(super) host: Option<Text>,
    pub(super) via: Spanned<ViaKey>,
    pub(super) port: Option<Spanned<u16>>,
    pub(super) module: Option<Text>,
    pub(super) path: Option<Text>,
    pub(super) user: Option<Text>,
    pub(super) password_file: Option<Text>,
    pub(super) ssh: Option<SshKeys>,
    pub(super) rsync_path: Option<Text>,
    wake: Later,
    power_off: Later,
    bandwidth: Later,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ViaKey {
    Daemon,
    Ssh,
    Tls,
    Path,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SshKeys {
    pub(super) user: Option<Text>,
    pub(super) port: Option<Spanned<u16>>,
    pub(super) identity: Option<Text>,
    pub(super) cipher: Option<Text>,
    #[serde(default)]
    pub(super) options: Vec<Text>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JobKeys {
    pub(super) target: Text,
    pub(super) direction: Option<Spanned<DirectionKey>>,
    pub(super) sources: Option<Spanned<Vec<Text>>>,
    pub(super) from: Option<Spanned<Vec<Text>>>,
    pub(super) into: Option<Text>,
    pub(super) attributes: Option<Vec<AttributeKey>>,
    #[serde(default)]
    pub(super) delete: bool,
    #[serde(default)]
    pub(super) exclude: Vec<Text>,
    #[serde(default)]
    pub(super) filter: Vec<Text>,
    pub(super) compress: Option<CompressKey>,
    pub(super) skip_compress: Option<Text>,
    pub(super) block_size: Option<Spanned<Value>>,
    #[serde(default)]
    pub(super) options: Vec<Text>,
    schedule: Later,
    window: Later,
    snapshots: Later,
    guard: Later,
    verify: Later,
    hooks: Later,
    notify: Later,
    bandwidth: Later,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DirectionKey {
    #[default]
    Push,
    Pull,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AttributeKey {
    Acls,
    Xattrs,
    HardLinks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CompressKey {
    None,
    Auto,
    Zstd,
    Lz4,
    Zlibx,
    Zlib,
}

impl File {
    /// Checks what the keys say, and adds what is wrong to the problems.
    pub(super) fn check(self, problems: &mut Problems<'_>) -> Config {
        refuse_later(problems, [("timezone", &self.timezone)]);
        let targets = in_file_order(self.targets).into_iter().map(|(name, keys)| {
            keys.refuse_later(problems);
            check::name("target", &name, problems);
            keys.check(name.into_inner(), problems)
        });
        let targets: Vec<_> = targets.collect();
        let jobs = in_file_order(self.jobs).into_iter().map(|(name, keys)| {
            keys.refuse_later(problems);
            check::name("job", &name, problems);
            keys.check(name.into_inner(), &targets, problems)
        });
        let jobs = jobs.collect();
        Config { targets, jobs }
    }
}

impl TargetKeys {
    fn refuse_later(&self, problems: &mut Problems<'_>) {
        let later =
            [("wake", &self.wake), ("power_off", &self.power_off), ("bandwidth", &self.bandwidth)];
        refuse_later(problems, later);
    }
}

impl JobKeys {
    fn refuse_later(&self, problems: &mut Problems<'_>) {
        let later = [
            ("schedule", &self.schedule),
            ("window", &self.window),
            ("snapshots", &self.snapshots),
            ("guard", &self.guard),
            ("verify", &self.verify),
            ("hooks", &self.hooks),
            ("notify", &self.notify),
            ("bandwidth", &self.bandwidth),
        ];
        refuse_later(problems, later);
    }
}

fn refuse_later<const N: usize>(problems: &mut Problems<'_>, later: [(&str, &Later); N]) {
    for (key, value) in later {
        if let Some(value) = value {
            let message = format!("{}; remove it", check::not_yet(&format!("the key `{key}`")));
            problems.add_key(key, value.span(), message);
        }
    }
}

/// Puts tables back into the order in which they stand.
fn in_file_order<T>(tables: BTreeMap<Text, T>) -> Vec<(Text, T)> {
    let mut tables: Vec<(Text, T)> = tables.into_iter().collect();
    tables.sort_by_key(|(name, _)| name.span().start);
    tables
}
