//! Users who compare two items, for the tests of dueling policies.

use click_models::{DuelingModel, PreferenceMatrix};

/// Users with these chances above the diagonal.
pub(crate) fn users(n_items: usize, mut chance: impl FnMut(usize, usize) -> f64) -> DuelingModel {
    let mut rows = vec![vec![0.5; n_items]; n_items];
    for (i, j) in (0..n_items).flat_map(|i| (i + 1..n_items).map(move |j| (i, j))) {
        rows[i][j] = chance(i, j);
        rows[j][i] = 1.0 - rows[i][j];
    }
    DuelingModel::new(PreferenceMatrix::new(&rows).expect("valid"))
}

/// The better of two wins the more often the further they are apart.
pub(crate) fn in_line(n_items: usize) -> DuelingModel {
    users(n_items, |i, j| 0.55 + 0.4 * (j - i) as f64 / n_items as f64)
}

/// Nobody beats everybody.
pub(crate) fn circle(n_items: usize) -> DuelingModel {
    users(n_items, |i, j| if j - i <= n_items / 2 { 0.7 } else { 0.3 })
}
