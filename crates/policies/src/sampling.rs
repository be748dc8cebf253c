//! Random variates: normal, Gamma and Beta, the same bits on every machine.
//!
//! `rand_distr` calls the platform's logarithm and exponential, whose last bit differs between
//! processors. This module takes both from `confidence::math` and `libm`. A Beta draw is
//! `X / (X + Y)` of two Gamma draws, which is also faster.
//!
//! References: Marsaglia and Tsang, *The ziggurat method for generating random variables*, J. Stat.
//! Softw. 5(8), 2000 (256 layers, with independent bits for the layer and the abscissa as in
//! Doornik 2005); Marsaglia and Tsang, *A simple method for generating gamma variables*, ACM TOMS
//! 26, 2000. Deviations: none.
//!
//! Cost: one to two 64-bit draws a normal, about 1.02 normals and uniforms a Gamma.

pub(crate) mod beta_posteriors;
pub(crate) mod largest_draws;
pub(crate) mod thinning;
pub(crate) mod thompson;

use confidence::math::ln;
use rand::{Rng, RngExt};
use std::sync::LazyLock;

const LAYERS: usize = 256;
/// Start of the tail.
const TAIL: f64 = 3.654_152_885_361_009;
/// Area of every layer, under the unnormalised density `exp(-x^2 / 2)`.
const AREA: f64 = 0.004_928_673_233_997_087;

/// Right edges of the layers, and the density at these edges.
#[derive(Debug)]
struct Ziggurat {
    edge: [f64; LAYERS + 1],
    density: [f64; LAYERS + 1],
}

static ZIGGURAT: LazyLock<Ziggurat> = LazyLock::new(|| {
    let density = |x: f64| libm::exp(-0.5 * x * x);
    let mut edge = [0.0; LAYERS + 1];
    // The lowest layer is a rectangle that represents itself and the tail.
    edge[0] = AREA / density(TAIL);
    edge[1] = TAIL;
    for layer in 2..LAYERS {
        edge[layer] = (-2.0 * ln(AREA / edge[layer - 1] + density(edge[layer - 1]))).sqrt();
    }
    Ziggurat { edge, density: edge.map(density) }
});

/// The sampler of normal variates, and of Gamma and Beta variates made from them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sampler {
    tables: &'static Ziggurat,
}

impl Sampler {
    #[inline]
    pub(crate) fn new() -> Self {
        Self { tables: &ZIGGURAT }
    }

    /// A standard normal variate.
    #[inline]
    pub(crate) fn normal<R: Rng + ?Sized>(self, rng: &mut R) -> f64 {
        loop {
            let bits = rng.next_u64();
            let layer = (bits & 0xff) as usize;
            // The upper 53 bits, signed: uniform on [-1, 1), independent of the layer.
            #[expect(clippy::cast_possible_wrap, reason = "the sign is the uniform's sign")]
            let uniform = ((bits as i64) >> 11) as f64 * (1.0 / 4_503_599_627_370_496.0);
            let x = uniform * self.tables.edge[layer];
            if x.abs() < self.tables.edge[layer + 1] {
                return x;
            }
            if let Some(x) = self.edge_case(layer, x, rng) {
                return x;
            }
        }
    }

    /// Beyond the inner rectangle of `layer`: the tail or the wedge. One draw in a hundred.
    #[cold]
    fn edge_case<R: Rng + ?Sized>(self, layer: usize, x: f64, rng: &mut R) -> Option<f64> {
        if layer == 0 {
            return Some(tail(rng).copysign(x));
        }
        let (outer, inner) = (self.tables.density[layer], self.tables.density[layer + 1]);
        let height = outer + (inner - outer) * rng.random::<f64>();
        (height < libm::exp(-0.5 * x * x)).then_some(x)
    }

    /// A Gamma variate with scale 1.
    #[inline]
    pub(crate) fn gamma<R: Rng + ?Sized>(self, shape: GammaShape, rng: &mut R) -> f64 {
        loop {
            let x = self.normal(rng);
            let offset = shape.slope * x;
            let root = 1.0 + offset;
            if root <= 0.0 {
                continue;
            }
            let cube = root * root * root;
            let uniform = rng.random::<f64>();
            let small = offset * x;
            if uniform < 1.0 - SQUEEZE * (small * small) || accepts(shape.scale, x, cube, uniform) {
                return shape.scale * cube;
            }
        }
    }

    #[inline]
    pub(crate) fn beta<R: Rng + ?Sized>(self, shape: BetaShape, rng: &mut R) -> f64 {
        let successes = self.gamma(shape.successes, rng);
        let failures = self.gamma(shape.failures, rng);
        successes / (successes + failures)
    }
}

/// Marsaglia and Tsang accept without logarithms below `1 - 0.0331 x^4`, for every scale
/// `d >= 2/3`. For a given `offset = x / sqrt(9 d)` the logarithm of the acceptance probability is
/// a multiple of `d`, so its exponential is convex in `d`. A line in `d` that meets it at 0 and
/// lies below it at 2/3 also lies below it for larger `d`. So `0.0331 x^4` may be multiplied by
/// `(2/3) / d`, which gives `6 * 0.0331 (offset x)^2`. Without this factor 8 draws in 100 need
/// logarithms at any scale.
const SQUEEZE: f64 = 6.0 * 0.0331;

/// Marsaglia and Tsang's exact condition.
#[cold]
fn accepts(scale: f64, x: f64, cube: f64, uniform: f64) -> bool {
    ln(uniform) < 0.5 * (x * x) + scale * (1.0 - cube + ln(cube))
}

/// A normal variate, given that it exceeds [`TAIL`].
fn tail<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    loop {
        // 1 - u is in (0, 1], so the logarithms are finite.
        let beyond = -ln(1.0 - rng.random::<f64>()) / TAIL;
        let height = -ln(1.0 - rng.random::<f64>());
        if 2.0 * height > beyond * beyond {
            return TAIL + beyond;
        }
    }
}

/// A Gamma shape of at least 1, with the constants of the sampler.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GammaShape {
    pub(crate) scale: f64,
    slope: f64,
}

impl GammaShape {
    /// `shape` must be at least 1.
    pub(crate) fn new(shape: f64) -> Self {
        debug_assert!(shape >= 1.0, "Marsaglia and Tsang's method needs a shape of at least 1, not {shape}");
        let scale = shape - 1.0 / 3.0;
        Self { scale, slope: 1.0 / (9.0 * scale).sqrt() }
    }
}

/// A draw from the Beta distribution with these shapes, the same bits on every machine.
///
/// Shapes below 1 take one more draw: `Gamma(a) = Gamma(a + 1) U^(1 / a)` (ibid., section 6).
///
/// # Examples
///
/// ```
/// use rand::{SeedableRng, rngs::ChaCha8Rng};
///
/// let mut rng = ChaCha8Rng::seed_from_u64(1);
/// let mean = (0..10_000).map(|_| policies::draw_beta(0.5, 1.5, &mut rng)).sum::<f64>() / 10_000.0;
/// assert!((mean - 0.25).abs() < 0.02);
/// ```
pub fn draw_beta<R: Rng + ?Sized>(first: f64, second: f64, rng: &mut R) -> f64 {
    let sampler = Sampler::new();
    let mut logarithm = |shape: f64| {
        if shape >= 1.0 {
            return ln(sampler.gamma(GammaShape::new(shape), rng));
        }
        let above = ln(sampler.gamma(GammaShape::new(shape + 1.0), rng));
        // 1 - u is in (0, 1], so its logarithm is finite.
        above + ln(1.0 - rng.random::<f64>()) / shape
    };
    let (first, second) = (logarithm(first), logarithm(second));
    1.0 / (1.0 + libm::exp(second - first))
}

/// The two shapes of a Beta distribution, each at least 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BetaShape {
    successes: GammaShape,
    pub(crate) failures: GammaShape,
}

impl BetaShape {
    /// Beta(`1 + successes`, `1 + failures`), the posterior under a uniform prior.
    pub(crate) fn after(successes: f64, failures: f64) -> Self {
        Self { successes: GammaShape::new(1.0 + successes), failures: GammaShape::new(1.0 + failures) }
    }
}

#[cfg(test)]
mod tests;
