//! Random streams, one for every purpose, all derived from one master seed.
//!
//! They are built like the streams of the crate `sim`, which this crate may not import, under roles
//! that `sim` does not use: a Xoshiro256++ seeded from `ChaCha8` keyed by the master seed and the
//! role, at the stream number of a query or a pair. Every stream takes O(1) to create, in any order
//! and on any thread.

use rand::{SeedableRng, rngs::ChaCha8Rng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The purpose of a stream.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Role {
    /// Breaks the ties of a query.
    Ties = 0x101,
    /// Compares a pair of rankers.
    Pair = 0x102,
    /// Draws the features of a synthetic collection.
    SyntheticFeatures = 0x103,
    /// Draws a query of a synthetic collection.
    SyntheticQuery = 0x104,
}

pub(crate) fn stream(seed: u64, role: Role, number: u64) -> Xoshiro256PlusPlus {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(&(role as u64).to_le_bytes());
    let mut source = ChaCha8Rng::from_seed(key);
    source.set_stream(number);
    Xoshiro256PlusPlus::from_rng(&mut source)
}

#[cfg(test)]
mod tests;
