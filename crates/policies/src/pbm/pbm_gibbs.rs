use super::PbmPrior;
use super::counts::{place, sort_by_examination};
use crate::checked::with_state;
use crate::live::{LiveState, OnTable, Table, on_table};
use crate::products::{Products, Pseudo};
use crate::setup::{restored, setup};
use crate::top_l::{Ties, TopL};
use crate::{Bayesian, Decision, Error, PrefixKnown, Prior, Select, SelectAmong, Tally, Update};
use click_models::value::index;
use click_models::{ItemSet, ListShape, Ranking, RenderedClicks};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Whether a policy knows which positions are examined more than others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PbmGibbsOrder {
    /// It finds out.
    #[default]
    Unknown,
    /// It knows the order of the positions; by default from the top down.
    Known,
}

with_state! {
/// `pbm-gibbs`: Thompson sampling for position-based users with unknown examination.
///
/// Item `k` at position `l` is clicked with probability `theta_k kappa_l`. A round makes one Gibbs
/// sweep: it draws every attraction given the examination, then every examination given the
/// attraction, and divides examination by the largest of it. An item with `S` clicks in `N`
/// displays, `N_l` of them at position `l`, draws
///
/// ```text
/// b / (sum over l of kappa_l N_l + 1) Gamma((S + 1) / b),    b = 1 - S / (N + 1)
/// ```
///
/// and a position likewise. The policy shows the L largest draws, the largest at the position of
/// the largest drawn examination, or, with `order = "known"`, at the position that is known to be
/// examined most. [`PbmPrior`] adds the displays and clicks of the fit of a log to those of the run
/// (`prior = "fitted"` in experiments).
///
/// Reference: none, the policy is ours; the sweep is that of `rank1-gibbs`. Its performance is
/// measured, not proven.
///
/// | here | formula | shape | unit |
/// |---|---|---|---|
/// | `products.rows` | theta | `n_items` | approximate probability |
/// | `products.columns` | kappa | `n_positions` | share of the largest examination |
/// | `places` | position of the best, the second best, .. item | `n_positions` | position |
///
/// Clicks show only products of attraction and examination, so drawn attractions exceed true ones
/// by the factor of the largest examination. Memory: 24 bytes for each item and position.
pub struct PbmGibbs {
    /// Position of the best item, of the second best, and so on, if that is known.
    places: Option<Vec<usize>>,
    /// The prior; `None` for a policy that began without one.
    prior: Option<PbmPrior>,
    /// With the sums of the clicks of items at positions, which `live` has.
    products: Products,
} live derived {
    /// The positions of this round's list: of the best item, of the second best, and so on.
    order: Vec<usize> = places.clone().unwrap_or_else(|| (0..products.sizes()[1]).collect()),
    top: TopL = TopL::new(products.sizes()[1]),
}
}

impl PbmGibbs {
    /// A fresh policy. It uses the order of the positions if `order` is known.
    pub fn new<'a>(known: impl Into<PrefixKnown<'a>>, order: PbmGibbsOrder) -> Self {
        let known = known.into();
        let shape = known.shape();
        let places = match order {
            PbmGibbsOrder::Unknown => None,
            PbmGibbsOrder::Known => Some(known.order()),
        };
        let products = Products::new(shape.n_items(), shape.n_positions());
        let clicks = vec![0; shape.n_items() * shape.n_positions()];
        Self::over(places, None, products, LiveState { clicks, ..LiveState::default() })
    }

    /// Begins with beliefs of items and positions; those without one begin as in a fresh policy.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyBeliefs`] if there are beliefs of more items or positions than there are.
    pub fn with_prior(mut self, prior: &PbmPrior) -> Result<Self, Error> {
        let [n_items, n_positions] = self.products.sizes();
        for (of, found, most) in
            [("items", prior.attraction.len(), n_items), ("positions", prior.examination.len(), n_positions)]
        {
            if found > most {
                return Err(Error::TooManyBeliefs { of, found, most });
            }
        }
        self.prior = Some(prior.clone());
        self.begin();
        Ok(self)
    }

    /// The belief of an item that has none of its own.
    fn belief(&self) -> Pseudo {
        let Self { live: LiveState { prior, .. }, .. } = self;
        Pseudo { plays: prior.clicks() + prior.failures(), clicks: prior.clicks() }
    }

    /// Begins with the beliefs of items and positions; other items have the common one.
    fn begin(&mut self) {
        let [n_items, _] = self.products.sizes();
        let (own, examination): (&[Pseudo], &[Pseudo]) =
            self.prior.as_ref().map_or((&[], &[]), |prior| (&prior.attraction, &prior.examination));
        let own = |item| own.get(item).copied().filter(|belief: &Pseudo| *belief != Pseudo::default());
        let beliefs: Vec<Pseudo> = (0..n_items).map(|item| own(item).unwrap_or(self.belief())).collect();
        self.products.set_prior(&beliefs, examination);
    }
}

restored!(PbmGibbs, |State { places, prior, products, live }| {
    let [n_items, n_positions] = products.sizes();
    let shape = ListShape::new(n_items, n_positions)?;
    if let Some(places) = &places {
        PrefixKnown::with_places(shape, places)?;
        if places.is_empty() {
            return Err(Error::NotTheirPlaces { n_positions });
        }
    }
    let mut live = LiveState::restore(live, n_items)?;
    live.prior.at_least_1()?;
    if live.clicks.is_empty() {
        live.clicks = products.some_clicks();
    } else if !products.may_have(&live.clicks) {
        return Err(Error::SavedCellClicks);
    }
    let mut policy = Self::over(places, None, products, live);
    policy.begin();
    match &prior {
        None => Ok(policy),
        Some(prior) => policy.with_prior(prior),
    }
});

setup!(PbmGibbs, &["/places", "/prior"], |policy| policy.products.sizes());

impl Select<Ranking> for PbmGibbs {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        if self.live.has_terms() {
            return self.select_among(&ItemSet::all(self.products.rows().len()), rng, out);
        }
        let ties = self.sweep(rng);
        for (item, &attraction) in (0_u32..).zip(self.products.rows()) {
            self.top.offer(item, attraction, ties);
        }
        place(&self.top.best, &self.order, &mut out.action);
    }

    fn repeat_round(&mut self) -> bool {
        true
    }
}

impl PbmGibbs {
    /// Draws attraction and examination, and orders the positions.
    fn sweep<R: Rng + ?Sized>(&mut self, rng: &mut R) -> Ties {
        let ties = Ties::draw(rng);
        self.products.sweep(rng);
        self.top.clear();
        if self.places.is_none() {
            sort_by_examination(&mut self.order, self.products.columns());
        }
        ties
    }
}

impl SelectAmong<Ranking> for PbmGibbs {
    fn select_among<R: Rng + ?Sized>(
        &mut self,
        available: &ItemSet,
        rng: &mut R,
        out: &mut Decision<Ranking>,
    ) {
        let ties = self.sweep(rng);
        let Self { products, live, order, top, .. } = self;
        top.limit(live.terms.as_deref());
        let n_items = products.rows().len();
        let values = live.differing(available, n_items);
        for item in live.items(available, n_items) {
            let attraction = products.rows()[item.index()];
            let score = values.map_or(attraction, |values| index(attraction, values.get(item)));
            top.offer(item.number(), score, ties);
        }
        top.limit(None);
        place(&top.best, order, &mut out.action);
    }
}

impl Table for PbmGibbs {
    fn n_items(&self) -> usize {
        self.products.rows().len()
    }

    fn n_kinds(&self) -> usize {
        self.products.columns().len()
    }

    fn tally(&self, item: usize, kind: usize) -> Tally {
        let cell = item * Table::n_kinds(self) + kind;
        Tally { shows: self.products.plays(item, kind), clicks: self.live.clicks[cell] }
    }

    fn set_tally(&mut self, item: usize, kind: usize, tally: Tally) {
        let shows = tally.shows.min(self.products.most_plays(item, kind));
        let clicks = tally.clicks.min(shows);
        let cell = item * Table::n_kinds(self) + kind;
        let before = std::mem::replace(&mut self.live.clicks[cell], clicks);
        self.products.set_cell(item, kind, shows, [before, clicks]);
    }

    fn place(&self, rank: usize) -> usize {
        self.order[rank]
    }

    fn push(&mut self) {
        self.live.clicks.resize(self.live.clicks.len() + self.products.columns().len(), 0);
        self.products.push(self.belief());
    }
}

impl OnTable for PbmGibbs {
    const MULTIPLIES: bool = true;

    on_table!(Self, |policy| *policy);

    fn posteriors(&mut self) -> Option<&mut dyn Bayesian> {
        Some(self)
    }
}

impl Bayesian for PbmGibbs {
    /// Items with a belief of their own keep it.
    fn set_prior(&mut self, prior: Prior) -> Result<(), Error> {
        self.live.prior = prior.at_least_1()?;
        self.begin();
        Ok(())
    }

    fn prior(&self) -> Prior {
        self.live.prior
    }

    fn examination(&self) -> &[f64] {
        self.products.columns()
    }
}

impl<F: RenderedClicks> Update<Ranking, F> for PbmGibbs {
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let [n_items, n_positions] = self.products.sizes();
        let clicks = feedback.rendered_clicks(n_positions);
        for (position, item) in decision.action.by_position().take(clicks.len()) {
            if item.index() < n_items {
                self.products.count(item.index(), position, clicks.get(position));
                self.live.clicks[item.index() * n_positions + position] += u64::from(clicks.get(position));
            }
        }
    }
}
