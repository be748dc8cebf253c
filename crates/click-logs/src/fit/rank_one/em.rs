//! EM steps and the log-likelihood, on all cores.

use super::super::in_order::in_order;
use super::super::squarem::Em;
use super::Cells;
use super::cells::Total;
use confidence::math::{ln, ln_of_normals};

/// Number of rows of one task for a thread; sums are in the order of tasks.
pub(super) const ROWS_OF_A_TASK: usize = 1 << 15;

/// Number of rows processed together: two registers with two numbers each.
const LANES: usize = 4;

impl Em for Cells {
    fn step(&self, from: &[f64], to: &mut [f64]) {
        self.pass::<false>(from, to);
    }

    fn step_and_log_likelihood(&self, from: &[f64], to: &mut [f64]) -> f64 {
        self.pass::<true>(from, to)
    }

    fn log_likelihood(&self, at: &[f64]) -> f64 {
        let (rows, columns) = at.split_at(self.rows.len());
        let tasks = rows.chunks(ROWS_OF_A_TASK).enumerate().collect();
        let of_rows = in_order(tasks, |(task, attraction)| {
            let mut sum = 0.0;
            for (row, &a) in (task * ROWS_OF_A_TASK..).zip(attraction) {
                let mut of_row = clicked(self.rows[row], a);
                for (column, skips) in self.row(row) {
                    if skips > 0.0 {
                        of_row += skips * ln(1.0 - a * columns[column]);
                    }
                }
                sum += self.times[row] * of_row;
            }
            sum
        });
        of_rows.iter().sum::<f64>() + self.columns_clicked(columns)
    }
}

/// Contribution of clicks to the log-likelihood through the parameter of a row or of a column.
fn clicked(clicks: f64, parameter: f64) -> f64 {
    if clicks > 0.0 { clicks * ln(parameter) } else { 0.0 }
}

impl Cells {
    fn columns_clicked(&self, columns: &[f64]) -> f64 {
        self.column_totals.iter().zip(columns).map(|(total, &g)| clicked(total.clicks, g)).sum()
    }

    /// An EM step, and, if requested, the log-likelihood at its start.
    fn pass<const LIKELIHOOD: bool>(&self, from: &[f64], to: &mut [f64]) -> f64 {
        let (rows, columns) = from.split_at(self.rows.len());
        let (next_rows, next_columns) = to.split_at_mut(self.rows.len());
        let tasks =
            rows.chunks(ROWS_OF_A_TASK).zip(next_rows.chunks_mut(ROWS_OF_A_TASK)).enumerate().collect();
        let sums = in_order(tasks, |(task, (rows, next_rows))| {
            self.pass_of_rows::<LIKELIHOOD>(task * ROWS_OF_A_TASK, rows, columns, next_rows)
        });
        next_columns.fill(0.0);
        let mut log_likelihood = 0.0;
        for (of_columns, of_rows) in sums {
            log_likelihood += of_rows;
            next_columns.iter_mut().zip(of_columns).for_each(|(sum, of)| *sum += of);
        }
        for ((next, &g), total) in next_columns.iter_mut().zip(columns).zip(&self.column_totals) {
            *next = total.mean(g, *next);
        }
        if LIKELIHOOD { log_likelihood + self.columns_clicked(columns) } else { 0.0 }
    }

    /// The EM step of some rows. Returns the sums of columns, and the log-likelihood.
    fn pass_of_rows<const LIKELIHOOD: bool>(
        &self,
        first: usize,
        rows: &[f64],
        columns: &[f64],
        next_rows: &mut [f64],
    ) -> (Vec<f64>, f64) {
        let mut sums = vec![0.0; columns.len()];
        let mut log_likelihood = 0.0;
        let end = first + rows.len();
        // Shared by all rows of a run.
        let (mut examination, mut sums_of_run) = (Vec::new(), Vec::new());
        let mut runs = self.runs[self.runs.partition_point(|&run| run as usize <= first)..].iter();
        let mut from = first;
        while from < end {
            let to = runs.next().map_or(end, |&next| end.min(next as usize));
            let run_columns = &self.columns[self.cells_of(from)];
            let in_fours = if run_columns.is_empty() { 0 } else { (to - from) / LANES * LANES };
            if in_fours > 0 {
                let middle = from + in_fours;
                examination.clear();
                examination.extend(run_columns.iter().map(|&column| columns[usize::from(column)]));
                sums_of_run.clear();
                sums_of_run.resize(run_columns.len(), [0.0; LANES]);
                let run = Run {
                    attraction: &rows[from - first..middle - first],
                    clicks: &self.rows[from..middle],
                    times: &self.times[from..middle],
                    skips: &self.skips[self.starts[from] as usize..self.starts[middle] as usize],
                    examination: &examination,
                };
                log_likelihood +=
                    run.pass::<LIKELIHOOD>(&mut next_rows[from - first..middle - first], &mut sums_of_run);
                for (&column, of_run) in run_columns.iter().zip(&sums_of_run) {
                    sums[usize::from(column)] += of_run.iter().sum::<f64>();
                }
            }
            for row in from + in_fours..to {
                let (next, of_row) =
                    self.pass_of_row::<LIKELIHOOD>(row, rows[row - first], columns, &mut sums);
                next_rows[row - first] = next;
                log_likelihood += of_row;
            }
            from = to;
        }
        (sums, log_likelihood)
    }

    /// The EM step of one row. Returns its next attraction, and its log-likelihood.
    fn pass_of_row<const LIKELIHOOD: bool>(
        &self,
        row: usize,
        a: f64,
        columns: &[f64],
        sums: &mut [f64],
    ) -> (f64, f64) {
        let (clicks, times) = (self.rows[row], self.times[row]);
        let not_a = times * (1.0 - a);
        let mut impressions = clicks;
        let mut examined = 0.0;
        let mut log_likelihood = if LIKELIHOOD { clicked(clicks, a) } else { 0.0 };
        for (column, skips) in self.row(row) {
            let g = columns[column];
            let skip = skip(a, g);
            let weight = skips / skip;
            impressions += skips;
            examined += weight * (1.0 - g);
            sums[column] += weight * not_a;
            if LIKELIHOOD {
                log_likelihood += skips * ln(skip);
            }
        }
        (Total { clicks, impressions }.mean(a, examined), times * log_likelihood)
    }
}

/// Rows with the same columns, [`LANES`] by [`LANES`].
struct Run<'a> {
    attraction: &'a [f64],
    clicks: &'a [f64],
    times: &'a [f64],
    /// Skips, row by row.
    skips: &'a [f64],
    /// Examination of the columns.
    examination: &'a [f64],
}

impl Run<'_> {
    /// An EM step, and the log-likelihood of the rows. Columns are summed lane by lane.
    fn pass<const LIKELIHOOD: bool>(&self, next: &mut [f64], sums: &mut [[f64; LANES]]) -> f64 {
        let len = self.examination.len();
        let rows = self.attraction.as_chunks::<LANES>().0.iter().zip(next.as_chunks_mut::<LANES>().0);
        let rows = rows.zip(self.clicks.as_chunks::<LANES>().0).zip(self.times.as_chunks::<LANES>().0);
        let mut log_likelihood = [0.0; LANES];
        for ((((a, next), clicks), times), skips) in rows.zip(self.skips.chunks_exact(LANES * len)) {
            let not_a: [f64; LANES] = each(|lane| times[lane] * (1.0 - a[lane]));
            let mut impressions = *clicks;
            let mut examined = [0.0; LANES];
            let mut of_rows = [0.0; LANES];
            // Slices of known length need no bounds checks.
            let [first, second, third, fourth] =
                [0, 1, 2, 3].map(|lane| &skips[lane * len..(lane + 1) * len]);
            let cells = first.iter().zip(second).zip(third).zip(fourth).zip(self.examination).zip(&mut *sums);
            for (((((&first, &second), &third), &fourth), &g), sums) in cells {
                let skips = [first, second, third, fourth];
                let skip: [f64; LANES] = each(|lane| skip(a[lane], g));
                let weight: [f64; LANES] = each(|lane| skips[lane] / skip[lane]);
                impressions = each(|lane| impressions[lane] + skips[lane]);
                examined = each(|lane| examined[lane] + weight[lane] * (1.0 - g));
                *sums = each(|lane| sums[lane] + weight[lane] * not_a[lane]);
                if LIKELIHOOD {
                    let ln = ln_of_normals(skip);
                    of_rows = each(|lane| of_rows[lane] + skips[lane] * ln[lane]);
                }
            }
            *next = each(|lane| {
                Total { clicks: clicks[lane], impressions: impressions[lane] }.mean(a[lane], examined[lane])
            });
            if LIKELIHOOD {
                // The attraction of a row without clicks may be 0; its logarithm is then multiplied
                // by 0 clicks.
                let ln = ln_of_normals(a.map(|a| a.max(f64::MIN_POSITIVE)));
                log_likelihood = each(|lane| {
                    log_likelihood[lane] + times[lane] * (of_rows[lane] + clicks[lane] * ln[lane])
                });
            }
        }
        log_likelihood.iter().sum()
    }
}

/// Computes a value for every lane.
#[inline]
fn each(of_lane: impl FnMut(usize) -> f64) -> [f64; LANES] {
    std::array::from_fn(of_lane)
}

/// The probability of a skip. The bound matters if `a` and `g` are both 1: then there are no skips,
/// or the likelihood is 0.
fn skip(a: f64, g: f64) -> f64 {
    (1.0 - a * g).max(f64::MIN_POSITIVE)
}
