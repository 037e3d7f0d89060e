//! Which options choose the far side and the way there?

use super::selection::{local_path, raised};
use super::{OptionSpec, Rejection, ask, flag, switch, valued};
use crate::escape::printable;
use crate::options::{Ask, IpFamily, OptionError, Stop, bandwidth_kib, number, size};

const OTHER_COMMAND: &str = "this command is the client; `repl rsync` takes rsync's whole line";

/// The smallest limit of a single allocation.
const LEAST_ALLOCATION: u64 = 1 << 20;

pub(super) const OPTIONS: &[OptionSpec] = &[
    valued(&["rsh", "e"], "COMMAND", "the remote shell", |o, text| {
        o.rsh = Some(text.to_vec());
        Ok(())
    })
    .not_in_config("the target's keys `via` and `ssh` say how it is reached"),
    valued(&["rsync-path"], "PROGRAM", "the rsync of the remote machine", |o, text| {
        o.rsync_path = Some(text.to_vec());
        Ok(())
    })
    .not_in_config("the target's key `rsync_path` says it"),
    valued(&["remote-option", "M"], "OPT", "an option for the remote side alone", |o, text| {
        if !text.starts_with(b"-") {
            let text = format!("Remote option must start with a dash: {}", printable(text));
            return Err(OptionError::Invalid(text).into());
        }
        o.remote_options.push(text.to_vec());
        Ok(())
    }),
    switch(&["secluded-args", "protect-args", "s"], "send arguments in the protocol", |o, on| {
        o.secluded_args = on;
        o.said.secluded_args = true;
    }),
    switch(&["old-args"], "send arguments unprotected", |o, on| {
        o.old_args = raised(o.old_args, on, 2);
        o.said.old_args = true;
    })
    .not_in_config("a path with a blank would not arrive"),
    valued(&["protocol"], "NUM", "speak an older protocol", |o, text| {
        o.protocol = Some(u32::try_from(number(text)?).unwrap_or(0));
        Ok(())
    }),
    valued(&["port"], "PORT", "the port of the daemon", |o, text| {
        let port = u16::try_from(number(text)?).map_err(|_| "is no port number".to_string())?;
        o.port = (port > 0).then_some(port);
        Ok(())
    })
    .not_in_config("the target's key `port` says it"),
    valued(&["password-file"], "FILE", "read the daemon's password from FILE", |o, text| {
        o.password_file = Some(local_path(text)?);
        Ok(())
    })
    .not_in_config("the target's key `password_file` says it"),
    valued(&["address"], "ADDRESS", "the local address to connect from", |o, text| {
        o.address = Some(text.to_vec());
        Ok(())
    }),
    flag(&["ipv4", "4"], "use IPv4", |o| o.ip_family = Some(IpFamily::V4)),
    flag(&["ipv6", "6"], "use IPv6", |o| o.ip_family = Some(IpFamily::V6)),
    valued(&["timeout"], "SECONDS", "give up after so long without traffic", |o, text| {
        o.timeout = seconds(text)?;
        Ok(())
    })
    .or_no(|o| o.timeout = 0),
    valued(&["contimeout"], "SECONDS", "give up reaching the daemon after so long", |o, text| {
        o.contimeout = seconds(text)?;
        Ok(())
    })
    .or_no(|o| o.contimeout = 0),
    valued(&["bwlimit"], "RATE", "limit the bandwidth, KiB a second", |o, text| {
        o.bwlimit = bandwidth_kib(text)?;
        Ok(())
    })
    .or_no(|o| o.bwlimit = 0),
    valued(&["sockopts"], "OPTIONS", "set TCP options", |o, text| {
        o.sockopts = Some(text.to_vec());
        Ok(())
    }),
    switch(&["blocking-io"], "use blocking I/O for the remote shell", |o, on| {
        o.blocking_io = Some(on);
    }),
    valued(&["early-input"], "FILE", "the input of the daemon's early exec", |o, text| {
        o.early_input = Some(local_path(text)?);
        Ok(())
    }),
    valued(&["iconv"], "CONVERT_SPEC", "convert the charset of names", |o, text| {
        o.iconv = (text != b"-").then(|| text.to_vec());
        Ok(())
    })
    .or_no(|o| o.iconv = None),
    flag(&["trust-sender"], "trust the file list of the sender", |o| o.trust_sender = true),
    valued(&["stop-after", "time-limit"], "MINS", "stop after so many minutes", |o, text| {
        o.stop = Some(Stop::after(text)?);
        Ok(())
    }),
    valued(&["stop-at"], "y-m-dTh:m", "stop at this time", |o, text| {
        o.stop = Some(Stop::at(text)?);
        Ok(())
    }),
    valued(&["max-alloc"], "SIZE", "limit a single allocation", |o, text| {
        let bytes = size(text)?;
        if bytes > 0 && bytes < LEAST_ALLOCATION {
            return Err("is too small (min: 1.00M or 0 for unlimited)".to_string().into());
        }
        o.max_alloc = Some(bytes);
        Ok(())
    }),
    ask(&["server"], "be the far side", Ask::Server, OTHER_COMMAND)
        .not_in_config("a job is always the client"),
    ask(&["sender"], "be the far side that sends", Ask::Server, OTHER_COMMAND)
        .not_in_config("a job is always the client"),
    ask(&["daemon"], "be a daemon", Ask::Daemon, OTHER_COMMAND)
        .not_in_config("a job is always the client"),
    ask(&["no-detach"], "do not leave the terminal as a daemon", Ask::Daemon, OTHER_COMMAND),
    ask(&["config"], "the daemon's configuration", Ask::Daemon, OTHER_COMMAND).takes("FILE"),
    ask(&["dparam"], "override the daemon's configuration", Ask::Daemon, OTHER_COMMAND)
        .takes("OVERRIDE"),
];

/// Reads a time limit, which no negative number is.
fn seconds(text: &[u8]) -> Result<u32, Rejection> {
    Ok(u32::try_from(number(text)?).unwrap_or(0))
}
