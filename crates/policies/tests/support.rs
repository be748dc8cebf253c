//! What several tests share.

pub(crate) mod duelists;
pub(crate) mod plain_cascade_bai;
pub(crate) mod plain_rucb;
pub(crate) mod saved;

use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) fn generator(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}
