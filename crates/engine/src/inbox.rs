//! What the far side asks for: the thread that reads the connection.
//!
//! It does nothing but decode, so that the far side never waits for us to read while we wait for
//! it to read.

use std::collections::HashSet;
use std::io::{BufRead, Read};

use delta::{BlockSums, Head};
use wire::dialect::Dialect;
use wire::item::{self, Request, RequestDecoder, iflags};
use wire::limits;
use wire::mux::{Message, MuxReader};
use wire::sums::{self, SumHead};
use wire::xattr::{lists_follow, read_wanted};

use crate::desk::Desk;
use crate::error::Result;

/// Requests that are handed over together at most.
const BATCH: usize = 64;

/// One step of the far side's request stream.
#[derive(Debug)]
pub(crate) enum Incoming {
    Done,
    DeletionStats([u32; 5]),
    KeepAlive,
    Item(ItemRequest),
    Message(Message),
}

/// A request with what follows it.
#[derive(Debug)]
pub(crate) struct ItemRequest {
    pub(crate) request: Request,
    /// Numbers of the long attribute values that are wanted; `None` when no such list follows.
    pub(crate) wanted_values: Option<Vec<u32>>,
    /// Present when the content is wanted.
    pub(crate) basis: Option<Box<Basis>>,
}

/// What the far side has of a file.
#[derive(Debug)]
pub(crate) struct Basis {
    pub(crate) head: SumHead,
    pub(crate) sums: BlockSums,
    /// Whether it is a prefix that the far side keeps.
    pub(crate) is_prefix: bool,
}

impl Basis {
    /// Returns how much was sent to describe it.
    pub(crate) fn sum_bytes(&self) -> u64 {
        let sums = if self.is_prefix { 0 } else { u64::from(self.head.count) };
        16 + sums * (4 + u64::from(self.head.strong_len))
    }
}

impl Incoming {
    /// Returns how much memory its block sums take.
    pub(crate) fn sum_bytes(&self) -> usize {
        match self {
            Self::Item(ItemRequest { basis: Some(basis), .. }) => basis.sums.memory(),
            _ => 0,
        }
    }
}

/// What decides which parts a request has.
#[derive(Clone, Debug)]
pub(crate) struct RequestShape {
    pub(crate) dialect: Dialect,
    pub(crate) dry_run: bool,
    /// Whether files only grow; then but the head of the block sums is sent for a file, unless it
    /// is asked for again.
    pub(crate) append: bool,
    pub(crate) xattrs: bool,
    /// Whether the far side is our client, which waits at the end for us to close the connection.
    pub(crate) is_server: bool,
}

/// Reads until the far side closes the connection or something fails.
pub(crate) fn run<R: Read>(reader: &mut MuxReader<'_, R>, shape: &RequestShape, desk: &Desk) {
    let end = match shape.is_server && !desk.await_entry() {
        true => Ok(()),
        false => read_all(reader, shape, desk),
    };
    desk.end_inbox(end);
}

fn read_all<R: Read>(
    reader: &mut MuxReader<'_, R>,
    shape: &RequestShape,
    desk: &Desk,
) -> Result<()> {
    let mut decoder = RequestDecoder::new(shape.dialect.protocol);
    let mut asked = HashSet::new();
    let (mut gathered, mut dones) = (0, 0);
    loop {
        if gathered > 0 && (gathered >= BATCH || reader.buffered()? == 0) {
            desk.note_read(reader.bytes_read());
            if desk.submit().is_err() && !desk.hears_last_words() {
                return Ok(());
            }
        }
        if reader.fill_buf().map_err(wire::Error::from)?.is_empty() {
            return Ok(());
        }
        let incoming = match decoder.read(reader)? {
            item::Incoming::Done => {
                dones += 1;
                Incoming::Done
            }
            item::Incoming::DeletionStats(stats) => Incoming::DeletionStats(stats),
            item::Incoming::KeepAlive => Incoming::KeepAlive,
            item::Incoming::Item(request) => {
                Incoming::Item(read_rest(reader, shape, &mut asked, request)?)
            }
        };
        gathered = desk.gather(incoming);
        if shape.is_server && desk.is_last_done(dones) {
            // Nobody waits for it any more if the sender has failed.
            let _ = desk.submit();
            return Ok(());
        }
    }
}

fn read_rest<R: Read>(
    reader: &mut MuxReader<'_, R>,
    shape: &RequestShape,
    asked: &mut HashSet<i32>,
    request: Request,
) -> Result<ItemRequest> {
    let has_values = shape.xattrs && !shape.dry_run && lists_follow(&shape.dialect, request.iflags);
    let wanted_values = match has_values {
        true => Some(read_wanted(reader)?),
        false => None,
    };
    let basis = match request.iflags & iflags::TRANSFER != 0 && !shape.dry_run {
        true => {
            let is_prefix = shape.append && asked.insert(request.ndx);
            Some(Box::new(read_basis(reader, shape, is_prefix)?))
        }
        false => None,
    };
    Ok(ItemRequest { request, wanted_values, basis })
}

fn read_basis<R: Read>(
    reader: &mut MuxReader<'_, R>,
    shape: &RequestShape,
    is_prefix: bool,
) -> Result<Basis> {
    let head = SumHead::read(reader, shape.dialect.protocol)?;
    let mut sums = BlockSums::new(Head {
        count: head.count,
        block_len: head.block_len,
        strong_len: head.strong_len,
        remainder: head.remainder,
    });
    if !is_prefix {
        let mut strong = [0; limits::STRONG_LEN as usize];
        let strong = &mut strong[..head.strong_len as usize];
        for _ in 0..head.count {
            let weak = sums::read_block_sum(reader, strong.len(), strong)?;
            sums.push(weak, strong);
        }
    }
    Ok(Basis { head, sums, is_prefix })
}
