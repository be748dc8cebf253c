//! Before a test of two rankers: how many users it takes, and whether the split was as planned.
//!
//! References: the normal approximation of the two tests. What looks cost is computed from the
//! boundaries of the tests themselves, at any power and level.

use crate::ab_test::{least_sessions, mixture, obrien_fleming};
use crate::crossing::{StoppedMotion, users_until_found};
use confidence::{normal_quantile, normal_tails};

/// Looks of an open end, after equal numbers of users: one a day for four weeks.
const OPEN_LOOKS: u32 = 28;
/// The smallest advantage whose users are counted by a walk: mixtures lose their digits beyond its
/// 10^12 users.
const SMALLEST: f64 = 1e-6;
/// Steps that a walk takes before a fixed number of users: more change the number by less than 1 %.
const STEPS: f64 = 5000.0;

/// How a test ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It may be looked at any time.
    Open,
    /// After this number of looks, at equal distances.
    Fixed(u32),
}

/// Users of an A/B test that ends so, relative to a fixed number of them, if it finds its effect
/// with probability `power` and an effect that is none with probability `miss` at most. An open end
/// is most powerful at this number.
///
/// `None` unless the power is .5 to .999, `miss` above 0 and at most .5, and looks are 1 to 28.
pub fn inflation(power: f64, miss: f64, end: End) -> Option<f64> {
    let fixed = quantiles(power, miss)?;
    let stopped = match end {
        End::Fixed(1) => return Some(1.0),
        End::Fixed(looks) => {
            let constant = obrien_fleming(looks, miss)?;
            StoppedMotion::new(looks, 1.0, |_| constant)
        }
        End::Open => {
            let (plan, boundary) = mixture(miss);
            StoppedMotion::new(OPEN_LOOKS, plan, |time| time.sqrt() * boundary(time))
        }
    };
    Some((stopped.mean(power) / (fixed[0] + fixed[1])).powi(2))
}

/// Users in each arm of an A/B test that finds a difference of `difference` clicks a session with
/// probability `power`, if a user's clicks a session have the standard deviation `deviation`, times
/// the [`inflation`] of its end.
///
/// `None` unless `difference` is positive, the power is .5 to .999, and `miss` is above 0 and at
/// most .5.
pub fn users_per_arm(deviation: f64, difference: f64, power: f64, miss: f64, inflation: f64) -> Option<u64> {
    let [of_miss, of_power] = quantiles(power, miss)?;
    let root = (of_miss + of_power) * deviation / difference;
    whole(2.0 * root * root * inflation, difference > 0.0)
}

/// Decisive users of an interleaved comparison that finds a ranker which wins the share `share` of
/// them with probability `power`; `None` unless `share` is above 1/2 and below 1, and for powers
/// and `miss` as for [`users_per_arm`].
///
/// # Examples
///
/// ```
/// use interleaving::plan::{End, decisive_users};
///
/// assert_eq!(decisive_users(0.6, 0.8, 0.05, End::Fixed(1)), Some(194));
/// assert_eq!(decisive_users(0.6, 0.8, 0.05, End::Open), Some(370));
/// ```
pub fn decisive_users(share: f64, power: f64, miss: f64, end: End) -> Option<u64> {
    let [of_miss, of_power] = quantiles(power, miss)?;
    let fixed = |share: f64| {
        let root = (0.5 * of_miss + of_power * (share * (1.0 - share)).sqrt()) / (share - 0.5);
        root * root
    };
    let n = whole(fixed(share), share > 0.5 && share < 1.0)?;
    match end {
        End::Fixed(1) => Some(n),
        End::Fixed(_) => None,
        End::Open => {
            let of_walk = share.max(0.5 + SMALLEST);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "positive and bounded"
            )]
            let block = (fixed(of_walk) / STEPS).max(1.0) as u64;
            let users = users_until_found(of_walk, power, miss, block);
            whole(users as f64 * (fixed(share) / fixed(of_walk)), true)
        }
    }
}

/// Users of an arm, with `clicks` each, before which an open end does not decide.
pub fn least_users(clicks: f64) -> Option<u64> {
    whole(least_sessions(clicks), true)
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

/// The quantiles of the normal distribution that a test of one look at all users has: of a false
/// alarm on either side, and of the power.
fn quantiles(power: f64, miss: f64) -> Option<[f64; 2]> {
    let is_valid = (0.5..=0.999).contains(&power) && miss > 0.0 && miss <= 0.5;
    is_valid.then(|| [normal_quantile(1.0 - miss), normal_quantile(2.0 * power - 1.0)])
}

/// The next whole number.
fn whole(n: f64, is_valid: bool) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive and bounded")]
    (is_valid && n > 0.0 && n < 1e15).then(|| n.ceil() as u64)
}
