use super::PrefixKnown;
use super::counts::PrefixCounts;
use crate::best_arms::BestArms;
use crate::checked::with_state;
use crate::kl_arms::KlArm;
use crate::largest_indices::shows_largest_indices;
use crate::live::LiveState;
use click_models::ObservedPrefix;
use confidence::Rate;

with_state! {
/// KL-UCB on an observed prefix: shows the items of largest KL-UCB index.
///
/// At round `t` an item with `n` observed displays and mean `mu` has the index
/// `max { q in [mu, 1] : n d(mu, q) <= level(t) }`; an item that was never observed comes first.
/// The feedback defines which displays were observed, so RSF-KL-UCB (level `ln t`), CascadeKL-UCB
/// and dcmKL-UCB (level `ln t + 3 ln ln t`) are one rule. The best item goes to the top; under a
/// dependent click model it goes where leaving is most likely.
///
/// Reference: Vahabi, Lagree, Vernade, Cappe 2016, section 5, RSF-KL-UCB; Kveton, Szepesvari, Wen,
/// Ashkan, *Cascading bandits*, ICML 2015, CascadeKL-UCB; Katariya, Kveton, Szepesvari, Wen, *DCM
/// bandits*, ICML 2016, dcmKL-UCB; the index is that of Garivier and Cappe 2011. Deviations: the
/// second and third paper start with one free observation of every item; here items that were never
/// observed come first.
///
/// | here | paper | shape | unit |
/// |---|---|---|---|
/// | `arms` | `mu^_k`, `N_k` | `n_items` | - |
/// | `rate` | log t | - | nats |
pub struct PrefixKlUcb {
    rate: Rate,
    counts: PrefixCounts,
} live derived {
    arms: BestArms<KlArm> = Self::ranked(rate, &counts, &live),
}
}

impl PrefixKlUcb {
    /// A fresh policy; RSF-KL-UCB has [`Rate::LOG`], the others [`Rate::LOG_PLUS_3_LOG_LOG`].
    pub fn new<'a>(known: impl Into<PrefixKnown<'a>>, rate: Rate) -> Self {
        Self::over(rate, PrefixCounts::new(known.into()), LiveState::default())
    }
}

shows_largest_indices! {
    PrefixKlUcb { rate: Rate } on PrefixCounts, of KlArm, settings &["/rate", "/counts/places"],
    reads ObservedPrefix, |feedback| feedback.observed_clicks(),
    level |round| rate.level(round),
    arm |counts, item| KlArm::new(counts.shows(item), counts.clicks(item))
}
