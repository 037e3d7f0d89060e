//! How are data and messages put into frames?

use std::io::{self, IoSlice, Write};

use super::{Framing, HEADER, Record, header, tag};
use crate::error::{Error, Result};
use crate::limits;

/// How much data is held back before it is written unasked.
const BUFFER: usize = 1 << 17;
/// From this size on, data is not copied into the buffer.
const LARGE: usize = 1 << 14;

/// Writes the data stream and the messages to a peer.
///
/// Nothing reaches the peer for certain before [`MuxWriter::flush`].
pub struct MuxWriter<W> {
    inner: W,
    framing: Framing,
    /// Finished frames, and from `open_frame` on the header and data of an unfinished one.
    pending: Vec<u8>,
    open_frame: usize,
    bytes_written: u64,
    data_bytes: u64,
    record: Option<Record>,
    /// Data goes into the record alone.
    diverts: bool,
}

impl<W: Write> MuxWriter<W> {
    /// Wraps the writing half of a connection.
    pub fn new(inner: W, framing: Framing) -> Self {
        let pending = Vec::with_capacity(BUFFER);
        let mut writer = Self {
            inner,
            framing,
            pending,
            open_frame: 0,
            bytes_written: 0,
            data_bytes: 0,
            record: None,
            diverts: false,
        };
        writer.open();
        writer
    }

    /// Says in what form the next byte goes; what was written before keeps its form.
    pub fn set_framing(&mut self, framing: Framing) {
        self.seal(0);
        self.framing = framing;
        self.open();
    }

    /// Returns the form in which the next byte goes.
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// Copies the data stream from here on.
    pub fn record(&mut self, record: Record) {
        self.record = Some(record);
    }

    /// Tells whether the data stream is copied.
    pub fn is_recorded(&self) -> bool {
        self.record.is_some()
    }

    /// Says whether data goes into the record alone, and not to the peer.
    pub fn divert(&mut self, diverts: bool) {
        self.diverts = diverts;
    }

    /// Completes the record, if there is one.
    pub fn finish_record(&mut self) -> Result<()> {
        self.record.take().map_or(Ok(()), |mut record| Ok(record.flush()?))
    }

    /// Copies data; true if that was all that is to be done with it.
    fn is_diverted(&mut self, bytes: &[u8]) -> Result<bool> {
        match &mut self.record {
            Some(record) => {
                record.write_all(bytes)?;
                Ok(self.diverts)
            }
            None => Ok(false),
        }
    }

    /// Writes bytes of the data stream, mostly into the buffer.
    pub fn data(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.len() >= LARGE {
            return self.data_large(bytes);
        }
        if self.is_diverted(bytes)? {
            return Ok(());
        }
        if self.pending.len() + bytes.len() > BUFFER {
            self.write_out(&[])?;
        }
        self.data_bytes += bytes.len() as u64;
        self.pending.extend_from_slice(bytes);
        Ok(())
    }

    /// Writes bytes of the data stream at once, behind what is held back, without copying them.
    pub fn data_large(&mut self, mut bytes: &[u8]) -> Result<()> {
        if self.is_diverted(bytes)? {
            return Ok(());
        }
        self.data_bytes += bytes.len() as u64;
        while !bytes.is_empty() {
            let room = match self.framing {
                Framing::Raw => bytes.len(),
                Framing::Framed => limits::FRAME - (self.pending.len() - self.open_frame - HEADER),
            };
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.write_out(now)?;
            bytes = later;
        }
        Ok(())
    }

    /// Puts a message behind the data written so far (tags: [`super::tag`]).
    ///
    /// A raw stream has no place for messages: there it is an error of the caller.
    pub fn message(&mut self, tag: u8, payload: &[u8]) -> Result<()> {
        if self.framing == Framing::Raw || payload.len() >= limits::TEXT_FRAME {
            let kind = io::ErrorKind::InvalidInput;
            return Err(Error::Io(io::Error::new(kind, "this message cannot be sent")));
        }
        self.seal(0);
        self.pending.extend_from_slice(&header(tag, payload.len()));
        self.pending.extend_from_slice(payload);
        self.open();
        if self.pending.len() > BUFFER {
            self.write_out(&[])?;
        }
        Ok(())
    }

    /// Sends an empty frame of data, and what is held back with it.
    ///
    /// On a raw stream there is no such thing, and only the latter happens.
    pub fn keep_alive(&mut self) -> Result<()> {
        if self.framing == Framing::Framed {
            self.message(tag::DATA, &[])?;
        }
        self.flush()
    }

    /// Sends what is held back.
    pub fn flush(&mut self) -> Result<()> {
        self.write_out(&[])?;
        Ok(self.inner.flush()?)
    }

    /// Returns how many bytes went to the connection, frame headers included.
    pub fn bytes_written(&self) -> u64 {
        self.bytes_written
    }

    /// Returns how many bytes of the data stream there were, held back or not.
    pub fn data_bytes(&self) -> u64 {
        self.data_bytes
    }

    /// Returns the connection's writing half.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    /// Returns the connection's writing half; what is held back is lost.
    pub fn into_inner(self) -> W {
        self.inner
    }

    /// Keeps the place for the header of the frame that comes next.
    fn open(&mut self) {
        self.open_frame = self.pending.len();
        if self.framing == Framing::Framed {
            self.pending.extend_from_slice(&[0; HEADER]);
        }
    }

    /// Finishes the open frame, to which `more` bytes belong that are not in the buffer.
    fn seal(&mut self, more: usize) {
        if self.framing == Framing::Raw {
            return;
        }
        let body = self.open_frame + HEADER;
        let len = self.pending.len() - body + more;
        if len == 0 {
            self.pending.truncate(self.open_frame);
        } else {
            self.pending[self.open_frame..body].copy_from_slice(&header(tag::DATA, len));
        }
    }

    /// Writes what is held back and `large` behind it, as the end of the open frame.
    fn write_out(&mut self, large: &[u8]) -> Result<()> {
        self.seal(large.len());
        let mut slices = &mut [IoSlice::new(&self.pending), IoSlice::new(large)][..];
        // Goes past empty slices, so that none is offered alone and taken for a closed peer.
        IoSlice::advance_slices(&mut slices, 0);
        while !slices.is_empty() {
            match self.inner.write_vectored(slices) {
                Ok(0) => return Err(Error::Io(io::ErrorKind::WriteZero.into())),
                Ok(count) => {
                    self.bytes_written += count as u64;
                    IoSlice::advance_slices(&mut slices, count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.pending.clear();
        self.open();
        Ok(())
    }
}

/// Writing to it is writing data.
impl<W: Write> Write for MuxWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.data(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(MuxWriter::flush(self)?)
    }
}
