use super::normal::{Change, Normal, dot};
use super::products::Products;
use super::{SelectFor, UpdateFor};
use crate::checked::with_state;
use crate::pbm::counts::place;
use crate::setup::{restored, setup};
use crate::top_l::{Ties, TopL};
use crate::{Decision, Delta, Error, PrefixKnown};
use click_models::{Context, ContextKnown, ListShape, ObservedPrefix, Ranking};
use confidence::NonNegative;
use confidence::math::ln;
use rand::Rng;
use serde::{Deserialize, Serialize};

with_state! {
/// Linear attraction, for users with an observed prefix: `CascadeLinUCB`, `CascadeLinTS`, C3-UCB.
///
/// The attraction of item `i` for a user with features `x` is taken for `theta' phi`, with
/// `phi = (1, x) (1, z_i)'`, row by row, and `theta` is estimated by ridge regression of the clicks
/// on examined items:
///
/// ```text
/// M = lambda I + sum phi phi' / sigma^2        mean = M^-1 sum phi click / sigma^2
/// index = min(mean' phi + radius sqrt(phi' M^-1 phi), 1)
/// ```
///
/// The items with the largest indices are shown, or, with Thompson sampling, those with the largest
/// `theta' phi` for a draw of `theta` from `N(mean, M^-1)`. The segment is ignored.
///
/// References: Zong et al., *Cascading bandits for large-scale recommendation problems*, UAI 2016,
/// Algorithms 1 and 2; Li, Wang, Zhang, Chen, *Contextual combinatorial cascading bandits*, ICML
/// 2016, Algorithm 1 with discounts 1. Deviations: features are products of user and item features.
/// The constants of theory were not checked against the texts.
///
/// Cost, with D products of `1 + n_item_features` columns: a selection with bounds takes half of
/// `D^2` multiply-adds a column, and one for each pair of columns and item; a draw `D^2 / 2`, and
/// one for each column and item.
///
/// # Examples
///
/// ```
/// use click_models::{Context, ContextKnown, ListShape};
/// use confidence::NonNegative;
/// use policies::{CascadeLinear, Decision, SelectFor};
/// use rand::{SeedableRng, rngs::ChaCha8Rng};
///
/// let known = ContextKnown::new(3, &[1.0, 0.2, -1.0])?.with_user_features(1);
/// let width = NonNegative::new(0.3)?;
/// let mut policy = CascadeLinear::ucb(ListShape::new(3, 2)?, known, width, NonNegative::new(1.0)?)?;
/// let (user, mut decision) = (Context { segment: 0, features: vec![0.5] }, Decision::default());
/// policy.select_for(&user, &mut ChaCha8Rng::seed_from_u64(1), &mut decision);
/// assert_eq!((decision.action.len(), decision.note), (2, user));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CascadeLinear {
    rule: Rule,
    /// The radius of bounds, or the factor `r` of one from the determinant.
    factor: NonNegative,
    delta: Delta,
    /// `lambda`.
    prior_precision: f64,
    /// `1 / sigma^2`.
    information: f64,
    products: Products,
    theta: Normal,
    /// The position of the best item, of the second best, and so on.
    order: Vec<usize>,
} derived {
    buffers: Buffers = Buffers::new(&products, order.len()),
}
}

/// How items are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Rule {
    /// By upper bounds with a given radius.
    Constant,
    /// By upper bounds with the radius `r sqrt(ln(det M / lambda^D) - 2 ln delta) + sqrt(lambda)`.
    LogDeterminant,
    /// By a draw of the coefficients.
    Draws,
}

/// The radius of the bounds of `CascadeLinUCB`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CascadeLinWidth {
    /// The parameter `c`.
    #[default]
    C,
    /// That of Theorem 1.
    Theory,
}

#[derive(Debug, Clone)]
struct Buffers {
    draw: Vec<f64>,
    /// For every column of the items' features, its products with the user's, solved.
    columns: Vec<f64>,
    /// Covariance of the columns.
    covariance: Vec<f64>,
    phis: Vec<f64>,
    clicks: Vec<bool>,
    top: TopL,
}

/// The estimate of an item's attraction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinearScore {
    /// `mean' phi`.
    pub mean: f64,
    /// `sqrt(phi' M^-1 phi)`.
    pub width: f64,
    /// The upper bound, at most 1; `mean` if the policy draws.
    pub index: f64,
}

impl CascadeLinear {
    /// `CascadeLinUCB`: bounds with the radius `width`, and noise of standard deviation `sigma`.
    ///
    /// # Errors
    ///
    /// [`Error::FeaturesOfOtherItems`], [`Error::TooManyCoefficients`].
    pub fn ucb<'a>(
        known: impl Into<PrefixKnown<'a>>,
        context: ContextKnown<'_>,
        width: NonNegative,
        sigma: NonNegative,
    ) -> Result<Self, Error> {
        Self::new(known.into(), context, (Rule::Constant, width), 1.0, sigma.get())
    }

    /// The radius of bounds by default, .3 standard deviations.
    ///
    /// # Panics
    ///
    /// Never.
    pub fn default_width() -> NonNegative {
        NonNegative::new(0.3).expect("positive")
    }

    /// `CascadeLinUCB` with the radius of Zong et al. 2016, Theorem 1, for coefficients of length 1
    /// at most: `sqrt(D ln(1 + T L / (D sigma^2)) + 2 ln(T L)) / sigma + 1`.
    ///
    /// It explores for longer than most experiments last.
    ///
    /// # Errors
    ///
    /// As [`CascadeLinear::ucb`].
    pub fn ucb_of_theory<'a>(
        known: impl Into<PrefixKnown<'a>>,
        context: ContextKnown<'_>,
        sigma: NonNegative,
        horizon: u64,
    ) -> Result<Self, Error> {
        let known = known.into();
        let mut policy = Self::ucb(known, context, NonNegative::default(), sigma)?;
        let (n, sigma) = (policy.theta.len() as f64, sigma.get());
        let answers = horizon.max(1) as f64 * known.shape().n_positions() as f64;
        let radius = (n * ln(1.0 + answers / (n * sigma * sigma)) + 2.0 * ln(answers)).sqrt() / sigma + 1.0;
        policy.factor = NonNegative::new(radius)?;
        Ok(policy)
    }

    /// `CascadeLinTS`: draws, and noise of standard deviation `sigma`.
    ///
    /// # Errors
    ///
    /// As [`CascadeLinear::ucb`].
    pub fn ts<'a>(
        known: impl Into<PrefixKnown<'a>>,
        context: ContextKnown<'_>,
        sigma: NonNegative,
    ) -> Result<Self, Error> {
        Self::new(known.into(), context, (Rule::Draws, NonNegative::default()), 1.0, sigma.get())
    }

    /// C3-UCB: bounds that fail with probability `delta` at most, for noise of scale `r`.
    ///
    /// # Errors
    ///
    /// As [`CascadeLinear::ucb`].
    pub fn c3<'a>(
        known: impl Into<PrefixKnown<'a>>,
        context: ContextKnown<'_>,
        lambda: NonNegative,
        delta: Delta,
        r: NonNegative,
    ) -> Result<Self, Error> {
        let policy = Self::new(known.into(), context, (Rule::LogDeterminant, r), lambda.get(), 1.0)?;
        Ok(Self { delta, ..policy })
    }

    fn new(
        known: PrefixKnown<'_>,
        context: ContextKnown<'_>,
        (rule, factor): (Rule, NonNegative),
        prior_precision: f64,
        sigma: f64,
    ) -> Result<Self, Error> {
        let n_items = known.shape().n_items();
        if context.n_items() != n_items {
            return Err(Error::FeaturesOfOtherItems { found: context.n_items(), n_items });
        }
        let products = Products::new(context)?;
        let order = known.order();
        let theta = Normal::new(vec![0.0; products.len()], std::iter::repeat(prior_precision));
        let information = 1.0 / (sigma * sigma);
        let delta = Delta::default();
        Self::assemble(State { rule, factor, delta, prior_precision, information, products, theta, order })
            .checked()
    }

    /// Refuses a prior or noise without information, and one of infinite information.
    fn checked(self) -> Result<Self, Error> {
        for number in [self.prior_precision, self.information] {
            if !(number.is_finite() && number > 0.0) {
                return Err(Error::NotAScale(number));
            }
        }
        Ok(self)
    }

    /// Mean of the coefficients, one for each product.
    pub fn mean(&self) -> &[f64] {
        &self.theta.mean
    }

    /// Their covariance `M^-1`, row by row.
    pub fn covariance(&self) -> Vec<f64> {
        self.theta.covariance()
    }

    /// `ln(det M / lambda^D)`.
    pub fn log_det_ratio(&self) -> f64 {
        self.theta.log_determinant() - self.theta.len() as f64 * ln(self.prior_precision)
    }

    /// The factor of the width; `None` if the policy draws.
    pub fn radius(&self) -> Option<f64> {
        match self.rule {
            Rule::Constant => Some(self.factor.get()),
            Rule::LogDeterminant => {
                let failure = -2.0 * ln(self.delta.get());
                // Rounding may leave less than nothing.
                let root = (self.log_det_ratio() + failure).max(0.0).sqrt();
                Some(self.factor.get() * root + self.prior_precision.sqrt())
            }
            Rule::Draws => None,
        }
    }

    /// The estimates of every item's attraction for a user.
    pub fn scores(&mut self, context: &Context) -> Vec<LinearScore> {
        self.products.set_user(context);
        self.products.contract(&self.theta.mean);
        self.prepare_widths();
        let radius = self.radius();
        let score = |item| {
            let (mean, width) = (self.products.sum(item), self.width(item));
            LinearScore { mean, width, index: radius.map_or(mean, |radius| (mean + radius * width).min(1.0)) }
        };
        (0..self.products.n_items).map(score).collect()
    }

    /// Covariance of the coefficients of `(1, z)` for the user.
    fn prepare_widths(&mut self) {
        let (n, width) = (self.theta.len(), self.products.width());
        let Buffers { columns, covariance, .. } = &mut self.buffers;
        columns.fill(0.0);
        for (column, out) in columns.chunks_exact_mut(n).enumerate() {
            for (row, &of_user) in out.chunks_exact_mut(width).zip(&self.products.user) {
                row[column] = of_user;
            }
        }
        self.theta.solve_transposed(columns);
        for (one, out) in columns.chunks_exact(n).zip(covariance.chunks_exact_mut(width)) {
            for (other, out) in columns.chunks_exact(n).zip(out) {
                *out = dot(one, other);
            }
        }
    }

    /// `sqrt(phi' M^-1 phi)` of an item, after [`Self::prepare_widths`].
    fn width(&self, item: usize) -> f64 {
        let features = self.products.item(item);
        let mut rows = self.buffers.covariance.chunks_exact(self.products.width());
        let with_features = |row: &[f64]| row[0] + dot(&row[1..], features);
        let first = rows.next().map_or(0.0, with_features);
        let others: f64 = features.iter().zip(rows).map(|(feature, row)| feature * with_features(row)).sum();
        // Rounding may leave less than nothing.
        (first + others).max(0.0).sqrt()
    }
}

impl Buffers {
    fn new(products: &Products, n_positions: usize) -> Self {
        let (n, width) = (products.len(), products.width());
        Self {
            draw: vec![0.0; n],
            columns: vec![0.0; n * width],
            covariance: vec![0.0; width * width],
            phis: Vec::with_capacity(n * n_positions),
            clicks: Vec::with_capacity(n_positions),
            top: TopL::new(n_positions),
        }
    }
}

setup!(
    CascadeLinear,
    &[
        "/rule",
        "/factor",
        "/delta",
        "/prior_precision",
        "/information",
        "/products/n_user_features",
        "/products/item_features",
        "/order"
    ],
    |policy| [policy.products.n_items, policy.order.len()]
);

impl SelectFor<Ranking> for CascadeLinear {
    type Note = Context;

    fn select_for<R: Rng + ?Sized>(
        &mut self,
        context: &Context,
        rng: &mut R,
        out: &mut Decision<Ranking, Context>,
    ) {
        out.note.clone_from(context);
        self.products.set_user(context);
        let radius = self.radius();
        if radius.is_some() {
            self.prepare_widths();
            self.products.contract(&self.theta.mean);
        } else {
            self.theta.draw(1.0, rng, &mut self.buffers.draw);
            self.products.contract(&self.buffers.draw);
        }
        let ties = Ties::draw(rng);
        let mut top = std::mem::take(&mut self.buffers.top);
        top.clear();
        for (item, number) in (0..self.products.n_items).zip(0..) {
            let estimate = self.products.sum(item);
            let bound = |radius: f64| (estimate + radius * self.width(item)).min(1.0);
            top.offer(number, radius.map_or(estimate, bound), ties);
        }
        place(&top.best, &self.order, &mut out.action);
        self.buffers.top = top;
    }

    fn repeat_round_for(&mut self) -> bool {
        true
    }
}

impl<F: ObservedPrefix> UpdateFor<Ranking, F> for CascadeLinear {
    fn update_for(&mut self, decision: &Decision<Ranking, Context>, feedback: &F) {
        let observed = feedback.observed_clicks();
        self.products.set_user(&decision.note);
        let Self { products, theta, information, buffers, .. } = self;
        let Buffers { phis, clicks, .. } = buffers;
        phis.clear();
        clicks.clear();
        for (position, item) in decision.action.by_position().take(observed.len()) {
            if item.index() < products.n_items {
                products.push(item.index(), phis);
                clicks.push(observed.get(position));
            }
        }
        theta.learn(phis, |answer, mean, variance| {
            let error = f64::from(u8::from(clicks[answer])) - mean;
            Change { step: *information * error / (1.0 + *information * variance), weight: *information }
        });
    }
}

restored!(CascadeLinear, |saved| {
    PrefixKnown::with_places(ListShape::new(saved.products.n_items, saved.order.len())?, &saved.order)?;
    if saved.theta.len() != saved.products.len() {
        return Err(Error::SavedSizes);
    }
    Self::assemble(saved).checked()
});
