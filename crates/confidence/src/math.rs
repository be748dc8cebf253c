//! Elementary functions that give the same bits on every processor.
//!
//! The platform's `ln` takes another code path on processors with fused multiply-add, so the last
//! bit of its result depends on the machine. The functions here use additions, multiplications and
//! divisions only, each rounded once, so their results depend only on their arguments. They are
//! also faster than a call into a C library, because they are inlined and hardly branch.
//!
//! # Definition
//!
//! Everything rests on one series. With `s = (q - p) / (q + p)`,
//!
//! ```text
//! ln(q / p) = 2 atanh(s) = 2 s + 2 s^3 R(s^2),      R(z) = 1/3 + z/5 + z^2/7 + ...
//! ```
//!
//! The code replaces `R` by its best polynomial of degree 7 for `|s| <= 0.2005`, with a relative
//! error of 4e-17.
//!
//! Reference: the reduction to `atanh` is classical (Abramowitz and Stegun, 4.6.22); the
//! coefficients were computed for this crate by the exchange algorithm in 50-digit arithmetic.
//! Deviations: none.
//!
//! | code | meaning |
//! |---|---|
//! | `k` | the power of two taken out of the ratio |
//! | `s`, `z` | `(q - p) / (q + p)` of the reduced ratio, and its square |
//!
//! # Numerics
//!
//! The error of [`ln`] is less than one unit in the last place. The relative error of
//! [`x_minus_ln_1p`] and [`relative_entropy`] is less than 4e-15, even for tiny values. Complexity:
//! constant.
//!
//! ```
//! use confidence::math::{ln, relative_entropy};
//!
//! assert_eq!(ln(1.0), 0.0);
//! // 2 ln(2 / 1) - 2 + 1 = 0.386...
//! assert!((relative_entropy(2.0, 1.0, -1.0) - (2.0 * ln(2.0) - 1.0)).abs() < 1e-15);
//! ```

/// `ln 2`.
const LN_2: f64 = core::f64::consts::LN_2;
/// The upper 32 bits of `ln 2`, so that its products with exponents are exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
/// `ln 2` minus [`LN_2_HIGH`].
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

const SQRT_HALF_BITS: u64 = core::f64::consts::FRAC_1_SQRT_2.to_bits();
const MIN_NORMAL_BITS: u64 = f64::MIN_POSITIVE.to_bits();
const INFINITY_BITS: u64 = f64::INFINITY.to_bits();
const MANTISSA_BITS: u32 = 52;

/// Above this, [`TINY`] in place of a `p` of 0 makes no difference.
const SMALL: f64 = 1e-130;
/// Below this the exponent tricks of [`relative_entropy`] could leave the range of normal numbers.
const TINY: f64 = 3.054_936_363_499_605e-151;

/// `R(z) = (atanh(sqrt z) / sqrt z - 1) / z` for `0 <= z <= 0.0402`.
#[inline(always)]
fn atanh_tail(z: f64) -> f64 {
    const R0: f64 = 0.333_333_333_333_333_3;
    const R1: f64 = 0.200_000_000_000_040_62;
    const R2: f64 = 0.142_857_142_835_980_83;
    const R3: f64 = 0.111_111_115_306_764_32;
    const R4: f64 = 0.090_908_683_121_407_7;
    const R5: f64 = 0.076_944_536_071_031_3;
    const R6: f64 = 0.066_044_718_037_699_75;
    const R7: f64 = 0.068_074_164_354_852_04;
    // Pairs first: four short chains instead of one long one.
    let z2 = z * z;
    let z4 = z2 * z2;
    let low = (R0 + z * R1) + z2 * (R2 + z * R3);
    let high = (R4 + z * R5) + z2 * (R6 + z * R7);
    low + z4 * high
}

/// [`atanh_tail`] with a relative error of 3e-7: enough for a step that a more accurate one
/// follows.
fn atanh_tail_roughly(z: f64) -> f64 {
    (1.0 / 3.0 + z * 0.2) + (z * z) * (1.0 / 7.0 + z * (1.0 / 9.0))
}

/// The square root, correctly rounded everywhere.
#[inline]
pub fn sqrt(x: f64) -> f64 {
    #[cfg(feature = "std")]
    let root = x.sqrt();
    #[cfg(not(feature = "std"))]
    let root = libm::sqrt(x);
    root
}

/// The natural logarithm.
///
/// `ln(0) = -inf`, `ln(+inf) = +inf`, and NaN for negative numbers and NaN.
///
/// ```
/// assert_eq!(confidence::math::ln(2.0), core::f64::consts::LN_2);
/// assert_eq!(confidence::math::ln(0.0), f64::NEG_INFINITY);
/// ```
#[inline]
pub fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    // One comparison for zero, subnormal, negative, infinite and NaN together.
    if bits.wrapping_sub(MIN_NORMAL_BITS) >= INFINITY_BITS - MIN_NORMAL_BITS {
        return ln_of_unusual(x);
    }
    ln_of_normal(bits, 0)
}

#[cold]
fn ln_of_unusual(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x.is_nan() || x < 0.0 {
        f64::NAN
    } else if x == f64::INFINITY {
        x
    } else {
        // Subnormal: scale by 2^54 and correct for it afterwards.
        ln_of_normal((x * 18_014_398_509_481_984.0).to_bits(), -54)
    }
}

/// `ln` of a positive normal number given by its bits, times `2^shift`.
#[inline]
#[expect(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "bit patterns")]
fn ln_of_normal(bits: u64, shift: i32) -> f64 {
    // x = 2^k m with m in [sqrt(1/2), sqrt(2)).
    let k = (bits.wrapping_sub(SQRT_HALF_BITS) as i64) >> MANTISSA_BITS;
    let m = f64::from_bits(bits.wrapping_sub((k as u64) << MANTISSA_BITS));
    let k = f64::from(k as i32 + shift);
    ln_of_parts(k, m)
}

/// `ln(2^k m)`, `m` from `sqrt(1/2)` to `sqrt(2)`.
#[inline]
fn ln_of_parts(k: f64, m: f64) -> f64 {
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    // ln(1 + f) = 2 s + 2 s z R = f - s (f - 2 z R), because f - 2 s = f s.
    let correction = s * (f - 2.0 * z * atanh_tail(z));
    k * LN_2_HIGH - ((correction - k * LN_2_LOW) - f)
}

/// [`ln`] of several positive normal numbers, lane by lane and free of branches, so that they share
/// vector registers.
///
/// The results have the same bits as [`ln`]. For other arguments than positive normal numbers, they
/// are meaningless.
///
/// ```
/// use confidence::math::{ln, ln_of_normals};
///
/// assert_eq!(ln_of_normals([0.1, 7.0]), [ln(0.1), ln(7.0)]);
/// ```
pub fn ln_of_normals<const N: usize>(x: [f64; N]) -> [f64; N] {
    x.map(|x| {
        let shifted = x.to_bits().wrapping_sub(SQRT_HALF_BITS).wrapping_add(BIAS << MANTISSA_BITS);
        let biased = shifted >> MANTISSA_BITS;
        let m = x.to_bits().wrapping_sub((biased << MANTISSA_BITS).wrapping_sub(BIAS << MANTISSA_BITS));
        ln_of_parts(biased_to_float(biased), f64::from_bits(m))
    })
}

/// Makes every exponent positive.
const BIAS: u64 = 1024;

/// An exponent, from its bits: the vector unit of the baseline has no conversion.
fn biased_to_float(biased: u64) -> f64 {
    /// An integer below 2^52 in the mantissa of this is the float 2^52 plus that integer.
    const INTEGER: f64 = 4_503_599_627_370_496.0;
    f64::from_bits(biased | INTEGER.to_bits()) - (INTEGER + BIAS as f64)
}

/// `ln(1 + x)` without the rounding of `1 + x`.
///
/// `-inf` at -1, NaN below -1 and for NaN.
///
/// ```
/// assert_eq!(confidence::math::ln_1p(1e-20), 1e-20);
/// ```
#[inline]
pub fn ln_1p(x: f64) -> f64 {
    if -0.29 < x && x < 0.41 {
        let [small] = ln_1p_of_small([x]);
        small
    } else {
        let u = 1.0 + x;
        if u == 0.0 || u == f64::INFINITY { ln(u) } else { ln(u) + (x - (u - 1.0)) / u }
    }
}

/// [`ln_1p`] of several numbers above -0.29 and below 0.41, lane by lane and free of branches, so
/// that they share vector registers.
///
/// The results have the same bits as [`ln_1p`]. For other arguments they are meaningless.
///
/// ```
/// use confidence::math::{ln_1p, ln_1p_of_small};
///
/// assert_eq!(ln_1p_of_small([-0.28, 1e-20]), [ln_1p(-0.28), ln_1p(1e-20)]);
/// ```
pub fn ln_1p_of_small<const N: usize>(x: [f64; N]) -> [f64; N] {
    x.map(|x| {
        let s = x / (2.0 + x);
        let z = s * s;
        x - s * (x - 2.0 * z * atanh_tail(z))
    })
}

/// `x - ln(1 + x)`, never negative, accurate in relative terms also where both parts nearly cancel.
///
/// `+inf` at -1 and at `+inf`, NaN below -1 and for NaN.
///
/// ```
/// // x^2 / 2 - x^3 / 3 + ...
/// let x = 1e-10;
/// assert!((confidence::math::x_minus_ln_1p(x) / (0.5 * x * x) - 1.0).abs() < 1e-9);
/// ```
#[inline]
pub fn x_minus_ln_1p(x: f64) -> f64 {
    if -0.3 < x && x < 0.4 {
        let s = x / (2.0 + x);
        let z = s * s;
        s * (x - 2.0 * z * atanh_tail(z))
    } else if x == f64::INFINITY {
        x
    } else {
        x - ln_1p(x)
    }
}

/// `ln(q / p)` of two positive finite numbers, accurate in relative terms also where the ratio is
/// close to 1.
///
/// `difference` is `q - p`, as in [`relative_entropy`]. An argument that is not positive and finite
/// gives what `ln(q) - ln(p)` gives.
///
/// ```
/// assert_eq!(confidence::math::ln_ratio(1e20, 1e20, 1.0), 1e-20);
/// ```
#[inline]
pub fn ln_ratio(p: f64, q: f64, difference: f64) -> f64 {
    // |s| <= 0.2 as everywhere.
    if difference.abs() <= 0.4 * p.min(q) {
        let s = difference / (p + q);
        let z = s * s;
        2.0 * s + 2.0 * s * (z * atanh_tail(z))
    } else {
        ln(q) - ln(p)
    }
}

/// The unnormalised relative entropy `p ln(p / q) - p + q` of two finite non-negative numbers.
///
/// It is the Kullback-Leibler divergence from a Poisson distribution with mean `p` to one with mean
/// `q`, and the Bernoulli divergence is the sum of two of them. `difference` is `q - p`, handed in
/// because the caller often knows it more accurately than the subtraction of two rounded numbers
/// gives it. Zero if `p = q`, `q` if `p = 0`, `+inf` if `q = 0 < p`.
///
/// Each part of the sum is accurate in relative terms: with `q' = q / 2^k` the power of two nearest
/// to the ratio taken out,
///
/// ```text
/// p ln(p / q) - p + q = (q - q') - p k ln 2 + (q' - p) s - 2 p s^3 R(s^2),      s = (q' - p) / (q' + p)
/// ```
///
/// because `q' - p - 2 p s = (q' - p) s`. For `k = 0` the first two terms vanish exactly.
#[inline]
#[expect(clippy::needless_bitwise_bool, reason = "one branch, hardly ever taken, instead of four")]
pub fn relative_entropy(p: f64, q: f64, difference: f64) -> f64 {
    if ((p < TINY) & (p != 0.0)) | (q < SMALL) | (p > 1.0 / TINY) | (q > 1.0 / TINY) {
        return relative_entropy_of_unusual(p, q, difference);
    }
    relative_entropy_of_normal::<false>(p, q, difference)
}

/// [`relative_entropy`] of two numbers that are neither tiny nor huge; `p` may be 0.
///
/// With `ROUGH`, right to 1e-7 only. Free of branches: which of its cases applies is not
/// predictable. The integers are kept unsigned and turned into floats by their bits: the vector
/// unit of the baseline can do no better.
#[inline]
pub(crate) fn relative_entropy_of_normal<const ROUGH: bool>(p: f64, q: f64, difference: f64) -> f64 {
    const HALF: u64 = 1 << (MANTISSA_BITS - 1);
    // Vanishes beside any ordinary q, and keeps the numbers below normal for p = 0.
    let p = if p > TINY { p } else { TINY };
    // The bits of a float, read as an integer, are its base-2 logarithm up to 0.0861; so |s| <=
    // 0.2005.
    let ratio = q.to_bits().wrapping_sub(p.to_bits()).wrapping_add(HALF + (BIAS << MANTISSA_BITS));
    let biased = ratio >> MANTISSA_BITS;
    let k = biased_to_float(biased);
    let shift = (biased << MANTISSA_BITS).wrapping_sub(BIAS << MANTISSA_BITS);
    let reduced = f64::from_bits(q.to_bits().wrapping_sub(shift));
    let unreduced = if k == 0.0 { u64::MAX } else { 0 };
    let gap = f64::from_bits((difference.to_bits() & unreduced) | ((reduced - p).to_bits() & !unreduced));
    let s = gap / (reduced + p);
    let z = s * s;
    let tail = if ROUGH { atanh_tail_roughly(z) } else { atanh_tail(z) };
    // Grouped so that little is left to do when the tail arrives.
    let main = ((q - reduced) - p * (k * LN_2)) + s * gap;
    main - (2.0 * p * s * z) * tail
}

/// The sum of two [`relative_entropy_of_normal`], lane by lane, so that both share vector
/// registers.
#[inline]
pub(crate) fn two_relative_entropies<const ROUGH: bool>(
    p: [f64; 2],
    q: [f64; 2],
    difference: [f64; 2],
) -> f64 {
    let mut terms = [0.0; 2];
    for lane in 0..2 {
        terms[lane] = relative_entropy_of_normal::<ROUGH>(p[lane], q[lane], difference[lane]);
    }
    terms[0] + terms[1]
}

#[cold]
fn relative_entropy_of_unusual(p: f64, q: f64, difference: f64) -> f64 {
    const SCALE: f64 = 1.0 / TINY;
    if p == q || difference == 0.0 {
        0.0
    } else if p == 0.0 {
        q
    } else if q == 0.0 {
        f64::INFINITY
    } else if p < SMALL && q < SMALL {
        // Homogeneous of degree one. One of the scaled numbers may still be tiny: once more then.
        relative_entropy(p * SCALE, q * SCALE, difference * SCALE) * TINY
    } else if p > SCALE && q > SCALE {
        relative_entropy(p * TINY, q * TINY, difference * TINY) * SCALE
    } else {
        // So far apart, or so different from each other, that nothing cancels.
        p * (ln(p) - ln(q)) + difference
    }
}

/// `ln n! - ln(sqrt(2 pi n) (n / e)^n)`, which is `1 / (12 n)` in the first term, for `n > 0`; `n!`
/// is `Gamma(n + 1)`.
///
/// Above 10 by the series in `1 / n^2` (Abramowitz, Stegun, 6.1.41), whose first term left out is
/// below `1e-14` there. Integers up to 10 are in a table, and other numbers up to 10 are shifted by
/// 10, with an error below `1e-13`.
///
/// # Examples
///
/// ```
/// use confidence::math::stirling_error;
///
/// // ln 1! = 0, so it is 1 - ln(2 pi) / 2.
/// assert!((stirling_error(1.0) - (1.0 - 0.5 * (2.0 * std::f64::consts::PI).ln())).abs() < 1e-15);
/// // (1/2)! = sqrt(pi) / 2, so it is 1/2 - ln(2) / 2.
/// assert!((stirling_error(0.5) - 0.5 * (1.0 - 2.0_f64.ln())).abs() < 1e-13);
/// ```
pub fn stirling_error(n: f64) -> f64 {
    /// From 1.
    const FIRST: [f64; 10] = [
        0.081_061_466_795_327_26,
        0.041_340_695_955_409_29,
        0.027_677_925_684_998_34,
        0.020_790_672_103_765_09,
        0.016_644_691_189_821_19,
        0.013_876_128_823_070_75,
        0.011_896_709_945_891_77,
        0.010_411_265_261_972_09,
        0.009_255_462_182_712_733,
        0.008_330_563_433_362_87,
    ];
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 9")]
    if n <= 10.0 {
        let before = (n - 1.0).max(0.0) as usize;
        return if n == (before + 1) as f64 { FIRST[before] } else { stirling_error_by_shift(n) };
    }
    let square = n * n;
    (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / 1188.0 / square) / square) / square) / square)
        / n
}

/// [`stirling_error`] of a number that is not in the table:
/// `n! = (n + 10)! / ((n + 1) ... (n + 10))`.
fn stirling_error_by_shift(n: f64) -> f64 {
    let mut product = 1.0;
    for step in 1..=10 {
        product *= n + f64::from(step);
    }
    let shifted = n + 10.0;
    (shifted + 0.5) * ln(shifted) - (n + 0.5) * ln(n) - 10.0 - ln(product) + stirling_error(shifted)
}
