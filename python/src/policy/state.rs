//! The state of a policy, and its saved form.

use crate::context::UserNames;
use crate::play::Player;
use ::live::Estimator;
use click_models::Clicks;
use policies::catalogue::{Note, Protocol};
use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Version of the format of saved policies.
pub(super) const FORMAT: u32 = 1;

/// A policy and its generator of random numbers.
#[derive(Clone)]
pub(super) struct State {
    pub(super) player: Player,
    pub(super) generator: Xoshiro256PlusPlus,
    /// Outcomes of comparisons of an item with itself, whose winner carries no information. Apart,
    /// so that answers do not change the choices' draws.
    pub(super) coins: Xoshiro256PlusPlus,
    /// If the prior is estimated, from the answers so far.
    pub(super) estimator: Option<Estimator>,
}

impl State {
    pub(super) fn update(&mut self, protocol: Protocol, action: &[u32], note: &Note, clicks: Clicks) {
        let is_tie = protocol == Protocol::Dueling && action[0] == action[1];
        let coin = if is_tie { Clicks::from_bits(self.coins.next_u64() >> 63, 1).ok() } else { None };
        self.player.update(action, note, coin.unwrap_or(clicks));
        if let Some(estimator) = &mut self.estimator
            && estimator.count()
            && let Some(table) = self.player.policy.tallies_mut()
        {
            estimator.estimate(table);
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedPolicy {
    pub(super) format: u32,
    pub(super) model: String,
    pub(super) generator: Xoshiro256PlusPlus,
    pub(super) coins: Xoshiro256PlusPlus,
    pub(super) policy: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) items: Option<Vec<Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) estimator: Option<Estimator>,
    #[serde(default, skip_serializing_if = "UserNames::is_empty")]
    pub(super) users: UserNames,
}
