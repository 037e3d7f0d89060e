//! What the exit codes mean: rsync's own, and ours beside them.

/// A code and its meaning.
pub(crate) struct Code {
    pub(crate) code: i32,
    pub(crate) meaning: &'static str,
}

const fn code(code: i32, meaning: &'static str) -> Code {
    Code { code, meaning }
}

/// The codes that this version gives, for the help.
pub(crate) const CODES: [Code; 14] = [
    code(0, "everything is there"),
    code(1, "wrong usage or configuration"),
    code(2, "the far side speaks another protocol"),
    code(3, "a source or destination could not be entered"),
    code(4, "the far side cannot do what was asked for"),
    code(5, "the daemon refused the session"),
    code(10, "no connection, or it broke"),
    code(11, "the far side could not write, for instance because it is full"),
    code(12, "the far side ended in the middle"),
    code(20, "stopped by a signal"),
    code(23, "some files were not copied"),
    code(24, "some files vanished before they were copied"),
    code(30, "nothing moved within the time limit"),
    code(255, "ssh failed"),
];

/// Of several codes the gravest: a failure before a partial copy, that before success.
pub(crate) fn gravest(codes: impl IntoIterator<Item = i32>) -> i32 {
    let gravity = |code: &i32| match code {
        0 => 0,
        24 => 1,
        25 => 2,
        23 => 3,
        20 => 5,
        _ => 4,
    };
    codes.into_iter().max_by_key(gravity).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_jobs_the_gravest_counts() {
        assert_eq!(gravest([]), 0);
        assert_eq!(gravest([0, 24, 23, 0]), 23);
        assert_eq!(gravest([23, 12, 24]), 12);
        assert_eq!(gravest([12, 20]), 20);
    }
}
