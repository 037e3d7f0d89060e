//! How does a daemon let a client in, and what do its refusals mean?

use std::io::Write;

use wire::escape::printable;
use wire::greeting::{Greeting, daemon_request_module, put_early_input};

use crate::connection::Connection;
use crate::error::Error;
use crate::password::PasswordSources;
use crate::route::Account;

/// Asks for the module, with the password where the daemon wants one.
pub(crate) fn enter_module(
    connection: &mut Connection,
    greeting: &Greeting,
    account: &Account,
    passwords: &mut PasswordSources,
    motd: &mut dyn FnMut(&str),
) -> Result<(), Entry> {
    let module = printable(&account.module);
    let mut no_password = None;
    let activity = &connection.activity;
    let mut credentials = || {
        // A person may take longer to type than the far side may be silent.
        let hold = activity.hold();
        let password = passwords.obtain(&module, &account.user);
        drop(hold);
        match password {
            Ok(password) => {
                Ok(wire::auth::Credentials { user: account.user.clone().into_bytes(), password })
            }
            Err(error) => {
                no_password = Some(error);
                Err(wire::Error::Closed)
            }
        }
    };
    if let Some(input) = account.early_input.as_ref().filter(|input| !input.is_empty()) {
        let mut early = Vec::new();
        put_early_input(&mut early, input);
        connection.writer.write_all(&early).map_err(|error| Entry::Broken(error.into()))?;
    }
    let asked = daemon_request_module(
        &mut connection.reader,
        &mut connection.writer,
        greeting,
        &account.module,
        &mut credentials,
        &mut |line| motd(&String::from_utf8_lossy(line)),
    );
    match (asked, no_password) {
        (Ok(()), _) => Ok(()),
        (Err(_), Some(error)) => Err(Entry::Refused(error)),
        (Err(error), None) => Err(refusal(error, &connection.peer, module, account)),
    }
}

/// Why the way into a module ended.
pub(crate) enum Entry {
    /// For a reason that is known.
    Refused(Error),
    /// In the conversation.
    Broken(wire::Error),
}

fn refusal(error: wire::Error, peer: &str, module: String, account: &Account) -> Entry {
    let peer = peer.to_owned();
    match error {
        // After the answer to the challenge other troubles come as well, such as a missing path.
        wire::Error::Auth(text) | wire::Error::Daemon(text) if text.contains("auth failed") => {
            Entry::Refused(Error::Auth { peer, module, user: account.user.clone(), text })
        }
        wire::Error::Auth(text) | wire::Error::Daemon(text) => {
            Entry::Refused(Error::Daemon { peer, module, text })
        }
        other => Entry::Broken(other),
    }
}
