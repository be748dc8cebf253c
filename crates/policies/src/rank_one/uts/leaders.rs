//! The cells of largest mean, kept up to date.

use crate::exact::number;
use crate::top_l::{Ties, TopL};

/// The cells of largest mean.
#[derive(Debug, Clone)]
pub(super) struct Leaders {
    means: Vec<f64>,
    best: f64,
    /// All cells whose mean is `best`, in any order; empty if they have to be searched.
    cells: Vec<u32>,
    /// No other cell has a larger mean.
    others: f64,
    top: TopL,
}

impl Leaders {
    pub(super) fn new(means: Vec<f64>) -> Self {
        let cells = Vec::with_capacity(means.len());
        Self { means, best: 0.0, cells, others: 0.0, top: TopL::new(1) }
    }

    fn find(&mut self) {
        self.best = self.means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.others = f64::NEG_INFINITY;
        for (cell, &mean) in (0..).zip(&self.means) {
            if mean == self.best {
                self.cells.push(cell);
            } else {
                self.others = self.others.max(mean);
            }
        }
    }

    #[inline]
    pub(super) fn select(&mut self, ties: Ties) -> usize {
        if self.cells.is_empty() {
            self.find();
        }
        if let [only] = self.cells[..] {
            return only as usize;
        }
        self.top.clear();
        self.top.offer_equals([&self.cells[..]].into_iter(), |_| true, self.best, ties);
        self.top.best[0].1 as usize
    }

    #[inline]
    pub(super) fn set(&mut self, cell: usize, mean: f64) {
        let before = std::mem::replace(&mut self.means[cell], mean);
        if self.cells.is_empty() || mean == before {
            return;
        }
        let led = before == self.best;
        if mean > self.best {
            // The only leader: former leaders are among the others now.
            if !(led && self.cells.len() == 1) {
                self.others = self.best;
            }
            self.best = mean;
            self.cells.clear();
            self.cells.push(number(cell));
        } else if led {
            if self.cells.len() == 1 && mean > self.others {
                self.best = mean;
                return;
            }
            self.cells.retain(|&other| other as usize != cell);
            self.others = self.others.max(mean);
        } else if mean == self.best {
            self.cells.push(number(cell));
        } else {
            self.others = self.others.max(mean);
        }
    }
}
