//! Does the program, called by the name `rsync`, do and say what stock does with the same command line?

mod apart;
mod archive;
mod attributes;
mod basis;
mod batch;
mod charset;
mod choice;
mod deletes;
mod errors;
mod far;
mod filters;
mod left;
mod links;
mod normal;
mod output;
mod paths;
mod side;
mod staging;
mod twins;

pub(crate) use left::{Left, Order};
pub(crate) use side::{Pair, Programs, Side};
use twins::Twins;

/// The side that is compared with stock.
pub(crate) const TESTED: Side = Side::Ours;
