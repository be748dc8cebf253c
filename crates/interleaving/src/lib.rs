#![doc = include_str!("../README.md")]

mod crossing;
mod error;
mod streams;

pub mod ab_test;
pub mod certainty;
pub mod interleave;
pub mod launch;
pub mod letor;
pub mod pair_test;
pub mod plan;
pub mod preferences;
pub mod query;
pub mod ranker;
pub mod split;
pub mod synthetic;
pub mod team_test;
pub mod user;

pub use ab_test::{AbResult, AbTest, Arm, ArmResult};
pub use certainty::{Certainty, Winner};
pub use error::Error;
pub use interleave::{
    Balanced, InterleavedList, Interleaving, Outcome, Probabilistic, RankedPair, TeamDraft,
};
pub use pair_test::{PairTest, Verdict};
pub use preferences::{Estimation, Method, Preferences, Settings, Tally};
pub use query::Query;
pub use ranker::{RankedCollection, RankedDocuments, RankedQuery};
pub use synthetic::Synthetic;
pub use team_test::TeamTest;
pub use user::ScanningUser;
