//! Which options choose the attributes that are kept?

use super::selection::raised;
use super::{OptionSpec, Rejection, flag, switch, valued};
use crate::escape::printable;
use crate::options::{OptionError, Options};

pub(super) const OPTIONS: &[OptionSpec] = &[
    switch(&["links", "l"], "copy symlinks as symlinks", |o, on| o.links = on),
    switch(&["perms", "p"], "preserve permissions", |o, on| o.perms = on),
    flag(&["executability", "E"], "preserve executability", |o| o.executability = true),
    switch(&["times", "t"], "preserve modification times", |o, on| o.times = on),
    switch(&["group", "g"], "preserve group", |o, on| o.group = on),
    switch(&["owner", "o"], "preserve owner (super-user only)", |o, on| o.owner = on),
    switch(&["devices"], "preserve device files (super-user only)", |o, on| o.devices = on),
    switch(&["specials"], "preserve special files", |o, on| o.specials = on),
    switch(&["D"], "same as --devices --specials", |o, on| {
        o.devices = on;
        o.specials = on;
    }),
    switch(&["drop-D"], "the receiver creates no devices and specials", |o, on| {
        o.drop_devices = on;
    }),
    switch(&["write-devices"], "write into devices as into files", |o, on| {
        o.write_devices = on;
    })
    .not_in_config("a backup job writes into no device"),
    switch(&["hard-links", "H"], "preserve hard links", |o, on| {
        o.hard_links = raised(o.hard_links, on, 2);
    })
    .key("attributes"),
    switch(&["acls", "A"], "preserve ACLs (implies --perms)", |o, on| {
        o.acls = on;
        o.perms |= on;
    })
    .key("attributes"),
    switch(&["xattrs", "X"], "preserve extended attributes", |o, on| {
        o.xattrs = raised(o.xattrs, on, 2);
    })
    .key("attributes"),
    switch(&["atimes", "U"], "preserve access times", |o, on| {
        o.atimes = raised(o.atimes, on, 2);
    }),
    switch(&["open-noatime"], "do not change the access time of opened files", |o, on| {
        o.open_noatime = on;
    }),
    switch(&["crtimes", "N"], "preserve create times", |_, _| {})
        .never("This rsync does not support --crtimes (-N)"),
    switch(&["omit-dir-times", "O"], "leave out directories from --times", |o, on| {
        o.omit_dir_times = on;
    }),
    switch(&["omit-link-times", "J"], "leave out symlinks from --times", |o, on| {
        o.omit_link_times = on;
    }),
    flag(&["keep-dirlinks", "K"], "the receiver follows symlinks to directories", |o| {
        o.keep_dirlinks = true;
    }),
    switch(&["super"], "the receiver tries what only root may do", |o, on| {
        o.super_user = Some(on);
        o.fake_super = false;
    }),
    flag(&["fake-super"], "keep privileged attributes in xattrs", |o| {
        o.super_user = None;
        o.fake_super = true;
    }),
    switch(&["numeric-ids"], "send ids without names", |o, on| o.numeric_ids = on),
    valued(&["usermap"], "STRING", "map user names", |o, text| {
        given_once(&o.usermap, "user", "--usermap")?;
        o.usermap = Some(text.to_vec());
        o.owner = true;
        Ok(())
    }),
    valued(&["groupmap"], "STRING", "map group names", |o, text| {
        given_once(&o.groupmap, "group", "--groupmap")?;
        o.groupmap = Some(text.to_vec());
        o.group = true;
        Ok(())
    }),
    valued(&["chown"], "USER:GROUP", "map all to one user and group", chown),
    valued(&["chmod"], "CHMOD", "change the permissions that are sent", |o, text| {
        let refused = if text.is_empty() { Err(()) } else { o.chmod.add(text).map_err(|_| ()) };
        refused.map_err(|()| {
            let text = format!("Invalid argument passed to --chmod ({})", printable(text));
            OptionError::Invalid(text).into()
        })
    }),
    valued(&["copy-as"], "USER[:GROUP]", "the user that does the copy", |o, text| {
        o.copy_as = (!text.is_empty()).then(|| text.to_vec());
        Ok(())
    })
    .never("--copy-as is not supported: start the program as that user, with su or setpriv"),
];

/// Takes `USER`, `USER:GROUP` or `:GROUP`; an empty part leaves its map alone.
fn chown(options: &mut Options, text: &[u8]) -> Result<(), Rejection> {
    let mut parts = text.splitn(2, |byte| *byte == b':');
    let everybody = |name: &[u8]| [b"*:", name].concat();
    if let Some(user) = parts.next().filter(|user| !user.is_empty()) {
        given_once(&options.usermap, "user", "--chown")?;
        options.usermap = Some(everybody(user));
        options.owner = true;
    }
    if let Some(group) = parts.next().filter(|group| !group.is_empty()) {
        given_once(&options.groupmap, "group", "--chown")?;
        options.groupmap = Some(everybody(group));
        options.group = true;
    }
    Ok(())
}

/// Refuses a second map, whichever of the two options brought the first.
fn given_once(map: &Option<Vec<u8>>, kind: &str, option: &str) -> Result<(), Rejection> {
    let Some(map) = map else {
        return Ok(());
    };
    let by_chown = map.starts_with(b"*:");
    let text = match (option, by_chown) {
        ("--chown", true) => format!("You can only specify a {kind}-affecting --chown once."),
        ("--chown", false) => format!("--chown conflicts with prior --{kind}map."),
        (_, true) => format!("{option} conflicts with prior --chown."),
        (_, false) => format!("You can only specify {option} once."),
    };
    Err(OptionError::Invalid(text).into())
}
