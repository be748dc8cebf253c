//! Simulation of bandit policies on click models: streams, the round loop, schedules and summaries.
//!
//! No files and no clock: what comes out depends on what goes in and on nothing else.

mod contender;
mod run;
mod schedule;
mod streams;
mod summary;
mod tournament;

pub use contender::{Contender, Entry, Oracle};
pub use run::{Curve, play};
pub use schedule::{Schedule, ScheduleError};
pub use streams::{SimRng, Streams};
pub use summary::Summary;
pub use tournament::{Observer, Outcome, Silent, Tournament};
