//! How is the data stream taken out of the frames?

use std::io::{self, BufRead, Read, Write};

use super::{Framing, HEADER, Message, Record, TAG_BASE, tag};
use crate::error::{Error, Result};
use crate::limits;

/// Is given each message met while data is read; its error ends the reading.
pub type MessageHandler<'a> = Box<dyn FnMut(Message) -> Result<()> + Send + 'a>;

/// What is taken from the connection at most at once.
const BUFFER: usize = 1 << 16;

/// Reads the data stream of a peer; messages go to a handler as they are met.
///
/// It owns its buffer, so that nothing is lost when the stream turns from raw to framed. Errors
/// of this crate travel through `Read` inside an `io::Error`, and `Error::from` takes them out.
pub struct MuxReader<'a, R> {
    inner: R,
    framing: Framing,
    on_message: MessageHandler<'a>,
    buffer: Box<[u8]>,
    /// The received bytes that nobody has taken yet are `buffer[start..end]`.
    start: usize,
    end: usize,
    /// What is still to come of the current DATA frame.
    frame_left: usize,
    bytes_read: u64,
    record: Option<Record>,
    /// Why the record is not complete.
    record_error: Option<io::Error>,
}

impl<'a, R: Read> MuxReader<'a, R> {
    /// Wraps the reading half of a connection.
    pub fn new(inner: R, framing: Framing, on_message: MessageHandler<'a>) -> Self {
        Self {
            inner,
            framing,
            on_message,
            buffer: vec![0; BUFFER].into_boxed_slice(),
            start: 0,
            end: 0,
            frame_left: 0,
            bytes_read: 0,
            record: None,
            record_error: None,
        }
    }

    /// Copies the data stream from here on, as it is taken.
    pub fn record(&mut self, record: Record) {
        self.record = Some(record);
    }

    /// Completes the record, if there is one.
    pub fn finish_record(&mut self) -> Result<()> {
        match self.record_error.take() {
            Some(error) => Err(error.into()),
            None => self.record.take().map_or(Ok(()), |mut record| Ok(record.flush()?)),
        }
    }

    /// Says in what form the next byte comes.
    pub fn set_framing(&mut self, framing: Framing) {
        self.framing = framing;
    }

    /// Returns in what form the next byte comes.
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// Returns how many bytes came over the connection, frame headers included.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// Returns how much data can be read without waiting for the peer.
    ///
    /// Messages that lie before that data in the buffer go to the handler.
    pub fn buffered(&mut self) -> Result<usize> {
        while self.framing == Framing::Framed && self.frame_left == 0 {
            let Some((tag, len)) = self.peek_header()? else {
                break;
            };
            if tag != tag::DATA && self.end - self.start < HEADER + len {
                break;
            }
            self.take_frame(tag, len)?;
        }
        Ok(self.ready())
    }

    /// How much data lies in the buffer, up to the end of the current frame.
    fn ready(&self) -> usize {
        match self.framing {
            Framing::Raw => self.end - self.start,
            Framing::Framed => self.frame_left.min(self.end - self.start),
        }
    }

    fn take(&mut self, len: usize) {
        if let Some(record) = &mut self.record
            && let Err(error) = record.write_all(&self.buffer[self.start..self.start + len])
        {
            (self.record, self.record_error) = (None, Some(error));
        }
        self.start += len;
        if self.framing == Framing::Framed {
            self.frame_left -= len;
        }
    }

    /// Waits for data and returns how much is ready; 0 at the end of the stream.
    fn wait_for_data(&mut self) -> Result<usize> {
        if self.record_error.is_some() {
            self.finish_record()?;
        }
        while self.ready() == 0 {
            let between_frames = self.framing == Framing::Framed && self.frame_left == 0;
            if between_frames {
                if !self.next_frame()? {
                    return Ok(0);
                }
            } else if self.refill()? == 0 {
                return if self.framing == Framing::Raw { Ok(0) } else { Err(Error::Closed) };
            }
        }
        Ok(self.ready())
    }

    /// Reads a header and, unless it is one of data, its message; false at the end of the stream.
    fn next_frame(&mut self) -> Result<bool> {
        loop {
            if let Some((tag, len)) = self.peek_header()? {
                self.take_frame(tag, len)?;
                return Ok(true);
            }
            let begun = self.start < self.end;
            if self.refill()? == 0 {
                return if begun { Err(Error::Closed) } else { Ok(false) };
            }
        }
    }

    /// The tag and length of the frame at the front, once its header has come whole.
    fn peek_header(&self) -> Result<Option<(u8, usize)>> {
        let Some(&[b0, b1, b2, code]) = self.buffer[self.start..self.end].first_chunk::<HEADER>()
        else {
            return Ok(None);
        };
        let len = u32::from_le_bytes([b0, b1, b2, 0]) as usize;
        let tag = code
            .checked_sub(TAG_BASE)
            .ok_or_else(|| Error::Malformed(format!("frame with header byte {code:#04x}")))?;
        if tag != tag::DATA {
            Message::check(tag, len)?;
        }
        Ok(Some((tag, len)))
    }

    /// Goes past a header; takes the message behind it, unless it is one of data.
    fn take_frame(&mut self, tag: u8, len: usize) -> Result<()> {
        self.start += HEADER;
        if tag == tag::DATA {
            self.frame_left = len;
            return Ok(());
        }
        // No message is longer than the buffer: its length has been checked.
        while self.end - self.start < len {
            if self.refill()? == 0 {
                return Err(Error::Closed);
            }
        }
        let payload = &self.buffer[self.start..self.start + len];
        let message = Message::decode(tag, payload)?;
        self.start += len;
        message.map_or(Ok(()), &mut self.on_message)
    }

    /// Reads once from the connection; 0 at its end.
    fn refill(&mut self) -> Result<usize> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        loop {
            match self.inner.read(&mut self.buffer[self.end..]) {
                Ok(count) => {
                    self.end += count;
                    self.bytes_read += count as u64;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl<R: Read> BufRead for MuxReader<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let ready = self.wait_for_data()?;
        Ok(&self.buffer[self.start..self.start + ready])
    }

    fn consume(&mut self, amount: usize) {
        self.take(amount.min(self.ready()));
    }
}

impl<R: Read> Read for MuxReader<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let ready = self.fill_buf()?;
        let count = ready.len().min(out.len());
        out[..count].copy_from_slice(&ready[..count]);
        self.take(count);
        Ok(count)
    }

    /// Integers mostly lie in the buffer as a whole, and are then only copied.
    #[inline]
    fn read_exact(&mut self, mut out: &mut [u8]) -> io::Result<()> {
        if out.len() <= self.ready() {
            out.copy_from_slice(&self.buffer[self.start..self.start + out.len()]);
            self.take(out.len());
            return Ok(());
        }
        while !out.is_empty() {
            let count = self.read(out)?;
            if count == 0 {
                return Err(Error::Closed.into());
            }
            out = &mut out[count..];
        }
        Ok(())
    }
}

// The largest message, with its header, has to fit the buffer.
const _: () = assert!(limits::TEXT_FRAME + HEADER < BUFFER && limits::DELETED_NAME < BUFFER);
