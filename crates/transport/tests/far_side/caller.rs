//! How do the tests open a session?

use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use transport::*;
use wire::dialect::{CompressName, SumName};
use wire::setup::{CompressWish, Offer, client_setup};

/// A remote shell that leaves out the host and lets a shell split the words, as sshd does.
pub(crate) const LOCAL_SHELL: &[u8] = b"sh -c 'shift; exec sh -c \"$*\"' sh";

pub(crate) fn account(module: &str) -> Account {
    Account { module: module.as_bytes().to_vec(), user: "alice".into(), early_input: None }
}

pub(crate) fn words(words: &[&str]) -> Vec<Vec<u8>> {
    words.iter().map(|word| word.as_bytes().to_vec()).collect()
}

pub(crate) fn push_to(path: &str) -> FarArguments {
    FarArguments { open: words(&["--server", "-re.iLsfxCIvu", ".", path]), secluded: None }
}

/// Opens with a password and notes everything that was said meanwhile.
pub(crate) struct Caller {
    pub(crate) password: Option<&'static str>,
    pub(crate) limits: Limits,
    pub(crate) protocol: u32,
    pub(crate) motd: Vec<String>,
    pub(crate) stderr: Arc<Mutex<Vec<String>>>,
    pub(crate) canceller: Canceller,
}

impl Caller {
    pub(crate) fn new() -> Self {
        Caller {
            password: None,
            limits: Limits::default(),
            protocol: 32,
            motd: Vec::new(),
            stderr: Arc::default(),
            canceller: Canceller::new(),
        }
    }

    pub(crate) fn open(
        &mut self,
        route: &Route,
        arguments: &FarArguments,
    ) -> Result<Session, Error> {
        let (protocol, limits, canceller) = (self.protocol, self.limits, self.canceller.clone());
        self.hooked(|hooks| open(route, protocol, arguments, &limits, hooks, &canceller))
    }

    pub(crate) fn list(&mut self, route: &Route) -> Result<(), Error> {
        let (protocol, limits, canceller) = (self.protocol, self.limits, self.canceller.clone());
        self.hooked(|hooks| list_modules(route, protocol, &limits, hooks, &canceller))
    }

    fn hooked<T>(&mut self, work: impl FnOnce(Hooks<'_>) -> T) -> T {
        let stderr = Arc::clone(&self.stderr);
        let variable = self.password.map(|text| text.as_bytes().to_vec());
        work(Hooks {
            stderr: Box::new(move |line| stderr.lock().unwrap().push(line.to_owned())),
            motd: &mut |line| self.motd.push(line.to_owned()),
            passwords: &mut PasswordSources { variable, ..PasswordSources::default() },
        })
    }
}

/// Goes through the binary set-up, which proves that the server there has understood all so far.
pub(crate) fn set_up(session: &mut Session) {
    let offer = Offer {
        protocol: 32,
        checksum_choice: None,
        compress: CompressWish::Off,
        sums: SumName::OFFERED.to_vec(),
        compressions: CompressName::OFFERED.to_vec(),
        may_inc_recurse: true,
    };
    let Connection { reader, writer, .. } = &mut session.connection;
    let dialect = client_setup(reader, writer, session.protocol, &offer).unwrap();
    assert_eq!(dialect.protocol, session.protocol);
}

pub(crate) fn shell(command: &[u8], rsync_path: &str) -> Route {
    let host = FarHost {
        name: "nas".into(),
        user: None,
        family: None,
        rsync_path: rsync_path.as_bytes().to_vec(),
    };
    Route::Shell { shell: RemoteShell::command(command, Terminal::Absent).unwrap(), host }
}

pub(crate) fn open_error(route: &Route) -> Error {
    Caller::new().open(route, &push_to("/nowhere/")).unwrap_err()
}

pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
