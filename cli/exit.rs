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
