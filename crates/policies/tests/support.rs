//! Shared by several tests.

pub(crate) mod duelists;
pub(crate) mod plain_cascade_bai;
pub(crate) mod plain_rucb;
pub(crate) mod saved;

use policies::{Decision, Select, Update};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) fn generator(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

// Out of line, so that a policy is compiled once for all tests and users.
#[inline(never)]
pub(crate) fn choose<A, P: Select<A>>(
    policy: &mut P,
    rng: &mut Xoshiro256PlusPlus,
    out: &mut Decision<A, P::Note>,
) {
    policy.select(rng, out);
}

#[inline(never)]
pub(crate) fn learn<A, F, P: Update<A, F>>(policy: &mut P, decision: &Decision<A, P::Note>, answer: &F) {
    policy.update(decision, answer);
}
