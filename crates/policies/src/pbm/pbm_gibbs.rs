use super::PbmPrior;
use super::counts::{place, sort_by_examination};
use crate::products::{Products, SavedProducts};
use crate::setup::Setup;
use crate::top_l::{Ties, TopL};
use crate::{Decision, Error, PrefixKnown, Select, Update};
use click_models::{ListShape, Ranking, RenderedClicks};
use rand::Rng;
use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;

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
/// by the factor of the largest examination. Memory: 16 bytes for each item and position.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Saved<'_>")]
pub struct PbmGibbs {
    /// Position of the best item, of the second best, and so on, if that is known.
    places: Option<Vec<usize>>,
    /// The prior; `None` for a policy that began without one.
    prior: Option<PbmPrior>,
    products: Products,
    /// The positions of this round's list: of the best item, of the second best, and so on.
    order: Vec<usize>,
    top: TopL,
}

#[derive(Serialize, Deserialize)]
struct Saved<'a> {
    places: Cow<'a, Option<Vec<usize>>>,
    prior: Cow<'a, Option<PbmPrior>>,
    products: SavedProducts<'a>,
}

impl PbmGibbs {
    /// A fresh policy. It uses the order of the positions if `order` is known.
    pub fn new<'a>(known: impl Into<PrefixKnown<'a>>, order: PbmGibbsOrder) -> Self {
        let known = known.into();
        let shape = known.shape();
        let places = match order {
            PbmGibbsOrder::Unknown => None,
            PbmGibbsOrder::Known if known.places().is_empty() => Some((0..shape.n_positions()).collect()),
            PbmGibbsOrder::Known => Some(known.places().to_vec()),
        };
        Self::assemble(places, Products::new(shape.n_items(), shape.n_positions()))
    }

    fn assemble(places: Option<Vec<usize>>, products: Products) -> Self {
        let [_, n_positions] = products.sizes();
        let order = places.clone().unwrap_or_else(|| (0..n_positions).collect());
        Self { places, prior: None, products, order, top: TopL::new(n_positions) }
    }

    /// Begins with beliefs of items and positions; those without one begin as in a fresh policy.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyBeliefs`] if there are beliefs of more items or positions than there are.
    pub fn with_prior(mut self, prior: &PbmPrior) -> Result<Self, Error> {
        let [n_items, n_positions] = self.products.sizes();
        for (of, found, most) in [
            ("items", prior.attraction().len(), n_items),
            ("positions", prior.examination().len(), n_positions),
        ] {
            if found > most {
                return Err(Error::TooManyBeliefs { of, found, most });
            }
        }
        self.products.set_prior(prior.attraction(), prior.examination());
        self.prior = Some(prior.clone());
        Ok(self)
    }
}

impl Serialize for PbmGibbs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { places, prior, products, .. } = self;
        let (places, prior) = (Cow::Borrowed(places), Cow::Borrowed(prior));
        Saved { places, prior, products: products.to_save() }.serialize(serializer)
    }
}

impl TryFrom<Saved<'_>> for PbmGibbs {
    type Error = Error;

    fn try_from(Saved { places, prior, products }: Saved<'_>) -> Result<Self, Error> {
        let places = places.into_owned();
        let products = Products::restore(products)?;
        let [n_items, n_positions] = products.sizes();
        let shape = ListShape::new(n_items, n_positions)?;
        if let Some(places) = &places {
            PrefixKnown::with_places(shape, places)?;
            if places.is_empty() {
                return Err(Error::NotTheirPlaces { n_positions });
            }
        }
        let policy = Self::assemble(places, products);
        match &*prior {
            None => Ok(policy),
            Some(prior) => policy.with_prior(prior),
        }
    }
}

impl Setup for PbmGibbs {
    const SETTINGS: &'static [&'static str] = &["/places", "/prior"];

    fn sizes(&self) -> [usize; 2] {
        self.products.sizes()
    }
}

impl Select<Ranking> for PbmGibbs {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        let ties = Ties::draw(rng);
        self.products.sweep(rng);
        self.top.clear();
        for (item, &attraction) in (0_u32..).zip(self.products.rows()) {
            self.top.offer(item, attraction, ties);
        }
        if self.places.is_none() {
            sort_by_examination(&mut self.order, self.products.columns());
        }
        place(self.top.best(), &self.order, &mut out.action);
    }
}

impl<F: RenderedClicks> Update<Ranking, F> for PbmGibbs {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        let [n_items, n_positions] = self.products.sizes();
        let clicks = feedback.rendered_clicks(n_positions);
        for (position, item) in decision.action.by_position().take(clicks.len()) {
            if item.index() < n_items {
                self.products.count(item.index(), position, clicks.get(position));
            }
        }
    }
}
