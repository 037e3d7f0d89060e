//! Does the program, called by the name `rsync`, do and say what stock does with the same command line?

mod archive;
mod normal;
mod side;
mod twins;

pub(crate) use side::Side;
pub(crate) use twins::Twins;

/// The side that is compared with stock.
const TESTED: Side = Side::Stock;
