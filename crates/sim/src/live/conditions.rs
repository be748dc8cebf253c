//! Disturbances of a policy in live use.

use policies::draw_beta;
use rand::{Rng, RngExt};
use serde::Serialize;

/// Disturbances of a policy in live use. By default, there are none.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Conditions {
    /// Not every item may be shown in every round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub availability: Option<Availability>,
    /// Items are replaced by others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub churn: Option<Churn>,
    /// Attractions change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    /// Answers come late or never.
    #[serde(skip_serializing_if = "Delays::is_none")]
    pub delay: Delays,
}

impl Conditions {
    /// Whether they differ from those of an experiment without them.
    pub fn disturb(&self) -> bool {
        self.users_change() || !self.delay.is_none()
    }

    /// Whether the best list differs from round to round.
    pub fn users_change(&self) -> bool {
        self.items_change() || self.drift.is_some_and(Drift::changes_attractions)
    }

    /// Whether the items that may be shown differ from round to round. Only policies that choose
    /// among some items can play then.
    pub fn items_change(&self) -> bool {
        self.availability.is_some_and(|availability| availability.share < 1.0)
            || self.churn.is_some_and(|churn| churn.rate > 0.0)
    }
}

/// In every block of `rounds` rounds each item may be shown with probability `share`,
/// independently.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Availability {
    /// The probability, above 0 and at most 1.
    pub share: f64,
    /// Length of a block, at least 1.
    pub rounds: u64,
}

/// In every round each item is replaced with probability `rate`, independently.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Churn {
    /// The probability, from 0 to 1.
    pub rate: f64,
    /// The attraction of a new item.
    pub prior: NewAttraction,
    /// The probability that the item in the place is one that was replaced before: any of the last
    /// 10,000, with its attraction.
    pub returning: f64,
}

/// How attractions change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Drift {
    /// After every `every` rounds, the part `share` of the items, a random sample of them (their
    /// number is rounded), gets a new attraction.
    Jumps {
        /// Rounds between two jumps, at least 1.
        every: u64,
        /// The part of the items, from 0 to 1.
        share: f64,
        /// The new attraction.
        prior: NewAttraction,
    },
    /// The log-odds of each attraction have a sine wave added to them, with a random phase for each
    /// item. Attractions of 0 and 1 stay.
    Waves {
        /// Rounds of a wave, at least 1.
        period: u64,
        /// Its amplitude, in log-odds.
        height: f64,
    },
}

impl Drift {
    /// Whether any attraction changes.
    fn changes_attractions(self) -> bool {
        match self {
            Self::Jumps { share, .. } => share > 0.0,
            Self::Waves { height, .. } => height > 0.0,
        }
    }
}

/// The distribution of new attractions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NewAttraction {
    /// Beta(`a`, `b`), both shapes above 0.
    Beta {
        /// The first shape.
        a: f64,
        /// The second shape.
        b: f64,
    },
    /// The attraction of a random item of the instance.
    Instance,
}

impl NewAttraction {
    pub(super) fn draw<R: Rng + ?Sized>(self, of_instance: &[f64], rng: &mut R) -> f64 {
        match self {
            Self::Beta { a, b } => draw_beta(a, b, rng),
            Self::Instance => of_instance[rng.random_range(0..of_instance.len())],
        }
    }
}

/// When a decision's answers come, in rounds after it, and how many of them never do.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Delays {
    /// The delay of each click.
    pub click: Delay,
    /// The delay of the end, with which a missing click becomes known. In the cascade model a click
    /// is the end.
    pub skip: Delay,
    /// The probability that a click is lost.
    pub lost_click: f64,
    /// The probability that the end is lost.
    pub lost_skip: f64,
}

impl Delays {
    /// Whether every answer comes before the next decision.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// A number of rounds that no delay exceeds in practice: for a geometric delay, 40 times its
    /// mean.
    pub(super) fn longest(&self) -> u64 {
        let longest = |delay| match delay {
            Delay::Rounds(rounds) => rounds,
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
            Delay::Geometric(mean) => (40.0 * mean).ceil() as u64 + 1,
        };
        longest(self.click).max(longest(self.skip))
    }
}

/// The rounds between a decision and an answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delay {
    /// Always this many.
    Rounds(u64),
    /// A geometric number, from 0, with this mean.
    Geometric(f64),
}

impl Default for Delay {
    fn default() -> Self {
        Self::Rounds(0)
    }
}

impl Delay {
    /// A delay; takes one draw if it is random.
    pub(super) fn draw<R: Rng + ?Sized>(self, rng: &mut R) -> u64 {
        match self {
            Self::Rounds(rounds) => rounds,
            Self::Geometric(mean) => geometric(1.0 / (1.0 + mean), rng),
        }
    }
}

/// The failures before the first success, of chance `chance` each.
pub(super) fn geometric<R: Rng + ?Sized>(chance: f64, rng: &mut R) -> u64 {
    // In (0, 1], so that its logarithm is finite.
    let uniform = 1.0 - rng.random::<f64>();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates, and is not negative"
    )]
    {
        (libm::log(uniform) / libm::log1p(-chance)) as u64
    }
}
