#![doc = include_str!("../README.md")]

/// Tests the code of the pages on live use and on users who differ.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/live.md")]
#[doc = include_str!("../../../docs/context.md")]
struct Pages;

mod by_name;
mod choose;
mod context_fit;
mod entry;
mod error;
mod for_users;
mod groups;
mod in_order;
mod items;
mod learns;
mod live_use;
mod observation_rule;
mod on_table;
mod open;
mod prior;
mod window;

pub use by_name::{ByName, ByNameError, DecisionName};
pub use context_fit::{ClicksByList, ColumnGain, ContextFit, ContextReport, Gain, NO_SEGMENT, clip};
pub use entry::{Entry, interval};
pub use error::{Error, SavedError};
pub use for_users::{ForUsers, LiveFor};
pub use in_order::InOrder;
pub use items::Handle;
pub use learns::{Keeps, Learns};
pub use live_use::LiveUse;
pub use observation_rule::ObservationRule;
pub use on_table::{Live, OnTable};
pub use prior::Estimator;

use click_models::Context;
use policies::Drawing;
pub use policies::{ItemValues, Orders};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a display without a click counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Skips {
    /// When the decision is closed.
    #[default]
    AtClose,
    /// At once, and a click corrects it. For deterministic policies whose answers come late;
    /// Thompson sampling regrets more.
    AtOnce,
}

/// The settings of live use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The number of observations of each item that count, the last ones; by default all.
    pub window: Option<usize>,
    /// The probability with which the last position shows a random available item, uniformly.
    pub explore: f64,
    /// How several lists are drawn, one of which is shown, so that its propensities are known; by
    /// default the policy's list is shown. Excludes `explore`: its epsilon explores.
    #[serde(default)]
    pub propensities: Option<Drawing>,
    /// When a display without a click counts.
    pub skips: Skips,
    /// Whether the prior is estimated, every 5,000 decisions and more often before: the Beta
    /// distribution under which the counts of all items are most probable, retired and forgotten
    /// ones included. For policies that draw from posteriors.
    pub estimate_prior: bool,
    /// The most decisions that can be answered: the last ones.
    pub keep_open: usize,
    /// The most retired items that are kept; beyond, the one that retired first is forgotten.
    pub keep_retired: usize,
    /// Where the values of items come from; saved apart.
    #[serde(skip)]
    pub values: ItemValues,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            window: None,
            explore: 0.0,
            propensities: None,
            skips: Skips::default(),
            estimate_prior: false,
            keep_open: 1_000_000,
            keep_retired: 100_000,
            values: ItemValues::Told,
        }
    }
}

impl Settings {
    fn check(self) -> Result<Self, Error> {
        match self {
            Self { window: Some(0), .. } => Err(Error::EmptyWindow),
            Self { keep_open: 0, .. } => Err(Error::NothingOpen),
            Self { explore, .. } if !(0.0..=1.0).contains(&explore) => Err(Error::Exploration(explore)),
            Self { explore, propensities: Some(_), .. } if explore > 0.0 => Err(Error::ExploresTwice),
            Self { values: ItemValues::Answers { cap: Some(cap) }, .. } if cap.is_nan() || cap <= 0.0 => {
                Err(Error::Cap(cap))
            }
            _ => Ok(self),
        }
    }
}

/// The items that a list may have.
#[derive(Debug, Clone, Copy)]
pub enum Among<'a> {
    /// All present ones.
    All,
    /// These, if they are present.
    Only(&'a [Handle]),
    /// All present ones but these.
    Except(&'a [Handle]),
}

/// In place of a user of whom nothing is known: of no segment, with features of 0.
static NOBODY: Context = Context { segment: NO_SEGMENT, features: Vec::new() };

/// A request for a list. By default, nothing is known of the user, and all present items may be
/// shown.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The user, whom only a [`LiveFor`] sees.
    pub user: &'a Context,
    /// The items that the list may have.
    pub among: Among<'a>,
    /// The most positions.
    pub positions: usize,
    /// Values of the moment, in place of those that the items have.
    pub values: &'a [(Handle, f64)],
    /// The most items of a group in the list, with those that are pinned.
    pub most: Option<usize>,
    /// Items that have positions of the list already, from 0; the policy chooses the others. They
    /// are shown at the end of a list that is too short to have their positions.
    pub pins: &'a [(usize, Handle)],
}

impl Default for Ask<'_> {
    fn default() -> Self {
        let (among, positions) = (Among::All, usize::MAX);
        Self { user: &NOBODY, among, positions, values: &[], most: None, pins: &[] }
    }
}

impl<'a> From<Among<'a>> for Ask<'a> {
    fn from(among: Among<'a>) -> Self {
        Self { among, ..Self::default() }
    }
}

/// The effect of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Taken {
    /// It was new, and counts as far as its protocol and the catalogue tell.
    Counted,
    /// It was known.
    Repeated,
    /// No open decision has this name: it was never made, or is too old.
    Unknown,
    /// The list does not have this position.
    NoSuchPosition,
    /// The decision was closed, and its policy, a [`LiveFor`], has learned from it as it was then.
    Closed,
}
