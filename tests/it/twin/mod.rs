//! Does the program, called by the name `rsync`, do and say what stock does with the same command line?

mod archive;
mod attributes;
mod basis;
mod batch;
mod choice;
mod deletes;
mod errors;
mod far;
mod filters;
mod links;
mod normal;
mod output;
mod paths;
mod side;
mod staging;
mod twins;

pub(crate) use side::Side;
pub(crate) use twins::Twins;

/// The side that is compared with stock.
const TESTED: Side = Side::Stock;
