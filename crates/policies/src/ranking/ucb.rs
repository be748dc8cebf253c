use super::PrefixKnown;
use super::counts::PrefixCounts;
use crate::best_arms::BestArms;
use crate::checked::with_state;
use crate::largest_indices::shows_largest_indices;
use crate::live::LiveState;
use crate::ucb_arms::Line;
use click_models::ObservedPrefix;
use confidence::{NonNegative, Rate};

with_state! {
/// UCB on an observed prefix: shows the items of largest mean plus radius.
///
/// At round `t` an item with `n` observed displays and mean `mu` has the index
/// `mu + sqrt(scale ln t / n)`; an item that was never observed comes first. RSF-UCB has
/// `scale = 2/3`. `CascadeUCB1` has `scale = 3/2` and clips the index at 1; items with a clipped
/// index tie.
///
/// Reference: Vahabi, Lagree, Vernade, Cappe 2016, section 5, RSF-UCB; Kveton, Szepesvari, Wen,
/// Ashkan, *Cascading bandits*, ICML 2015, `CascadeUCB1`. Deviations: `CascadeUCB1` starts with one
/// free observation of every item; here items that were never observed come before those with an
/// index of 1. Its radius at round `t` has `ln (t - 1)`, here `ln t`. (The first paper writes
/// `mu_i`, `N_i` in the index of arm k; `N` counts observed displays only.)
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `mean` of `arms` | `mu^_k`, `w^_e` | `n_items` | probability |
/// | `width` of `arms` | `sqrt(2 / (3 N_k))`, `sqrt(1.5 / T_e)` | `n_items` | per root of a nat |
pub struct PrefixUcb {
    scale: NonNegative,
    #[serde(default)]
    clipped: bool,
    counts: PrefixCounts,
} live derived {
    arms: BestArms<Line> = Self::ranked(scale, clipped, &counts, &live),
}
}

impl PrefixUcb {
    /// A fresh policy with the radius `sqrt(scale ln t / n)`; `clipped`: indices are at most 1.
    pub fn new<'a>(known: impl Into<PrefixKnown<'a>>, scale: NonNegative, clipped: bool) -> Self {
        Self::over(scale, clipped, PrefixCounts::new(known.into()), LiveState::default())
    }

    /// RSF-UCB: the radius `sqrt(2 ln t / (3 n))`.
    #[expect(clippy::missing_panics_doc, reason = "2/3 is not negative")]
    pub fn rsf<'a>(known: impl Into<PrefixKnown<'a>>) -> Self {
        Self::new(known, NonNegative::new(2.0 / 3.0).expect("a positive constant"), false)
    }

    /// `CascadeUCB1`: the radius `sqrt(1.5 ln t / n)` and the index clipped at 1.
    #[expect(clippy::missing_panics_doc, reason = "1.5 is not negative")]
    pub fn cascade<'a>(known: impl Into<PrefixKnown<'a>>) -> Self {
        Self::new(known, NonNegative::new(1.5).expect("a positive constant"), true)
    }
}

#[inline]
fn arm(counts: &PrefixCounts, scale: f64, clipped: bool, item: usize) -> Line {
    if counts.shows(item) == 0 {
        return Line::FRESH;
    }
    let shows = counts.shows(item) as f64;
    let line = Line::new(counts.clicks(item) as f64 / shows, (scale / shows).sqrt());
    if clipped { line.clipped_at(1.0) } else { line }
}

shows_largest_indices! {
    PrefixUcb { scale: NonNegative, clipped: bool } on PrefixCounts, of Line,
    settings &["/scale", "/clipped", "/counts/places"],
    reads ObservedPrefix, |feedback| feedback.observed_clicks(),
    level |round| Rate::LOG.level(round).sqrt(),
    arm |counts, item| arm(counts, scale.get(), clipped, item)
}
