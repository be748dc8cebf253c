#![doc = include_str!("../README.md")]

mod answers;
mod builder;
mod canonical;
mod curves;
mod measured;
mod observer;
mod queries;
mod run;
mod spreads;
mod synthetic;
mod tables;
mod temporary;

pub mod interrupt;
pub mod manifest;
pub mod models;
pub mod number;
pub mod output;
pub mod result;
pub mod spec;
pub mod timing;
pub mod toml_reader;

pub use builder::{BuildError, Builder};
pub use canonical::Canonical;
pub use measured::{Measured, Runs};
pub use models::{Instance, Instances};
pub use observer::{Observer, Silent};
pub use queries::{Data, FittedQuery, Given, Queries};
pub use result::ResultFile;
pub use run::{ResultDir, RunError, Runner, SPEC};
pub use spec::{Experiment, OverrideError, Overrides, SpecError, Task};
pub use spreads::Spreads;
pub use temporary::{Part, remove_left_overs, try_to_create_in};

#[cfg(test)]
mod tests;
