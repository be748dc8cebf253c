#![doc = include_str!("../README.md")]

mod draws;
mod finished;
mod journal;
mod measured;
mod observer;
mod part;
mod path_error;
mod play;
mod run;
mod run_error;
mod runs;
mod shard;
mod sum_up;
mod tournament;
mod unix;

pub mod interrupt;
pub mod manifest;
pub mod output;
pub mod result;
pub mod tables;
pub mod timing;

pub use finished::{FinishedError, FinishedResult};
pub use journal::{JOURNAL, JournalError};
pub use measured::Measurement;
pub use observer::{Observer, Plan, Silent, Step};
pub use output::SPEC;
pub use part::{PART, Parts};
pub use path_error::PathError;
pub use result::{ResultFile, Spreads};
pub use run::{Claim, ResultDir, Runner};
pub use run_error::RunError;
pub use runs::{Quantity, Runs};
pub use shard::Shard;
pub use tournament::{EnterError, OwnContender};

#[cfg(test)]
extern crate self as experiment;
#[cfg(test)]
#[path = "../tests/support/synthetic.rs"]
mod synthetic;
#[cfg(test)]
mod tests;
