//! How a sending side comes to an agreement with the far side, as its client or its server.

use std::borrow::Cow;
use std::io::{Read, Write};

use filter::{Closing, RuleList};
use wire::dialect::Dialect;
use wire::files_from::read_names;
use wire::filter_list::{put_filter_list, read_filter_list};
use wire::mux::{Framing, MuxReader, MuxWriter};
use wire::options::FilesFrom;

use super::Send;
use crate::error::Result;
use crate::role::Role;
use crate::session::{self, Duty};
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
        let may_inc_recurse = self.options.may_inc_recurse();
        let end = (self.role, Duty::Sends);
        let dialect = session::set_up(reader, out, protocol, self.options, end, may_inc_recurse)?;
        let filter = match self.role {
            Role::Client => self.give_rules(out, protocol)?,
            Role::Server(_) => self.take_rules(reader)?,
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

    fn give_rules<W: Write>(
        &self,
        out: &mut MuxWriter<W>,
        protocol: u32,
    ) -> Result<Cow<'_, RuleList>> {
        if self.options.deletes() || self.options.prune_empty_dirs {
            let mut list = Vec::new();
            put_filter_list(&mut list, &self.filter.wire_rules(protocol)?)?;
            out.data(&list)?;
            out.flush()?;
        }
        Ok(Cow::Borrowed(self.filter))
    }

    fn take_rules<R: Read>(&self, reader: &mut MuxReader<'_, R>) -> Result<Cow<'_, RuleList>> {
        let texts = read_filter_list(reader)?;
        let mut rules = RuleList::from_wire(&texts, self.filter.settings().clone())?;
        let cvs_exclude = self.options.cvs_exclude;
        rules.close(&Closing { cvs_exclude, ..Closing::default() })?;
        Ok(Cow::Owned(rules))
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
