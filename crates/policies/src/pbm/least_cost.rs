//! The position at which it costs least to find out whether a candidate belongs into the list.
//!
//! Let `theta_1 >= .. >= theta_n` be the leaders' attractions, at positions of examination
//! `kappa_1 >= .. >= kappa_n > 0`, and `p` the candidate's. At rank `l` the candidate costs the gap
//! of the leaders with the candidate inserted there, and yields information:
//!
//! ```text
//! gap(l) = kappa_l (theta_n - p) + D_l,     D_n = 0,  D_l = D_{l+1} + (kappa_l - kappa_{l+1}) (theta_l - theta_n)
//! cost(l) = gap(l) / d(kappa_l p, kappa_l theta_n)                               clicks per nat
//! ```
//!
//! The rank of least cost is the arg min in the lower bound (Lagree, Vernade, Cappe 2016, Theorem
//! 6), here with estimates for the attractions. Deviations: estimates above 1 count as 1, also that
//! of a leader without displays. A candidate whose estimate is not below `theta_n` has no cost to
//! compare; it gets the limit from below, the last rank: with `theta_n - p` the information
//! vanishes quadratically, the gap of the last rank linearly, and the gaps of the others not at
//! all, unless they show the same list.
//!
//! | here | paper | unit |
//! |---|---|---|
//! | `leaders` | `theta_1..theta_n`, estimated | probability, may exceed 1 |
//! | `examination` | `kappa`, in the order of the positions | probability |
//! | `estimate` | `theta_k`, estimated | probability, may exceed 1 |
//!
//! The gap is a sum of non-negative numbers, and of equal costs the lowest rank counts.

use confidence::bernoulli_kl;

/// The rank (0: best) of the candidate. `leaders` are estimates at positions `order`, best first.
#[inline]
pub(super) fn cheapest_rank(estimate: f64, leaders: &[f64], order: &[usize], examination: &[f64]) -> usize {
    let Some((&last_leader, others)) = leaders.split_last() else { return 0 };
    let (mut cheapest, threshold) = (others.len(), last_leader.min(1.0));
    if estimate.is_nan() || estimate >= threshold {
        return cheapest;
    }
    let examined = |rank: usize| examination[order[rank]];
    let cost = |rank: usize, displaced: f64| {
        let information = bernoulli_kl(examined(rank) * estimate, examined(rank) * threshold);
        (examined(rank) * (threshold - estimate) + displaced) / information
    };
    let mut least = cost(cheapest, 0.0);
    let mut displaced = 0.0;
    for (rank, &leader) in others.iter().enumerate().rev() {
        displaced += (examined(rank) - examined(rank + 1)) * (leader.min(1.0) - threshold);
        let cost = cost(rank, displaced);
        if cost < least {
            (cheapest, least) = (rank, cost);
        }
    }
    cheapest
}

#[cfg(test)]
mod tests;
