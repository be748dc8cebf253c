//! Radii by number of observations, with a cache: most are requested repeatedly.

use crate::Delta;
use crate::exact::float;
use confidence::{NonNegative, lil_radius_scaled};

#[derive(Debug, Clone)]
pub(super) struct Radii {
    rho: f64,
    scale: f64,
    /// Cache: numbers of observations and their radii, at the index of the lowest bits.
    memory: Vec<(u64, f64)>,
}

impl Radii {
    const REMEMBERED: usize = 256;

    pub(super) fn new(delta: Delta, n_items: usize, scale: NonNegative) -> Self {
        let rho = (delta.get() / (12.0 * float(n_items as u64))).sqrt();
        Self { rho, scale: scale.get(), memory: vec![(0, f64::INFINITY); Self::REMEMBERED] }
    }

    /// `+inf` without an observation.
    #[inline]
    pub(super) fn radius(&self, n: u64) -> f64 {
        lil_radius_scaled(n, self.rho, self.scale)
    }

    /// The same radius, from the cache if it is there.
    #[inline]
    pub(super) fn remembered(&mut self, n: u64) -> f64 {
        #[expect(clippy::cast_possible_truncation, reason = "the lowest bits count")]
        let place = n as usize % Self::REMEMBERED;
        if self.memory[place].0 != n {
            self.memory[place] = (n, self.radius(n));
        }
        self.memory[place].1
    }
}
