//! Rank-one bandits: the hardness of an instance, a lower bound on the regret of any policy, and
//! upper bounds for `Rank1ElimKL`.
//!
//! With the best row `i*`, the best column `j*`, and `mu_ij = u_i v_j`,
//!
//! ```text
//! lim inf R(T) / ln T >= sum over rows i of (mu* - mu_ij*) / d(mu_ij*, mu*) + sum over columns j of (mu* - mu_i*j) / d(mu_i*j, mu*)
//! R(n) <= c / (mu gamma) (sum over rows of 1 / Delta_i + sum over columns of 1 / Delta_j) ln n + (6 e + 82) (K + L)
//! ```
//!
//! where the gap of a best row is replaced by the smallest positive gap of a column, and the gap of
//! a best column by the smallest positive gap of a row.
//!
//! A wrong row is cheapest to rule out in the best column, and a wrong column in the best row. A
//! cell that is wrong in both tells about both, but costs at least what the two cheaper cells cost;
//! the tests solve the linear program over all cells.
//!
//! References: Trinh, Kaufmann, Vernade, Combes, *Solving Bernoulli rank-one bandits with unimodal
//! Thompson sampling*, ALT 2020, Proposition 1 (the lower bound); Katariya, Kveton, Szepesvari,
//! Vernade, Wen, *Bernoulli rank-1 bandits for click feedback*, IJCAI 2017, (1) to (5) and Theorem
//! 1 (the rest). Deviations: the lower bound is stated for a unique best cell; here rows and
//! columns that tie with the best cost nothing. The theorem prints `c = 160`; the last line of
//! Lemma 4's proof is `320 4^(m-1)` and `2^(m-1)` is at most `1 / (sqrt(mu gamma) Delta)`, which
//! gives 320. [`rank_one_upper_bound`] is the statement as printed,
//! [`rank_one_upper_bound_corrected`] has the 320. Lemma 2 states `ln(ln^3 n) <= ln n` for
//! `n >= 5`, which fails for 7 to 93; neither function corrects for that.
//!
//! | here | paper | shape | unit |
//! |---|---|---|---|
//! | `rows`, `columns` | `u-bar`, `v-bar` | `n_rows` (K), `n_columns` (L) | probability |
//! | `row_gaps`, `column_gaps` | `Delta^U_i`, `Delta^V_j` | K, L | probability |
//! | `mu` | mu | - | probability |
//! | `p_max` | `p_max` | - | probability |
//! | `gamma` | gamma | - | probability |
//! | `horizon` | n | - | rounds |
//! | upper bounds | the bound on `R(n)` | - | clicks |
//! | lower bound | `mu*`, `mu_ij` | - | clicks per `ln T` |
//!
//! Numerics: one division per entry and a plain sum; the lower bound is one of the position-based
//! model, computed there. Complexity: O(K + L), the lower bound with a sort.

use super::{Decreasing, pbm_lower_bound};
use confidence::math::ln;

/// The quantities that determine the hardness of a rank-one instance.
#[derive(Debug, Clone, PartialEq)]
pub struct RankOneHardness {
    /// The smaller of the average row and the average column (3).
    pub mu: f64,
    /// The largest of all rows and columns (4).
    pub p_max: f64,
    /// The larger of `mu` and `1 - p_max` (5).
    pub gamma: f64,
    /// The gap of every row to the best row (1).
    pub row_gaps: Vec<f64>,
    /// The gap of every column to the best column (1).
    pub column_gaps: Vec<f64>,
    /// The smallest positive row gap (2); `None` if all rows are equal.
    pub smallest_row_gap: Option<f64>,
    /// The smallest positive column gap (2); `None` if all columns are equal.
    pub smallest_column_gap: Option<f64>,
}

/// Gaps, `mu`, `p_max` and `gamma` of an instance: equations (1) to (5). The order of rows and
/// columns is kept.
///
/// `None` for malformed input: no row, no column, or a number that is not a probability.
///
/// # Examples
///
/// ```
/// use click_models::bounds::rank_one_hardness;
///
/// let hardness = rank_one_hardness(&[0.75, 0.25], &[0.5, 0.5]).expect("probabilities");
/// assert_eq!((hardness.mu, hardness.p_max, hardness.gamma), (0.5, 0.75, 0.5));
/// assert_eq!((hardness.smallest_row_gap, hardness.smallest_column_gap), (Some(0.5), None));
/// ```
pub fn rank_one_hardness(rows: &[f64], columns: &[f64]) -> Option<RankOneHardness> {
    let (row_side, column_side) = (Decreasing::new(rows)?, Decreasing::new(columns)?);
    let (&best_row, &best_column) = (row_side.values.first()?, column_side.values.first()?);
    let average = |side: &[f64]| side.iter().sum::<f64>() / side.len() as f64;
    let mu = average(rows).min(average(columns));
    let p_max = best_row.max(best_column);
    let gaps = |side: &[f64], best: f64| side.iter().map(|value| best - value).collect::<Vec<_>>();
    let (row_gaps, column_gaps) = (gaps(rows, best_row), gaps(columns, best_column));
    let smallest = |gaps: &[f64]| gaps.iter().copied().filter(|&gap| gap > 0.0).reduce(f64::min);
    Some(RankOneHardness {
        mu,
        p_max,
        gamma: mu.max(1.0 - p_max),
        smallest_row_gap: smallest(&row_gaps),
        smallest_column_gap: smallest(&column_gaps),
        row_gaps,
        column_gaps,
    })
}

/// Lower bound on the regret of any uniformly efficient policy: Proposition 1, in clicks per
/// `ln T`.
///
/// It is the sum of two bounds of the position-based model with one position: one for the rows,
/// examined as often as the best column succeeds, and one for the columns, examined as often as the
/// best row succeeds.
///
/// 0 if every cell is equally good, NaN for [malformed input](crate::bounds#odd-input).
///
/// # Examples
///
/// Four rows and four columns, the first of them three times as good:
/// `6 (9/16 - 3/16) / d(3/16, 9/16)`.
///
/// ```
/// use click_models::bounds::rank_one_lower_bound;
///
/// let side = [0.75, 0.25, 0.25, 0.25];
/// assert!((rank_one_lower_bound(&side, &side) - 7.576).abs() < 5e-4);
/// ```
pub fn rank_one_lower_bound(rows: &[f64], columns: &[f64]) -> f64 {
    let of_side = |side: &[f64], other: &[f64]| {
        let best = Decreasing::new(other).and_then(|other| other.values.first().copied());
        best.map_or(f64::NAN, |examined| pbm_lower_bound(side, &[examined]))
    };
    of_side(rows, columns) + of_side(columns, rows)
}

/// Upper bound on the regret of `Rank1ElimKL` in `horizon` rounds, in clicks: Theorem 1 with its
/// constant 160 **as printed**, which its proof does not give.
///
/// NaN for [malformed input](crate::bounds#odd-input), and if all rows
/// or all columns are equal, since the theorem's smallest positive gap does not exist then. `+inf`
/// if `mu` is 0, and for fewer than 5 rounds, which the theorem does not cover.
///
/// # Examples
///
/// ```
/// use click_models::bounds::rank_one_upper_bound;
///
/// // mu = gamma = 1/2; 160 / (1/4) * (2 + 2 + 2 + 2) ln 100 + (6 e + 82) 4
/// let bound = rank_one_upper_bound(&[0.75, 0.25], &[0.75, 0.25], 100);
/// assert!((bound / 23_971.710_116_142 - 1.0).abs() < 1e-12);
/// ```
pub fn rank_one_upper_bound(rows: &[f64], columns: &[f64], horizon: u64) -> f64 {
    match rank_one_hardness(rows, columns) {
        Some(hardness) if hardness.smallest_row_gap.is_some() && hardness.smallest_column_gap.is_some() => {
            bound(&hardness, 160.0, horizon)
        }
        _ => f64::NAN,
    }
}

/// Upper bound on the regret of `Rank1ElimKL` in `horizon` rounds, in clicks, with the constant 320
/// that the proof of Lemma 4 gives.
///
/// The bound is also defined if all columns (or rows) are equal: a best row (or column) then costs
/// nothing, and its term is 0. NaN for malformed input only; `+inf` for fewer than 5 rounds, and if
/// `mu` is 0 and some cell has positive regret.
///
/// # Examples
///
/// ```
/// use click_models::bounds::{rank_one_upper_bound, rank_one_upper_bound_corrected};
///
/// let (rows, columns) = ([0.75, 0.25], [0.75, 0.25]);
/// let constant = (6.0 * std::f64::consts::E + 82.0) * 4.0;
/// let printed = rank_one_upper_bound(&rows, &columns, 100) - constant;
/// let corrected = rank_one_upper_bound_corrected(&rows, &columns, 100) - constant;
/// assert!((corrected / printed - 2.0).abs() < 1e-12);
/// ```
pub fn rank_one_upper_bound_corrected(rows: &[f64], columns: &[f64], horizon: u64) -> f64 {
    rank_one_hardness(rows, columns).map_or(f64::NAN, |hardness| bound(&hardness, 320.0, horizon))
}

fn bound(hardness: &RankOneHardness, constant: f64, horizon: u64) -> f64 {
    if horizon < 5 {
        return f64::INFINITY;
    }
    let costs = |gaps: &[f64], other: Option<f64>| {
        let cost = |&gap: &f64| if gap > 0.0 { 1.0 / gap } else { other.map_or(0.0, |gap| 1.0 / gap) };
        gaps.iter().map(cost).sum::<f64>()
    };
    let costs = costs(&hardness.row_gaps, hardness.smallest_column_gap)
        + costs(&hardness.column_gaps, hardness.smallest_row_gap);
    let sides = (hardness.row_gaps.len() + hardness.column_gaps.len()) as f64;
    let for_good = (6.0 * std::f64::consts::E + 82.0) * sides;
    if costs == 0.0 {
        return for_good;
    }
    constant / (hardness.mu * hardness.gamma) * costs * ln(horizon as f64) + for_good
}
