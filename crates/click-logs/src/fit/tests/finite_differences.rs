//! For tests of variances: the matrix of second derivatives by finite differences.

use super::linear::Cholesky;
use super::squarem::Em;

/// Distance of the points.
const STEP: f64 = 1e-4;

/// The variances at a maximum: the diagonal of the inverse of the negative second derivatives of
/// the log-likelihood. Asserts that the first derivatives are 0.
pub(super) fn variances(problem: &impl Em, maximum: &[f64]) -> Vec<f64> {
    let n = maximum.len();
    let moved = |steps: &[(usize, f64)]| {
        let mut at = maximum.to_vec();
        for &(of, by) in steps {
            at[of] += by;
        }
        problem.log_likelihood(&at)
    };
    let e = STEP;
    let mut matrix = vec![0.0; n * n];
    for i in 0..n {
        let slope = (moved(&[(i, e)]) - moved(&[(i, -e)])) / (2.0 * e);
        assert!(slope.abs() < 1e-2, "{i}: {slope}");
        for j in 0..n {
            let second = moved(&[(i, e), (j, e)]) - moved(&[(i, e), (j, -e)]) - moved(&[(i, -e), (j, e)])
                + moved(&[(i, -e), (j, -e)]);
            matrix[i * n + j] = -second / (4.0 * e * e);
        }
    }
    Cholesky::new(n, matrix).expect("a maximum").inverse_diagonal()
}

/// Asserts that no move of one or two parameters by a hundredth or a thousandth, cut at 0 and at 1,
/// climbs by more than EM leaves.
pub(super) fn assert_highest(problem: &impl Em, maximum: &[f64]) {
    let value = problem.log_likelihood(maximum);
    let moves = [-1e-2, -1e-3, 0.0, 1e-3, 1e-2];
    for (i, j) in (0..maximum.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
        for (of_i, of_j) in moves.into_iter().flat_map(|of_i| moves.map(|of_j| (of_i, of_j))) {
            let mut at = maximum.to_vec();
            at[i] = (at[i] + of_i).clamp(0.0, 1.0);
            at[j] = (at[j] + of_j).clamp(0.0, 1.0);
            let gain = problem.log_likelihood(&at) - value;
            assert!(gain.is_nan() || gain < 1e-5, "{i} by {of_i}, {j} by {of_j}: {gain} at {maximum:?}");
        }
    }
}
