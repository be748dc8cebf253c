#![doc = include_str!("../README.md")]

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
