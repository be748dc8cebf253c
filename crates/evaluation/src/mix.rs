//! A hash of identifiers and of hashes of names: a folded product with a random key, so that nobody
//! can write a log whose names collide. Results do not depend on it.

use std::hash::{BuildHasher, Hasher, RandomState};

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Makes hashers with one key.
#[derive(Debug, Clone)]
pub(crate) struct Mix(u64);

impl Default for Mix {
    fn default() -> Self {
        Self(RandomState::new().build_hasher().finish())
    }
}

impl BuildHasher for Mix {
    type Hasher = MixHasher;

    #[inline]
    fn build_hasher(&self) -> MixHasher {
        MixHasher(self.0)
    }
}

/// The hash of what was written.
#[derive(Debug)]
pub(crate) struct MixHasher(u64);

impl Hasher for MixHasher {
    #[inline]
    fn write_u64(&mut self, number: u64) {
        let product = u128::from(self.0 ^ number) * u128::from(FACTOR);
        self.0 = (product >> 64) as u64 ^ (self.0 ^ number).wrapping_mul(FACTOR);
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
