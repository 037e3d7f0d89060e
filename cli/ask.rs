//! How a person is asked for a password: on the terminal, without showing what he types.

use std::fs::OpenOptions;
use std::io::{self, BufRead, BufReader, Write};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

/// Asks with `words` and returns what was typed, without the line end.
pub(crate) fn password(words: &str) -> io::Result<Vec<u8>> {
    let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
    let shown = tcgetattr(&terminal)?;
    let mut hidden = shown.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    write!(terminal, "{words}")?;
    tcsetattr(&terminal, OptionalActions::Now, &hidden)?;
    let mut line = Vec::new();
    let read = BufReader::new(&terminal).read_until(b'\n', &mut line);
    tcsetattr(&terminal, OptionalActions::Now, &shown)?;
    writeln!(terminal)?;
    read?;
    while matches!(line.last(), Some(b'\n' | b'\r')) {
        line.pop();
    }
    Ok(line)
}
