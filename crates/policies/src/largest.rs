//! The places of the largest of some numbers, kept up to date.

use crate::exact::number;
use crate::top_l::{Ties, TopL};

/// Numbers, and the places of the largest.
#[derive(Debug, Clone)]
pub(crate) struct Largest {
    pub(crate) numbers: Vec<f64>,
    /// The largest, after [`Self::select`].
    pub(crate) best: f64,
    /// All places whose number is `best`, in any order; empty if they have to be searched.
    places: Vec<u32>,
    /// No other number is larger.
    others: f64,
    top: TopL,
}

impl Largest {
    pub(crate) fn new(numbers: Vec<f64>) -> Self {
        let places = Vec::with_capacity(numbers.len());
        Self { numbers, best: 0.0, places, others: 0.0, top: TopL::new(1) }
    }

    fn find(&mut self) {
        self.best = self.numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.others = f64::NEG_INFINITY;
        for (place, &number) in (0..).zip(&self.numbers) {
            if number == self.best {
                self.places.push(place);
            } else {
                self.others = self.others.max(number);
            }
        }
    }

    #[inline]
    pub(crate) fn select(&mut self, ties: Ties) -> usize {
        if self.places.is_empty() {
            self.find();
        }
        if let [only] = self.places[..] {
            return only as usize;
        }
        self.top.clear();
        self.top.offer_equals([&self.places[..]].into_iter(), |_| true, self.best, ties);
        self.top.best[0].1 as usize
    }

    #[inline]
    pub(crate) fn set(&mut self, place: usize, to: f64) {
        let before = std::mem::replace(&mut self.numbers[place], to);
        if self.places.is_empty() || to == before {
            return;
        }
        let led = before == self.best;
        if to > self.best {
            // Unless it was the only one, there are former largest ones among the others now.
            if !(led && self.places.len() == 1) {
                self.others = self.best;
            }
            self.best = to;
            self.places.clear();
            self.places.push(number(place));
        } else if led {
            if self.places.len() == 1 && to > self.others {
                self.best = to;
                return;
            }
            self.places.retain(|&other| other as usize != place);
            self.others = self.others.max(to);
        } else if to == self.best {
            self.places.push(number(place));
        } else {
            self.others = self.others.max(to);
        }
    }
}
