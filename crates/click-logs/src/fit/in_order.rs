//! Parallel work with results that do not depend on the number of cores.
//!
//! How work is divided into tasks depends on the data alone, and results are used in the order of
//! the tasks. A sum of floating-point numbers has the bits of one thread if the terms are computed
//! in parallel and added in their order.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of terms of one task for a thread. Starting a thread takes as long as a thousand terms.
const TERMS_OF_A_TASK: usize = 1 << 16;

fn threads_for(n_tasks: usize) -> usize {
    // Asking for the number of cores takes longer than a small task.
    if n_tasks < 2 {
        1
    } else {
        std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(n_tasks)
    }
}

/// Runs tasks on all cores; results are in the order of the tasks.
pub(super) fn in_order<T: Send, R: Send>(tasks: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let threads = threads_for(tasks.len());
    on_threads(threads, tasks, &work)
}

/// Runs tasks on all cores, and hands their results over in the order of the tasks. A few results
/// are kept, whatever the number of tasks.
pub(super) fn in_order_each<T: Send, R: Send>(
    tasks: Vec<T>,
    work: impl Fn(T) -> R + Sync,
    mut each: impl FnMut(R),
) {
    let threads = threads_for(tasks.len());
    each_on_threads(threads, tasks, &work, &mut each);
}

fn each_on_threads<T: Send, R: Send>(
    threads: usize,
    tasks: Vec<T>,
    work: &(dyn Fn(T) -> R + Sync),
    each: &mut dyn FnMut(R),
) {
    let mut tasks = tasks.into_iter();
    if threads == 1 {
        return tasks.map(work).for_each(each);
    }
    while tasks.len() > 0 {
        // Two for each thread, so that a long task keeps no other thread waiting for all of its
        // time.
        let some = tasks.by_ref().take(2 * threads).collect();
        on_threads(threads, some, work).into_iter().for_each(&mut *each);
    }
}

/// The sum of the terms of `0..n`, in this order.
pub(super) fn sum_in_order(n: usize, term: impl Fn(usize) -> f64 + Sync) -> f64 {
    let mut sum = 0.0;
    if n <= TERMS_OF_A_TASK {
        (0..n).for_each(|place| sum += term(place));
        return sum;
    }
    let starts = (0..n).step_by(TERMS_OF_A_TASK);
    let tasks = starts.map(|start| start..n.min(start + TERMS_OF_A_TASK)).collect();
    let terms = |range: Range<usize>| range.map(&term).collect::<Vec<f64>>();
    in_order_each(tasks, terms, |terms| terms.into_iter().for_each(|term| sum += term));
    sum
}

/// Tasks of consecutive elements: as many as have this size together.
pub(super) fn tasks_of<T>(all: &[T], size: usize, size_of: impl Fn(&T) -> usize) -> Vec<Range<usize>> {
    let mut tasks: Vec<Range<usize>> = Vec::new();
    let mut open = 0;
    for (place, element) in all.iter().enumerate() {
        match tasks.last_mut() {
            Some(last) if open < size => last.end = place + 1,
            _ => {
                tasks.push(place..place + 1);
                open = 0;
            }
        }
        open += size_of(element);
    }
    tasks
}

/// Parts of a slice: one after the other, of these lengths.
pub(super) fn cut<T>(mut all: &mut [T], lengths: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut parts = Vec::new();
    for length in lengths {
        let (part, rest) = all.split_at_mut(length);
        parts.push(part);
        all = rest;
    }
    parts
}

/// Not generic in the work, since tasks and results of many kinds of work have the same types.
fn on_threads<T: Send, R: Send>(threads: usize, tasks: Vec<T>, work: &(dyn Fn(T) -> R + Sync)) -> Vec<R> {
    if threads == 1 {
        return tasks.into_iter().map(work).collect();
    }
    let slots: Vec<_> = tasks.into_iter().map(|task| Mutex::new((Some(task), None))).collect();
    perform(threads, slots.len(), &|number| {
        // A separate statement, so that the lock is released before the task runs.
        let task = lock(&slots[number]).0.take();
        let result = task.map(work);
        lock(&slots[number]).1 = result;
    });
    let slots = slots.into_iter().map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner));
    slots.map(|(_, result)| result.expect("every task is performed")).collect()
}

/// Performs the tasks `0..n_tasks`, each once. This is not generic in the task: threads would be
/// compiled again for every kind of work.
fn perform(threads: usize, n_tasks: usize, task: &(dyn Fn(usize) + Sync)) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= n_tasks {
                        break;
                    }
                    task(number);
                }
            });
        }
    });
}

/// Locks, even after a panic of another thread: none panics in the middle of a change.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
