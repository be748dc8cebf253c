#![doc = include_str!("../README.md")]

mod assumptions;
mod evaluation;
mod exact;
mod findings;
mod jackknife;
mod learned;
mod level;
mod levels;
mod models;
mod new_lists;
mod ranking;
mod record;
mod tally;
mod targets;
mod words;

pub mod online;

pub use assumptions::{Assumption, Assumptions, Dependence};
pub use evaluation::{Evaluation, EvaluationError, Question};
pub use findings::{Basis, Finding, Findings};
pub use jackknife::{Estimate, FEWEST_GROUPS, GROUPS};
pub use level::Level;
pub use levels::{LevelEstimate, Levels};
pub use models::{ListValues, ModelEstimate, Models};
pub use ranking::{Key, Ranking, RankingError, Row};
pub use tally::{About, Tally};
pub use targets::NeverShown;
pub use words::ALWAYS_ASSUMED;
