//! A second opinion: divergences in about 106 bits, by other formulas than the crate's.

/// An unevaluated sum of two numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wide(f64, f64);

fn two_sum(a: f64, b: f64) -> Wide {
    let sum = a + b;
    let b_part = sum - a;
    Wide(sum, (a - (sum - b_part)) + (b - b_part))
}

/// Veltkamp's splitting and Dekker's product: exact without fused multiply-add.
fn two_product(a: f64, b: f64) -> Wide {
    fn split(a: f64) -> (f64, f64) {
        let t = 134_217_729.0 * a;
        let high = t - (t - a);
        (high, a - high)
    }
    let product = a * b;
    let ((ah, al), (bh, bl)) = (split(a), split(b));
    Wide(product, ((ah * bh - product) + ah * bl + al * bh) + al * bl)
}

impl From<f64> for Wide {
    fn from(x: f64) -> Self {
        Self(x, 0.0)
    }
}

impl Wide {
    pub(crate) const ONE: Self = Self(1.0, 0.0);
    const LN_2: Self = Self(core::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);

    pub(crate) fn to_f64(self) -> f64 {
        self.0 + self.1
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        let high = two_sum(self.0, other.0);
        let low = two_sum(self.1, other.1);
        let first = two_sum(high.0, high.1 + low.0);
        two_sum(first.0, first.1 + low.1)
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        self.plus(Self(-other.0, -other.1))
    }

    pub(crate) fn times(self, other: Self) -> Self {
        let product = two_product(self.0, other.0);
        two_sum(product.0, product.1 + (self.0 * other.1 + self.1 * other.0))
    }

    pub(crate) fn over(self, other: Self) -> Self {
        let first = self.0 / other.0;
        let rest = self.minus(other.times(first.into()));
        let second = rest.0 / other.0;
        let rest = rest.minus(other.times(second.into()));
        two_sum(first, second).plus((rest.0 / other.0).into())
    }

    /// By the power series of the inverse hyperbolic tangent.
    pub(crate) fn ln(self) -> Self {
        let mut k = 0.0;
        let mut m = self;
        while m.0 > 1.5 {
            m = Self(m.0 / 2.0, m.1 / 2.0);
            k += 1.0;
        }
        while m.0 < 0.75 {
            m = Self(m.0 * 2.0, m.1 * 2.0);
            k -= 1.0;
        }
        let s = m.minus(Self::ONE).over(m.plus(Self::ONE));
        let z = s.times(s);
        let mut sum = Self::from(0.0);
        for j in (0..30).rev() {
            sum = sum.times(z).plus(Self::ONE.over(f64::from(2 * j + 1).into()));
        }
        s.times(sum).times(2.0.into()).plus(Self::LN_2.times(k.into()))
    }
}

/// `p ln(p / q)`, 0 for `p = 0`.
fn weighted_log_ratio(p: Wide, q: Wide) -> Wide {
    if p.0 == 0.0 { 0.0.into() } else { p.times(p.over(q).ln()) }
}

/// The Bernoulli divergence of two exact numbers strictly between 0 and 1 (`p` may be an edge).
pub(crate) fn wide_bernoulli_kl(p: Wide, q: Wide) -> Wide {
    weighted_log_ratio(p, q).plus(weighted_log_ratio(Wide::ONE.minus(p), Wide::ONE.minus(q)))
}

/// `p ln(p / q) - p + q` of two exact positive numbers.
pub(crate) fn wide_relative_entropy(p: f64, q: f64) -> Wide {
    weighted_log_ratio(p.into(), q.into()).minus(p.into()).plus(q.into())
}

/// `n d(p, q)`.
pub(crate) fn wide_cost(p: f64, n: f64, q: f64) -> Wide {
    wide_bernoulli_kl(p.into(), q.into()).times(n.into())
}

/// `sum_l N_l d(S_l / N_l, kappa_l q)`.
pub(crate) fn wide_phi(clicks: &[u64], shows: &[u64], examination: &[f64], q: f64) -> Wide {
    let mut sum = Wide::from(0.0);
    for ((&s, &n), &kappa) in clicks.iter().zip(shows).zip(examination) {
        if n > 0 && kappa > 0.0 {
            let n = Wide::from(n as f64);
            let divergence =
                wide_bernoulli_kl(Wide::from(s as f64).over(n), Wide::from(kappa).times(q.into()));
            sum = sum.plus(n.times(divergence));
        }
    }
    sum
}
