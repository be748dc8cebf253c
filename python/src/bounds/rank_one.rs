//! Rank-one bandits: the hardness of an instance, and bounds for `Rank1ElimKL`.

use crate::elementwise::{elementwise, whole};
use crate::json::dict;
use click_models::bounds::RankOneHardness;
use numpy::PyArray1;
use pyo3::prelude::*;

elementwise! {
    /// Lower bound on the regret of uniformly efficient policies on a rank-one table, per ln T:
    /// Trinh et al. 2020. 0 if all cells are best.
    ///
    /// Args:
    ///     rows: probabilities of the rows, shape (rows,).
    ///     columns: probabilities of the columns, shape (columns,).
    ///
    /// Examples:
    ///     >>> round(rank_one_lower_bound([0.5, 0.2], [0.8, 0.3]), 4)
    ///     3.4429
    rank_one_lower_bound([rows: probabilities, columns: probabilities]), otherwise "at least one row and one column";

    /// Upper bound for Rank1ElimKL after `horizon` rounds, in clicks: Rank1ElimKL paper, Theorem 1,
    /// as printed. Infinite for fewer than 5 rounds.
    ///
    /// Args:
    ///     rows, columns: as of `rank_one_lower_bound`.
    ///     horizon: number of rounds, or an array of them, of any shape, that of the result.
    ///
    /// Examples:
    ///     >>> round(rank_one_upper_bound([0.5, 0.2], [0.8, 0.3], 10**6))
    ///     192871
    rank_one_upper_bound([rows: probabilities, columns: probabilities], horizon: Count as whole),
        otherwise "at least two different rows, and two different columns";

    /// `rank_one_upper_bound` with the constant 320 of the proof of Lemma 4 instead of 160.
    /// Also defined if all rows or all columns are equal. Arguments as there.
    ///
    /// Examples:
    ///     >>> round(rank_one_upper_bound_corrected([0.5, 0.2], [0.8, 0.3], 10**6))
    ///     385348
    rank_one_upper_bound_corrected([rows: probabilities, columns: probabilities], horizon: Count as whole),
        otherwise "at least one row and one column";
}

of_instance! {
    /// The quantities that determine how hard a rank-one instance is: Rank1ElimKL paper, equations
    /// (1) to (5). Arguments as of `rank_one_lower_bound`.
    ///
    /// Returns:
    ///     dict: `mu`, the smaller of the average row and the average column; `p_max`, the largest
    ///         probability; `gamma`, the larger of mu and 1 - p_max; `row_gaps` and `column_gaps`,
    ///         the distances to the best, float64 arrays of the shapes of rows and columns;
    ///         `smallest_row_gap` and `smallest_column_gap`, the smallest positive ones, or None if
    ///         all are equal. All are probabilities.
    ///
    /// Examples:
    ///     >>> hardness = rank_one_hardness([0.5, 0.2], [0.8, 0.3])
    ///     >>> hardness["mu"], hardness["row_gaps"].tolist()
    ///     (0.35, [0.0, 0.3])
    rank_one_hardness([rows: probabilities, columns: probabilities]) = as_dict,
        otherwise "at least one row and one column";
}

pub(crate) fn as_dict(py: Python<'_>, hardness: RankOneHardness) -> PyResult<Bound<'_, PyAny>> {
    let gaps = [hardness.row_gaps, hardness.column_gaps];
    let [row_gaps, column_gaps] = gaps.map(|gaps| PyArray1::from_vec(py, gaps));
    let dict = dict!(py;
        "mu": hardness.mu, "p_max": hardness.p_max, "gamma": hardness.gamma, "row_gaps": row_gaps,
        "column_gaps": column_gaps, "smallest_row_gap": hardness.smallest_row_gap,
        "smallest_column_gap": hardness.smallest_column_gap,
    );
    Ok(dict.into_any())
}
