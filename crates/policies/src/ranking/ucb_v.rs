use super::PrefixKnown;
use super::counts::PrefixCounts;
use crate::best_arms::BestArms;
use crate::checked::with_state;
use crate::largest_indices::shows_largest_indices;
use crate::live::LiveState;
use crate::shortlist::Arm;
use crate::ucb_arms::{Compared, Floor};
use click_models::ObservedPrefix;
use confidence::{NonNegative, Rate};

with_state! {
/// UCB-V on an observed prefix (`CascadeUCB-V`): mean plus empirical Bernstein radius.
///
/// At round `t` an item with `n` observed displays and mean `mu` has the index
/// `mu + sqrt(2 v E / n) + 3 E / n`, with the empirical variance `v = mu (1 - mu)` and the
/// exploration `E = zeta ln t`; an item that was never observed comes first. Rare clicks have a
/// small variance, so their radius is far below that of UCB1.
///
/// Reference: Vial, Sanghavi, Shakkottai, Srikant, *Minimax regret for cascading bandits*, Neural
/// Information Processing Systems 2022; the index is UCB-V, from Audibert, Munos, Szepesvari,
/// *Exploration-exploitation tradeoff using variance estimates in multi-armed bandits*, TCS 2009.
/// Deviations: `zeta` is 1 by default. The text of the former paper was not available; independent
/// code of it has `zeta = 2`, which had more regret in our experiments (`docs/cascade-and-dcm.md`).
/// As in UCB-V, an index above 1 is not clipped.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `mean` | `w^_e` | `n_items` | probability |
/// | `zeta` | `zeta` (Audibert et al.) | - | nats per `ln t` |
/// | `deviation` | `sqrt(2 v_e / T_e)` | `n_items` | per root of a nat |
/// | `bias` | `3 / T_e` | `n_items` | per nat |
pub struct PrefixUcbV {
    #[serde(default = "PrefixUcbV::default_zeta")]
    zeta: NonNegative,
    counts: PrefixCounts,
} live derived {
    arms: BestArms<BernsteinArm> = Self::ranked(zeta, &counts, &live),
}
}

/// The index `mean + deviation sqrt(level) + bias level`, at the level `zeta ln t`.
#[derive(Debug, Clone, Copy)]
struct BernsteinArm {
    mean: f64,
    deviation: f64,
    bias: f64,
}

impl BernsteinArm {
    #[inline]
    fn new(shows: u64, clicks: u64) -> Self {
        if shows == 0 {
            return Self { mean: f64::INFINITY, deviation: 0.0, bias: 0.0 };
        }
        let shows = shows as f64;
        let mean = clicks as f64 / shows;
        Self { mean, deviation: (2.0 * (mean * (1.0 - mean)) / shows).sqrt(), bias: 3.0 / shows }
    }
}

impl Arm for BernsteinArm {
    type Few = Compared;
    type Filter = Floor;

    /// Mean and displays determine the index; below 2^52 the bias determines the displays.
    fn key(&self) -> (u64, u64) {
        (self.mean.to_bits(), self.bias.to_bits())
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn index(&self, level: f64) -> f64 {
        self.mean + self.deviation * level.sqrt() + self.bias * level
    }
}

impl PrefixUcbV {
    /// A fresh policy with exploration `ln t`.
    pub fn new<'a>(known: impl Into<PrefixKnown<'a>>) -> Self {
        Self::over(Self::default_zeta(), PrefixCounts::new(known.into()), LiveState::default())
    }

    /// Sets the exploration to `zeta ln t`.
    #[must_use]
    pub fn with_zeta(self, zeta: NonNegative) -> Self {
        Self { zeta, ..self }
    }

    pub(crate) fn default_zeta() -> NonNegative {
        NonNegative::from_count(1)
    }
}

shows_largest_indices! {
    PrefixUcbV { zeta: NonNegative } on PrefixCounts, of BernsteinArm, settings &["/zeta", "/counts/places"],
    reads ObservedPrefix, |feedback| feedback.observed_clicks(),
    level |round| zeta.get() * Rate::LOG.level(round),
    arm |counts, item| BernsteinArm::new(counts.shows(item), counts.clicks(item))
}
