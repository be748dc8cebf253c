use super::super::climbs;
use super::super::linear::Cholesky;
use super::super::squarem::Em;
use super::em::ROWS_OF_A_TASK;
use super::newton::FIRST_EM_STEPS;
use super::*;
use confidence::math::ln;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

impl Cells {
    fn maximise(self, method: Method, em: &EmOptions) -> RankOne {
        self.maximise_from(None, method, em, true)
    }
}

const EM: EmOptions = EmOptions { tolerance: 1e-13, max_iterations: 2_000_000 };

/// The maximum by EM steps alone.
fn plain(cells: &Cells) -> RankOne {
    let mut at = cells.start();
    let convergence = climbs::plain(cells, &mut at, &EM);
    cells.scale(&mut at, &cells.pins());
    let columns = at.split_off(cells.rows.len());
    let rows = cells.row_of.iter().map(|&row| at[row as usize]).collect();
    RankOne { rows, columns, variances: None, convergence }
}

/// Binomial counts of random users; every item at three or more of the positions.
fn random_cells<R: Rng>(n_rows: usize, examination: &[f64], impressions: u64, rng: &mut R) -> Cells {
    let mut cells = Cells::new(examination.len());
    for _ in 0..n_rows {
        let a = rng.random_range(0.05..0.6);
        let missing = rng.random_range(0..examination.len());
        for (column, g) in examination.iter().enumerate().filter(|(column, _)| *column != missing) {
            let n = rng.random_range(impressions / 2..=impressions);
            let clicks = (0..n).filter(|_| rng.random::<f64>() < a * g).count() as u64;
            cells.push(column, clicks as f64, n as f64);
        }
        cells.end_row();
    }
    cells
}

fn products(cells: &Cells, found: &RankOne) -> Vec<f64> {
    let row = |(row, &of): (usize, &u32)| {
        cells.row(of as usize).map(move |(column, ..)| found.rows[row] * found.columns[column])
    };
    cells.row_of.iter().enumerate().flat_map(row).collect()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn all_ways_lead_to_the_same_maximum() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    for round in 0..20 {
        // Examination that is largest at the first position, or elsewhere.
        let examination = if round % 2 == 0 { [1.0, 0.6, 0.3, 0.2] } else { [0.6, 0.9, 0.5, 0.2] };
        let cells = random_cells(8, &examination, 400, &mut rng);
        let plain = plain(&cells);
        let [fast, newton] = [Method::Em, Method::Direct].map(|method| cells.clone().maximise(method, &EM));
        assert!(plain.convergence.converged && fast.convergence.converged && newton.convergence.converged);
        assert!(newton.convergence.iterations < FIRST_EM_STEPS + 12, "{:?}", newton.convergence);
        assert!(fast.convergence.iterations < plain.convergence.iterations);
        for found in [&fast, &newton] {
            assert!(largest_difference(&products(&cells, &plain), &products(&cells, found)) < 1e-8);
            assert!(largest_difference(&plain.rows, &found.rows) < 1e-8);
            assert!(largest_difference(&plain.columns, &found.columns) < 1e-8);
        }
        assert_eq!(newton.columns[0], 1.0);
    }
}

/// Newton's method from near the maximum gets there too; from where no maximum can be, the start is
/// the usual one.
#[test]
fn a_start_near_the_maximum_changes_nothing() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(12);
    for _ in 0..20 {
        let cells = random_cells(8, &[1.0, 0.6, 0.3, 0.2], 400, &mut rng);
        let cold = cells.clone().maximise(Method::Direct, &EM);
        let from = |of_rows: f64, of_columns: f64| {
            let near = [(&cold.rows, of_rows), (&cold.columns, of_columns)];
            let near = near.map(|(all, by)| all.iter().map(|value| value * by).collect());
            cells.clone().maximise_from(Some(near), Method::Direct, &EM, true)
        };
        let near = from(0.9, 1.05);
        assert!(largest_difference(&cold.rows, &near.rows) < 1e-11);
        assert!(largest_difference(&cold.columns, &near.columns) < 1e-11);
        assert!(near.convergence.iterations < cold.convergence.iterations);
        for far in [from(50.0, 1.0), from(0.0, 1.0), from(f64::NAN, 1.0)] {
            assert_eq!((&far.rows, &far.columns), (&cold.rows, &cold.columns));
        }
    }
}

#[test]
fn no_step_and_no_cycle_lowers_the_likelihood() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(12);
    let options = EmOptions { tolerance: 1e-9, ..EM };
    for _ in 0..10 {
        let cells = random_cells(6, &[1.0, 0.5, 0.4, 0.1], 60, &mut rng);
        climbs::plain(&cells, &mut cells.start(), &options);
        climbs::accelerated(&cells, &mut cells.start(), &options);
    }
}

/// EM with exchanged posteriors lowers the likelihood, so the test above can fail.
#[test]
fn a_wrong_step_falls() {
    struct Wrong<'a>(&'a Cells);
    impl Em for Wrong<'_> {
        fn step(&self, from: &[f64], to: &mut [f64]) {
            let Cells { rows, column_totals, .. } = self.0;
            let of_rows = rows.iter().zip(0..).map(|(&clicks, row)| Total {
                clicks,
                impressions: clicks + self.0.row(row).map(|(_, skips)| skips).sum::<f64>(),
            });
            let totals: Vec<Total> = of_rows.chain(column_totals.iter().copied()).collect();
            for (to, total) in to.iter_mut().zip(&totals) {
                *to = total.clicks;
            }
            for row in 0..rows.len() {
                for (column, skips) in self.0.row(row) {
                    let (a, g) = (from[row], from[rows.len() + column]);
                    to[row] += skips * g * (1.0 - a) / (1.0 - a * g);
                    to[rows.len() + column] += skips * a * (1.0 - g) / (1.0 - a * g);
                }
            }
            for (to, total) in to.iter_mut().zip(&totals) {
                *to /= total.impressions;
            }
        }

        fn log_likelihood(&self, at: &[f64]) -> f64 {
            self.0.log_likelihood(at)
        }
    }
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(13);
    let cells = random_cells(6, &[1.0, 0.5, 0.4, 0.1], 200, &mut rng);
    let mut at = cells.start();
    let options = EmOptions { max_iterations: 100, ..EM };
    let (_, values) = climbs::steps(&Wrong(&cells), &mut at, &options);
    assert!(climbs::falls(&values) && values.windows(2).any(|pair| pair[1] < pair[0] - 1.0));
}

/// The log-likelihood in logarithms of the parameters.
fn in_logarithms(cells: &Cells, x: &[f64]) -> f64 {
    cells.log_likelihood(&x.iter().map(|x| libm::exp(*x)).collect::<Vec<_>>())
}

#[test]
fn newton_steps_and_variances_are_those_of_finite_differences() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(14);
    let cells = random_cells(3, &[0.9, 0.5, 0.3], 300, &mut rng);
    let at: Vec<f64> = [0.3, 0.4, 0.2, 1.0, 0.7, 0.4].to_vec();
    let x: Vec<f64> = at.iter().map(|p| ln(*p)).collect();
    let pins = cells.pins();
    assert_eq!(pins, [0, 0, 0]);
    let moved = |steps: &[(usize, f64)]| {
        let mut x = x.clone();
        for &(of, by) in steps {
            x[of] += by;
        }
        in_logarithms(&cells, &x)
    };
    // The free parameters: all except the first column.
    let free = [0, 1, 2, 4, 5];
    let e = 1e-4;
    let gradient: Vec<f64> =
        free.iter().map(|&i| (moved(&[(i, e)]) - moved(&[(i, -e)])) / (2.0 * e)).collect();
    let mut matrix = vec![0.0; 25];
    for (a, &i) in free.iter().enumerate() {
        for (b, &j) in free.iter().enumerate() {
            let second = moved(&[(i, e), (j, e)]) - moved(&[(i, e), (j, -e)]) - moved(&[(i, -e), (j, e)])
                + moved(&[(i, -e), (j, -e)]);
            matrix[a * 5 + b] = -second / (4.0 * e * e);
        }
    }
    let dense = Cholesky::new(5, matrix).expect("concave in logarithms");
    let mut step = gradient.clone();
    dense.solve(&mut step);
    let gain: f64 = gradient.iter().zip(&step).map(|(g, s)| g * s).sum();
    let (ours, decrement) = cells.information(&at, &pins).unwrap().step(&cells, &at, &pins).unwrap();
    assert!((decrement / gain - 1.0).abs() < 1e-5);
    for (a, &i) in free.iter().enumerate() {
        assert!((ours[i] - step[a]).abs() < 1e-5, "{i}");
    }
    assert_eq!(ours[3], 0.0);
    let variances = cells.information(&at, &pins).unwrap().variances(&cells, &at, &pins).unwrap().concat();
    let by_rows = cells.variances_by_rows(&at, &pins).unwrap().concat();
    assert_eq!(by_rows[3], 0.0);
    for (a, variance) in dense.inverse_diagonal().into_iter().enumerate() {
        assert!((variances[free[a]] / variance - 1.0).abs() < 1e-5);
        assert!((by_rows[free[a]] / variances[free[a]] - 1.0).abs() < 1e-12);
    }
}

#[test]
fn equal_rows_have_variances_of_their_own() {
    let mut cells = Cells::new(8);
    for clicks in [9.0, 9.0, 0.0, 20.0] {
        // The last column has no clicks, so its examination is 0.
        (0..8).for_each(|column| cells.push(column, if column < 7 { clicks } else { 0.0 }, 100.0));
        cells.end_row();
    }
    assert_eq!((cells.rows.len(), cells.row_of.len()), (3, 4));
    let (at, pins) = (cells.start(), cells.pins());
    let by_columns = cells.information(&at, &pins).unwrap().variances(&cells, &at, &pins).unwrap();
    let by_rows = cells.variances_by_rows(&at, &pins).unwrap();
    for (a, b) in by_columns.concat().into_iter().zip(by_rows.concat()) {
        assert!(a == b || (a / b - 1.0).abs() < 1e-12, "{a} {b}");
    }
}

#[test]
fn one_position_is_binomial() {
    let mut cells = Cells::new(1);
    for clicks in [20.0, 0.0, 90.0] {
        cells.push(0, clicks, 100.0);
        cells.end_row();
    }
    for method in [Method::Direct, Method::Em] {
        let found = cells.clone().maximise(method, &EM);
        assert!(largest_difference(&found.rows, &[0.2, 0.0, 0.9]) < 1e-12);
        let [rows, columns] = found.variances.unwrap();
        // For ln p: (1 - p) / (n p).
        assert!((rows[0] - 0.04).abs() < 1e-10 && rows[1] == f64::INFINITY);
        assert_eq!(columns, [0.0]);
    }
}

#[test]
fn what_is_not_connected_has_a_scale_of_its_own() {
    let mut cells = Cells::new(4);
    for (columns, rates) in [([0, 1], [0.4, 0.2]), ([2, 3], [0.3, 0.1])] {
        for (column, rate) in columns.into_iter().zip(rates) {
            cells.push(column, 1000.0 * rate, 1000.0);
        }
        cells.end_row();
    }
    for method in [Method::Direct, Method::Em] {
        let found = cells.clone().maximise(method, &EM);
        assert!(largest_difference(&found.columns, &[1.0, 0.5, 1.0, 1.0 / 3.0]) < 1e-9, "{found:?}");
        assert!(largest_difference(&found.rows, &[0.4, 0.3]) < 1e-9);
    }
}

#[test]
fn maxima_on_the_edge_are_reached_without_a_prior() {
    // Clicked at every impression; never clicked; no click at the second position; not shown at the
    // third.
    let mut cells = Cells::new(4);
    for row in [
        [(0, 50.0, 50.0), (3, 20.0, 50.0)],
        [(0, 0.0, 50.0), (1, 0.0, 50.0)],
        [(0, 10.0, 50.0), (3, 4.0, 50.0)],
    ] {
        for (column, clicks, n) in row {
            cells.push(column, clicks, n);
        }
        cells.end_row();
    }
    let found = cells.clone().maximise(Method::Direct, &EmOptions::default());
    assert!(found.convergence.converged);
    assert!((found.rows[0] - 1.0).abs() < 1e-3 && found.rows[1] == 0.0);
    assert!((found.columns[0], found.columns[1]) == (1.0, 0.0));
    assert!((found.columns[3] - 0.4).abs() < 1e-3);
    // No data.
    let empty = Cells::new(2).maximise(Method::Direct, &EmOptions::default());
    assert!(empty.rows.is_empty() && empty.convergence.converged);
}

/// An EM step on the counts as they were pushed, row by row, and the log-likelihood at its start.
fn naive_step(counts: &[Vec<(usize, f64, f64)>], rows: &[f64], columns: &[f64]) -> (Vec<f64>, Vec<f64>, f64) {
    let mut next_rows = Vec::new();
    let mut of_columns = vec![(0.0, 0.0); columns.len()];
    let mut log_likelihood = 0.0;
    for (cells, a) in counts.iter().zip(rows) {
        let mut of_row = (0.0, 0.0);
        for &(column, clicks, n) in cells {
            let (g, skips) = (columns[column], n - clicks);
            of_row.0 += clicks + skips * a * (1.0 - g) / (1.0 - a * g);
            of_row.1 += n;
            of_columns[column].0 += clicks + skips * g * (1.0 - a) / (1.0 - a * g);
            of_columns[column].1 += n;
            log_likelihood += skips * ln(1.0 - a * g) + if clicks > 0.0 { clicks * ln(a * g) } else { 0.0 };
        }
        next_rows.push(of_row.0 / of_row.1);
    }
    (next_rows, of_columns.into_iter().map(|(sum, n)| sum / n).collect(), log_likelihood)
}

/// Rows of all lengths, equal and different, more than one task holds: in one pass, and row by row.
#[test]
fn a_step_is_that_of_every_row_by_itself() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(16);
    let mut counts = Vec::new();
    for row in 0..2 * ROWS_OF_A_TASK {
        // Half of the rows are rare items with mostly equal counts; every set of columns occurs.
        let n: u32 = if row % 2 == 0 { 1000 } else { 3 };
        let shown = 1 + row % 31;
        let cells = (0..5).filter(|column| shown >> column & 1 == 1).map(|column| {
            let impressions = rng.random_range(1..=n);
            (column, f64::from(rng.random_range(0..=impressions)), f64::from(impressions))
        });
        counts.push(cells.collect::<Vec<_>>());
    }
    let mut cells = Cells::new(5);
    for row in &counts {
        for &(column, clicks, n) in row {
            cells.push(column, clicks, n);
        }
        cells.end_row();
    }
    assert!(cells.rows.len() > ROWS_OF_A_TASK && cells.rows.len() < counts.len() * 9 / 10);
    assert_eq!(cells.times.iter().sum::<f64>(), counts.len() as f64);
    for (cells, runs) in [(cells.clone(), ROWS_OF_A_TASK..usize::MAX), (cells.by_columns(), 31..32)] {
        assert!(runs.contains(&cells.runs.len()));
        let start = cells.start();
        let mut next = start.clone();
        let likelihood = cells.step_and_log_likelihood(&start, &mut next);
        let of_all = |rows: &[f64]| cells.row_of.iter().map(|&row| rows[row as usize]).collect::<Vec<_>>();
        let (rows, columns) = start.split_at(cells.rows.len());
        let (naive_rows, naive_columns, naive_likelihood) = naive_step(&counts, &of_all(rows), columns);
        let (next_rows, next_columns) = next.split_at(cells.rows.len());
        assert!(largest_difference(&of_all(next_rows), &naive_rows) < 1e-14);
        assert!(largest_difference(next_columns, &naive_columns) < 1e-12);
        for likelihood in [likelihood, cells.log_likelihood(&start)] {
            assert!((likelihood / naive_likelihood - 1.0).abs() < 1e-12);
        }
        let mut without = start.clone();
        cells.step(&start, &mut without);
        assert_eq!(without, next);
    }
}

/// Newton's method with equal rows stored once, and with rows that differ by a negligible amount.
#[test]
fn equal_rows_count_as_often_as_they_are_there() {
    let shown =
        [[(0, 3.0, 10.0), (1, 1.0, 9.0)], [(0, 5.0, 11.0), (2, 2.0, 20.0)], [(1, 2.0, 8.0), (2, 1.0, 9.0)]];
    let [alike, unlike] = [0.0, 1e-12].map(|e| {
        let mut cells = Cells::new(3);
        for row in 0..30 {
            for (column, clicks, n) in shown[row % 3] {
                cells.push(column, clicks, n + row as f64 * e);
            }
            cells.end_row();
        }
        cells
    });
    assert_eq!((alike.rows.len(), unlike.rows.len()), (3, 30));
    for method in [Method::Direct, Method::Em] {
        let [alike, unlike] = [&alike, &unlike].map(|cells| cells.clone().maximise(method, &EM));
        assert!(alike.convergence.converged && unlike.convergence.converged);
        assert!(largest_difference(&alike.rows, &unlike.rows) < 1e-9);
        assert!(largest_difference(&alike.columns, &unlike.columns) < 1e-9);
        let [alike, unlike] = [alike, unlike].map(|found| found.variances.unwrap().concat());
        assert!(largest_difference(&alike, &unlike) < 1e-9);
    }
}
