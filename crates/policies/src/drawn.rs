//! Lists with the probabilities with which they are shown.
//!
//! A policy draws its list from a distribution that it cannot state. So it draws B lists, and one
//! of them is shown: *given the draws*, the probability of a list is its share among them. To count
//! the share of a list among fresh draws is wrong, since a list that is shown is often one that was
//! drawn by chance: weights of 1 / share then have means of 1.2 to 2.7 instead of 1.

use crate::checked::checked;
use crate::{Decision, Error, Select, SelectFor, Setup, Update};
use click_models::{ItemId, Ranking};
use confidence::Probability;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// How many lists are drawn in a round, and how often a uniformly random list is shown instead.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, fieldwork::Fieldwork)]
#[serde(deny_unknown_fields, remote = "Self")]
#[fieldwork(get(doc_template = "{}"))]
pub struct Drawing {
    /// The number of lists that are drawn in a round.
    draws: u32,
    /// The probability of a uniformly random list.
    #[field(copy)]
    epsilon: Probability,
}

checked!(Drawing, |self| Self::new(self.draws, self.epsilon));

impl Drawing {
    /// The largest number of draws.
    pub const MOST_DRAWS: u32 = 10_000;

    /// The weights of a list have 3.6, 1.2 and 1.1 times the variance of those with the policy's
    /// own probabilities, for 20, 100 and 400 draws. Without an `epsilon` above 0 lists that are
    /// never drawn have no weight in any log.
    ///
    /// # Errors
    ///
    /// [`Error::Draws`] unless there are 1 to [`MOST_DRAWS`](Self::MOST_DRAWS) of them.
    pub fn new(draws: u32, epsilon: Probability) -> Result<Self, Error> {
        let most = Self::MOST_DRAWS;
        if (1..=most).contains(&draws) {
            Ok(Self { draws, epsilon })
        } else {
            Err(Error::Draws { found: draws, most })
        }
    }
}

/// The probabilities of a position of a list that is shown, given the draws. Above 0, and at
/// most 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Propensity {
    /// That the position has its item: the marginal, whatever the others have.
    pub item: f64,
    /// That this and all positions above have their items. At the last position it is the
    /// probability of the list.
    pub prefix: f64,
}

/// The draws of the last decision of a policy, with notes of type `N`.
#[derive(Debug, Clone)]
pub struct Draws<N = ()> {
    /// The lists, one after the other.
    lists: Vec<ItemId>,
    /// Memory for a list that is not shown.
    other: Decision<Ranking, N>,
    propensities: Vec<Propensity>,
}

impl<N: Default> Default for Draws<N> {
    fn default() -> Self {
        Self { lists: Vec::new(), other: Decision::default(), propensities: Vec::new() }
    }
}

impl<N> Draws<N> {
    /// The propensities of the list that was shown, position by position.
    pub fn propensities(&self) -> &[Propensity] {
        &self.propensities
    }

    /// Decides on a list among `n_items` items, those that `item` numbers from 0.
    ///
    /// `select` is [`Select::select`], or [`SelectAmong::select_among`](crate::SelectAmong) with
    /// these items, which are present; or the same for a user. Allocates nothing once `self` and
    /// `out` have been used for a round.
    pub fn decide<P: SelectFor<Ranking, Note = N>, R: Rng + ?Sized>(
        &mut self,
        drawing: Drawing,
        (n_items, item): (usize, impl Fn(usize) -> ItemId),
        (policy, rng): (&mut P, &mut R),
        out: &mut Decision<Ranking, N>,
        select: impl Fn(&mut P, &mut R, &mut Decision<Ranking, N>),
    ) {
        let Self { lists, other, propensities } = self;
        select(policy, rng, out);
        let n_positions = out.action.len();
        lists.clear();
        lists.extend(&out.action);
        let shown = rng.random_range(0..drawing.draws);
        let mut draws = 1;
        while draws < drawing.draws && policy.repeat_round_for() {
            select(policy, rng, other);
            lists.extend(&other.action);
            if draws == shown {
                std::mem::swap(out, other);
            }
            draws += 1;
        }
        let epsilon = drawing.epsilon.get();
        if rng.random::<f64>() < epsilon {
            let list = &mut out.action;
            list.clear();
            while list.len() < n_positions.min(n_items) {
                // Redrawing an item is cheap: a list has at most 64 positions.
                let item = item(rng.random_range(0..n_items));
                if !list.contains(item) {
                    list.push(item);
                }
            }
        }
        propensities.clear();
        propensities.resize(n_positions, Propensity { item: 0.0, prefix: 0.0 });
        // Counts first: sums of 1 are exact.
        for list in lists.chunks_exact(n_positions.max(1)) {
            let mut is_prefix = true;
            for ((propensity, item), drawn) in propensities.iter_mut().zip(&out.action).zip(list) {
                let is_same = item == *drawn;
                is_prefix &= is_same;
                propensity.item += f64::from(u8::from(is_same));
                propensity.prefix += f64::from(u8::from(is_prefix));
            }
        }
        let mut uniform = epsilon;
        for (position, Propensity { item, prefix }) in propensities.iter_mut().enumerate() {
            uniform /= n_items.saturating_sub(position).max(1) as f64;
            let share = |count: f64| (1.0 - epsilon) * (count / f64::from(draws));
            *item = (share(*item) + epsilon / n_items.max(1) as f64).min(1.0);
            // Long lists of many items have tiny chances.
            *prefix = (share(*prefix) + uniform).clamp(f64::MIN_POSITIVE, 1.0);
        }
    }
}

/// A policy that shows one of several lists that it draws, and tells with which probability.
///
/// The draws are one round of the policy. A policy whose lists are fixed by its counts is asked
/// once: [`Select::repeat_round`] tells which. Saved and restored with its policy.
///
/// # Examples
///
/// ```
/// use click_models::{Cascade, ListShape, Ranking};
/// use confidence::Probability;
/// use policies::{Decision, Drawing, Drawn, NamedPolicy, Select};
/// use rand::{SeedableRng, rngs::ChaCha8Rng};
///
/// let policy = NamedPolicy::<Cascade>::build("cascade-ts".parse()?, ListShape::new(4, 2)?, None)?;
/// let mut policy = Drawn::new(policy, Drawing::new(100, Probability::new(0.05)?)?);
/// let mut decision = Decision::<Ranking, _>::default();
/// policy.select(&mut ChaCha8Rng::seed_from_u64(1), &mut decision);
/// let [first, second] = policy.propensities() else { panic!("two positions") };
/// // A fresh policy shows each item at each position equally often: 25 of 100 draws, by and large.
/// assert!((first.item - 0.25).abs() < 0.15 && first.item == first.prefix);
/// // The last prefix is the list; the uniform list alone shows it in one of twelve rounds.
/// assert!(second.prefix <= second.item && second.prefix >= 0.05 / 12.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, fieldwork::Fieldwork)]
#[serde(deny_unknown_fields, bound(serialize = "P: Serialize", deserialize = "P: Deserialize<'de>"))]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct Drawn<P: Select<Ranking>> {
    /// How lists are drawn.
    #[field(copy)]
    drawing: Drawing,
    /// The policy.
    #[field]
    policy: P,
    #[serde(skip)]
    draws: Draws<P::Note>,
}

impl<P: Select<Ranking> + Setup> Drawn<P> {
    /// Shows the lists of `policy`, drawn in this way.
    pub fn new(policy: P, drawing: Drawing) -> Self {
        Self { drawing, policy, draws: Draws::default() }
    }

    /// The propensities of the last decision, position by position; none before the first one.
    pub fn propensities(&self) -> &[Propensity] {
        self.draws.propensities()
    }
}

impl<P: Select<Ranking> + Setup> Select<Ranking> for Drawn<P> {
    type Note = P::Note;

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking, P::Note>) {
        let Self { drawing, policy, draws } = self;
        let [n_items, _] = policy.sizes();
        draws.decide(*drawing, (n_items, ItemId::from_index), (policy, rng), out, P::select);
    }
}

impl<P: Update<Ranking, F> + Setup, F> Update<Ranking, F> for Drawn<P> {
    fn update(&mut self, decision: &Decision<Ranking, P::Note>, feedback: &F) {
        self.policy.update(decision, feedback);
    }
}
