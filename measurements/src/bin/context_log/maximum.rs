//! The maximum of the posterior that `hybrid-ts` approximates, by Newton's method on all
//! coefficients.

use crate::Shown;
use click_models::{CascadeModel, Context, Personal};
use policies::HybridPrior;

/// Prior precisions of the shared coefficients: of the intercept, and of all others.
const SHARED: [f64; 2] = [0.09, 4.0];

/// The coefficients of largest posterior density: products of user and item features, row by row,
/// then those of every item.
pub(crate) struct Maximum {
    coefficients: Vec<f64>,
    /// A 1, then the standardised features, of every item.
    items: Vec<Vec<f64>>,
}

impl Maximum {
    /// Under the deviations of `prior`, after the lists of `log`.
    pub(crate) fn of(users: &Personal<CascadeModel>, log: &[Shown], prior: &HybridPrior) -> Self {
        let (known, posterior) = (prior.known(), prior.posterior());
        let n_features = known.item_features().len() / users.user(0).shape().n_items();
        let items: Vec<_> = known.item_features().chunks(n_features).map(with_one).collect();
        let contexts: Vec<_> =
            users.contexts().iter().map(|context| with_one(&prior.standardised(context).features)).collect();
        let answers: Vec<(usize, usize, f64)> = log.iter().flat_map(answers).collect();

        let coefficients = [&posterior.mean[..], &posterior.item_means].concat();
        let (n_shared, n_own) = (posterior.mean.len(), contexts[0].len());
        let precision = |at: usize| match at.checked_sub(n_shared) {
            None => SHARED[usize::from(at > 0)],
            Some(own) => posterior.deviations[usize::from(own % n_own > 0)].powi(-2),
        };
        let precisions: Vec<f64> = (0..coefficients.len()).map(precision).collect();

        let mut maximum = Self { coefficients, items };
        loop {
            let (gradient, hessian) = maximum.derivatives(&contexts, &answers, &precisions);
            let step = solved(hessian, gradient);
            for (coefficient, step) in maximum.coefficients.iter_mut().zip(&step) {
                *coefficient += step;
            }
            if step.iter().all(|step| step.abs() < 1e-8) {
                return maximum;
            }
        }
    }

    /// The log-odds of every item, for a user with standardised features.
    pub(crate) fn log_odds(&self, context: &Context) -> Vec<f64> {
        let user = with_one(&context.features);
        (0..self.items.len())
            .map(|item| self.terms(&user, item).map(|(at, value)| self.coefficients[at] * value).sum())
            .collect()
    }

    /// The coefficients that are not multiplied by 0, each with its factor, in increasing order.
    fn terms<'a>(&'a self, user: &'a [f64], item: usize) -> impl Iterator<Item = (usize, f64)> + 'a {
        let features = &self.items[item];
        let shared = user.iter().flat_map(move |x| features.iter().map(move |z| x * z)).enumerate();
        let first = user.len() * features.len() + item * user.len();
        shared.chain(user.iter().enumerate().map(move |(slope, &x)| (first + slope, x)))
    }

    /// The gradient of the log posterior density, and the negative of its second derivatives: rows
    /// of the lower triangle.
    fn derivatives(
        &self,
        contexts: &[Vec<f64>],
        answers: &[(usize, usize, f64)],
        precisions: &[f64],
    ) -> (Vec<f64>, Vec<Vec<f64>>) {
        let mut gradient: Vec<f64> =
            self.coefficients.iter().zip(precisions).map(|(coefficient, p)| -coefficient * p).collect();
        let mut hessian: Vec<Vec<f64>> = (1..=precisions.len()).map(|n| vec![0.0; n]).collect();
        for (at, precision) in precisions.iter().enumerate() {
            hessian[at][at] = *precision;
        }
        let mut terms = Vec::new();
        for &(user, item, clicked) in answers {
            terms.clear();
            terms.extend(self.terms(&contexts[user], item));
            let log_odds: f64 = terms.iter().map(|&(at, value)| self.coefficients[at] * value).sum();
            let found = 1.0 / (1.0 + libm::exp(-log_odds));
            for (n, &(row, value)) in terms.iter().enumerate() {
                gradient[row] += (clicked - found) * value;
                for &(column, other) in &terms[..=n] {
                    hessian[row][column] += found * (1.0 - found) * value * other;
                }
            }
        }
        (gradient, hessian)
    }
}

fn with_one(features: &[f64]) -> Vec<f64> {
    [&[1.0], features].concat()
}

/// User, item and click of every position down to the click.
fn answers((user, shown, click): &Shown) -> Vec<(usize, usize, f64)> {
    let observed = click.map_or(usize::MAX, |click| click + 1);
    let answer = |(position, item): (usize, click_models::ItemId)| {
        (*user, item.index(), f64::from(u8::from(*click == Some(position))))
    };
    shown.by_position().take(observed).map(answer).collect()
}

/// The solution of a symmetric positive system, by Cholesky's decomposition of its lower triangle.
fn solved(mut lower: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for row in 0..lower.len() {
        let (done, rest) = lower.split_at_mut(row);
        let this = &mut rest[0];
        for column in 0..row {
            this[column] = (this[column] - dot(&this[..column], &done[column])) / done[column][column];
        }
        this[row] = libm::sqrt(this[row] - dot(&this[..row], &this[..row]));
        right[row] = (right[row] - dot(&this[..row], &right)) / this[row];
    }
    for row in (0..lower.len()).rev() {
        right[row] /= lower[row][row];
        let solution = right[row];
        for (right, value) in right[..row].iter_mut().zip(&lower[row]) {
            *right -= value * solution;
        }
    }
    right
}
