//! Do the rules decide as a stock rsync decides?
//!
//! `vectors` replays recorded verdicts, `stock` asks the rsync of this machine, `wire` compares the
//! texts for the far side with recorded ones, `merges` is about merge files, and `refusals` holds
//! the rules and files that are refused.

#![allow(clippy::unwrap_used, reason = "a helper of a test may end the test")]

mod fixture;
mod merges;
mod refusals;
mod stock;
mod vectors;
mod walk;
mod wire;
