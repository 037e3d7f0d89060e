//! Do frames keep their data and messages, however they are cut, and refuse what they must?

use std::io::{Cursor, Read, Write};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;
use crate::error::{Error, Result};
use crate::testing::{CountingWriter, Trickle};

type Log = Arc<Mutex<Vec<Message>>>;

fn logging() -> (Log, MessageHandler<'static>) {
    let log = Log::default();
    let seen = Arc::clone(&log);
    (
        log,
        Box::new(move |message| {
            seen.lock().unwrap().push(message);
            Ok(())
        }),
    )
}

/// Reads a framed stream to its end.
fn demultiplex(r: impl Read) -> Result<(Vec<u8>, Vec<Message>)> {
    let (log, handler) = logging();
    let mut reader = MuxReader::new(r, Framing::Framed, handler);
    let mut data = Vec::new();
    reader.read_to_end(&mut data)?;
    let messages = log.lock().unwrap().clone();
    Ok((data, messages))
}

#[test]
fn the_recorded_refusal_of_a_read_only_module_is_understood() {
    let stream = b"\x1b\0\0\x0aERROR: module is read only\n\x04\0\0\x5d\x01\0\0\0\0\0\0\x07";
    let (data, messages) = demultiplex(&stream[..]).unwrap();
    let text = b"ERROR: module is read only\n".to_vec();
    assert_eq!(data, b"");
    let kind = TextKind::Error;
    assert_eq!(messages, [Message::Text { kind, text }, Message::ErrorExit(Some(1))]);
}

#[test]
fn every_message_of_a_receiving_server_is_decoded() {
    let stream = b"\x04\0\0\x28\x78\0\0\0\x03\0\0\x07abc\x04\0\0\x6cold/\x03\0\0\x6cd/\0\
        \x04\0\0\x6b\x07\0\0\0\0\0\0\x31\0\0\0\x5d\x04\0\0\x28\0\0\0\0";
    let (data, messages) = demultiplex(&stream[..]).unwrap();
    assert_eq!(data, b"abc");
    let deleted = |name: &[u8], is_dir| Message::Deleted { name: name.to_vec(), is_dir };
    let expected = [
        Message::IoTimeout(120),
        deleted(b"old/", false),
        deleted(b"d/", true),
        Message::Success(7),
        Message::Noop,
        Message::ErrorExit(None),
    ];
    assert_eq!(messages, expected);
}

#[test]
fn frames_that_are_not_allowed_are_refused_before_their_payload_is_read() {
    let bad: [&[u8]; 12] = [
        b"\0\0\0\x06",                   // below the first tag
        b"\x01\0\0\x0c",                 // internal: error of a socket
        b"\x04\0\0\x10",                 // internal: redo
        b"\x08\0\0\x11",                 // internal: statistics
        b"\x04\0\0\x1b",                 // internal: list forwarding
        b"\x01\0\0\xff",                 // unknown
        b"\0\x14\0\x09",                 // a text of 5120 bytes
        b"\x05\0\0\x1d",                 // I/O error of 5 bytes
        b"\x01\0\0\x31",                 // keep-alive with a payload
        b"\x03\0\0\x5d",                 // exit code of 3 bytes
        b"\0\0\0\x6c",                   // deletion without a name
        b"\x04\0\0\x6b\xff\xff\xff\xff", // negative index
    ];
    for frame in bad {
        let result = demultiplex(frame);
        assert!(matches!(result, Err(Error::Malformed(_))), "{frame:x?}: {result:?}");
    }
}

#[test]
fn an_end_within_a_frame_is_an_error_and_an_end_between_frames_is_none() {
    let whole = b"\x03\0\0\x07abc\x02\0\0\x09hi";
    for end in 0..=whole.len() {
        let result = demultiplex(&whole[..end]);
        let between = end == 0 || end == 7 || end == whole.len();
        assert_eq!(result.is_ok(), between, "cut at {end}");
        assert!(between || matches!(result, Err(Error::Closed)), "cut at {end}");
    }
}

#[test]
fn a_handler_that_refuses_ends_the_reading_with_its_own_error() {
    let refuse: MessageHandler<'_> = Box::new(|_| Err(Error::Protocol("not now".into())));
    let mut reader = MuxReader::new(&b"\0\0\0\x31\x01\0\0\x07x"[..], Framing::Framed, refuse);
    let error = Error::from(reader.read(&mut [0; 4]).unwrap_err());
    assert!(matches!(error, Error::Protocol(text) if text == "not now"));
}

#[test]
fn nothing_is_lost_when_a_raw_stream_turns_into_frames() {
    let (_, handler) = logging();
    let stream = b"seed\x02\0\0\x07ab\x01\0\0\x07c";
    let mut reader = MuxReader::new(&stream[..], Framing::Raw, handler);
    let mut seed = [0; 4];
    reader.read_exact(&mut seed).unwrap();
    reader.set_framing(Framing::Framed);
    assert_eq!(reader.buffered().unwrap(), 2);
    let mut data = Vec::new();
    reader.read_to_end(&mut data).unwrap();
    assert_eq!((&seed, data.as_slice()), (b"seed", &b"abc"[..]));
    assert_eq!(reader.bytes_read(), stream.len() as u64);
}

#[test]
fn buffered_sees_past_messages_but_never_waits() {
    let (log, handler) = logging();
    let stream = b"\x01\0\0\x07a\x02\0\0\x09hi\x03\0\0\x07bcd\x04\0\0\x09h";
    let mut reader = MuxReader::new(Cursor::new(stream), Framing::Framed, handler);
    assert_eq!(reader.buffered().unwrap(), 0, "nothing was read yet");
    reader.read_exact(&mut [0]).unwrap();
    assert_eq!(reader.buffered().unwrap(), 3);
    assert_eq!(log.lock().unwrap().len(), 1);
    reader.read_exact(&mut [0; 3]).unwrap();
    assert_eq!(reader.buffered().unwrap(), 0, "the last message is not here in full");
}

#[test]
fn data_and_messages_are_framed_in_the_order_they_are_written() {
    let mut writer = MuxWriter::new(Vec::new(), Framing::Raw);
    writer.write_all(b"raw").unwrap();
    writer.set_framing(Framing::Framed);
    writer.data(b"ab").unwrap();
    writer.message(tag::NO_SEND, &[5, 0, 0, 0]).unwrap();
    writer.data_large(b"cd").unwrap();
    writer.keep_alive().unwrap();
    writer.flush().unwrap();
    let expected = b"raw\x02\0\0\x07ab\x04\0\0\x6d\x05\0\0\0\x02\0\0\x07cd\0\0\0\x07";
    assert_eq!(writer.bytes_written(), expected.len() as u64);
    assert_eq!(writer.into_inner(), expected);
}

#[test]
fn a_raw_stream_refuses_messages() {
    let mut writer = MuxWriter::new(Vec::new(), Framing::Raw);
    assert!(writer.message(tag::NO_SEND, &[0; 4]).is_err());
    writer.keep_alive().unwrap();
    assert_eq!(writer.into_inner(), b"");
}

#[test]
fn large_data_joins_the_held_back_frame_in_one_write() {
    let large = vec![7; 40_000];
    let mut writer = MuxWriter::new(CountingWriter::default(), Framing::Framed);
    writer.data(b"head").unwrap();
    writer.data_large(&large).unwrap();
    let inner = writer.into_inner();
    assert_eq!(inner.writes, 1);
    assert_eq!(inner.bytes[..8], *b"\x44\x9c\0\x07head");
    assert_eq!(inner.bytes.len(), 40_008);
}

#[test]
fn data_beyond_the_largest_frame_is_cut_into_frames() {
    let large = vec![1; crate::limits::FRAME + 10];
    let mut writer = MuxWriter::new(Vec::new(), Framing::Framed);
    writer.data(b"x").unwrap();
    writer.data_large(&large).unwrap();
    let stream = writer.into_inner();
    assert_eq!(stream[..4], [0xff, 0xff, 0xff, 0x07]);
    assert_eq!(stream.len(), large.len() + 1 + 2 * 4);
    let (data, _) = demultiplex(stream.as_slice()).unwrap();
    assert_eq!(data.len(), large.len() + 1);
}

proptest! {
    #[test]
    fn what_is_written_is_read_however_it_is_cut(
        pieces in proptest::collection::vec((any::<bool>(), 0..40_000_usize), 0..12),
        read_step in 1..9000_usize,
        write_step in 1..9000_usize,
    ) {
        let inner = CountingWriter { step: write_step, ..CountingWriter::default() };
        let mut writer = MuxWriter::new(inner, Framing::Framed);
        let (mut data, mut messages) = (Vec::new(), Vec::new());
        for (number, (is_data, len)) in pieces.into_iter().enumerate() {
            let bytes = vec![number as u8; len];
            if is_data {
                writer.data(&bytes).unwrap();
                data.extend(bytes);
            } else {
                let text = bytes[..len % 5120].to_vec();
                writer.message(tag::INFO, &text).unwrap();
                messages.push(Message::Text { kind: TextKind::Info, text });
            }
        }
        writer.flush().unwrap();
        let stream = writer.into_inner().bytes;
        let read = demultiplex(Trickle::new(&stream, read_step)).unwrap();
        prop_assert_eq!(read, (data, messages));
    }

    #[test]
    fn random_bytes_never_panic_and_end(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let _ = demultiplex(bytes.as_slice());
        // With a good header in front, the decoding of payloads is reached as well.
        for code in [0x08, 0x1d, 0x28, 0x31, 0x5d, 0x6b, 0x6c, 0x6d] {
            let framed = [&[bytes.len().min(4) as u8, 0, 0, code], bytes.as_slice()].concat();
            let _ = demultiplex(framed.as_slice());
        }
    }
}
