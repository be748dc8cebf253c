//! Arms ranked by an upper confidence bound of a few operations.

#[cfg(test)]
mod tests;

use crate::best_arms::FewArms;
use crate::shortlist::{Arm, Filter};
use crate::touched::touch;

/// The index `mean + width level`, at most `cap`. The level is a root of nats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    mean: f64,
    width: f64,
    cap: f64,
}

impl Line {
    /// The index of an arm without displays.
    pub(crate) const FRESH: Self = Self { mean: f64::INFINITY, width: 0.0, cap: f64::INFINITY };

    #[inline]
    pub(crate) fn new(mean: f64, width: f64) -> Self {
        Self { mean, width, cap: f64::INFINITY }
    }

    /// Arms of the same line have the same cap.
    pub(crate) fn clipped_at(self, cap: f64) -> Self {
        Self { cap, ..self }
    }
}

impl Arm for Line {
    type Few = Compared;
    type Filter = Floor;

    fn key(&self) -> (u64, u64) {
        (self.mean.to_bits(), self.width.to_bits())
    }

    fn mean(&self) -> f64 {
        self.mean
    }

    fn index(&self, level: f64) -> f64 {
        touch();
        let index = self.mean + self.width * level;
        if index > self.cap { self.cap } else { index }
    }
}

/// The index is a mean, at every level: for leaders.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mean(pub(crate) f64);

impl Mean {
    /// The index of an arm without displays.
    pub(crate) const FRESH: Self = Self(f64::INFINITY);
}

impl Arm for Mean {
    type Few = Compared;
    type Filter = Floor;

    fn key(&self) -> (u64, u64) {
        (self.0.to_bits(), 0)
    }

    fn mean(&self) -> f64 {
        self.0
    }

    fn index(&self, _: f64) -> f64 {
        self.0
    }
}

/// All of few arms are compared.
#[derive(Debug, Clone)]
pub(crate) struct Compared;

impl<A: Arm> FewArms<A> for Compared {
    const MOST: usize = 256;

    fn new(_: usize, _: usize) -> Self {
        Self
    }
}

/// Compares every index with the floor.
#[derive(Debug, Clone)]
pub(crate) struct Floor(f64);

impl<A: Arm> Filter<A> for Floor {
    fn new(_: usize) -> Self {
        Self(f64::INFINITY)
    }

    fn set_floor(&mut self, floor: f64) {
        self.0 = floor;
    }

    fn push(&mut self) {}

    fn set(&mut self, _: usize, _: &mut A) {}

    fn excludes(&self, arm: &mut A, ceiling: f64) -> bool {
        arm.index(ceiling) < self.0
    }

    fn list(&self, arms: &[A], ceiling: f64, mut list: impl FnMut(usize)) {
        for (item, arm) in arms.iter().enumerate() {
            if arm.index(ceiling) >= self.0 {
                list(item);
            }
        }
    }
}
