use super::PbmUcb;
use super::plug_in::{PlugIn, Saved as SavedPlugIn, on_table_of_plug_in};
use crate::live::OnTable as _;
use crate::setup::{Setup, learns_from_table};
use crate::{Decision, Error, Select, Update};
use click_models::{ListShape, Ranking, RenderedClicks};
use confidence::Rate;
use rand::Rng;
use serde::{Deserialize, Serialize, Serializer};

/// `pbm-ucb-plug-in`: PBM-UCB with an estimate of unknown examination.
///
/// One pass over items and positions renews the estimate of examination before each list
/// (`plug_in.rs`). The list is that of [`PbmUcb`](crate::PbmUcb) with this estimate, whose
/// uncertainty the confidence bounds ignore.
///
/// Reference: none for the estimate; Lagree, Vernade, Cappe 2016, section 4, *PBM-UCB*, for the
/// rest.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Saved<'_>")]
pub struct PbmUcbPlugIn(PlugIn<PbmUcb>);

#[derive(Serialize, Deserialize)]
struct Saved<'a> {
    rate: Rate,
    run: SavedPlugIn<'a>,
}

impl PbmUcbPlugIn {
    /// A fresh policy; `rate` is the paper's delta.
    pub fn new(shape: ListShape, rate: Rate) -> Self {
        Self::at(PlugIn::new(shape), rate)
    }

    fn at(mut plug_in: PlugIn<PbmUcb>, rate: Rate) -> Self {
        plug_in.policy.set_rate(rate);
        Self(plug_in)
    }
}

impl Serialize for PbmUcbPlugIn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Saved { rate: self.0.policy.rate(), run: self.0.to_save() }.serialize(serializer)
    }
}

impl TryFrom<Saved<'_>> for PbmUcbPlugIn {
    type Error = Error;

    fn try_from(Saved { rate, run }: Saved<'_>) -> Result<Self, Error> {
        Ok(Self::at(PlugIn::restore(run)?, rate))
    }
}

impl Setup for PbmUcbPlugIn {
    const SETTINGS: &'static [&'static str] = &["/rate"];

    fn sizes(&self) -> [usize; 2] {
        self.0.policy.sizes()
    }

    learns_from_table!();
}

impl Select<Ranking> for PbmUcbPlugIn {
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

on_table_of_plug_in!(PbmUcbPlugIn:);

impl<F: RenderedClicks> Update<Ranking, F> for PbmUcbPlugIn {
    #[inline]
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &F) {
        // The next pass computes all indices anew.
        self.0.policy.table_mut().record(&decision.action, feedback, |_, _| {});
    }
}
