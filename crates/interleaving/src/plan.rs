//! Before a test of two rankers: how many users it takes, and whether the split was as planned.
//!
//! References: the normal approximation of the two tests; O'Brien, Fleming, Biometrics 1979
//! (inflation of looks). The inflation of open ends was measured.

use confidence::{normal_quantile, normal_tails};

/// Users of an A/B test with an open end, relative to a fixed number of users: power .8 and .9, at
/// the plan, with 28 looks.
const OPEN_END: [(f64, f64); 2] = [(0.8, 1.72), (0.9, 1.62)];
/// The same for O'Brien and Fleming's looks: their number, with power .8 and .9.
#[expect(clippy::approx_constant, reason = "a factor that happens to be near pi / 3")]
const LOOKS: [(u32, [f64; 2]); 10] = [
    (1, [1.0, 1.0]),
    (2, [1.0078, 1.0071]),
    (3, [1.0174, 1.0161]),
    (4, [1.0238, 1.0222]),
    (5, [1.0284, 1.0265]),
    (7, [1.0345, 1.0323]),
    (10, [1.0399, 1.0375]),
    (14, [1.0440, 1.0414]),
    (20, [1.0474, 1.0447]),
    (28, [1.0499, 1.0471]),
];
/// Decisive users of an interleaved comparison that may be looked at any time, relative to a fixed
/// number of them.
const MIXTURES: f64 = 1.9;

/// How a test ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It may be looked at any time.
    Open,
    /// After this number of looks, at equal distances.
    Fixed(u32),
}

/// Users in each arm of an A/B test that finds a difference of `difference` clicks a session with
/// probability `power`, if a user's clicks a session have the standard deviation `deviation`.
///
/// `None` unless `difference` is positive, power is .5 to .999, and the number of looks is one of 1
/// to 5, 7, 10, 14, 20, 28.
///
/// # Examples
///
/// ```
/// use interleaving::plan::{End, users_per_arm};
///
/// // 2 s^2 (1.960 + .842)^2 / d^2
/// assert_eq!(users_per_arm(1.0, 0.1, 0.8, End::Fixed(1)), Some(1570));
/// assert_eq!(users_per_arm(1.0, 0.1, 0.8, End::Open), Some(2701));
/// ```
pub fn users_per_arm(deviation: f64, difference: f64, power: f64, end: End) -> Option<u64> {
    let quantile = normal_quantile(0.95) + one_sided(power)?;
    let n = 2.0 * deviation * deviation * quantile * quantile / (difference * difference);
    let inflation = match end {
        End::Open => between(power, OPEN_END.map(|(_, inflation)| inflation)),
        End::Fixed(looks) => between(power, LOOKS.into_iter().find(|row| row.0 == looks)?.1),
    };
    whole(n * inflation, difference > 0.0)
}

/// Decisive users of an interleaved comparison that finds a ranker which wins the share `share` of
/// them with probability `power`; `None` unless `share` is above 1/2 and below 1.
///
/// # Examples
///
/// ```
/// use interleaving::plan::{End, decisive_users};
///
/// assert_eq!(decisive_users(0.6, 0.8, End::Fixed(1)), Some(194));
/// assert_eq!(decisive_users(0.6, 0.8, End::Open), Some(369));
/// ```
pub fn decisive_users(share: f64, power: f64, end: End) -> Option<u64> {
    let quantiles = 0.5 * normal_quantile(0.95) + one_sided(power)? * (share * (1.0 - share)).sqrt();
    let root = quantiles / (share - 0.5);
    let inflation = match end {
        End::Open => MIXTURES,
        End::Fixed(1) => 1.0,
        End::Fixed(_) => return None,
    };
    whole(root * root * inflation, share > 0.5 && share < 1.0)
}

/// The probability of a split at least this uneven, if `share` of all users were to be in the first
/// arm: the chi-square test with one degree of freedom.
///
/// # Examples
///
/// ```
/// let p = interleaving::plan::split_probability([195, 205], 0.5);
/// assert!((p - 0.617_075_077_451_974).abs() < 1e-12);
/// ```
pub fn split_probability(users: [u64; 2], share: f64) -> f64 {
    let all = users[0] as f64 + users[1] as f64;
    let expected = [share * all, (1.0 - share) * all];
    let term =
        |(found, expected): (u64, f64)| (found as f64 - expected) * (found as f64 - expected) / expected;
    let chi_square: f64 = users.into_iter().zip(expected).map(term).sum();
    normal_tails(chi_square.sqrt())
}

/// The number of standard deviations that a normal variable exceeds with probability `1 - power`.
fn one_sided(power: f64) -> Option<f64> {
    (0.5..=0.999).contains(&power).then(|| normal_quantile(2.0 * power - 1.0))
}

/// The number for a power, between those for .8 and .9.
fn between(power: f64, numbers: [f64; 2]) -> f64 {
    let share = ((power - 0.8) / 0.1).clamp(0.0, 1.0);
    numbers[0] + share * (numbers[1] - numbers[0])
}

/// The next whole number.
fn whole(n: f64, is_valid: bool) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive and bounded")]
    (is_valid && n > 0.0 && n < 1e15).then(|| n.ceil() as u64)
}
