#![doc = include_str!("../README.md")]

mod binomial;
mod contender;
mod duels;
mod identify;
mod run;
mod schedule;
mod stages;
mod streams;
mod summary;
mod tournament;

pub use contender::{Contender, Entry, Oracle, Replication, Task};
pub use duels::DuelEntry;
pub use identify::{
    FullFeedbackEntry, Identification, Stopping, UntilStopped, WithBudget, play_budget, play_until_stopped,
};
pub use run::{Curve, play};
pub use schedule::{Schedule, ScheduleError};
pub use stages::{InSweeps, StageEntry, Stretch, play_in_stages};
pub use streams::{SimRng, Streams};
pub use summary::{Summary, mean_and_error, quantile};
pub use tournament::{Assignment, DrawUsers, Observer, Outcome, Silent, Tournament};
