//! Which options choose the far side and the way there?

use super::selection::local_path;
use super::{OptionSpec, Rejection, flag, never, not_yet, not_yet_valued, switch, valued};
use crate::limits;
use crate::options::{IpFamily, bandwidth_kib, count};

const OTHER_COMMAND: &str = "this command is the client; `repl rsync` takes rsync's whole line";

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
            return Err(Rejection::Value("has to start with a dash".to_string()));
        }
        o.remote_options.push(text.to_vec());
        Ok(())
    }),
    switch(&["secluded-args", "protect-args", "s"], "send arguments in the protocol", |o, on| {
        o.secluded_args = on;
    }),
    not_yet(&["old-args"], "send arguments unprotected"),
    valued(&["protocol"], "NUM", "speak an older protocol", |o, text| {
        let version = count(text)?;
        if !(limits::PROTOCOL_MIN..=limits::PROTOCOL_MAX).contains(&version) {
            let (min, max) = (limits::PROTOCOL_MIN, limits::PROTOCOL_MAX);
            return Err(Rejection::Value(format!("is not spoken here ({min} to {max} are)")));
        }
        o.protocol = Some(version);
        Ok(())
    }),
    valued(&["port"], "PORT", "the port of the daemon", |o, text| {
        let port = u16::try_from(count(text)?).map_err(|_| "is no port number".to_string())?;
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
        o.timeout = count(text)?;
        Ok(())
    })
    .or_no(|o| o.timeout = 0),
    valued(&["contimeout"], "SECONDS", "give up reaching the daemon after so long", |o, text| {
        o.contimeout = count(text)?;
        Ok(())
    })
    .or_no(|o| o.contimeout = 0),
    valued(&["bwlimit"], "RATE", "limit the bandwidth, KiB a second", |o, text| {
        o.bwlimit = bandwidth_kib(text)?;
        Ok(())
    })
    .or_no(|o| o.bwlimit = 0),
    not_yet_valued(&["sockopts"], "OPTIONS", "set TCP options"),
    not_yet(&["blocking-io"], "use blocking I/O for the remote shell"),
    not_yet_valued(&["early-input"], "FILE", "the input of the daemon's early exec"),
    not_yet_valued(&["iconv"], "SPEC", "convert the charset of names"),
    not_yet(&["trust-sender"], "trust the file list of the sender"),
    not_yet_valued(&["stop-after", "time-limit"], "MINS", "stop after so many minutes"),
    not_yet_valued(&["stop-at"], "TIME", "stop at this time"),
    not_yet_valued(&["max-alloc"], "SIZE", "limit a single allocation"),
    never(&["server"], None, "be the far side", OTHER_COMMAND)
        .not_in_config("a job is always the client"),
    never(&["sender"], None, "be the far side that sends", OTHER_COMMAND)
        .not_in_config("a job is always the client"),
    never(&["daemon"], None, "be a daemon", OTHER_COMMAND)
        .not_in_config("a job is always the client"),
    never(&["detach"], None, "leave the terminal as a daemon", OTHER_COMMAND),
    never(&["config"], Some("FILE"), "the daemon's configuration", OTHER_COMMAND),
    never(&["dparam"], Some("OVERRIDE"), "override the daemon's configuration", OTHER_COMMAND),
];
