//! Clicks whose probability is a product: of a number of the row, attraction, and a number of the column, examination.
//!
//! In a cell with `n` impressions there are Binomial(`n`, `a g`) clicks. This is the position-based model with items as rows
//! and positions as columns, and the user browsing model with (position, last click) as columns. Priors are rows and counts
//! that were never seen; the maximum does not tell them from others.
//!
//! Two ways to the maximum. *EM*: after a skip `P(attractive) = a (1 - g) / (1 - a g)` and `P(examined) = g (1 - a) / (1 - a
//! g)`, after a click both are 1; each parameter becomes the mean of its posterior. *Newton*: in `x = ln a`, `y = ln g` the
//! log-likelihood `c (x + y) + (n - c) ln(1 - exp(x + y))` is concave in all parameters together, so that a maximum is the
//! only one; rows are eliminated from the equations, which leaves one for each column.
//!
//! Reference: EM, Chuklin, Markov, de Rijke, *Click models for web search*, 2015, chapter 4; Newton is ours. Deviations: EM
//! leaves the examination of the first position free and scales at the end; the likelihood depends on products alone, and the
//! larger family climbs faster.
//!
//! | here | meaning |
//! |---|---|
//! | `a`, `g` | attraction of the row, examination of the column |
//! | `clicks`, `skips` | of a cell |
//! | `h` | minus the second derivative of a cell's log-likelihood by `x + y`: `skips a g / (1 - a g)^2` |
//! | `pins` | columns that set the scale: the first one of each connected part |
//!
//! Numerics: the end of Newton's method is told by its decrement, the gain that one more step promises, 1e-12 nats; the step
//! is then taken still. Where the maximum is on the edge (an item that was clicked whenever shown; no prior) Newton's method
//! gives up and EM goes on. Complexity: a cell and EM step one division, on all cores where there are many; a row with `m`
//! cells and Newton step O(`m`^2), and O(columns^3) for all; rows with the same counts are one row in all of this.

use super::in_order::in_order;
use super::linear::Cholesky;
use super::options::{EmOptions, Method};
use super::squarem::{self, Convergence, Em, Progress};
use crate::names::mix;
use confidence::math::{ln, ln_of_normals};
use hashbrown::HashTable;
use std::ops::Range;

/// Newton's method takes a handful of steps; a likelihood that needs more is not one for it.
const NEWTON_STEPS: usize = 60;
/// EM steps before it, which lead from anywhere to where it is quick.
const FIRST_EM_STEPS: usize = 8;
/// Newton's method stops when a step promises no more, in nats.
const DECREMENT: f64 = 1e-12;
/// Relative error of a sum over all counts.
const ROUNDING: f64 = 1e-13;

/// Rows of one task for a thread; sums are in the order of tasks, whichever thread did them.
const ROWS_OF_A_TASK: usize = 1 << 15;

/// From this number of rows on it pays to put rows with the same columns side by side.
const MANY_ROWS: usize = 1 << 10;

/// Rows that are worked on at a time: two registers that hold two numbers each.
const LANES: usize = 4;

/// Counts, row by row. Clicks are kept as sums: the likelihood asks for no more. Rows with the same counts have the same
/// maximum, and most rows of a log are rare and alike: they are kept once, with their number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cells {
    starts: Vec<u32>,
    columns: Vec<u16>,
    skips: Vec<f64>,
    /// Clicks of rows.
    rows: Vec<f64>,
    /// How many rows are like this one.
    times: Vec<f64>,
    /// The first rows of runs of rows with the same columns.
    runs: Vec<u32>,
    /// Of every row that was made, the one that stands for it.
    row_of: Vec<u32>,
    /// Rows by a hash of their counts, with the hash.
    index: HashTable<(u32, u32)>,
    column_totals: Vec<Total>,
    open: f64,
}

/// Clicks and impressions.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Total {
    clicks: f64,
    impressions: f64,
}

impl Total {
    fn add(&mut self, clicks: f64, impressions: f64) {
        self.clicks += clicks;
        self.impressions += impressions;
    }

    /// What EM makes of a parameter; `sum` times the parameter are the skips that it has a part in.
    #[inline]
    fn mean(self, parameter: f64, sum: f64) -> f64 {
        if self.impressions > 0.0 { (self.clicks + parameter * sum) / self.impressions } else { parameter }
    }
}

impl Cells {
    pub(crate) fn new(n_columns: usize) -> Self {
        Self { starts: vec![0], column_totals: vec![Total::default(); n_columns], ..Self::default() }
    }

    /// A cell more for the row that is being made. Impressions need not be whole.
    pub(crate) fn push(&mut self, column: usize, clicks: f64, impressions: f64) {
        debug_assert!((0.0..=impressions).contains(&clicks));
        #[expect(clippy::cast_possible_truncation, reason = "there are 2080 columns at most")]
        self.columns.push(column as u16);
        self.skips.push(impressions - clicks);
        self.open += clicks;
        self.column_totals[column].add(clicks, impressions);
    }

    /// The row is complete.
    pub(crate) fn end_row(&mut self) {
        let clicks = std::mem::take(&mut self.open);
        let start = self.starts[self.rows.len()] as usize;
        let hash = hash(clicks, &self.columns[start..], &self.skips[start..]);
        let same = self.index.find(spread(hash), |&(hash_of_row, row)| {
            let cells = self.cells_of(row as usize);
            hash_of_row == hash
                && self.rows[row as usize] == clicks
                && self.columns[cells.clone()] == self.columns[start..]
                && self.skips[cells] == self.skips[start..]
        });
        let row = if let Some(&(_, row)) = same {
            self.columns.truncate(start);
            self.skips.truncate(start);
            self.times[row as usize] += 1.0;
            row
        } else {
            let row = self.complete(clicks, 1.0);
            self.index.insert_unique(spread(hash), (hash, row), |&(hash, _)| spread(hash));
            row
        };
        self.row_of.push(row);
    }

    /// The cells since the last row are a row.
    fn complete(&mut self, clicks: f64, times: f64) -> u32 {
        let number = u32::try_from(self.rows.len()).expect("fewer than 2^32 rows, 40 GB");
        self.starts.push(u32::try_from(self.columns.len()).expect("fewer than 2^32 cells, 40 GB"));
        self.rows.push(clicks);
        self.times.push(times);
        let row = self.rows.len() - 1;
        if row == 0 || self.columns[self.cells_of(row - 1)] != self.columns[self.cells_of(row)] {
            self.runs.push(number);
        }
        number
    }

    fn cells_of(&self, row: usize) -> Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }

    /// Column and skips of the cells of a row.
    #[inline]
    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let cells = self.cells_of(row);
        let columns = self.columns[cells.clone()].iter().map(|&column| usize::from(column));
        columns.zip(self.skips[cells].iter().copied())
    }

    /// The maximum of the likelihood.
    pub(crate) fn maximise(mut self, method: Method, em: &EmOptions, trace: bool) -> RankOne {
        self.index = HashTable::new();
        if self.rows.len() >= MANY_ROWS {
            self = self.by_columns();
        }
        let mut found = Problem { cells: &self }.maximise(method, em, trace);
        let of_all = |numbers: &mut Vec<f64>| {
            *numbers = self.row_of.iter().map(|&row| numbers[row as usize]).collect();
        };
        of_all(&mut found.rows);
        if let Some([of_rows, _]) = &mut found.variances {
            of_all(of_rows);
        }
        found
    }

    /// The same with all rows of the same columns side by side.
    fn by_columns(self) -> Self {
        let ends = self.runs.iter().skip(1).map(|&run| run as usize).chain([self.rows.len()]);
        let mut runs: Vec<Range<usize>> =
            self.runs.iter().zip(ends).map(|(&run, end)| run as usize..end).collect();
        runs.sort_by_key(|run| {
            let columns = &self.columns[self.cells_of(run.start)];
            (columns.len(), columns)
        });
        let mut sorted = Self::new(self.column_totals.len());
        let mut places = vec![0; self.rows.len()];
        for row in runs.into_iter().flatten() {
            let cells = self.cells_of(row);
            sorted.columns.extend_from_slice(&self.columns[cells.clone()]);
            sorted.skips.extend_from_slice(&self.skips[cells]);
            places[row] = sorted.complete(self.rows[row], self.times[row]);
        }
        sorted.row_of = self.row_of.iter().map(|&row| places[row as usize]).collect();
        Self { column_totals: self.column_totals, ..sorted }
    }
}

/// Of what makes rows equal.
fn hash(clicks: f64, columns: &[u16], skips: &[f64]) -> u32 {
    let cells = columns.iter().zip(skips);
    let hash =
        cells.fold(clicks.to_bits(), |hash, (&column, skips)| mix(hash ^ u64::from(column), skips.to_bits()));
    (hash >> 32) as u32
}

/// To both ends of 64 bits, where a hash table looks.
fn spread(hash: u32) -> u64 {
    mix(hash.into(), 0)
}

/// The maximum.
#[derive(Debug, Clone)]
pub(crate) struct RankOne {
    pub(crate) rows: Vec<f64>,
    /// 1 for the first column of each connected part.
    pub(crate) columns: Vec<f64>,
    /// Variances of the logarithms of the parameters, rows then columns, 0 for those that set the scale; none where the
    /// information does not tell.
    pub(crate) variances: Option<[Vec<f64>; 2]>,
    pub(crate) convergence: Convergence,
}

pub(crate) struct Problem<'a> {
    cells: &'a Cells,
}

impl Em for Problem<'_> {
    fn step(&self, from: &[f64], to: &mut [f64]) {
        self.pass::<false>(from, to);
    }

    fn step_and_log_likelihood(&self, from: &[f64], to: &mut [f64]) -> f64 {
        self.pass::<true>(from, to)
    }

    fn log_likelihood(&self, at: &[f64]) -> f64 {
        let (rows, columns) = at.split_at(self.n_rows());
        let tasks = rows.chunks(ROWS_OF_A_TASK).enumerate().collect();
        let of_rows = in_order(tasks, |(task, attraction)| {
            let mut sum = 0.0;
            for (row, &a) in (task * ROWS_OF_A_TASK..).zip(attraction) {
                let mut of_row = clicked(self.cells.rows[row], a);
                for (column, skips) in self.cells.row(row) {
                    if skips > 0.0 {
                        of_row += skips * ln(1.0 - a * columns[column]);
                    }
                }
                sum += self.cells.times[row] * of_row;
            }
            sum
        });
        of_rows.iter().sum::<f64>() + self.columns_clicked(columns)
    }
}

/// What its clicks bring to the log-likelihood through the parameter of a row, or of a column.
#[inline]
fn clicked(clicks: f64, parameter: f64) -> f64 {
    if clicks > 0.0 { clicks * ln(parameter) } else { 0.0 }
}

impl Problem<'_> {
    fn n_rows(&self) -> usize {
        self.cells.rows.len()
    }

    fn columns_clicked(&self, columns: &[f64]) -> f64 {
        self.cells.column_totals.iter().zip(columns).map(|(total, &g)| clicked(total.clicks, g)).sum()
    }

    /// An EM step, and the log-likelihood where it starts if that is asked for.
    fn pass<const LIKELIHOOD: bool>(&self, from: &[f64], to: &mut [f64]) -> f64 {
        let (rows, columns) = from.split_at(self.n_rows());
        let (next_rows, next_columns) = to.split_at_mut(self.n_rows());
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
        for ((next, &g), total) in next_columns.iter_mut().zip(columns).zip(&self.cells.column_totals) {
            *next = total.mean(g, *next);
        }
        if LIKELIHOOD { log_likelihood + self.columns_clicked(columns) } else { 0.0 }
    }

    /// For some rows: what columns sum up, and the log-likelihood.
    fn pass_of_rows<const LIKELIHOOD: bool>(
        &self,
        first: usize,
        rows: &[f64],
        columns: &[f64],
        next_rows: &mut [f64],
    ) -> (Vec<f64>, f64) {
        let mut sums = vec![0.0; columns.len()];
        let mut log_likelihood = 0.0;
        let cells = self.cells;
        let end = first + rows.len();
        // What is the same for a whole run.
        let (mut examination, mut sums_of_run) = (Vec::new(), Vec::new());
        let mut runs = cells.runs[cells.runs.partition_point(|&run| run as usize <= first)..].iter();
        let mut from = first;
        while from < end {
            let to = runs.next().map_or(end, |&next| end.min(next as usize));
            let run_columns = &cells.columns[cells.cells_of(from)];
            let in_fours = if run_columns.is_empty() { 0 } else { (to - from) / LANES * LANES };
            if in_fours > 0 {
                let middle = from + in_fours;
                examination.clear();
                examination.extend(run_columns.iter().map(|&column| columns[usize::from(column)]));
                sums_of_run.clear();
                sums_of_run.resize(run_columns.len(), [0.0; LANES]);
                let run = Run {
                    attraction: &rows[from - first..middle - first],
                    clicks: &cells.rows[from..middle],
                    times: &cells.times[from..middle],
                    skips: &cells.skips[cells.starts[from] as usize..cells.starts[middle] as usize],
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

    /// The same for one row, and its next attraction.
    fn pass_of_row<const LIKELIHOOD: bool>(
        &self,
        row: usize,
        a: f64,
        columns: &[f64],
        sums: &mut [f64],
    ) -> (f64, f64) {
        let (clicks, times) = (self.cells.rows[row], self.cells.times[row]);
        let not_a = times * (1.0 - a);
        let mut impressions = clicks;
        let mut examined = 0.0;
        let mut log_likelihood = if LIKELIHOOD { clicked(clicks, a) } else { 0.0 };
        for (column, skips) in self.cells.row(row) {
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

    /// Rates of rows, and of columns relative to a bit more than the largest; all inside (0, 1) but where there are no clicks, 0.
    pub(crate) fn start(&self) -> Vec<f64> {
        let rate =
            |of: &Total| if of.clicks > 0.0 { (of.clicks + 0.5) / (of.impressions + 1.0) } else { 0.0 };
        let of_row = |row: usize| {
            let clicks = self.cells.rows[row];
            let impressions = clicks + self.cells.row(row).map(|(_, skips)| skips).sum::<f64>();
            rate(&Total { clicks, impressions })
        };
        let columns: Vec<f64> = self.cells.column_totals.iter().map(rate).collect();
        let largest = columns.iter().copied().fold(f64::MIN_POSITIVE, f64::max) / 0.9;
        (0..self.n_rows()).map(of_row).chain(columns.iter().map(|rate| rate / largest)).collect()
    }

    fn maximise(&self, method: Method, em: &EmOptions, trace: bool) -> RankOne {
        let pins = self.pins();
        let mut at = self.start();
        let direct = if method == Method::Direct { self.newton(&at, &pins, trace) } else { None };
        let convergence = match direct {
            Some((found, convergence)) => {
                at = found;
                convergence
            }
            None => squarem::maximise(self, &mut at, em, trace),
        };
        self.scale(&mut at, &pins);
        let information = self.information(&at, &pins);
        let variances = information.and_then(|information| information.variances(self, &at, &pins));
        let columns = at.split_off(self.n_rows());
        RankOne { rows: at, columns, variances, convergence }
    }

    /// For every column the first of its connected part; rows and columns without clicks connect nothing.
    fn pins(&self) -> Vec<usize> {
        let mut parts = ConnectedColumns::new(self.cells.column_totals.len());
        for (row, &clicks) in self.cells.rows.iter().enumerate() {
            if clicks > 0.0 {
                let mut first = None;
                for (column, ..) in
                    self.cells.row(row).filter(|cell| self.cells.column_totals[cell.0].clicks > 0.0)
                {
                    parts.join(*first.get_or_insert(column), column);
                }
            }
        }
        (0..self.cells.column_totals.len()).map(|column| parts.first(column)).collect()
    }

    /// Divides columns by their pin, and multiplies rows.
    fn scale(&self, at: &mut [f64], pins: &[usize]) {
        let (rows, columns) = at.split_at_mut(self.n_rows());
        for (row, a) in rows.iter_mut().enumerate() {
            if let Some((column, ..)) =
                self.cells.row(row).find(|cell| self.cells.column_totals[cell.0].clicks > 0.0)
            {
                *a *= columns[pins[column]];
            }
        }
        let scales: Vec<f64> = pins.iter().map(|&pin| columns[pin]).collect();
        for (g, scale) in columns.iter_mut().zip(scales) {
            if scale > 0.0 {
                *g /= scale;
            }
        }
    }

    /// Newton's method from here; nothing where it does not get there.
    fn newton(&self, start: &[f64], pins: &[usize], keep_trace: bool) -> Option<(Vec<f64>, Convergence)> {
        let mut at = start.to_vec();
        let mut next = at.clone();
        for _ in 0..FIRST_EM_STEPS {
            self.step(&at, &mut next);
            std::mem::swap(&mut at, &mut next);
        }
        let mut log_likelihood = self.log_likelihood(&at);
        let mut trace = Vec::new();
        let n_rows = self.n_rows();
        for iterations in 1..=NEWTON_STEPS {
            let information = self.information(&at, pins)?;
            let (steps, decrement) = information.step(self, &at, pins)?;
            let change = steps.iter().map(|step| step.abs()).fold(0.0, f64::max);
            let progress = |log_likelihood, iterations| Progress { iterations, log_likelihood, change };
            if keep_trace {
                trace.push(progress(log_likelihood, FIRST_EM_STEPS + iterations - 1));
            }
            let last = decrement <= DECREMENT;
            let mut length = 1.0;
            loop {
                for ((next, at), step) in next.iter_mut().zip(&at).zip(&steps) {
                    *next = at * libm::exp(length * step);
                }
                let reached =
                    if self.is_inside(&next) { self.log_likelihood(&next) } else { f64::NEG_INFINITY };
                // Rounding leaves no more of a likelihood; steps go on to be told by the decrement.
                if reached >= log_likelihood - ROUNDING * log_likelihood.abs() {
                    log_likelihood = reached;
                    break;
                }
                length /= 2.0;
                if length < 1e-6 {
                    return None;
                }
            }
            std::mem::swap(&mut at, &mut next);
            if last {
                let (rows, columns) = at.split_at(n_rows);
                let largest = |numbers: &[f64]| numbers.iter().copied().fold(0.0, f64::max);
                // An item and a position that never met could have a product above 1: EM keeps to probabilities.
                if largest(rows) * largest(columns) > 1.0 {
                    return None;
                }
                let last = progress(log_likelihood, FIRST_EM_STEPS + iterations);
                if keep_trace {
                    trace.push(last);
                }
                return Some((at, Convergence { converged: true, last, trace }));
            }
        }
        None
    }

    /// Whether all cells have probabilities.
    fn is_inside(&self, at: &[f64]) -> bool {
        let (rows, columns) = at.split_at(self.n_rows());
        rows.iter().enumerate().all(|(row, a)| {
            self.cells.row(row).all(|(column, skips)| {
                let p = a * columns[column];
                p < 1.0 || (p == 1.0 && skips == 0.0)
            })
        })
    }

    /// First and second derivatives, rows eliminated. Nothing where a row has no curvature.
    fn information(&self, at: &[f64], pins: &[usize]) -> Option<Information> {
        let (rows, columns) = at.split_at(self.n_rows());
        let n = columns.len();
        let mut information = Information {
            n,
            rows: vec![(0.0, 0.0); rows.len()],
            gradient: self.cells.column_totals.iter().map(|total| total.clicks).collect(),
            matrix: vec![0.0; n * n],
        };
        let mut of_row: Vec<(usize, f64)> = Vec::with_capacity(n);
        for (row, &a) in rows.iter().enumerate().filter(|(_, a)| **a > 0.0) {
            of_row.clear();
            let mut gradient = self.cells.rows[row];
            let mut curvature = 0.0;
            for (column, skips) in self.cells.row(row) {
                let g = columns[column];
                if g > 0.0 && skips > 0.0 {
                    let slope = skips * a * g / (1.0 - a * g);
                    let h = slope / (1.0 - a * g);
                    gradient -= slope;
                    information.gradient[column] -= self.cells.times[row] * slope;
                    curvature += h;
                    of_row.push((column, h));
                }
            }
            if curvature.is_nan() || curvature <= 0.0 {
                return None;
            }
            information.rows[row] = (gradient, curvature);
            let times = self.cells.times[row];
            for &(column, h) in &of_row {
                let h = times * h;
                information.matrix[column * n + column] += h;
                let share = h / curvature;
                information.gradient[column] -= share * gradient;
                for &(left, of_left) in of_row.iter().filter(|other| other.0 <= column) {
                    information.matrix[column * n + left] -= share * of_left;
                }
            }
        }
        // What does not move: columns that set the scale, columns without clicks.
        for column in 0..n {
            if pins[column] == column || columns[column] == 0.0 {
                information.gradient[column] = 0.0;
                for other in 0..n {
                    information.matrix[column * n + other] = 0.0;
                    information.matrix[other * n + column] = 0.0;
                }
                information.matrix[column * n + column] = 1.0;
            }
        }
        Some(information)
    }
}

/// Rows with the same columns, [`LANES`] by [`LANES`].
struct Run<'a> {
    attraction: &'a [f64],
    clicks: &'a [f64],
    times: &'a [f64],
    /// Row by row.
    skips: &'a [f64],
    /// Of its columns.
    examination: &'a [f64],
}

impl Run<'_> {
    /// An EM step, and the rows' log-likelihood. Columns sum up lane by lane.
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
            // The lengths that they have said once more: no bounds are checked then.
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
                // A row without clicks may be at 0, and then it has none to multiply.
                let ln = ln_of_normals(a.map(|a| a.max(f64::MIN_POSITIVE)));
                log_likelihood = each(|lane| {
                    log_likelihood[lane] + times[lane] * (of_rows[lane] + clicks[lane] * ln[lane])
                });
            }
        }
        log_likelihood.iter().sum()
    }
}

/// The same for every lane.
#[inline]
fn each(of_lane: impl FnMut(usize) -> f64) -> [f64; LANES] {
    std::array::from_fn(of_lane)
}

/// The probability of a skip. The bound matters where both are 1: then there are no skips, or the likelihood is 0.
#[inline]
fn skip(a: f64, g: f64) -> f64 {
    (1.0 - a * g).max(f64::MIN_POSITIVE)
}

/// Derivatives of the log-likelihood by the logarithms of the parameters.
struct Information {
    n: usize,
    /// Gradient and curvature of rows; 0 and 0 for a row without clicks, which stays at 0.
    rows: Vec<(f64, f64)>,
    /// For columns, rows eliminated.
    gradient: Vec<f64>,
    /// For columns, rows eliminated; the lower triangle.
    matrix: Vec<f64>,
}

impl Information {
    /// The step in the logarithms, and its decrement: about twice the gain that it promises.
    fn step(self, problem: &Problem<'_>, at: &[f64], pins: &[usize]) -> Option<(Vec<f64>, f64)> {
        let (rows, columns) = at.split_at(self.rows.len());
        let mut of_columns = self.gradient.clone();
        Cholesky::new(self.n, self.matrix)?.solve(&mut of_columns);
        let mut decrement: f64 =
            self.gradient.iter().zip(&of_columns).map(|(gradient, step)| gradient * step).sum();
        let mut steps = Vec::with_capacity(at.len());
        for (row, (&a, &(gradient, curvature))) in rows.iter().zip(&self.rows).enumerate() {
            let mut moved = 0.0;
            for (column, skips) in problem.cells.row(row) {
                let g = columns[column];
                if pins[column] != column {
                    moved += skips * a * g / ((1.0 - a * g) * (1.0 - a * g)) * of_columns[column];
                }
            }
            if curvature > 0.0 {
                decrement += problem.cells.times[row] * gradient * gradient / curvature;
                steps.push((gradient - moved) / curvature);
            } else {
                steps.push(0.0);
            }
        }
        steps.extend(of_columns);
        decrement.is_finite().then_some((steps, decrement))
    }

    /// Variances of the logarithms, rows then columns.
    fn variances(self, problem: &Problem<'_>, at: &[f64], pins: &[usize]) -> Option<[Vec<f64>; 2]> {
        let (rows, columns) = at.split_at(self.rows.len());
        let factor = Cholesky::new(self.n, self.matrix)?;
        let mut of_columns = factor.inverse_diagonal();
        for (column, variance) in of_columns.iter_mut().enumerate() {
            if pins[column] == column {
                *variance = 0.0;
            }
            if columns[column] == 0.0 {
                *variance = f64::INFINITY;
            }
        }
        let mut of_rows = Vec::with_capacity(rows.len());
        let mut moved = vec![0.0; self.n];
        for (row, (&a, &(_, curvature))) in rows.iter().zip(&self.rows).enumerate() {
            if curvature <= 0.0 {
                of_rows.push(f64::INFINITY);
                continue;
            }
            moved.fill(0.0);
            for (column, skips) in problem.cells.row(row) {
                let g = columns[column];
                if pins[column] != column && g > 0.0 {
                    moved[column] += skips * a * g / ((1.0 - a * g) * (1.0 - a * g)) / curvature;
                }
            }
            of_rows.push(1.0 / curvature + factor.form(&mut moved));
        }
        Some([of_rows, of_columns])
    }
}

/// Columns that rows connect.
#[derive(Debug, Clone)]
pub(crate) struct ConnectedColumns {
    parents: Vec<usize>,
}

impl ConnectedColumns {
    pub(crate) fn new(n: usize) -> Self {
        Self { parents: (0..n).collect() }
    }

    pub(crate) fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.first(a), self.first(b));
        self.parents[a.max(b)] = a.min(b);
    }

    /// The first of those connected with it.
    pub(crate) fn first(&mut self, mut of: usize) -> usize {
        while self.parents[of] != of {
            self.parents[of] = self.parents[self.parents[of]];
            of = self.parents[of];
        }
        of
    }
}

#[cfg(test)]
mod tests;
