//! The logarithm of a product of likelihoods, with few logarithms.

use confidence::math::ln;

/// A smaller product is moved to the sum, long before it underflows.
const SMALLEST_PRODUCT: f64 = 1e-150;

pub(super) struct LogProduct {
    sum: f64,
    /// Factors whose logarithm is not in the sum.
    product: f64,
}

impl Default for LogProduct {
    fn default() -> Self {
        Self { sum: 0.0, product: 1.0 }
    }
}

impl LogProduct {
    /// Multiplies by this likelihood of each of `times` sessions.
    #[inline]
    pub(super) fn multiply(&mut self, likelihood: f64, times: f64) {
        if times == 1.0 && likelihood > SMALLEST_PRODUCT {
            self.product *= likelihood;
            if self.product < SMALLEST_PRODUCT {
                self.add(self.product, 1.0);
                self.product = 1.0;
            }
        } else {
            self.add(likelihood, times);
        }
    }

    /// Adds a logarithm. In a function of its own, it is not computed before it is known to be
    /// wanted.
    #[inline(never)]
    fn add(&mut self, likelihood: f64, times: f64) {
        self.sum += times * ln(likelihood);
    }

    pub(super) fn ln(&self) -> f64 {
        self.sum + ln(self.product)
    }
}
