//! Which ACLs and extended attributes go with an entry, and the values that are asked for later.

use std::fs;
use std::io;

use filter::{ActiveFilter, Verdict};
use tree::{Dir, Kind, Stat};
use wire::acl::{ACCESS_XATTR, Acl, DEFAULT_XATTR};
use wire::xattr::{ItemNames, XattrCollector, XattrReplyEncoder, XattrSet, is_sent};

/// The longest merge file that is read; a list of rules is far shorter.
const MAX_MERGE_FILE: u64 = 1 << 20;

/// What of a file's attributes is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttributeWish {
    pub(crate) acls: bool,
    /// How often `--xattrs` was given.
    pub(crate) xattrs: u8,
    pub(crate) links: bool,
    pub(crate) devices: bool,
    pub(crate) specials: bool,
    /// ACLs are what attributes of their own say (`--fake-super`).
    pub(crate) fake: bool,
}

impl AttributeWish {
    /// Without the option for its kind a file's attributes count as none.
    fn reads_xattrs_of(&self, kind: Kind) -> bool {
        let kind_is_sent = match kind {
            Kind::Symlink => self.links,
            Kind::Device => self.devices,
            Kind::Special => self.specials,
            Kind::Regular | Kind::Dir => true,
            Kind::Unknown => false,
        };
        self.xattrs > 0 && kind_is_sent
    }
}

/// The ACLs and extended attributes of one entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes {
    pub(crate) access_acl: Option<Acl>,
    pub(crate) default_acl: Option<Acl>,
    pub(crate) xattrs: Option<XattrSet>,
}

/// Reads attributes, sharing what many files have in common.
#[derive(Debug)]
pub(crate) struct AttributeReader {
    pub(crate) wish: AttributeWish,
    collector: XattrCollector,
}

impl AttributeReader {
    pub(crate) fn new(wish: AttributeWish) -> Self {
        Self { wish, collector: XattrCollector::default() }
    }

    /// Reads what is to be sent with `name`.
    pub(crate) fn read(
        &mut self,
        dir: &Dir,
        name: &[u8],
        stat: &Stat,
        filter: &ActiveFilter,
    ) -> tree::Result<Attributes> {
        let kind = stat.kind();
        let acls = self.wish.acls && kind != Kind::Symlink;
        let xattrs = self.wish.reads_xattrs_of(kind);
        if !acls && !xattrs {
            return Ok(Attributes::default());
        }
        let names = dir.xattr_names(name)?;
        if names.is_empty() {
            return Ok(Attributes::default());
        }
        let acl = |attribute: &str| {
            let value = match () {
                () if !acls => None,
                () if self.wish.fake => dir.acl_fake(name, stat, attribute == DEFAULT_XATTR)?,
                () if !names.iter().any(|name| name == attribute.as_bytes()) => None,
                () => dir.xattr(name, attribute.as_bytes())?,
            };
            value.map_or(Ok(None), |value| parse_acl(dir, name, &value))
        };
        let access_acl = acl(ACCESS_XATTR)?;
        let default_acl = if kind == Kind::Dir { acl(DEFAULT_XATTR)? } else { None };
        let xattrs = if xattrs { self.read_xattrs(dir, name, names, filter)? } else { None };
        Ok(Attributes { access_acl, default_acl, xattrs })
    }

    fn read_xattrs(
        &mut self,
        dir: &Dir,
        name: &[u8],
        names: Vec<Vec<u8>>,
        filter: &ActiveFilter,
    ) -> tree::Result<Option<XattrSet>> {
        let verdict = |attribute: &[u8]| {
            let ruled = filter.has_xattr_rules();
            ruled.then(|| filter.check_xattr(attribute) == Verdict::Include)
        };
        let mut pairs = Vec::new();
        for attribute in names {
            if !is_sent(&attribute, self.wish.xattrs, verdict(&attribute)) {
                continue;
            }
            if let Some(value) = dir.xattr(name, &attribute)? {
                pairs.push((attribute, value));
            }
        }
        Ok((!pairs.is_empty()).then(|| self.collector.collect(&mut pairs)))
    }
}

fn parse_acl(dir: &Dir, name: &[u8], value: &[u8]) -> tree::Result<Option<Acl>> {
    match Acl::parse(value) {
        Ok(acl) => Ok(Some(acl)),
        Err(error) => Err(tree::Error::Io {
            op: "read the ACL of",
            path: dir.path_of(name),
            source: io::Error::other(error.to_string()),
        }),
    }
}

/// Appends the long values that the far side wants of `name`, read anew; what is gone is empty.
pub(crate) fn put_values(
    out: &mut Vec<u8>,
    dir: Option<&Dir>,
    name: &[u8],
    names: Option<&ItemNames>,
    wanted: &[u32],
) {
    let mut reply = XattrReplyEncoder::default();
    for &number in wanted {
        let attribute = names.and_then(|names| names.long(number));
        let value = dir.zip(attribute).and_then(|(dir, attribute)| dir.xattr(name, attribute).ok());
        reply.value(out, number, &value.flatten().unwrap_or_default());
    }
    reply.end(out);
}

/// Reads a merge file for the filter: a name in the directory of the walk, or a path of the
/// user's own. One that is not there is no error.
pub(crate) fn read_merge_file(dir: &Dir, path: &[u8]) -> io::Result<Option<Vec<u8>>> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(path));
    let path = dir.path().join(path);
    let metadata = match fs::metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !metadata.is_file() || metadata.len() > MAX_MERGE_FILE {
        return Err(io::Error::other("it is no regular file, or far too long for a list of rules"));
    }
    fs::read(path).map(Some)
}
