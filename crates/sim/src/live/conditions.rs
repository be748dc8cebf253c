//! Disturbances of a policy in live use.

use policies::draw_beta;
use rand::{Rng, RngExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The most rounds of a delay, a block or a wave.
const MOST_ROUNDS: u64 = 1_000_000_000;

/// Disturbances of a policy in live use: the table `[live]` of a file. By default, there are none.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Conditions {
    /// The part of the items that may be shown, drawn anew in every round or block of rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 0.7)]
    pub availability: Option<Availability>,
    /// Items are replaced by others.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = json!({ "rate": 1e-5, "prior": [1, 9] }))]
    pub churn: Option<Churn>,
    /// Attractions change: in jumps or in waves.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = json!({ "jumps": 9000, "share": 0.2, "prior": [1, 9] }))]
    pub drift: Option<Drift>,
    /// Answers come late or never.
    #[serde(default, skip_serializing_if = "Delays::is_none")]
    #[schemars(example = json!({ "click": 0, "skip": 300 }))]
    pub delay: Delays,
}

impl Conditions {
    /// Returns whether they differ from those of an experiment without them.
    pub fn disturb(&self) -> bool {
        self.users_change() || !self.delay.is_none()
    }

    /// Returns whether the best list differs from round to round.
    pub fn users_change(&self) -> bool {
        self.items_change() || self.drift.is_some_and(Drift::changes_attractions)
    }

    /// Returns whether the items that may be shown differ from round to round. Only policies that
    /// choose among some items can play then.
    pub fn items_change(&self) -> bool {
        self.availability.is_some_and(|availability| availability.share < 1.0)
            || self.churn.is_some_and(|churn| churn.rate > 0.0)
    }
}

/// In every block of `rounds` rounds each item may be shown with probability `share`,
/// independently.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "AvailabilityKey")]
pub struct Availability {
    /// The probability, above 0 and at most 1.
    pub share: f64,
    /// Length of a block, at least 1.
    pub rounds: u64,
}

/// [`Availability`] in files: the share alone, or with the rounds of a block.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
enum AvailabilityKey {
    Share(#[schemars(range(max = 1), extend("exclusiveMinimum" = 0))] f64),
    Blocks {
        /// The probability that an item may be shown, above 0.
        #[schemars(range(max = 1), extend("exclusiveMinimum" = 0), example = 0.7)]
        share: f64,
        /// The rounds of a block.
        #[serde(default = "one")]
        #[schemars(range(min = 1, max = MOST_ROUNDS), example = 100)]
        rounds: u64,
    },
}

const fn one() -> u64 {
    1
}

impl From<AvailabilityKey> for Availability {
    fn from(key: AvailabilityKey) -> Self {
        match key {
            AvailabilityKey::Share(share) => Self { share, rounds: 1 },
            AvailabilityKey::Blocks { share, rounds } => Self { share, rounds },
        }
    }
}

/// In every round each item is replaced with probability `rate`, independently.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Churn {
    /// The probability that an item is replaced in a round.
    #[schemars(range(min = 0, max = 1), example = 1e-5)]
    pub rate: f64,
    /// The attraction of a new item.
    #[schemars(example = (1, 9))]
    pub prior: NewAttraction,
    /// The probability that the replacement is an item seen earlier: any of the last 10,000 that
    /// were replaced, with its attraction.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1), example = 0.5)]
    pub returning: f64,
}

/// How attractions change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub enum Drift {
    /// After every `jumps` rounds, a random sample of the items (their number is rounded) gets a
    /// new attraction.
    Jumps {
        /// The rounds between two jumps.
        #[schemars(range(min = 1, max = MOST_ROUNDS), example = 9000)]
        jumps: u64,
        /// The part of the items that jumps.
        #[schemars(range(min = 0, max = 1), example = 0.2)]
        share: f64,
        /// The new attraction.
        #[schemars(example = (1, 9))]
        prior: NewAttraction,
    },
    /// The log-odds of each attraction have a sine wave added to them, with a random phase for each
    /// item. Attractions of 0 and 1 stay.
    Waves {
        /// In the place of jumps: the rounds of a wave.
        #[schemars(range(min = 1, max = MOST_ROUNDS), example = 50_000)]
        waves: u64,
        /// The amplitude of a wave, in log-odds.
        #[schemars(range(min = 0, max = 20), example = 1.0)]
        height: f64,
    },
}

impl Drift {
    fn changes_attractions(self) -> bool {
        match self {
            Self::Jumps { share, .. } => share > 0.0,
            Self::Waves { height, .. } => height > 0.0,
        }
    }
}

/// The distribution of new attractions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NewAttraction {
    /// The attraction of a random item of the instance.
    Instance,
    /// Beta with these shapes, both above 0.
    #[serde(untagged)]
    Beta(
        #[schemars(range(max = 1_000_000), extend("exclusiveMinimum" = 0))] f64,
        #[schemars(range(max = 1_000_000), extend("exclusiveMinimum" = 0))] f64,
    ),
}

impl NewAttraction {
    pub(super) fn draw<R: Rng + ?Sized>(self, of_instance: &[f64], rng: &mut R) -> f64 {
        match self {
            Self::Beta(a, b) => draw_beta(a, b, rng),
            Self::Instance => of_instance[rng.random_range(0..of_instance.len())],
        }
    }
}

/// When a decision's answers come, in rounds after it, and how many of them never do.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(from = "DelaysKey")]
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

/// [`Delays`] in files.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
enum DelaysKey {
    Fixed {
        /// The rounds until a click is known.
        #[serde(default)]
        #[schemars(range(max = MOST_ROUNDS), example = 0)]
        click: u64,
        /// The rounds until it is known that no more clicks come.
        #[serde(default)]
        #[schemars(range(max = MOST_ROUNDS), example = 300)]
        skip: u64,
        /// The probabilities that answers never come.
        #[serde(default)]
        lost: Lost,
    },
    Random {
        /// In the place of both: the mean of random delays.
        #[schemars(range(min = 0, max = MOST_ROUNDS), example = 1000)]
        geometric: f64,
        /// The probabilities that answers never come.
        #[serde(default)]
        lost: Lost,
    },
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Lost {
    /// The probability that a click is lost.
    #[schemars(range(min = 0, max = 1), example = 0.0)]
    click: f64,
    /// The probability that the end of an answer is lost.
    #[schemars(range(min = 0, max = 1), example = 0.2)]
    skip: f64,
}

impl From<DelaysKey> for Delays {
    fn from(key: DelaysKey) -> Self {
        let ([click, skip], lost) = match key {
            DelaysKey::Fixed { click, skip, lost } => ([click, skip].map(Delay::Rounds), lost),
            DelaysKey::Random { geometric: 0.0, lost } => ([Delay::default(); 2], lost),
            DelaysKey::Random { geometric, lost } => ([Delay::Geometric(geometric); 2], lost),
        };
        Self { click, skip, lost_click: lost.click, lost_skip: lost.skip }
    }
}

impl Delays {
    /// Returns whether every answer comes before the next decision.
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
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
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
