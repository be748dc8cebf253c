//! Bounds for the position-based model.

use crate::elementwise::elementwise;
use crate::json::dict;
use click_models::bounds::PbmBoundTerm;
use pyo3::prelude::*;
use pyo3::types::PyList;

elementwise! {
    /// Lower bound on the regret of uniformly efficient policies in the position-based model,
    /// clicks per ln T: PBM paper, Theorem 6, equation (6).
    ///
    /// Args:
    ///     theta: attraction probabilities of the items, in any order, shape (items,).
    ///     kappa: examination probabilities of the positions, in any order, shape (positions,).
    ///
    /// Examples:
    ///     >>> round(pbm_lower_bound([0.4, 0.3, 0.1], [1.0, 0.5]), 4)
    ///     1.9711
    pbm_lower_bound([theta: probabilities, kappa: probabilities]), otherwise "at least one position, and at least as many items as positions";

    /// A simpler, smaller lower bound than `pbm_lower_bound`, clicks per ln T: exploration at the
    /// most examined position (section 3.3, corrected). Arguments as there.
    ///
    /// Examples:
    ///     >>> round(pbm_relaxed_lower_bound([0.4, 0.3, 0.1], [1.0, 0.5]), 4)
    ///     1.7194
    pbm_relaxed_lower_bound([theta: probabilities, kappa: probabilities]), otherwise "at least one position, and at least as many items as positions";

    /// The regret of exploring every suboptimal item at the least examined position only, clicks
    /// per ln T: PBM paper, section 3.3. Never below `pbm_lower_bound`, and no lower bound,
    /// although the paper states the opposite. Arguments as there.
    ///
    /// Examples:
    ///     >>> round(pbm_last_position_cost([0.4, 0.3, 0.1], [1.0, 0.5]), 4)
    ///     1.9711
    pbm_last_position_cost([theta: probabilities, kappa: probabilities]), otherwise "at least one position, and at least as many items as positions";

    /// Upper bound for PBM-PIE, the leading constant, clicks per ln T: PBM paper, Theorem 11.
    ///
    /// Args:
    ///     theta, kappa: as of `pbm_lower_bound`.
    ///     eta: accuracy of the leaders' estimates: 0, or below half the smallest difference of two
    ///         attractions.
    ///     epsilon: of the exploration level (1 + epsilon) ln t; eta and epsilon broadcast.
    ///
    /// Returns:
    ///     float, or float64 array of the common shape of eta and epsilon. 0 if no item is
    ///     suboptimal, infinite if one is and the last position is never examined.
    ///
    /// Examples:
    ///     >>> round(pbm_pie_upper_bound([0.4, 0.3, 0.1], [1.0, 0.5], 0.0, 0.1), 4)
    ///     2.385
    pbm_pie_upper_bound([theta: probabilities, kappa: probabilities], eta: FiniteNonNegative, epsilon: FiniteNonNegative),
        otherwise "an eta of 0 or below half the smallest difference of two attractions, at least one position, and at least as many items as positions";

    /// Upper bound for PBM-UCB, the leading constant, clicks per ln T: PBM paper, Theorem 9.
    /// Infinite for tied parameters in the list, for an item as attractive as the last of it, and
    /// if a position is never examined.
    ///
    /// Args:
    ///     theta, kappa: as of `pbm_lower_bound`.
    ///     epsilon: of the exploration level (1 + epsilon) ln t; a number or an array of any shape,
    ///         that of the result.
    ///
    /// Examples:
    ///     >>> round(pbm_ucb_upper_bound([0.4, 0.3, 0.1], [1.0, 0.5], 0.1), 4)
    ///     11440.0
    pbm_ucb_upper_bound([theta: probabilities, kappa: probabilities], epsilon: FiniteNonNegative),
        otherwise "at least one position, and at least as many items as positions";

    /// The factor C(kappa) of `pbm_ucb_upper_bound` that depends on examination alone: PBM paper,
    /// Theorem 9. Infinite if a position is never examined.
    ///
    /// Args:
    ///     kappa: examination probabilities of the positions, in any order, shape (positions,).
    ///
    /// Examples:
    ///     >>> round(pbm_ucb_examination_factor([1.0, 0.5]), 4)
    ///     13.0
    pbm_ucb_examination_factor([kappa: probabilities]), otherwise "at least one position";

    /// The smallest gap of a list with the best items in a wrong order, in clicks per round: Delta
    /// of `pbm_ucb_upper_bound`, PBM paper, Theorem 9. Infinite for one position. Arguments as of
    /// `pbm_lower_bound`.
    ///
    /// Examples:
    ///     >>> round(smallest_permutation_gap([0.4, 0.3, 0.1], [1.0, 0.5]), 4)
    ///     0.05
    smallest_permutation_gap([theta: probabilities, kappa: probabilities]), otherwise "at least one position, and at least as many items as positions";
}

of_instance! {
    /// The terms of `pbm_lower_bound`, one for each item below the best list, the most attractive
    /// first: PBM paper, equation (6). Arguments as there.
    ///
    /// Returns:
    ///     list of dict: `item`, its index in theta; `position`, the index in kappa of the cheapest
    ///         position to explore it, or None if it need not be explored; `cost`, the regret of
    ///         exploring it there, clicks per ln T.
    ///
    /// Examples:
    ///     >>> [term] = pbm_lower_bound_terms([0.4, 0.3, 0.1], [1.0, 0.5])
    ///     >>> term["item"], term["position"], round(term["cost"], 4)
    ///     (2, 1, 1.9711)
    pbm_lower_bound_terms([theta: probabilities, kappa: probabilities]) = |py, terms: Vec<PbmBoundTerm>| {
        let rows = PyList::empty(py);
        for PbmBoundTerm { item, position, cost } in terms {
            rows.append(dict!(py; "item": item, "position": position, "cost": cost))?;
        }
        Ok(rows.into_any())
    },
    otherwise "at least one position, and at least as many items as positions";
}
