//! Bounds for the position-based model: the cost of exploration if a missing click may mean "not
//! examined".
//!
//! Attractions and examinations in decreasing order, counted from 0; `last` is the last position. A
//! policy must show a suboptimal item `k` at some position until it can be distinguished from the
//! last item of the best list. At position `l` this costs the gap of the best list with `k`
//! inserted at `l` and the items below moved down (the paper's `v_{k,l}`), and yields
//! `d(kappa_l theta_k, kappa_l theta_last)` nats. Theorem 6:
//!
//! ```text
//! sum over k of  min over l of  gap(v_{k,l}) / d(kappa_l theta_k, kappa_l theta_last)
//! ```
//!
//! This equals the value of the linear program of Corollary 5 over all lists; the tests solve that
//! program.
//!
//! Reference: Lagree, Vernade and Cappe, *Multiple-play bandits in the position-based model*, NIPS
//! 2016, Theorems 6, 9 and 11. Deviations: parameters may be tied and may be 0 or 1. **The last
//! sentence of section 3.3 is wrong**, see [`pbm_last_position_cost`].
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `theta` | theta | `n_items` (K), any order | probability |
//! | `kappa` | kappa | `n_positions` (L), any order | probability |
//! | `epsilon` | epsilon, of the exploration level `(1 + epsilon) ln t` | number | - |
//! | `eta` | eta, the accuracy of the leaders' estimates | number | probability |
//! | results | - | number | clicks per `ln T` |
//!
//! Numerics: the gap of `v_{k,l}` is `kappa_l (theta_last - theta_k)` plus a part that does not
//! depend on `k`, `D_l = D_{l+1} + (kappa_l - kappa_{l+1}) (theta_l - theta_last)`: a sum of
//! non-negative numbers. Complexity: a sort and O(`n_items * n_positions`).

use super::Decreasing;
use super::nats_per_click::nats_per_click;

/// A sorted instance whose sizes fit.
#[derive(Debug)]
struct Instance {
    theta: Decreasing,
    kappa: Decreasing,
}

impl Instance {
    /// `None` if malformed.
    fn new(theta: &[f64], kappa: &[f64]) -> Option<Self> {
        let instance = Self { theta: Decreasing::new(theta)?, kappa: Decreasing::new(kappa)? };
        instance.theta.threshold_and_rest(kappa.len())?;
        Some(instance)
    }

    /// The attraction of the last item of the best list.
    fn threshold(&self) -> f64 {
        self.theta.values[self.kappa.values.len() - 1]
    }

    /// The attractions of the items below the best list.
    fn rest(&self) -> &[f64] {
        &self.theta.values[self.kappa.values.len()..]
    }

    /// The examination of the first and of the last position.
    fn first_and_last_examination(&self) -> (f64, f64) {
        (self.kappa.values[0], self.kappa.values[self.kappa.values.len() - 1])
    }

    /// For each position, the cost of moving down the items below an inserted item, per unit of
    /// examination of that position: `D_l / kappa_l`. 0 at the last position, and if `kappa_l` is
    /// 0.
    fn displacement(&self) -> Vec<f64> {
        let (theta, kappa) = (&self.theta.values, &self.kappa.values);
        let mut displacement = vec![0.0; kappa.len()];
        let mut below = 0.0;
        for position in (0..kappa.len() - 1).rev() {
            below += (kappa[position] - kappa[position + 1]) * (theta[position] - self.threshold());
            if kappa[position] > 0.0 {
                displacement[position] = below / kappa[position];
            }
        }
        displacement
    }

    /// Regret per `ln T` of exploring every suboptimal item at a position with this examination, at
    /// no other cost.
    fn cost_at(&self, examined: f64) -> f64 {
        let threshold = self.threshold();
        let suboptimal = self.rest().iter().filter(|&&worse| worse < threshold);
        suboptimal.map(|&worse| 1.0 / nats_per_click(examined, worse, threshold)).sum()
    }
}

/// The term of one item below the best list in the bound of Theorem 6.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PbmBoundTerm {
    /// Index of the item in the caller's `theta`.
    pub item: usize,
    /// Index of the cheapest position to explore it in the caller's `kappa`; of several equally
    /// cheap ones, the most examined. `None` if the item need not be explored, because it is as
    /// attractive as the last item of the best list, or because no position is ever examined.
    pub position: Option<usize>,
    /// Regret of exploring it there, in clicks per `ln T`; 0 without a position.
    pub cost: f64,
}

/// Lower bound on the regret of any uniformly efficient policy in the position-based model: Theorem
/// 6, equation (6), in clicks per `ln T`.
///
/// 0 if no item is suboptimal, NaN for [malformed input](crate::bounds#odd-input).
///
/// # Examples
///
/// The instance of the paper's section 5.1:
///
/// ```
/// use click_models::bounds::pbm_lower_bound;
///
/// let constant = pbm_lower_bound(&[0.45, 0.35, 0.25, 0.15, 0.05], &[0.9, 0.6, 0.3]);
/// assert!((constant - 5.591_949_170_057_202).abs() < 1e-12);
/// ```
pub fn pbm_lower_bound(theta: &[f64], kappa: &[f64]) -> f64 {
    // The sum of no terms is -0.
    pbm_lower_bound_terms(theta, kappa)
        .map_or(f64::NAN, |terms| terms.iter().fold(0.0, |sum, term| sum + term.cost))
}

/// The terms of the bound of Theorem 6, one for every item below the best list, the most attractive
/// first.
///
/// `None` for [malformed input](crate::bounds#odd-input).
///
/// # Examples
///
/// With high attractions, the top of the list is the cheapest position to explore, although
/// mistakes cost most there:
///
/// ```
/// use click_models::bounds::pbm_lower_bound_terms;
///
/// let terms = pbm_lower_bound_terms(&[0.95, 0.85, 0.75, 0.65, 0.55], &[0.9, 0.6, 0.3]).unwrap();
/// assert_eq!(terms.iter().map(|term| term.position).collect::<Vec<_>>(), [Some(0), Some(0)]);
/// ```
pub fn pbm_lower_bound_terms(theta: &[f64], kappa: &[f64]) -> Option<Vec<PbmBoundTerm>> {
    let instance = Instance::new(theta, kappa)?;
    let displacement = instance.displacement();
    let threshold = instance.threshold();
    let term = |(&worse, &item): (&f64, &usize)| {
        let mut term = PbmBoundTerm { item, position: None, cost: 0.0 };
        if worse == threshold {
            return term;
        }
        for ((&examined, &position), displaced) in
            instance.kappa.values.iter().zip(&instance.kappa.places).zip(&displacement)
        {
            if examined == 0.0 {
                break;
            }
            let cost = (1.0 + displaced / (threshold - worse)) / nats_per_click(examined, worse, threshold);
            if term.position.is_none() || cost < term.cost {
                term = PbmBoundTerm { position: Some(position), cost, ..term };
            }
        }
        term
    };
    Some(instance.rest().iter().zip(&instance.theta.places[kappa.len()..]).map(term).collect())
}

/// A lower bound that is simpler and smaller than Theorem 6, in clicks per `ln T`. It assumes that
/// every suboptimal item is explored with the information of the most examined position, and counts
/// only the loss of attraction.
///
/// ```text
/// kappa_0 * sum over k of (theta_last - theta_k) / d(kappa_0 theta_k, kappa_0 theta_last)
/// ```
///
/// This is the corrected form of the last sentence of the paper's section 3.3: `d(c p, c q) / c`
/// grows with `c`, so the position with the most information per unit of examination is the first,
/// not the last as printed. See [`pbm_last_position_cost`].
///
/// 0 if no item is suboptimal or no position is ever examined; NaN for [malformed
/// input](crate::bounds#odd-input).
pub fn pbm_relaxed_lower_bound(theta: &[f64], kappa: &[f64]) -> f64 {
    let Some(instance) = Instance::new(theta, kappa) else { return f64::NAN };
    let (first, _) = instance.first_and_last_examination();
    if first == 0.0 { 0.0 } else { instance.cost_at(first) }
}

/// The regret of exploring every suboptimal item at the least examined position, in clicks per
/// `ln T`: Theorem 11 with `eta = epsilon = 0`.
///
/// ```text
/// kappa_last * sum over k of (theta_last - theta_k) / d(kappa_last theta_k, kappa_last theta_last)
/// ```
///
/// It is never below [`pbm_lower_bound`], because the last position is one of those in the minimum
/// of Theorem 6. It equals that bound if the last position is the cheapest one for every item. The
/// last sentence of the paper's section 3.3 states the opposite inequality, that this expression
/// bounds Theorem 6 **from below; that is false**, as the example shows. The relaxation that holds
/// is [`pbm_relaxed_lower_bound`].
///
/// 0 if no item is suboptimal; `+inf` if one is and the last position is never examined, since
/// nothing is learnt there; NaN for [malformed input](crate::bounds#odd-input).
///
/// # Examples
///
/// ```
/// use click_models::bounds::{pbm_last_position_cost, pbm_lower_bound};
///
/// let (theta, kappa) = ([0.95, 0.85, 0.75, 0.65, 0.55], [0.9, 0.6, 0.3]);
/// assert!((pbm_lower_bound(&theta, &kappa) - 14.060).abs() < 1e-3);
/// assert!((pbm_last_position_cost(&theta, &kappa) - 16.652).abs() < 1e-3);
/// ```
pub fn pbm_last_position_cost(theta: &[f64], kappa: &[f64]) -> f64 {
    pbm_pie_upper_bound(theta, kappa, 0.0, 0.0)
}

/// The leading constant of the regret of PBM-PIE: Theorem 11, in clicks per `ln T`.
///
/// ```text
/// (1 + epsilon)^2 * sum over k of kappa_last (theta_last - theta_k) / d(kappa_last theta_k, kappa_last (theta_last - eta))
/// ```
///
/// The theorem holds for `epsilon > 0` and `0 < eta <` half the smallest difference of two
/// attractions, and has further terms that stay bounded as `T` grows. Both numbers may be 0 here,
/// which gives the limit.
///
/// 0 if no item is suboptimal; `+inf` if one is and the last position is never examined; NaN for a
/// negative or infinite `epsilon`, an `eta` outside its range, and [malformed
/// input](crate::bounds#odd-input).
///
/// # Examples
///
/// ```
/// use click_models::bounds::{pbm_lower_bound, pbm_pie_upper_bound};
///
/// // If the last position is the cheapest one for every item, PBM-PIE is asymptotically optimal.
/// let (theta, kappa) = ([0.45, 0.35, 0.25, 0.15, 0.05], [0.9, 0.6, 0.3]);
/// assert!((pbm_pie_upper_bound(&theta, &kappa, 0.0, 0.0) - pbm_lower_bound(&theta, &kappa)).abs() < 1e-12);
/// assert!(pbm_pie_upper_bound(&theta, &kappa, 0.01, 0.1) > 1.21 * pbm_lower_bound(&theta, &kappa));
/// ```
pub fn pbm_pie_upper_bound(theta: &[f64], kappa: &[f64], eta: f64, epsilon: f64) -> f64 {
    let Some(instance) = Instance::new(theta, kappa) else { return f64::NAN };
    let half_gap =
        instance.theta.values.windows(2).map(|pair| (pair[0] - pair[1]) / 2.0).fold(f64::INFINITY, f64::min);
    if !(is_exploration(epsilon) && (eta == 0.0 || 0.0 < eta && eta < half_gap)) {
        return f64::NAN;
    }
    let (_, last) = instance.first_and_last_examination();
    let threshold = instance.threshold();
    let confused = threshold - eta;
    let cost = |&worse: &f64| {
        if last == 0.0 {
            return f64::INFINITY;
        }
        (threshold - worse) / (confused - worse) / nats_per_click(last, worse, confused)
    };
    let suboptimal = instance.rest().iter().filter(|&&worse| worse < threshold);
    (1.0 + epsilon) * (1.0 + epsilon) * suboptimal.map(cost).sum::<f64>()
}

/// The leading constant of the regret of PBM-UCB: Theorem 9, in clicks per `ln T`.
///
/// ```text
/// 16 (1 + epsilon) C(kappa) (n_positions / Delta + sum over k of 1 / (kappa_last (theta_last - theta_k)))
/// ```
///
/// with `C(kappa)` the [`pbm_ucb_examination_factor`], `Delta` the [`smallest_permutation_gap`] and
/// `k` over all items below the best list. The theorem holds for `epsilon > 0` and adds a term that
/// does not depend on the instance; `epsilon = 0` gives the limit. The constant is far above the
/// policy's actual regret.
///
/// `+inf` if a term is infinite: for an item as attractive as the last of the best list, tied
/// parameters within the list, or a position that is never examined. NaN for a negative or infinite
/// `epsilon`, and for [malformed input](crate::bounds#odd-input).
///
/// # Examples
///
/// ```
/// use click_models::bounds::pbm_ucb_upper_bound;
///
/// // C(kappa) = 43, Delta = 0.03, and the sum is 1 / 0.03 + 1 / 0.06.
/// let constant = pbm_ucb_upper_bound(&[0.45, 0.35, 0.25, 0.15, 0.05], &[0.9, 0.6, 0.3], 0.0);
/// assert!((constant - 16.0 * 43.0 * 150.0).abs() < 1e-7);
/// ```
pub fn pbm_ucb_upper_bound(theta: &[f64], kappa: &[f64], epsilon: f64) -> f64 {
    let Some(instance) = Instance::new(theta, kappa) else { return f64::NAN };
    if !is_exploration(epsilon) {
        return f64::NAN;
    }
    let (_, last) = instance.first_and_last_examination();
    let threshold = instance.threshold();
    let ordering = kappa.len() as f64 / instance.smallest_permutation_gap();
    let choosing: f64 = instance.rest().iter().map(|worse| 1.0 / (last * (threshold - worse))).sum();
    // With one item and one position no regret is possible, even if the factor is infinite.
    let sum = ordering + choosing;
    if sum == 0.0 { 0.0 } else { 16.0 * (1.0 + epsilon) * instance.examination_factor() * sum }
}

/// The part of Theorem 9 that depends on examination alone, `C(kappa)`.
///
/// ```text
/// min over l = 1..n_positions of  [(kappa_1 + .. + kappa_n_positions)^2 / l + (kappa_1 + .. + kappa_l)^2] / kappa_last^2
/// ```
///
/// with `l` counted from 1 as in the paper; `kappa_last^2` divides the whole bracket.
///
/// `+inf` if the last position is never examined, NaN if `kappa` is empty or has an entry that is
/// not a probability.
///
/// # Examples
///
/// ```
/// use click_models::bounds::pbm_ucb_examination_factor;
///
/// // l = 1 and l = 2 give (3.24 + 0.81) / 0.09 = 45 and (1.62 + 2.25) / 0.09 = 43; l = 3 gives 48.
/// assert!((pbm_ucb_examination_factor(&[0.9, 0.6, 0.3]) - 43.0).abs() < 1e-12);
/// ```
pub fn pbm_ucb_examination_factor(kappa: &[f64]) -> f64 {
    match Decreasing::new(kappa) {
        Some(kappa) if !kappa.values.is_empty() => examination_factor(&kappa.values),
        _ => f64::NAN,
    }
}

/// The smallest gap of a list that shows the best items in a wrong order: `Delta` of Theorem 9, in
/// clicks per round.
///
/// Sorting a wrong order by exchanges of neighbours never raises its gap, so a single exchange of
/// neighbours attains the smallest gap: `min over l of (kappa_l - kappa_{l+1}) (theta_l -
/// theta_{l+1})` within the list.
///
/// 0 if two parameters within the list are tied, `+inf` for one position, which has no wrong order,
/// and NaN for [malformed input](crate::bounds#odd-input).
///
/// # Examples
///
/// ```
/// use click_models::bounds::smallest_permutation_gap;
///
/// // (0.9 - 0.6) (0.45 - 0.35) and (0.6 - 0.3) (0.35 - 0.25)
/// let gap = smallest_permutation_gap(&[0.45, 0.35, 0.25, 0.15, 0.05], &[0.9, 0.6, 0.3]);
/// assert!((gap - 0.03).abs() < 1e-15);
/// ```
pub fn smallest_permutation_gap(theta: &[f64], kappa: &[f64]) -> f64 {
    Instance::new(theta, kappa).map_or(f64::NAN, |instance| instance.smallest_permutation_gap())
}

impl Instance {
    fn smallest_permutation_gap(&self) -> f64 {
        let places = self.kappa.values.windows(2).zip(self.theta.values.windows(2));
        places
            .map(|(kappa, theta)| (kappa[0] - kappa[1]) * (theta[0] - theta[1]))
            .fold(f64::INFINITY, f64::min)
    }

    fn examination_factor(&self) -> f64 {
        examination_factor(&self.kappa.values)
    }
}

/// `C(kappa)` of decreasing, non-empty `kappa`.
fn examination_factor(kappa: &[f64]) -> f64 {
    let last = kappa[kappa.len() - 1];
    if last == 0.0 {
        return f64::INFINITY;
    }
    // Divided before squaring, so that tiny examination does not underflow.
    let total: f64 = kappa.iter().map(|examined| examined / last).sum();
    let mut so_far = 0.0;
    let mut smallest = f64::INFINITY;
    for (position, examined) in kappa.iter().enumerate() {
        so_far += examined / last;
        smallest = smallest.min(total * total / (position + 1) as f64 + so_far * so_far);
    }
    smallest
}

/// Returns whether `epsilon` is valid in an exploration level `(1 + epsilon) ln t`.
fn is_exploration(epsilon: f64) -> bool {
    epsilon >= 0.0 && epsilon.is_finite()
}
