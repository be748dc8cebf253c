//! Fixed: the same action in every round.
//!
//! With the best action of an instance it is the oracle, whose regret is 0.
//!
//! Reference: none needed. Deviations: none. Symbols, numerics: none. Complexity: a copy of the
//! action a round.
//!
//! # Examples
//!
//! ```
//! use click_models::{ClickModel, PositionBased};
//! use policies::{Decision, Fixed, Select};
//! use rand::{SeedableRng, rngs::ChaCha8Rng};
//!
//! let users = PositionBased::from_values(&[0.1, 0.3, 0.2], &[1.0, 0.5])?;
//! let mut oracle = Fixed::new(users.optimal_action());
//! let mut decision = Decision::default();
//! oracle.select(&mut ChaCha8Rng::seed_from_u64(1), &mut decision);
//! assert_eq!(users.gap(&decision.action), 0.0);
//! # Ok::<(), click_models::Error>(())
//! ```

use crate::{Decision, Recommend, Select, Update};
use click_models::{ItemId, Pair};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Plays one given action in every round.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Fixed<A> {
    action: A,
}

impl<A> Fixed<A> {
    /// Plays `action` in every round.
    pub fn new(action: A) -> Self {
        Self { action }
    }
}

impl<A: Clone> Select<A> for Fixed<A> {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, _rng: &mut R, out: &mut Decision<A>) {
        out.action.clone_from(&self.action);
    }
}

impl<A: Clone, F> Update<A, F> for Fixed<A> {
    fn update(&mut self, _decision: &Decision<A>, _feedback: &F) {}
}

impl Recommend<ItemId> for Fixed<Pair> {
    /// The first of the two.
    fn recommend<R: Rng + ?Sized>(&self, _rng: &mut R, out: &mut ItemId) {
        *out = self.action.first;
    }
}
