//! How a sending side comes to an agreement with the far side, as its client or its server.

use std::borrow::Cow;
use std::io::{Read, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use filter::{Closing, RuleList};
use wire::dialect::{Compat, Dialect, ServerWish};
use wire::files_from::read_names;
use wire::filter_list::{put_filter_list, read_filter_list};
use wire::mux::{Framing, MuxReader, MuxWriter};
use wire::options::FilesFrom;
use wire::setup::{Answer, client_setup, server_setup};

use super::Send;
use crate::error::{Error, Result};
use crate::role::Role;
use crate::sources::Sources;

/// What both sides know before the first file list.
pub(super) struct Agreed<'a> {
    pub(super) dialect: Dialect,
    pub(super) filter: Cow<'a, RuleList>,
    /// What names that came over the connection stand for.
    pub(super) listed: Option<Sources>,
}

impl Send<'_> {
    /// Agrees with the far side, and exchanges filter rules and names.
    pub(super) fn set_up<R: Read, W: Write>(
        &self,
        reader: &mut MuxReader<'_, R>,
        out: &mut MuxWriter<W>,
        protocol: u32,
    ) -> Result<Agreed<'_>> {
        self.check(protocol)?;
        let (dialect, filter) = match self.role {
            Role::Client => self.set_up_client(reader, out, protocol)?,
            Role::Server(letters) => self.set_up_server(reader, out, protocol, letters)?,
        };
        let listed = match self.options.files_from {
            Some(FilesFrom::Connection | FilesFrom::Remote(_)) => {
                let names = read_names_of_far_side(reader, protocol)?;
                Some(self.sources.listed(&names, self.options))
            }
            Some(FilesFrom::Local(_)) | None => None,
        };
        Ok(Agreed { dialect, filter, listed })
    }

    fn set_up_client<R: Read, W: Write>(
        &self,
        reader: &mut MuxReader<'_, R>,
        out: &mut MuxWriter<W>,
        protocol: u32,
    ) -> Result<(Dialect, Cow<'_, RuleList>)> {
        let dialect = client_setup(reader, out, protocol, &self.options.offer())?;
        reader.set_framing(Framing::Framed);
        if protocol >= 30 {
            out.set_framing(Framing::Framed);
        }
        if self.options.deletes() || self.options.prune_empty_dirs {
            let mut list = Vec::new();
            put_filter_list(&mut list, &self.filter.wire_rules(protocol)?)?;
            out.data(&list)?;
            out.flush()?;
        }
        Ok((dialect, Cow::Borrowed(self.filter)))
    }

    fn set_up_server<R: Read, W: Write>(
        &self,
        reader: &mut MuxReader<'_, R>,
        out: &mut MuxWriter<W>,
        protocol: u32,
        letters: &[u8],
    ) -> Result<(Dialect, Cow<'_, RuleList>)> {
        let wish = ServerWish {
            inc_recurse: self.options.may_inc_recurse(),
            symlink_times: true,
            symlink_iconv: true,
            inplace_partial: true,
        };
        let compat = Compat::for_client(letters, wish);
        let answer = Answer { compat, seed: self.seed() };
        let dialect = server_setup(reader, out, protocol, &self.options.offer(), &answer)?;
        out.set_framing(Framing::Framed);
        // An old client frames what it says for the sake of one message alone.
        if protocol >= 30 || self.options.remove_source_files {
            reader.set_framing(Framing::Framed);
        }
        let texts = read_filter_list(reader)?;
        let mut rules = RuleList::from_wire(&texts, self.filter.settings().clone())?;
        let cvs_exclude = self.options.cvs_exclude;
        rules.close(&Closing { cvs_exclude, ..Closing::default() })?;
        Ok((dialect, Cow::Owned(rules)))
    }

    /// Refuses what this protocol cannot carry, as rsync does.
    fn check(&self, protocol: u32) -> Result<()> {
        let asked = [(self.options.acls, "--acls"), (self.options.xattrs > 0, "--xattrs")];
        for (wanted, option) in asked {
            if wanted && protocol < 30 {
                return Err(Error::NeedsProtocol { option, needed: 30, protocol });
            }
        }
        Ok(())
    }

    /// Returns the seed of the block sums: the one asked for, or one that nobody can foresee.
    fn seed(&self) -> i32 {
        if self.options.checksum_seed != 0 {
            return self.options.checksum_seed;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (now.as_nanos() as i32) ^ (std::process::id() as i32).rotate_left(16)
    }
}

/// Reads names that the far side sends; before protocol 31 they stand between the frames.
fn read_names_of_far_side<R: Read>(
    reader: &mut MuxReader<'_, R>,
    protocol: u32,
) -> Result<Vec<Vec<u8>>> {
    if protocol >= 31 {
        return Ok(read_names(reader)?);
    }
    let framing = reader.framing();
    reader.set_framing(Framing::Raw);
    let names = read_names(reader)?;
    reader.set_framing(framing);
    Ok(names)
}
