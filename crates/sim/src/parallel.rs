//! Tasks on all cores.

use rayon::prelude::*;

/// Performs the tasks `0..n_tasks` on the current rayon thread pool. Returns an error if a task fails; tasks that have not begun then are left
/// out.
///
/// The function is not generic in the task: the machinery of threads would be compiled again for every model.
pub(crate) fn try_for_each<E: Send>(
    n_tasks: usize,
    task: &(dyn Fn(usize) -> Result<(), E> + Sync),
) -> Result<(), E> {
    (0..n_tasks).into_par_iter().with_max_len(1).try_for_each(task)
}
