#![doc = include_str!("../README.md")]

mod binomial;
mod contender;
mod curve;
mod duels;
mod identify;
mod live;
mod parallel;
mod run;
mod saver;
mod schedule;
mod session;
mod stages;
mod state;
mod state_store;
mod streams;
mod summary;
mod tournament;
mod users;

pub use contender::{
    ByRounds, Contender, Entry, FromReplication, Objective, Plays, Replication, Start, oracle,
};
pub use curve::Curve;
pub use duels::ByDuels;
pub use identify::{Identification, UntilStopped, WithBudget, WithFullFeedback};
pub use live::{
    Answer, Availability, Churn, Conditions, Delay, Delays, Drift, InParts, InWhole, LivePolicy,
    NewAttraction, Newcomer, OnTable, Replacement, UnderConditions,
};
pub use parallel::try_for_each;
pub use run::play;
pub use saver::{MaySave, Restarts, Saver, Saves};
pub use schedule::{Schedule, ScheduleError};
pub use stages::{BySweeps, InSweeps, Stretch, play_in_stages};
pub use state_store::{NoStore, Pause, ROUNDS_BETWEEN, StateError, StateStore};
pub use streams::{SimRng, Streams};
pub use summary::{Summary, mean_and_error, quantile};
pub use tournament::{Assignment, DrawUsers, Outcome, Tournament};
pub use users::{ByUsers, PersonalKnown, Sees};
