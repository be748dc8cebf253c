//! A policy of the catalogue that is used live, with a table.

use super::super::{Live, PolicySpec, Protocol};
use super::{BuildError, Catalogued, NOBODY, NamedPolicy};
use crate::live::OnAnyTable;
use crate::{Bayesian, Decision, Error, Prior, Select, SelectAmong, Tallies, Tally};
use click_models::{Interaction, ItemId, ItemSet, Ranking};
use rand::Rng;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt::Debug;

/// A policy of the catalogue, chosen at run time, that chooses among the items that may be shown
/// and learns from a table.
///
/// It is saved as a [`NamedPolicy`]; items that were added count as items that it was told of.
///
/// # Examples
///
/// ```
/// use click_models::{Cascade, ItemSet, ListShape, Ranking};
/// use policies::catalogue::{NamedTable, PolicySpec};
/// use policies::{Decision, Prior, SelectAmong, Tallies};
/// use rand::{SeedableRng, rngs::ChaCha8Rng};
///
/// let shape = ListShape::new(3, 2)?;
/// let mut policy = NamedTable::<Cascade>::build("cascade-ts".parse()?, shape)?;
/// policy.set_prior(Prior::new(0.3, 9.7)?)?;
/// let new = policy.add_item();
/// let mut decision = Decision::<Ranking>::default();
/// policy.select_among(&ItemSet::all(4), &mut ChaCha8Rng::seed_from_u64(1), &mut decision);
/// let restored: NamedTable<Cascade> = serde_json::from_value(serde_json::to_value(&policy)?)?;
/// assert_eq!(restored.n_items(), new.index() + 1);
///
/// let refused = NamedTable::<Cascade>::build(PolicySpec::TopRank {}, shape).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "`top-rank` cannot be used live with a table: it reads whole answers, in the order of its decisions",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Serialize)]
#[serde(transparent, bound = "")]
pub struct NamedTable<I: Catalogued>(NamedPolicy<I>);

impl<I: Catalogued> NamedTable<I> {
    /// A fresh policy.
    ///
    /// # Errors
    ///
    /// As [`NamedPolicy::build`], and [`BuildError::NotLive`] if the policy learns from no table.
    pub fn build<'a>(spec: PolicySpec, known: impl Into<I::Known<'a>>) -> Result<Self, BuildError> {
        // Refused by what it can do, even if it also needs a horizon.
        spec.check_live()?;
        NamedPolicy::build(spec, known, None).and_then(Self::try_from)
    }

    /// The policy as one that is not used live.
    pub fn policy(&self) -> &NamedPolicy<I> {
        &self.0
    }

    /// Replaces the prior of a policy that draws from posteriors.
    ///
    /// # Errors
    ///
    /// As [`Bayesian::set_prior`], and [`Error::NoPrior`] if the policy draws from no posterior.
    pub fn set_prior(&mut self, prior: Prior) -> Result<(), Error> {
        self.bayesian().ok_or(Error::NoPrior)?.set_prior(prior)
    }

    fn on_table(&self) -> &dyn OnAnyTable {
        self.0.policy.on_table().expect("checked when it was made")
    }

    fn on_table_mut(&mut self) -> &mut dyn OnAnyTable {
        self.0.policy.on_table_mut().expect("checked when it was made")
    }
}

impl PolicySpec {
    /// Whether policies of this name can be used live, with a table.
    ///
    /// # Errors
    ///
    /// [`BuildError::NotLive`], with what they can do.
    pub fn check_live(&self) -> Result<(), BuildError> {
        let can = match self.row().live {
            Live::Table => return Ok(()),
            Live::InOrder | Live::Whole => "it reads whole answers, in the order of its decisions",
            Live::No if self.row().protocols().any(Protocol::has_lists) => "it does not learn from answers",
            Live::No => NO_LISTS,
        };
        Err(BuildError::NotLive { policy: self.name(), can })
    }
}

const NO_LISTS: &str = "it chooses no lists";

impl<I: Catalogued> TryFrom<NamedPolicy<I>> for NamedTable<I> {
    type Error = BuildError;

    fn try_from(policy: NamedPolicy<I>) -> Result<Self, BuildError> {
        policy.spec().check_live()?;
        // Some policies of this name choose cells or pairs.
        if policy.policy.on_table().is_none() {
            return Err(BuildError::NotLive { policy: policy.spec().name(), can: NO_LISTS });
        }
        Ok(Self(policy))
    }
}

// Written by hand, as for the policy inside.
impl<I: Catalogued> Clone for NamedTable<I> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<'de, I: Catalogued> Deserialize<'de> for NamedTable<I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(NamedPolicy::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<I: Catalogued + Interaction<Action = Ranking>> Select<Ranking> for NamedTable<I> {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, mut rng: &mut R, out: &mut Decision<Ranking>) {
        let mut whole = Decision { action: std::mem::take(&mut out.action), ..Decision::default() };
        self.0.policy.select(&NOBODY, &mut rng, &mut whole);
        out.action = whole.action;
    }

    fn repeat_round(&mut self) -> bool {
        self.0.policy.repeat_round()
    }
}

impl<I: Catalogued + Interaction<Action = Ranking>> SelectAmong<Ranking> for NamedTable<I> {
    fn select_among<R: Rng + ?Sized>(
        &mut self,
        available: &ItemSet,
        mut rng: &mut R,
        out: &mut Decision<Ranking>,
    ) {
        self.on_table_mut().select_list(available, &mut rng, out);
    }

    fn pass_round(&mut self) {
        self.on_table_mut().pass();
    }
}

impl<I: Catalogued> Tallies for NamedTable<I> {
    fn n_items(&self) -> usize {
        self.on_table().n_items()
    }

    fn n_kinds(&self) -> usize {
        self.on_table().n_kinds()
    }

    fn tally(&self, item: ItemId, kind: usize) -> Tally {
        self.on_table().tally(item, kind)
    }

    fn add(&mut self, item: ItemId, kind: usize, tally: Tally) {
        self.on_table_mut().add(item, kind, tally);
    }

    fn take_back(&mut self, item: ItemId, kind: usize, tally: Tally) {
        self.on_table_mut().take_back(item, kind, tally);
    }

    fn add_item(&mut self) -> ItemId {
        let item = self.on_table_mut().add_item();
        self.0.knowledge.sizes[0] = item.index() + 1;
        item
    }

    fn set_present(&mut self, item: ItemId, present: bool) {
        self.on_table_mut().set_present(item, present);
    }

    fn bayesian(&mut self) -> Option<&mut dyn Bayesian> {
        self.on_table_mut().bayesian()
    }
}
