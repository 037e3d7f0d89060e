//! What the far side asks for: the thread that reads the connection.
//!
//! It does nothing but decode, so that the far side never waits for us to read while we wait for
//! it to read.

use std::collections::{HashSet, VecDeque};
use std::io::{BufRead, Read};

use delta::{BlockSums, Head};
use wire::dialect::Dialect;
use wire::item::{self, Request, RequestDecoder, iflags};
use wire::limits;
use wire::mux::{Message, MuxReader, TextKind};
use wire::sums::{self, SumHead};
use wire::xattr::{lists_follow, read_wanted};

use crate::desk::{Desk, SenderGone};
use crate::error::{Error, Result};
use crate::event::{Event, Monitor};

/// Requests that are handed over together at most.
const BATCH: usize = 64;

/// One step of the far side's request stream.
#[derive(Debug)]
pub(crate) enum Incoming {
    Done,
    DeletionStats([u32; 5]),
    KeepAlive,
    Item(ItemRequest),
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
}

/// Reads until the far side closes the connection or something fails.
pub(crate) fn run<R: Read>(reader: &mut MuxReader<'_, R>, shape: &RequestShape, desk: &Desk) {
    let end = read_all(reader, shape, desk);
    desk.end_inbox(end);
}

fn read_all<R: Read>(
    reader: &mut MuxReader<'_, R>,
    shape: &RequestShape,
    desk: &Desk,
) -> Result<()> {
    let mut decoder = RequestDecoder::new(shape.dialect.protocol);
    let mut asked = HashSet::new();
    let mut batch = VecDeque::new();
    loop {
        if !batch.is_empty()
            && (batch.len() >= BATCH || reader.buffered()? == 0)
            && let Err(SenderGone) = desk.submit(&mut batch)
        {
            return Ok(());
        }
        if reader.fill_buf().map_err(wire::Error::from)?.is_empty() {
            return Ok(());
        }
        let incoming = match decoder.read(reader)? {
            item::Incoming::Done => Incoming::Done,
            item::Incoming::DeletionStats(stats) => Incoming::DeletionStats(stats),
            item::Incoming::KeepAlive => Incoming::KeepAlive,
            item::Incoming::Item(request) => {
                Incoming::Item(read_rest(reader, shape, &mut asked, request)?)
            }
        };
        batch.push_back(incoming);
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

/// What messages leave behind for the end of the run.
#[derive(Debug, Default)]
pub(crate) struct FarErrors {
    /// Texts that make the run a partial one.
    pub(crate) errors: u64,
    /// Whether the far side stopped deleting at its limit.
    pub(crate) delete_limit: bool,
    /// The code that the far side gave up with.
    pub(crate) exit: Option<i32>,
}

impl FarErrors {
    /// Deals with a message; the far side's giving up ends the reading.
    pub(crate) fn message(&mut self, message: Message, monitor: Monitor<'_>) -> wire::Result<()> {
        match message {
            Message::Text { kind, text } => {
                self.errors += u64::from(kind == TextKind::ErrorXfer);
                monitor(Event::FarText { kind, text: &text });
            }
            Message::IoError(bits) => self.delete_limit |= bits & 4 != 0,
            Message::IoTimeout(seconds) => monitor(Event::TimeLimit(seconds)),
            Message::Deleted { name, is_dir } => {
                monitor(Event::Deleted { name: &name, is_dir });
            }
            Message::ErrorExit(code) => {
                self.exit = code.or(self.exit);
                return Err(wire::Error::Closed);
            }
            Message::Noop => {}
            Message::Success(_) | Message::NoSend(_) => {
                let text = "a message that only a sender or a removing receiver may send";
                return Err(wire::Error::Protocol(text.to_owned()));
            }
        }
        Ok(())
    }

    /// Prefers the reason that the far side gave over the broken stream that it left.
    ///
    /// Where we gave up ourselves, its giving up is but the echo of that.
    pub(crate) fn explain(&self, error: Error) -> Error {
        let is_break =
            matches!(error, Error::Send(_) | Error::Wire(wire::Error::Closed | wire::Error::Io(_)));
        match self.exit {
            Some(code) if is_break => Error::FarExit(code),
            _ => error,
        }
    }
}
