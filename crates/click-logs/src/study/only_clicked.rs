//! Logs without what was shown and not clicked.
//!
//! In a table of rows every impression then has a click. In a table of counts the cells without a
//! click are missing: of any cells with `n` impressions, `f1` of them with one click and `f2` with
//! two, at least `(n - 1)/n f1^2 / (2 f2)` are expected without any. Complexity: O(cells).
//!
//! Reference: Chao, *Nonparametric estimation of the number of classes*, Scandinavian Journal of
//! Statistics 11, 1984, in its form without bias. Deviations: the factor of each cell.

use log_reader::{Cell, Counts};

/// Fewer impressions may all be clicked: at a rate of 1/2, all of this number are in one log of
/// 1,000.
const FEWEST: u64 = 10;
/// With this many expected, a log has a cell without a click, but for one log in 20,000.
const EXPECTED: f64 = 10.0;

/// Why such a log gives no answer.
pub const ONLY_CLICKED: &str = "the log has only what was clicked: the rows of what was shown and not clicked are missing, \
                                so nothing tells how often anything is clicked";

/// Whether all impressions were clicked, and too many for chance.
pub fn are_all_clicked(clicks: u64, impressions: u64) -> bool {
    clicks == impressions && impressions >= FEWEST
}

/// Whether what was shown and not clicked is missing from the counts of a log.
pub fn is_only_clicked(counts: &Counts) -> bool {
    let cells = || counts.queries().flat_map(|query| query.cells());
    let once = |cell: &Cell| 1.0 - 1.0 / cell.impressions as f64;
    let once: f64 = cells().filter(|cell| cell.clicks == 1).map(|cell| once(&cell)).sum();
    let twice = cells().filter(|cell| cell.clicks == 2).count() as f64;
    let are_missing = once * (once - 1.0) / (2.0 * (twice + 1.0)) >= EXPECTED;
    are_all_clicked(counts.clicks(), counts.impressions())
        || are_missing && cells().all(|cell| cell.clicks > 0)
}
