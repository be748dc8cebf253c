//! `pbm-ts-plug-in`: PBM-TS with an estimate of unknown examination.
//!
//! Before a round's list, one pass over items and positions renews the estimate of examination (`plug_in.rs`). The list is that of
//! [`PbmTs`](crate::PbmTs) with this estimate: draws from the exact posterior of attraction given examination, the largest draw at the
//! position of the largest estimate.
//!
//! Reference: none for the estimate; Lagree, Vernade, Cappe 2016, section 4, *PBM-TS*, for the rest. Deviations: the examination is
//! an estimate. The policy does not take into account that the estimate is uncertain: where [`PbmGibbs`](crate::PbmGibbs) draws examination
//! too, this policy is as certain of a position after ten displays as after a million. It may keep a wrong order of positions or items for
//! long.
//!
//! | here | formula | shape | unit |
//! |---|---|---|---|
//! | `estimate` | kappa | `n_positions` | share of the largest examination |
//! | `shows`, `clicks` | N, S | `n_items` x `n_positions` | - |
//!
//! Numerics: as PBM-TS. Complexity: O(K L) multiply-adds for the estimate and for the proposals of all items, and K posterior draws of constant
//! expected time, a round.

use super::PbmTs;
use super::plug_in::{AssumesExamination, PlugIn, Saved};
use crate::setup::Setup;
use crate::{Decision, Error, Select, Update};
use click_models::{ListShape, Ranking, RenderedClicks};
use rand::Rng;
use serde::{Deserialize, Serialize, Serializer};

/// PBM-TS with an estimate of examination.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Saved")]
pub struct PbmTsPlugIn(PlugIn<PbmTs>);

impl PbmTsPlugIn {
    /// A fresh policy.
    pub fn new(shape: ListShape) -> Self {
        Self(PlugIn::new(shape))
    }
}

impl Serialize for PbmTsPlugIn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.to_save().serialize(serializer)
    }
}

impl TryFrom<Saved> for PbmTsPlugIn {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self, Error> {
        PlugIn::restore(saved).map(Self)
    }
}

impl Setup for PbmTsPlugIn {
    fn sizes(&self) -> [usize; 2] {
        self.0.policy.sizes()
    }
}

impl Select<Ranking> for PbmTsPlugIn {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        self.0.pass();
        self.0.policy.select(rng, out);
    }
}

impl<F: RenderedClicks> Update<Ranking, F> for PbmTsPlugIn {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        // The next pass computes all posteriors anew.
        self.0.policy.counts_mut().record(&decision.action, feedback, |_, _| {});
    }
}
