//! How one job, or one copy by hand, is carried out: from its options to its outcome.

mod adapt;
mod block_plan;
mod exchange;
mod failure;
mod filter_rules;
mod local;
mod route;
mod session;
mod task;

pub use exchange::{Closed, Part, exchange};
pub use failure::Failure;
pub use filter_rules::{RuleError, listed_names, rules};
pub use route::{Callers, connect, list_modules};
pub use session::{Note, Outcome, Tellers, census, gravest, run};
pub use task::{Surroundings, Task, Way, Wishes, Work};
