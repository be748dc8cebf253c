#![doc = include_str!("../README.md")]

mod builder;
mod canonical;
mod draws;
mod fields;
mod finished;
mod journal;
mod logged_lists;
mod measured;
mod observer;
mod part;
mod play;
mod posterior;
mod queries;
mod run;
mod run_error;
mod runs;
mod shard;
mod spreads;
mod sum_up;
mod synthetic;
mod tables;
mod task;
mod unix;

pub mod interrupt;
pub mod manifest;
pub mod models;
pub mod output;
pub mod result;
pub mod schema;
pub mod spec;
pub mod timing;

pub use builder::{BuildError, Builder};
pub use canonical::Canonical;
pub use documents::{
    TemporaryFile, hexadecimal, is_device, number, open_regular, read_own, remove_left_overs, sha256,
    toml_reader, try_to_create_in,
};
pub use finished::{Finished, FinishedError};
pub use journal::{JOURNAL, JournalError};
pub use logged_lists::logged_lists;
pub use measured::Measured;
pub use models::{Instance, Instances};
pub use observer::{Observer, Plan, Silent, Step};
pub use part::{PART, PartError, Parts};
pub use posterior::PosteriorFile;
pub use queries::{FittedQuery, Queries};
pub use result::ResultFile;
pub use run::{Claim, ResultDir, Runner, SPEC, Written};
pub use run_error::RunError;
pub use runs::{Quantity, Runs};
pub use shard::Shard;
pub use spec::{DataInstances, Experiment, OverrideError, Overrides, SpecContext, SpecError, Task};
pub use spreads::Spreads;
pub use tables::SummaryRow;

#[cfg(test)]
mod tests;
