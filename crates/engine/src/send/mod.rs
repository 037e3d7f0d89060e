//! A sending side from the first byte of the session to the last.
//!
//! Three threads on one connection: the inbox reads it, the scan makes file lists, and the
//! sender, alone, writes it. When one of them ends in an error, the connection is hung up, which
//! ends the others.

mod rules;
mod set_up;

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use wire::mux::{Framing, MuxReader, MuxWriter};
use wire::options::Options;

use crate::desk::Desk;
use crate::error::{Error, Result};
use crate::event::{Event, Monitor, Telling};
use crate::handover::Handover;
use crate::inbox;
use crate::outbox::Outbox;
use crate::progress::Progress;
use crate::role::Role;
use crate::sender::Sender;
use crate::session;
use crate::sources::Sources;
use crate::summary::Summary;
use crate::throttle::Throttle;
use set_up::Agreed;

/// How long the far side may take to close the connection after the last word.
const CLOSING_PATIENCE: Duration = Duration::from_secs(5);

/// What a sending side is to do.
#[derive(Clone, Copy)]
pub struct Send<'a> {
    /// Which end of the connection it is.
    pub role: Role<'a>,
    /// The session's options.
    pub options: &'a Options,
    /// What is sent. With names of `--files-from` that come over the connection only the
    /// directory counts that they are looked for in.
    pub sources: &'a Sources,
    /// The filter rules, in order; a server takes its settings alone, the rules are the client's.
    pub filter: &'a filter::RuleList,
    /// The process's file mode mask, for `--chmod`.
    pub umask: u32,
    /// What the monitor wants to know of items.
    pub telling: Telling,
    /// Where events go; a server tells them to its client instead.
    pub monitor: Monitor<'a>,
    /// Counters for whoever draws them.
    pub progress: &'a Progress,
}

impl Send<'_> {
    /// Runs the whole session over the two halves of a connection, on which both sides have
    /// agreed on `protocol` and the server has its arguments.
    ///
    /// `hang_up` breaks both halves at once, from any thread; it is called only when the session
    /// has failed or the far side does not close its end.
    pub fn run<R, W>(
        &self,
        reader: R,
        writer: W,
        protocol: u32,
        hang_up: &(dyn Fn() + Sync),
    ) -> Result<Summary>
    where
        R: Read + std::marker::Send,
        W: Write + std::marker::Send,
    {
        self.run_with(reader, writer, protocol, hang_up, None)
    }

    pub(crate) fn run_with<R, W>(
        &self,
        reader: R,
        writer: W,
        protocol: u32,
        hang_up: &(dyn Fn() + Sync),
        handover: Option<&Handover>,
    ) -> Result<Summary>
    where
        R: Read + std::marker::Send,
        W: Write + std::marker::Send,
    {
        let outbox = Outbox::new(self.options, protocol);
        let tell_client = |event: Event<'_>| outbox.tell(&event);
        let monitor: Monitor<'_> = match self.role {
            Role::Client => self.monitor,
            Role::Server(_) => &tell_client,
        };
        let here = Send { monitor, ..*self };
        here.talk(reader, writer, protocol, (&outbox, handover), hang_up)
    }

    fn talk<R, W>(
        &self,
        reader: R,
        writer: W,
        protocol: u32,
        (outbox, handover): (&Outbox, Option<&Handover>),
        hang_up: &(dyn Fn() + Sync),
    ) -> Result<Summary>
    where
        R: Read + std::marker::Send,
        W: Write + std::marker::Send,
    {
        let begin = Instant::now();
        let desk = Desk::new(self.options.remove_source_files);
        let hear = Box::new(|message| desk.hear(message));
        let mut reader = MuxReader::new(reader, Framing::Raw, hear);
        let rate = u64::from(self.options.bwlimit) << 10;
        let throttle = Throttle::new(writer, (rate > 0).then_some(rate));
        let mut out = MuxWriter::new(throttle, Framing::Raw);
        let done = self.set_up(&mut reader, &mut out, protocol).and_then(|agreed| {
            self.session(&mut reader, out, &agreed, &desk, (outbox, handover), hang_up)
        });
        let received_bytes = reader.bytes_read();
        drop(reader);
        let mut rest = Summary::default();
        desk.take_messages(|message| rest.hear(message, self.monitor));
        let mut summary = done.map_err(|error| desk.explain(error))?;
        summary.received_bytes = received_bytes;
        summary.errors += rest.errors;
        summary.delete_limit |= rest.delete_limit;
        summary.elapsed = begin.elapsed();
        Ok(summary)
    }

    fn session<R, W>(
        &self,
        reader: &mut MuxReader<'_, R>,
        mut out: MuxWriter<W>,
        agreed: &Agreed<'_>,
        desk: &Desk,
        (outbox, handover): (&Outbox, Option<&Handover>),
        hang_up: &(dyn Fn() + Sync),
    ) -> Result<Summary>
    where
        R: Read + std::marker::Send,
        W: Write + std::marker::Send,
    {
        let dialect = &agreed.dialect;
        session::tell_begin(dialect, self.options, self.monitor);
        if let Some(record) = session::record(self.role, self.options, dialect)? {
            out.record(record);
        }
        let shape = self.request_shape(dialect);
        let scan = self.scan(agreed, desk)?;
        let content = self.content(dialect, desk);
        let about = (self.monitor, self.progress);
        let rules = self.answer_rules(agreed);
        let sources = self.sources(agreed);
        let mut sender = Sender::new(out, rules, content, sources, desk, about);
        sender.handover = handover;
        sources.tell(self.monitor);
        if let Err(error) = sources.check() {
            return Err(sender.give_up(error, outbox));
        }
        std::thread::scope(|scope| {
            scope.spawn(|| inbox::run(reader, &shape, desk));
            scope.spawn(|| scan.run());
            let done = sender.run(outbox);
            desk.close(matches!(done, Err(Error::Send(_))));
            let done = done.map_err(|error| sender.give_up(error, outbox));
            // In a copy on one machine the far side waits for this end to be closed.
            let recorded = sender.out.finish_record();
            drop(sender);
            // Mostly the far side closes its end at once; its exit code is worth a moment.
            if !desk.await_end(CLOSING_PATIENCE) {
                hang_up();
            }
            recorded?;
            done.map(|summary| Summary { errors: summary.errors + sources.missing(), ..summary })
        })
    }
}
