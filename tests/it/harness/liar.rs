//! How does a test play a sender that speaks the protocol well, and lies in it?

use std::io::{BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use delta::{FileSum, SumKind};
use wire::dialect::{Compat, Dialect};
use wire::flist::{FileEntry, FlistEncoder, FlistFields};
use wire::item::{Incoming, Request, RequestDecoder, put_item_head};
use wire::mux::{Framing, MuxReader, MuxWriter};
use wire::ndx::{NDX_DONE, NDX_FLIST_OFFSET, NdxEncoder};
use wire::setup::{Answer, CompressWish, Offer, client_setup, exchange_versions, server_setup};
use wire::stats::SessionStats;
use wire::sums::SumHead;

use super::scripted_server::{ScriptedServer, let_in};
use super::{Outcome, Program, daemon, repl};
use crate::words;

const PROTOCOL: u32 = 32;
/// Everything but incremental recursion.
const COMPAT: u32 = 0x1fe;
/// The phases whose end a sender repeats.
const PHASES: u32 = 4;
/// How long it listens to a receiver that neither speaks nor leaves.
const PATIENCE: Duration = Duration::from_secs(20);
/// Every session with a liar is over by then.
const LIMIT: Duration = Duration::from_secs(20);

/// Which end of the connection our receiver is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ours {
    Client,
    Server,
}

/// What both sides know of the session beforehand.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Terms {
    /// Letters beside those of `-a`.
    pub(crate) letters: &'static str,
    /// Long options beside `--numeric-ids`.
    pub(crate) long: &'static [&'static str],
    /// Whether lists come one directory at a time.
    pub(crate) incremental: bool,
}

impl Terms {
    fn has(&self, letter: char) -> bool {
        self.letters.contains(letter)
    }

    fn offer(&self) -> Offer {
        Offer {
            protocol: PROTOCOL,
            checksum_choice: None,
            compress: if self.has('z') { CompressWish::Negotiate } else { CompressWish::Off },
            may_inc_recurse: self.incremental,
            ..wire::options::Options::default().offer()
        }
    }

    fn fields(&self) -> FlistFields {
        FlistFields {
            links: true,
            devices: true,
            specials: true,
            owner: true,
            group: true,
            hard_links: self.has('H'),
            acls: self.has('A'),
            xattrs: self.has('X'),
            relative: self.has('R'),
            numeric_ids: true,
            recursive: true,
            ..FlistFields::default()
        }
    }

    fn client_words(&self) -> Vec<String> {
        let mut words = vec![format!("-a{}", self.letters), "--numeric-ids".to_owned()];
        let recursion = if self.incremental { "--inc-recursive" } else { "--no-inc-recursive" };
        words.push(recursion.to_owned());
        words.extend(self.long.iter().map(|&word| word.to_owned()));
        words
    }

    fn server_words(&self) -> Vec<String> {
        let incremental = if self.incremental { "i" } else { "" };
        let letters = format!("-{}logDtpre.{incremental}LsfxCIvu", self.letters);
        let mut words = vec!["--server".to_owned(), letters, "--numeric-ids".to_owned()];
        words.extend(self.long.iter().map(|&word| word.to_owned()));
        words
    }

    fn sends_rules(&self, ours: Ours) -> bool {
        ours == Ours::Server && self.long.iter().any(|word| word.starts_with("--delete"))
    }
}

/// What a liar does when the connection stands.
pub(crate) trait Lie: Fn(&mut Liar) -> wire::Result<()> + Send + Sync + 'static {}
impl<F: Fn(&mut Liar) -> wire::Result<()> + Send + Sync + 'static> Lie for F {}

/// Lets our receiver, at one end of the connection, write to `destination` what a liar tells it.
pub(crate) fn meet(ours: Ours, terms: Terms, destination: &Path, lie: impl Lie) -> Outcome {
    start(ours, terms, destination, lie, |program| program).wait()
}

/// The same, with a change of the program; it is left running.
pub(crate) fn start(
    ours: Ours,
    terms: Terms,
    destination: &Path,
    lie: impl Lie,
    change: impl FnOnce(Program) -> Program,
) -> super::program::Running {
    match ours {
        Ours::Client => {
            let server = ScriptedServer::start(move |stream| {
                if let_in(stream) {
                    // A receiver that turns away in the middle is what most lies are for.
                    let _ = Liar::as_server(stream, terms).and_then(|mut liar| lie(&mut liar));
                }
                let _ = stream.shutdown(Shutdown::Write);
            });
            let mut words = words!["rsync"].to_vec();
            words.extend(terms.client_words().iter().map(Into::into));
            words.extend(words![daemon::url(server.port, ""), destination]);
            change(repl(words).within(LIMIT)).start()
        }
        Ours::Server => {
            let (stream, theirs) = UnixStream::pair().unwrap();
            std::thread::spawn(move || {
                let _ = Liar::as_client(&stream, terms).and_then(|mut liar| lie(&mut liar));
                let _ = stream.shutdown(Shutdown::Write);
                let _ = std::io::copy(&mut &stream, &mut std::io::sink());
            });
            let mut words = words!["rsync"].to_vec();
            words.extend(terms.server_words().iter().map(Into::into));
            words.extend(words![".", destination]);
            change(repl(words).within(LIMIT).talking_over(theirs)).start()
        }
    }
}

/// The sending end of a session.
pub(crate) struct Liar {
    reader: MuxReader<'static, Box<dyn Read + Send>>,
    writer: MuxWriter<Box<dyn Write + Send>>,
    pub(crate) dialect: Dialect,
    flist: FlistEncoder,
    requests: RequestDecoder,
    ndx: NdxEncoder,
    next_list: i32,
    /// How many ends of lists and phases a session has.
    ends: u32,
    /// With `--append` a basis is described, but not summed up.
    hears_sums: bool,
    ours: Ours,
}

/// What the receiver asked for.
pub(crate) struct Wish {
    pub(crate) request: Request,
    pub(crate) head: SumHead,
}

impl Liar {
    fn as_server(stream: &TcpStream, terms: Terms) -> wire::Result<Self> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut writer = stream.try_clone()?;
        read_args(&mut reader)?;
        let incremental = u32::from(terms.incremental);
        let answer = Answer { compat: Compat::from_bits(COMPAT | incremental), seed: 1 };
        let dialect = server_setup(&mut reader, &mut writer, PROTOCOL, &terms.offer(), &answer)?;
        let mut liar = Self::new(Box::new(reader), Box::new(writer), dialect, terms, Ours::Client)?;
        // A client that pulls always sends its filter rules, here none.
        liar.reader.read_exact(&mut [0; 4])?;
        Ok(liar)
    }

    fn as_client(stream: &UnixStream, terms: Terms) -> wire::Result<Self> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let (mut reader, mut writer) = (BufReader::new(stream.try_clone()?), stream.try_clone()?);
        exchange_versions(&mut reader, &mut writer, PROTOCOL)?;
        let dialect = client_setup(&mut reader, &mut writer, PROTOCOL, &terms.offer())?;
        let mut liar = Self::new(Box::new(reader), Box::new(writer), dialect, terms, Ours::Server)?;
        if terms.sends_rules(Ours::Server) {
            liar.say(&[0; 4])?;
        }
        Ok(liar)
    }

    fn new(
        reader: Box<dyn Read + Send>,
        writer: Box<dyn Write + Send>,
        dialect: Dialect,
        terms: Terms,
        ours: Ours,
    ) -> wire::Result<Self> {
        Ok(Self {
            reader: MuxReader::new(reader, Framing::Framed, Box::new(|_| Ok(()))),
            writer: MuxWriter::new(writer, Framing::Framed),
            flist: FlistEncoder::new(&dialect, terms.fields(), Box::new(|_, _| None))?,
            requests: RequestDecoder::new(dialect.protocol),
            ndx: NdxEncoder::new(dialect.protocol),
            next_list: i32::from(terms.incremental),
            ends: PHASES,
            hears_sums: !terms.long.contains(&"--append"),
            dialect,
            ours,
        })
    }

    /// Says bytes of the data stream as they are.
    pub(crate) fn say(&mut self, bytes: &[u8]) -> wire::Result<()> {
        self.writer.data(bytes)?;
        self.writer.flush()
    }

    /// Sends a list.
    pub(crate) fn list(&mut self, entries: &[FileEntry<'_>]) -> wire::Result<()> {
        let mut list = self.begun_list(entries);
        self.flist.end_list(&mut list, 0);
        self.next_list = self.flist.next_ndx() + 1;
        self.say(&list)
    }

    /// Returns the bytes of a list that is not ended.
    pub(crate) fn begun_list(&mut self, entries: &[FileEntry<'_>]) -> Vec<u8> {
        let mut list = Vec::new();
        self.flist.begin_list(self.next_list);
        entries.iter().for_each(|entry| self.flist.entry(&mut list, entry));
        list
    }

    /// Sends the list of directory number `dir`.
    pub(crate) fn sub_list(&mut self, dir: i32, entries: &[FileEntry<'_>]) -> wire::Result<()> {
        self.index(NDX_FLIST_OFFSET - dir)?;
        self.ends += 1;
        self.list(entries)
    }

    /// Says an index or a mark.
    pub(crate) fn index(&mut self, ndx: i32) -> wire::Result<()> {
        let mut bytes = Vec::new();
        self.ndx.put(&mut bytes, ndx);
        self.say(&bytes)
    }

    /// Waits until a file is wanted; whatever else is said is repeated.
    pub(crate) fn wish(&mut self) -> wire::Result<Wish> {
        loop {
            match self.requests.read(&mut self.reader)? {
                Incoming::Item(request) if request.is_transfer() => return self.described(request),
                Incoming::Item(request) => self.head(&request)?,
                Incoming::Done => self.index(NDX_DONE)?,
                Incoming::DeletionStats(_) | Incoming::KeepAlive => {}
            }
        }
    }

    fn described(&mut self, request: Request) -> wire::Result<Wish> {
        let head = SumHead::read(&mut self.reader, self.dialect.protocol)?;
        let count = if self.hears_sums { u64::from(head.count) } else { 0 };
        let sums = count * u64::from(4 + head.strong_len);
        std::io::copy(&mut (&mut self.reader).take(sums), &mut std::io::sink())?;
        Ok(Wish { request, head })
    }

    /// Says the head of a reply.
    pub(crate) fn head(&mut self, request: &Request) -> wire::Result<()> {
        let mut bytes = Vec::new();
        put_item_head(&mut bytes, &mut self.ndx, request)?;
        self.say(&bytes)
    }

    /// Repeats a wish, and says `tokens` as the content.
    pub(crate) fn reply(&mut self, wish: &Wish, tokens: &[u8]) -> wire::Result<()> {
        self.head(&wish.request)?;
        let mut bytes = Vec::new();
        wish.head.put(&mut bytes);
        bytes.extend_from_slice(tokens);
        self.say(&bytes)
    }

    /// Does honestly what is left to do: every wished file gets `content`.
    pub(crate) fn finish(&mut self, content: &[u8]) -> wire::Result<()> {
        let mut ends = 0;
        while ends < self.ends {
            match self.requests.read(&mut self.reader)? {
                Incoming::Item(request) if request.is_transfer() => {
                    let wish = self.described(request)?;
                    self.reply(&wish, &whole(content))?;
                }
                Incoming::Item(request) => self.head(&request)?,
                Incoming::DeletionStats(_) | Incoming::KeepAlive => {}
                Incoming::Done => {
                    ends += 1;
                    self.index(NDX_DONE)?;
                    if ends + 1 == self.ends && self.ours == Ours::Client {
                        let mut stats = Vec::new();
                        SessionStats::default().put(&mut stats, self.dialect.protocol);
                        self.say(&stats)?;
                    }
                }
            }
        }
        self.requests.read(&mut self.reader).map(|_| ())
    }
}

/// Returns the tokens and the sum of a file that is sent as it is.
pub(crate) fn whole(content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    if !content.is_empty() {
        bytes.extend_from_slice(&(content.len() as u32).to_le_bytes());
        bytes.extend_from_slice(content);
    }
    bytes.extend_from_slice(&[0; 4]);
    let mut sum = FileSum::new(SumKind::Xxh128, 0);
    sum.update(content);
    bytes.extend_from_slice(sum.finish().as_bytes());
    bytes
}

/// Reads the arguments that a daemon's client sends, up to the empty one.
fn read_args(reader: &mut impl Read) -> wire::Result<()> {
    let (mut byte, mut last) = ([0], 1);
    loop {
        reader.read_exact(&mut byte)?;
        if (byte[0], last) == (0, 0) {
            return Ok(());
        }
        last = byte[0];
    }
}
