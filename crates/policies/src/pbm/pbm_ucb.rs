use super::counts::PbmCounts;
use crate::best_arms::BestArms;
use crate::checked::with_state;
use crate::largest_indices::shows_largest_indices;
use crate::live::LiveState;
use crate::ucb_arms::Line;
use click_models::{PbmKnown, RenderedClicks};
use confidence::Rate;

with_state! {
/// PBM-UCB: shows the items of largest upper confidence bound.
///
/// At round `t` item `k` has the index
///
/// ```text
/// S_k / N~_k  +  sqrt(N_k / N~_k) sqrt(delta / (2 N~_k)),      delta = (1 + epsilon) ln t
/// ```
///
/// and the policy shows the L largest indices, the largest at the position of largest examination.
/// An item that was never shown comes first.
///
/// Reference: Lagree, Vernade, Cappe 2016, section 4, Proposition 8 and Theorem 9. Deviations:
/// none. The default is `epsilon = 0`; the theory needs a positive `epsilon`, and the paper's
/// experiments do not state it.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `mean` of `arms` | `theta^_k = S_k / N~_k` | `n_items` | probability, may exceed 1 |
/// | `width` of `arms` | `sqrt(N_k / 2) / N~_k` | `n_items` | per root of a nat |
/// | `rate` | delta | - | nats |
///
/// Items whose weighted displays are equal only before rounding (1 and 1 at examinations 0.9 and
/// 0.3, 2 at 0.6) do not tie.
pub struct PbmUcb {
    rate: Rate,
    counts: PbmCounts,
} live derived {
    arms: BestArms<Line> = Self::ranked(rate, &counts, &live),
}
}

impl PbmUcb {
    /// A fresh policy; `rate` is the paper's delta.
    pub fn new(known: PbmKnown<'_>, rate: Rate) -> Self {
        Self::over(rate, PbmCounts::new(known), LiveState::default())
    }
}

/// The part of the index that does not depend on `t`, and the factor of `sqrt(delta)`.
#[inline]
fn arm(counts: &PbmCounts, item: usize) -> Line {
    let weighted = counts.weighted_shows(item);
    if weighted > 0.0 {
        let per_show = 1.0 / weighted;
        Line::new(counts.total_clicks(item) * per_show, (0.5 * counts.total_shows(item)).sqrt() * per_show)
    } else {
        Line::FRESH
    }
}

shows_largest_indices! {
    PbmUcb { rate: Rate } on PbmCounts, of Line, settings &["/rate", "/counts/examination"],
    reads RenderedClicks, |feedback| feedback,
    level |round| rate.level(round).sqrt(),
    arm |counts, item| arm(counts, item)
}
