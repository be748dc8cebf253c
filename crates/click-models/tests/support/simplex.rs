//! A dense simplex solver for small linear programs of the covering kind.

/// The smallest `cost . x` over `x >= 0` with `rows . x >= 1`, and the `x` that attains it.
///
/// `cost` must not be negative. The dual, `max sum y` over `y >= 0` with `columns . y <= cost`,
/// then starts feasible at 0 and is solved by Bland's rule, which cannot cycle. The solver checks
/// on the original numbers that `x` is feasible and that its value equals the dual value, so
/// callers need not trust it.
pub(crate) fn covering_program(cost: &[f64], rows: &[Vec<f64>]) -> (f64, Vec<f64>) {
    let (n, m) = (rows.len(), cost.len());
    // Scale every dual variable so that its largest coefficient is 1.
    let scale: Vec<f64> = rows.iter().map(|row| row.iter().copied().fold(0.0, f64::max)).collect();
    assert!(scale.iter().all(|&scale| scale > 0.0), "a constraint that nothing can satisfy");

    // One line per constraint of the dual: its variables, its slacks, the right-hand side. The last
    // line is the objective.
    let width = n + m + 1;
    let mut tableau = vec![vec![0.0; width]; m + 1];
    for (place, line) in tableau[..m].iter_mut().enumerate() {
        for (variable, row) in rows.iter().enumerate() {
            line[variable] = row[place] / scale[variable];
        }
        line[n + place] = 1.0;
        line[width - 1] = cost[place];
    }
    for (variable, scale) in scale.iter().enumerate() {
        tableau[m][variable] = -1.0 / scale;
    }
    let magnitude = scale.iter().map(|scale| 1.0 / scale).fold(0.0, f64::max);
    let mut basis: Vec<usize> = (n..n + m).collect();

    while let Some(enters) = (0..width - 1).find(|&column| tableau[m][column] < -1e-13 * magnitude) {
        let mut leaves: Option<(f64, usize)> = None;
        for line in 0..m {
            if tableau[line][enters] > 1e-12 {
                let ratio = tableau[line][width - 1] / tableau[line][enters];
                let better = leaves.is_none_or(|(least, holder)| {
                    ratio < least || ratio == least && basis[line] < basis[holder]
                });
                if better {
                    leaves = Some((ratio, line));
                }
            }
        }
        let (_, line) = leaves.expect("a program whose constraints can be satisfied has a bounded dual");
        let pivot = tableau[line][enters];
        for entry in &mut tableau[line] {
            *entry /= pivot;
        }
        let pivot_line = tableau[line].clone();
        for (other, target) in tableau.iter_mut().enumerate() {
            let factor = target[enters];
            if other != line && factor != 0.0 {
                for (entry, pivot) in target.iter_mut().zip(&pivot_line) {
                    *entry -= factor * pivot;
                }
            }
        }
        basis[line] = enters;
    }

    let x: Vec<f64> = tableau[m][n..n + m].iter().map(|&price| price.max(0.0)).collect();
    let value: f64 = cost.iter().zip(&x).map(|(cost, x)| cost * x).sum();
    for row in rows {
        let covered: f64 = row.iter().zip(&x).map(|(entry, x)| entry * x).sum();
        assert!(covered > 1.0 - 1e-9, "a constraint is violated: {covered} < 1");
    }
    let dual = tableau[m][width - 1];
    assert!((value - dual).abs() <= 1e-9 * value, "primal {value} and dual {dual} differ");
    (value, x)
}

#[test]
fn simplex_solves_a_small_diet_problem() {
    // Two foods with one nutrient each and one with half of both: 2 for either alone, 1.5 for the
    // mixture.
    let rows = [vec![1.0, 0.0, 0.5], vec![0.0, 1.0, 0.5]];
    let (value, x) = covering_program(&[2.0, 2.0, 1.5], &rows);
    assert!((value - 3.0).abs() < 1e-12 && (x[2] - 2.0).abs() < 1e-12);
    let (value, _) = covering_program(&[0.5, 0.75, 1.5], &rows);
    assert!((value - 1.25).abs() < 1e-12);
}
