#![doc = include_str!("../README.md")]

mod chain;
mod clicks;
mod context;
mod error;
mod ids;
mod interaction;
mod item_set;
mod linear_list;
mod model;
mod pair;
mod parameters;
mod ranking;
mod shape;
mod table;

pub mod bounds;
pub mod cascade;
pub mod ccm;
pub mod dbn;
pub mod dcm;
pub mod dueling;
pub mod estimation;
pub mod pbm;
pub mod personal;
pub mod preferences;
pub mod random_users;
pub mod rank_one;
pub mod semi_bandit;
pub mod ubm;
pub mod value;

pub use cascade::CascadeModel;
pub use ccm::ClickChain;
pub use clicks::Clicks;
pub use context::{Context, ContextKnown};
pub use dbn::{DbnReward, DynamicBayesian};
pub use dcm::{DcmKnown, DcmReward, DependentClick};
pub use dueling::DuelingModel;
pub use error::Error;
pub use ids::ItemId;
pub use interaction::{
    Cascade, CascadeFeedback, CellClick, ClicksOnly, Dcm, DcmFeedback, DuelOutcome, Dueling, Interaction,
    ListClicks, ListFeedback, ListProtocol, ObservedPrefix, Pbm, PbmFeedback, PrefixFeedback, RankOne,
    RenderedClicks, RenderedPbmFeedback, SemiBandit,
};
pub use item_set::ItemSet;
pub use model::{Action, ClickModel, Feedback};
pub use pair::{DuelShape, Pair};
pub use pbm::{PbmKnown, PositionBased};
pub use personal::{Personal, WithAttraction, Yardsticks};
pub use preferences::PreferenceMatrix;
pub use random_users::{LogOdds, RandomUsers};
pub use rank_one::RankOneModel;
pub use ranking::Ranking;
pub use semi_bandit::RandomSemiBandit;
pub use shape::ListShape;
pub use table::{Cell, TableShape};
pub use ubm::UserBrowsing;
