use super::PbmTs;
use super::plug_in::{PlugIn, Saved, on_table_of_plug_in};
use crate::live::{OnTable as _, draws_from_posteriors};
use crate::setup::{Setup, learns_from_table};
use crate::{Bayesian, Decision, Error, Prior, Select, Update};
use click_models::{ListShape, Ranking, RenderedClicks};
use rand::Rng;
use serde::{Deserialize, Serialize, Serializer};

/// `pbm-ts-plug-in`: PBM-TS with an estimate of unknown examination.
///
/// One pass over items and positions renews the estimate of examination before each list
/// (`plug_in.rs`). The list is that of [`PbmTs`](crate::PbmTs) with this estimate.
///
/// Reference: none for the estimate; Lagree, Vernade, Cappe 2016, section 4, *PBM-TS*, for the
/// rest. The policy ignores that the estimate is uncertain, and may keep a wrong order of positions
/// or items for long; [`PbmGibbs`](crate::PbmGibbs) also draws the examination.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Saved<'_>")]
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

impl TryFrom<Saved<'_>> for PbmTsPlugIn {
    type Error = Error;

    fn try_from(saved: Saved<'_>) -> Result<Self, Error> {
        PlugIn::restore(saved).map(Self)
    }
}

impl Setup for PbmTsPlugIn {
    fn sizes(&self) -> [usize; 2] {
        self.0.policy.sizes()
    }

    learns_from_table!();
}

impl Select<Ranking> for PbmTsPlugIn {
    type Note = ();

    #[inline]
    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        self.0.pass();
        self.0.policy.select(rng, out);
    }

    fn repeat_round(&mut self) -> bool {
        self.0.repeat_round()
    }
}

on_table_of_plug_in!(PbmTsPlugIn: draws_from_posteriors!(););

impl Bayesian for PbmTsPlugIn {
    fn set_prior(&mut self, prior: Prior) -> Result<(), Error> {
        self.0.policy.set_prior(prior)
    }

    fn prior(&self) -> Prior {
        self.0.policy.prior()
    }

    fn examination(&self) -> &[f64] {
        self.0.policy.examination()
    }
}

impl<F: RenderedClicks> Update<Ranking, F> for PbmTsPlugIn {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        // The next pass computes all posteriors anew.
        self.0.policy.table_mut().record(&decision.action, feedback, |_, _| {});
    }
}
