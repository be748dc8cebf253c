#![doc = include_str!("../README.md")]

mod builder;
mod canonical;
mod draws;
mod fields;
mod finished;
mod hash;
mod journal;
mod logged_lists;
mod measured;
mod names;
mod observer;
mod part;
mod posterior;
mod queries;
mod regular;
mod run;
mod run_error;
mod runs;
mod shard;
mod spreads;
mod sum_up;
mod synthetic;
mod tables;
mod task;
mod temporary;
mod unix;

pub mod interrupt;
pub mod manifest;
pub mod models;
pub mod number;
pub mod output;
pub mod result;
pub mod schema;
pub mod spec;
pub mod timing;
pub mod toml_reader;

pub use builder::{BuildError, Builder};
pub use canonical::Canonical;
pub use finished::{Finished, FinishedError};
pub use hash::{hexadecimal, sha256};
pub use journal::{JOURNAL, JournalError};
pub use logged_lists::logged_lists;
pub use measured::Measured;
pub use models::{Instance, Instances};
pub use observer::{Observer, Plan, Silent, Step};
pub use part::{PART, PartError, Parts};
pub use posterior::PosteriorFile;
pub use queries::{FittedQuery, Queries};
pub use regular::{open_regular, read_own};
pub use result::ResultFile;
pub use run::{Claim, ResultDir, Runner, SPEC, Written};
pub use run_error::RunError;
pub use runs::{Quantity, Runs};
pub use shard::Shard;
pub use spec::{DataInstances, Experiment, OverrideError, Overrides, SpecContext, SpecError, Task};
pub use spreads::Spreads;
pub use tables::SummaryRow;
pub use temporary::{TemporaryFile, remove_left_overs, try_to_create_in};
pub use unix::is_device;

#[cfg(test)]
mod tests;
