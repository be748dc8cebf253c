//! Lower bounds if the learner knows which positions were observed, and in the dependent click
//! model.

use crate::elementwise::{elementwise, size};

elementwise! {
    /// Lower bound in the random semi-bandit, clicks per ln T: RSF paper, Theorem 4.
    ///
    /// Args:
    ///     theta: attraction probabilities of the items, in any order, shape (items,).
    ///     n_positions: number of positions, or an array of them.
    ///
    /// Examples:
    ///     >>> round(semi_bandit_lower_bound([0.4, 0.3, 0.1], 2), 4)
    ///     1.7194
    semi_bandit_lower_bound([theta: probabilities], n_positions: Count as size), otherwise "at least one position, and at least as many items as positions";

    /// Lower bound if every position is observed, clicks per ln T: PBM paper, equation (3).
    /// Arguments as of `semi_bandit_lower_bound`.
    ///
    /// Examples:
    ///     >>> round(multiple_play_lower_bound([0.4, 0.3, 0.1], 2), 4)
    ///     1.7194
    multiple_play_lower_bound([theta: probabilities], n_positions: Count as size), otherwise "at least one position, and at least as many items as positions";

    /// Lower bound in the cascade model, clicks per ln T: Kveton et al. 2015, Theorem 4,
    /// generalised. Arguments as of `semi_bandit_lower_bound`.
    ///
    /// Examples:
    ///     >>> round(cascade_lower_bound([0.4, 0.3, 0.1], 2), 4)
    ///     1.0316
    cascade_lower_bound([theta: probabilities], n_positions: Count as size), otherwise "at least one position, and at least as many items as positions";

    /// Lower bound in the cascade model with weights by position, reward per ln T: Combes et al.
    /// 2015, generalised. Tight if every weight exceeds the next one by at least the last weight,
    /// or if all are equal.
    ///
    /// Args:
    ///     theta: attraction probabilities of the items, in any order, shape (items,).
    ///     weights: reward of a click at each position, at least 0, not increasing from the top
    ///         down, shape (positions,).
    ///
    /// Examples:
    ///     >>> round(weighted_cascade_lower_bound([0.4, 0.3, 0.1], [1.0, 0.5]), 4)
    ///     0.8597
    weighted_cascade_lower_bound([theta: probabilities, weights: rewards]),
        otherwise "weights that do not rise, at least one position, and at least as many items as positions";

    /// Lower bound for satisfaction in the dependent click model, per ln T: Katariya et al. 2016,
    /// Theorem 3, generalised.
    ///
    /// Args:
    ///     theta: attraction probabilities of the items, in any order, shape (items,).
    ///     leave: probabilities of leaving after a click, from the top position down, shape
    ///         (positions,).
    ///
    /// Examples:
    ///     >>> round(dcm_lower_bound([0.4, 0.3, 0.1], [0.5, 0.2]), 4)
    ///     0.3439
    dcm_lower_bound([theta: probabilities, leave: probabilities]), otherwise "at least one position, and at least as many items as positions";
}
