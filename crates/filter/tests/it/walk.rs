//! A sender's walk and a receiver's deletions, as rsync does them, over a tree in memory.

use std::collections::BTreeSet;

use filter::{ActiveFilter, Error, Side, Verdict};

use crate::fixture::{Options, Tree, join};

/// Lists what a sender would send of `source`; directories end in a slash.
pub(crate) fn sent(tree: &Tree, options: &Options, source: &str) -> Result<Vec<String>, Error> {
    let mut listed = BTreeSet::new();
    let (base, arg) = split_source(source, options.relative);
    let mut walk = Walk {
        tree,
        base: base.clone(),
        filter: ActiveFilter::new(&options.rules, Side::Sender, format!("/w/{base}").as_bytes()),
        listed: &mut listed,
    };
    if let Some(list) = &options.files_from {
        let names = tree.read(list.as_bytes()).unwrap().unwrap();
        for name in String::from_utf8(names).unwrap().lines() {
            walk.argument(name)?;
        }
    } else if arg.is_empty() {
        walk.directory("")?;
    } else {
        walk.argument(&arg)?;
    }
    if options.prune_empty_dirs {
        prune(&mut listed, options);
    }
    Ok(listed.into_iter().collect())
}

/// Splits a source into the transfer root and the name below it.
fn split_source(source: &str, relative: bool) -> (String, String) {
    let (base, arg) = match source.split_once("/./") {
        Some(parts) if relative => parts,
        _ if relative => ("", source),
        _ if source.ends_with('/') => (source, ""),
        _ => source.rsplit_once('/').unwrap_or(("", source)),
    };
    (base.trim_end_matches('/').to_owned(), arg.trim_end_matches('/').to_owned())
}

struct Walk<'a> {
    tree: &'a Tree,
    base: String,
    filter: ActiveFilter,
    listed: &'a mut BTreeSet<String>,
}

impl Walk<'_> {
    /// Sends a name given by the user, and its parents unasked.
    fn argument(&mut self, name: &str) -> Result<(), Error> {
        let is_dir = self.tree.is_dir(&join(&self.base, name));
        if self.filter.check(name.as_bytes(), is_dir) == Verdict::Exclude {
            return Ok(());
        }
        for (slash, _) in name.match_indices('/') {
            self.listed.insert(name[..=slash].to_owned());
        }
        self.list(name, is_dir);
        if is_dir {
            self.directory(name)?;
        }
        Ok(())
    }

    fn directory(&mut self, dir: &str) -> Result<(), Error> {
        self.filter.enter_dir(dir.as_bytes(), &mut |path| self.tree.read(path))?;
        for name in self.tree.names(join(&self.base, dir).trim_end_matches('/')) {
            let path = join(dir, &name);
            let is_dir = self.tree.is_dir(&join(&self.base, &path));
            if self.filter.check(path.as_bytes(), is_dir) == Verdict::Exclude {
                continue;
            }
            self.list(&path, is_dir);
            if is_dir {
                self.directory(&path)?;
            }
        }
        self.filter.leave_dir();
        Ok(())
    }

    fn list(&mut self, path: &str, is_dir: bool) {
        self.listed.insert(format!("{path}{}", if is_dir { "/" } else { "" }));
    }
}

/// Takes out directories that lead to no file, unless the receiving side protects them.
fn prune(listed: &mut BTreeSet<String>, options: &Options) {
    let receiver = ActiveFilter::new(&options.rules, Side::Receiver, b"/w/d");
    let leads_somewhere = |dir: &str| {
        listed.iter().any(|name| name.starts_with(dir) && !name.ends_with('/'))
            || receiver.check(dir.trim_end_matches('/').as_bytes(), true) == Verdict::Exclude
    };
    let kept = listed.iter().filter(|name| !name.ends_with('/') || leads_somewhere(name));
    *listed = kept.cloned().collect();
}

/// Copies `s/` to `d/` and deletes there, in the order that the options ask for.
pub(crate) fn mirror(tree: &mut Tree, options: &Options) -> Result<Vec<String>, Error> {
    let listed: BTreeSet<_> = sent(tree, options, "s/")?.into_iter().collect();
    if !options.delete_after {
        delete(tree, options, &listed)?;
    }
    let mut empty_dirs = Vec::new();
    for name in &listed {
        match tree.files.get(&format!("s/{name}")).cloned() {
            Some(contents) => tree.add("d", name, &contents),
            None => empty_dirs.push(name.clone()),
        }
    }
    if options.delete_after {
        delete(tree, options, &listed)?;
    }
    let mut left: BTreeSet<String> = empty_dirs.into_iter().collect();
    for file in tree.files.keys().filter_map(|file| file.strip_prefix("d/")) {
        left.insert(file.to_owned());
        left.extend(file.match_indices('/').map(|(slash, _)| file[..=slash].to_owned()));
    }
    Ok(left.into_iter().collect())
}

fn delete(tree: &mut Tree, options: &Options, listed: &BTreeSet<String>) -> Result<(), Error> {
    if !options.delete {
        return Ok(());
    }
    let filter = ActiveFilter::new(&options.rules, Side::Receiver, b"/w/d");
    let mut deletion = Deletion { tree, filter, listed, backup: options.backup };
    deletion.directory("", false)
}

struct Deletion<'a> {
    tree: &'a mut Tree,
    filter: ActiveFilter,
    listed: &'a BTreeSet<String>,
    backup: bool,
}

impl Deletion<'_> {
    fn directory(&mut self, dir: &str, doomed: bool) -> Result<(), Error> {
        self.filter.enter_dir(dir.as_bytes(), &mut |path| self.tree.read(path))?;
        for name in self.tree.names(join("d", dir).trim_end_matches('/')) {
            let path = join(dir, &name);
            let is_dir = self.tree.is_dir(&join("d", &path));
            self.entry(&path, is_dir, doomed)?;
        }
        self.filter.leave_dir();
        Ok(())
    }

    fn entry(&mut self, path: &str, is_dir: bool, doomed: bool) -> Result<(), Error> {
        let wanted = self.listed.contains(&format!("{path}{}", if is_dir { "/" } else { "" }));
        if wanted {
            return if is_dir { self.directory(path, false) } else { Ok(()) };
        }
        let verdict = if doomed {
            self.filter
                .hit_in_doomed_dir(path.as_bytes(), is_dir)
                .map_or(Verdict::Include, |hit| hit.verdict())
        } else {
            self.filter.check(path.as_bytes(), is_dir)
        };
        if verdict == Verdict::Exclude {
            return Ok(());
        }
        if is_dir {
            return self.directory(path, true);
        }
        let contents = self.tree.files.remove(&join("d", path)).unwrap();
        if self.backup {
            self.tree.add("d", &format!("{path}~"), &contents);
        }
        Ok(())
    }
}
