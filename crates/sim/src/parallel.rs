//! Replications on all cores.

use rayon::prelude::*;
use std::ops::Range;

/// Calls `play` for every replication of every contender, on the current rayon thread pool. Records
/// do not depend on the order of the calls, since each depends on its numbers alone.
///
/// The function is not generic in what is played: the machinery of threads would be compiled again
/// for every model.
///
/// # Errors
///
/// The first error of a call; calls that have not begun are then left out.
pub fn try_for_each<E: Send>(
    n_contenders: usize,
    replications: Range<u64>,
    play: &(dyn Fn(usize, u64) -> Result<(), E> + Sync),
) -> Result<(), E> {
    let n_replications = usize::try_from(replications.end.saturating_sub(replications.start));
    let n_calls = n_replications.unwrap_or(usize::MAX).saturating_mul(n_contenders);
    (0..n_calls)
        .into_par_iter()
        .with_max_len(1)
        .try_for_each(|call| play(call % n_contenders, replications.start + (call / n_contenders) as u64))
}
