//! A policy of the catalogue for each segment of users.

use super::super::PolicySpec;
use super::super::erased::{BoxedPolicy, Identifies, Maker, Note};
use super::super::reader::Reader;
use super::{Catalogued, Knowledge, NOBODY};
use crate::{Decision, Error, Segmented, Select, Setup, Update};
use click_models::{Interaction, Ranking};
use rand::Rng;
use serde::de::{DeserializeSeed, Error as _, SeqAccess, Visitor};
use serde::{Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::{self, Formatter};
use std::marker::PhantomData;

/// Makes the policies of `segmented`; `None` for another name, or if the policy of a segment does
/// not play the protocol.
pub(super) fn segments<I>(spec: &PolicySpec) -> Option<Maker<I>>
where
    I: Catalogued + Interaction<Action = Ranking>,
{
    let PolicySpec::Segmented { of } = spec else { return None };
    let of = of.spec();
    I::maker(&of)?;
    let fresh = move |knowledge: &Knowledge| {
        let known = knowledge.contexts()?;
        let (n_segments, n_items) = (known.n_segments(), known.n_items());
        if n_items.checked_mul(n_segments as usize).is_none_or(|n_cells| n_cells > MOST_CELLS) {
            return Err(Error::TooManyCells { n_segments, n_items });
        }
        let maker = I::maker(&of).expect("checked when it was made");
        // Fresh ones and no copies: a copy has no room in its buffers, and would allocate later.
        let policies = (0..=n_segments).map(|_| maker.fresh(knowledge).map(Inside));
        Segmented::of_policies(n_segments, policies.collect::<Result<_, _>>()?)
    };
    Some(Maker::with(fresh, move |state| States(of, PhantomData).read(state), Identifies::nothing()))
}

/// The most pairs of segments and items.
const MOST_CELLS: usize = 1 << 24;

/// The policy of a segment.
struct Inside<I>(BoxedPolicy<I>);

impl<I: Interaction> Clone for Inside<I> {
    fn clone(&self) -> Self {
        Self(self.0.duplicate())
    }
}

impl<I: Interaction> Serialize for Inside<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        erased_serde::serialize(self.0.state(), serializer)
    }
}

impl<I: Interaction> Setup for Inside<I> {
    fn settings(&self) -> Vec<Cow<'static, str>> {
        self.0.settings()
    }

    fn sizes(&self) -> [usize; 2] {
        self.0.sizes()
    }
}

impl<I: Interaction<Action = Ranking>> Select<Ranking> for Inside<I> {
    type Note = Note;

    fn select<R: Rng + ?Sized>(&mut self, mut rng: &mut R, out: &mut Decision<Ranking, Note>) {
        self.0.select(&NOBODY, &mut rng, out);
    }
}

impl<I: Interaction<Action = Ranking>> Update<Ranking, I::Feedback> for Inside<I> {
    fn update(&mut self, decision: &Decision<Ranking, Note>, feedback: &I::Feedback) {
        self.0.update(decision, feedback);
    }
}

/// Reads the states of policies of this name.
struct States<I>(PolicySpec, PhantomData<fn() -> I>);

impl<I: Catalogued + Interaction<Action = Ranking>> States<I> {
    fn read(&self, state: Reader<'_, '_>) -> Result<Segmented<Inside<I>>, erased_serde::Error> {
        state.deserialize_struct("Segmented", &["n_segments", "policies"], self)
    }

    fn assemble<E: serde::de::Error>(
        n_segments: Option<u32>,
        policies: Option<Vec<Inside<I>>>,
    ) -> Result<Segmented<Inside<I>>, E> {
        let (Some(n_segments), Some(policies)) = (n_segments, policies) else {
            return Err(E::custom("segments without their number or their policies"));
        };
        if policies.windows(2).any(|two| two[0].sizes() != two[1].sizes()) {
            return Err(E::custom(Error::SavedSizes));
        }
        Segmented::of_policies(n_segments, policies).map_err(E::custom)
    }
}

impl<'de, I: Catalogued + Interaction<Action = Ranking>> Visitor<'de> for &States<I> {
    type Value = Segmented<Inside<I>>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("the number of segments, and their policies")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let n_segments = seq.next_element()?;
        States::assemble(n_segments, seq.next_element_seed(Policies(self))?)
    }
}

/// Reads the list of policies.
struct Policies<'a, I>(&'a States<I>);

impl<'de, I: Catalogued + Interaction<Action = Ranking>> DeserializeSeed<'de> for Policies<'_, I> {
    type Value = Vec<Inside<I>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, I: Catalogued + Interaction<Action = Ranking>> Visitor<'de> for Policies<'_, I> {
    type Value = Vec<Inside<I>>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("the policies of all segments")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut policies = vec![];
        while let Some(policy) = seq.next_element_seed(One(self.0))? {
            policies.push(policy);
        }
        Ok(policies)
    }
}

/// Reads the policy of a segment.
struct One<'a, I>(&'a States<I>);

impl<'de, I: Catalogued + Interaction<Action = Ranking>> DeserializeSeed<'de> for One<'_, I> {
    type Value = Inside<I>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let maker = I::maker(&self.0.0).ok_or_else(|| D::Error::custom("a policy of other users"))?;
        maker.saved(deserializer).map(Inside)
    }
}
