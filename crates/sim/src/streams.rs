//! Random streams, one for every purpose, all derived from one master seed.
//!
//! The stream of (role, lane, replication) is a Xoshiro256++ seeded from `ChaCha8` keyed by the
//! master seed, the role and the lane, at the stream number of the replication. Every stream takes
//! O(1) to create, in any order and on any thread, and different streams are independent. A
//! policy's lane is a hash of its label, so adding, removing or reordering policies does not change
//! the results of other policies. The streams of the environment, of the instance and of the order
//! of instances have no lane, so all policies of a replication meet the same users.

use rand::{SeedableRng, rngs::ChaCha8Rng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The generator that simulations run on.
pub type SimRng = Xoshiro256PlusPlus;

/// All streams of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streams {
    master: u64,
}

/// The purpose of a stream.
#[derive(Debug, Clone, Copy)]
enum Role {
    Instance = 1,
    Environment = 2,
    Policy = 3,
    Recommendation = 4,
    Subset = 5,
    Order = 6,
    Availability = 7,
    Changes = 8,
    Delays = 9,
}

impl Streams {
    /// The streams of the master seed `seed`.
    pub fn new(seed: u64) -> Self {
        Self { master: seed }
    }

    /// The stream that draws the order of the instances in a block of replications.
    pub fn order(self, block: u64) -> SimRng {
        self.stream(Role::Order, 0, block)
    }

    /// The stream that draws the users of a replication from their distribution.
    pub fn instance(self, replication: u64) -> SimRng {
        self.stream(Role::Instance, 0, replication)
    }

    /// The stream that draws the answers of the users in a replication.
    pub fn environment(self, replication: u64) -> SimRng {
        self.stream(Role::Environment, 0, replication)
    }

    /// The stream for the choices of the policy named `label` in a replication.
    pub fn policy(self, label: &str, replication: u64) -> SimRng {
        self.stream(Role::Policy, lane(label), replication)
    }

    /// The stream for the recommendations of the policy named `label` in a replication. It is
    /// separate, so asking for a recommendation does not change the policy's choices.
    pub fn recommendation(self, label: &str, replication: u64) -> SimRng {
        self.stream(Role::Recommendation, lane(label), replication)
    }

    /// The stream that draws the subset with index `number` in the group of subsets with index
    /// `group`.
    pub fn subset(self, group: u64, number: u64) -> SimRng {
        self.stream(Role::Subset, group, number)
    }

    /// The stream that draws which items may be shown in the rounds of a replication.
    pub fn availability(self, replication: u64) -> SimRng {
        self.stream(Role::Availability, 0, replication)
    }

    /// The stream that draws the items that come in a replication, and changes of attraction.
    pub fn changes(self, replication: u64) -> SimRng {
        self.stream(Role::Changes, 0, replication)
    }

    /// The stream that draws how late the answers of a replication come.
    pub fn delays(self, replication: u64) -> SimRng {
        self.stream(Role::Delays, 0, replication)
    }

    fn stream(self, role: Role, lane: u64, replication: u64) -> SimRng {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.master.to_le_bytes());
        key[8..16].copy_from_slice(&(role as u64).to_le_bytes());
        key[16..24].copy_from_slice(&lane.to_le_bytes());
        let mut source = ChaCha8Rng::from_seed(key);
        source.set_stream(replication);
        SimRng::from_rng(&mut source)
    }
}

/// FNV-1a hash of the label. Any fixed hash is sufficient, since the lane is only part of a cipher
/// key.
fn lane(label: &str) -> u64 {
    label
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests;
