//! Parallel work with results that do not depend on the number of cores.

use crate::names::lock;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

/// Runs tasks on all cores; results are in the order of the tasks.
pub(super) fn in_order<T: Send, R: Send>(tasks: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let n = tasks.len();
    // Asking for the number of cores takes longer than a small task.
    let threads =
        if n < 2 { 1 } else { std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(n) };
    if threads == 1 {
        return tasks.into_iter().map(work).collect();
    }
    let queue = Mutex::new(tasks.into_iter().enumerate());
    let results = Mutex::new(Vec::with_capacity(n));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    // A separate statement, so that the lock is released before the task runs.
                    let task = lock(&queue).next();
                    let Some((number, task)) = task else { break };
                    let result = work(task);
                    lock(&results).push((number, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|result| result.0);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_tasks() {
        let squares = in_order((0..1000_u64).collect(), |number| number * number);
        assert!(squares.into_iter().eq((0..1000).map(|number| number * number)));
    }
}
