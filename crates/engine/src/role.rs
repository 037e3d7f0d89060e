//! Which end of the connection are we: the one that began it, or the one that answers?

/// The end of the connection; who sends is another question.
#[derive(Clone, Copy, Debug)]
pub enum Role<'a> {
    /// We began, and print what the other side tells.
    Client,
    /// We were started by a client that has these capability letters (behind `e.` in the
    /// arguments); what we have to tell goes to it.
    Server(&'a [u8]),
}
