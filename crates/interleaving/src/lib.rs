#![doc = include_str!("../README.md")]

mod error;
mod streams;

pub mod certainty;
pub mod interleave;
pub mod letor;
pub mod pair_test;
pub mod preferences;
pub mod query;
pub mod ranker;
pub mod synthetic;
pub mod user;

pub use certainty::{Certainty, Winner};
pub use error::Error;
pub use interleave::{Balanced, Interleaving, Outcome, Probabilistic, RankedPair, Shown, TeamDraft};
pub use pair_test::{PairTest, Verdict};
pub use preferences::{Estimation, Method, Preferences, Progress, Settings, Tally};
pub use query::Query;
pub use ranker::{RankedCollection, RankedDocuments, RankedQuery};
pub use synthetic::Synthetic;
pub use user::ScanningUser;
