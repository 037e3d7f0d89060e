//! How one job, or one push by hand, is carried out: from its options to its outcome.

mod adapt;
mod block_plan;
mod failure;
mod filter_rules;
mod session;
mod task;

pub use failure::Failure;
pub use session::{Note, Outcome, Tellers, census, gravest, run};
pub use task::{Surroundings, Task, Way, Wishes};
