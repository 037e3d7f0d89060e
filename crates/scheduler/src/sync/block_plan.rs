//! Which block length a run asks for, and whether its files are better divided over two sessions.
//!
//! The far side obeys one block length a session. The choice rests on a quick look at the
//! sources, on the job's last run, and on the `block_size` that somebody gave.

use engine::block_choice::{self, SPLIT_SIZE};
use engine::{QuickLook, Sources};
use wire::options::Options;

use super::task::Task;

/// One session of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pass {
    pub(crate) options: Options,
    /// What was chosen and why.
    pub(crate) why: String,
}

impl Pass {
    /// A session in which nothing is chosen: the receiver chooses for itself.
    pub(crate) fn plain(options: &Options) -> Self {
        Pass { options: options.clone(), why: String::new() }
    }
}

/// Divides a run into its sessions; nearly always it is one.
pub(crate) fn passes(task: &Task, options: &Options, sources: &Sources) -> Vec<Pass> {
    if let Some(block) = options.block_size {
        return single(options, Some(block), format!("block length {block}, as asked for"));
    }
    if options.sends_whole_files() {
        return single(options, None, "no blocks: files are sent whole".to_owned());
    }
    let since = task.last_run.as_ref().map(|run| run.start);
    let look = QuickLook::at(sources, since);
    if !look.complete {
        let known = task.last_run.as_ref().is_some_and(|run| run.large_files > 0);
        let why = "block length by rsync's rule: there are too many files to look at".to_owned();
        return match known && look.changed_large > 0 {
            true => divided(options, &look, why),
            false => single(options, None, why),
        };
    }
    let choice = block_choice::choose(&look.sizes);
    match choice.split && look.changed_large > 0 {
        true => divided(options, &look, choice.why),
        false => single(options, choice.block, choice.why),
    }
}

fn single(options: &Options, block: Option<u32>, why: String) -> Vec<Pass> {
    vec![Pass { options: Options { block_size: block, ..options.clone() }, why }]
}

/// One session for the files that rsync's rule suits, one for the large files that have changed
/// since the last run. Both list everything, the first alone deletes.
fn divided(options: &Options, look: &QuickLook, why: String) -> Vec<Pass> {
    let sizes_are_taken = options.min_size.is_some() || options.max_size.is_some();
    let mut large_only = block_choice::Sizes::default();
    large_only.add(look.sizes.largest());
    let choice = block_choice::choose(&large_only);
    let Some(block) = choice.block.filter(|_| !sizes_are_taken) else {
        return single(options, None, why);
    };
    let small = Options { max_size: Some(SPLIT_SIZE - 1), ..options.clone() };
    let large = Options {
        min_size: Some(SPLIT_SIZE),
        block_size: Some(block),
        delete: None,
        delete_excluded: false,
        // Deleting implies it: a directory in the way of a file goes.
        force: options.force || options.deletes(),
        ..options.clone()
    };
    vec![
        Pass { options: small, why: format!("{why}; so two sessions, the first by that rule") },
        Pass { options: large, why: choice.why },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::RunRecord;
    use crate::sync::task::{Way, Wishes, Work};

    fn task(last_run: Option<RunRecord>) -> Task {
        Task {
            name: "test".into(),
            options: Options::archive(),
            work: Work::Push(Vec::new()),
            way: Way { place: transport::Place::Local(Vec::new()), ssh: Default::default() },
            wishes: Wishes { acls: true, xattrs: true },
            makes_path: true,
            last_run,
        }
    }

    fn sparse(path: &std::path::Path, size: u64) {
        std::fs::File::create(path).unwrap().set_len(size).unwrap();
    }

    #[test]
    fn changed_large_files_among_small_ones_get_a_session_of_their_own() {
        let temp = tempfile::tempdir().unwrap();
        sparse(&temp.path().join("image"), 1 << 30);
        for n in 0..200 {
            sparse(&temp.path().join(n.to_string()), 300_000);
        }
        let sources = Sources::open(&[temp.path().to_owned()], &Options::default());
        let options =
            Options { delete: Some(wire::options::DeleteTiming::During), ..Options::archive() };

        let unknown = passes(&task(None), &options, &sources);
        assert_eq!(unknown.len(), 1, "without a last run nothing speaks for two sessions");

        let last = RunRecord { start: 1, large_files: 1, ..RunRecord::default() };
        let [small, large] = &passes(&task(Some(last)), &options, &sources)[..] else { panic!() };
        assert_eq!(
            (small.options.max_size, small.options.block_size),
            (Some(SPLIT_SIZE - 1), None)
        );
        assert_eq!(
            (large.options.min_size, large.options.block_size),
            (Some(SPLIT_SIZE), Some(4096))
        );
        assert!(small.options.deletes() && !large.options.deletes());
    }
}
