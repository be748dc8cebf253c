//! For tests of variances: the matrix of second derivatives by finite differences.

use super::linear::Cholesky;
use super::squarem::Em;

/// Distance of the points.
const STEP: f64 = 1e-4;

/// The variances at a maximum: the diagonal of the inverse of the negative second derivatives of the log-likelihood. Asserts that the first
/// derivatives are 0.
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
