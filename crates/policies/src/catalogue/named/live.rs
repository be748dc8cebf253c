//! A policy of the catalogue that is used live: among items that come and go.

use super::super::erased::{AsNote as _, Ask};
use super::super::{Live, PolicySpec, Protocol, Row, find, rows};
use super::{AnyPolicy, BuildError, Calls, CatalogueProtocol, ProtocolPolicy};
use crate::context::{FeaturedItems, SelectAmongFor, SelectFor, UpdateFor};
use crate::{Bayesian, Decision, Error, Prior, Tallies, Tally, Terms, Valued};
use click_models::value::GoesOn;
use click_models::{Context, Interaction, ItemId, ItemSet, Ranking};
use rand::Rng;

/// A policy of the catalogue, chosen at run time, that chooses among the items that may be shown.
/// Items come and go. It learns from a table, or sees who asks, and then every item has features.
///
/// It is saved as other policies by name; items that were added count as items that it was told of.
///
/// # Examples
///
/// ```
/// use click_models::{Cascade, Context, ItemSet, ListShape};
/// use policies::{Decision, NamedLive, Prior, SelectAmongFor, Tallies};
/// use rand::{SeedableRng, rngs::ChaCha8Rng};
///
/// let shape = ListShape::new(3, 2)?;
/// let mut policy = NamedLive::<Cascade>::build("cascade-ts".parse()?, shape, None)?;
/// policy.set_prior(Prior::new(0.3, 9.7)?)?;
/// let new = policy.add_item();
/// let (nobody, mut decision) = (Context::default(), Decision::default());
/// let available = ItemSet::all(4);
/// policy.select_among_for(&nobody, &available, &mut ChaCha8Rng::seed_from_u64(1), &mut decision);
/// let restored: NamedLive<Cascade> = serde_json::from_value(serde_json::to_value(&policy)?)?;
/// assert_eq!(restored.n_items(), new.index() + 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// One that sees who asks:
///
/// ```
/// use click_models::{Cascade, Context, ContextKnown, ItemSet, ListShape};
/// use policies::catalogue::NamedLive;
/// use policies::{Decision, FeaturedItems, SelectAmongFor};
/// use rand::{SeedableRng, rngs::ChaCha8Rng};
///
/// let (shape, known) = (ListShape::new(2, 2)?, ContextKnown::new(2, &[1.0, -1.0])?.with_user_features(1));
/// let mut policy = NamedLive::<Cascade>::build_for("hybrid-ts".parse()?, shape, known, None)?;
/// let new = policy.add_item(&[0.5])?;
/// let mut available = ItemSet::all(3);
/// available.remove(new);
/// let (user, mut decision) = (Context { segment: 0, features: vec![0.5] }, Decision::default());
/// policy.select_among_for(&user, &available, &mut ChaCha8Rng::seed_from_u64(1), &mut decision);
/// assert!(decision.action.len() == 2 && !decision.action.contains(new));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type NamedLive<I> = ProtocolPolicy<I, AmongItems>;

/// By [`SelectAmongFor`] and [`Tallies`], or [`UpdateFor`] and [`FeaturedItems`].
#[derive(Debug)]
pub enum AmongItems {}

impl Calls for AmongItems {
    // Refused by what it can do, even if it also needs a horizon.
    fn admit(spec: &PolicySpec, sees_contexts: bool) -> Result<(), BuildError> {
        if sees_contexts { spec.check_live_among() } else { spec.check_live() }
    }

    fn check(policy: &mut AnyPolicy) -> Result<(), BuildError> {
        let spec = *policy.spec();
        if policy.told().context.is_some() {
            policy.policy.items().ok_or(BuildError::NotAmong(spec.name()))?;
        } else {
            spec.check_live()?;
            // Some policies of this name choose cells or pairs.
            policy.tallies().ok_or(BuildError::NotLive { policy: spec.name(), can: NO_LISTS })?;
        }
        Ok(())
    }
}

impl<I: CatalogueProtocol> NamedLive<I> {
    /// Replaces the prior of a policy that draws from posteriors.
    ///
    /// # Errors
    ///
    /// As [`Bayesian::set_prior`], and [`Error::NoPrior`] if the policy draws from no posterior.
    pub fn set_prior(&mut self, prior: Prior) -> Result<(), Error> {
        self.bayesian().ok_or(Error::NoPrior)?.set_prior(prior)
    }

    /// Returns whether the policy sees who asks, and its items have features.
    pub fn sees_contexts(&self) -> bool {
        self.told().context.is_some()
    }

    fn table(&mut self) -> Option<&mut dyn Tallies> {
        self.policy.tallies_mut()
    }

    /// The features of an item that the policy keeps, which a saved state is compared with; all of
    /// them if it uses none.
    fn keep(&mut self, item: ItemId, features: &[f64]) {
        let Some(items) = self.policy.policy.items() else { return };
        let kept = items.features(item);
        let kept = if kept.len() == features.len() { kept } else { features };
        let knowledge = &mut self.policy.knowledge;
        knowledge.sizes[0] = knowledge.sizes[0].max(item.index() + 1);
        if let Some(context) = &mut knowledge.context {
            let known = &mut context.item_features;
            known.resize(known.len().max((item.index() + 1) * kept.len()), 0.0);
            known[item.index() * kept.len()..(item.index() + 1) * kept.len()].copy_from_slice(kept);
        }
    }

    fn check(&self, features: &[f64]) -> Result<(), Error> {
        let expected = self.n_item_features();
        if features.len() == expected {
            return Ok(());
        }
        Err(Error::FeaturesOfItem { found: features.to_vec(), expected })
    }
}

/// The policies that can be used live for the users of the one of this name, in words.
pub(super) fn live_instead(policy: &str) -> String {
    let Some(row) = find(policy) else { return String::new() };
    let can = |other: &&Row| {
        Protocol::ALL.into_iter().filter(|users| users.has_lists()).any(|users| match other.live {
            Live::Table => row.speaks(users) && other.speaks(users),
            Live::Whole => row.sees_contexts(users) && other.sees_contexts(users),
            _ => false,
        })
    };
    let names: Vec<String> = rows().iter().filter(can).map(|other| format!("`{}`", other.name)).collect();
    if names.is_empty() { String::new() } else { format!("; {} can", names.join(", ")) }
}

/// The policies and users with values of items, as [`PolicySpec::values_for`] tells them, in words.
pub const WITH_VALUES: &str = "`pbm-ts`, `bc-mp-ts` and `pbm-gibbs` have, `cascade-ts`, `rsf-ts` and \
    `dcm-ts` on cascades, and `dcm-ts` with a `continuation` on dependent clicks";

impl PolicySpec {
    /// Returns whether policies of this name can be used live, with a table.
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

    /// Returns whether policies of this name can be used live for users who differ.
    ///
    /// # Errors
    ///
    /// [`BuildError::NotAmong`].
    pub fn check_live_among(&self) -> Result<(), BuildError> {
        if self.row().live == Live::Whole { Ok(()) } else { Err(BuildError::NotAmong(self.name())) }
    }

    /// How users of this protocol go on down a list for a policy of this name that has values of
    /// items; `None` if they examine each position with a probability of its own.
    ///
    /// # Errors
    ///
    /// [`BuildError::NoValues`].
    pub fn values_for(&self, users: Protocol) -> Result<Option<GoesOn>, BuildError> {
        match (self, users) {
            (Self::PbmTs {} | Self::BcMpTs {} | Self::PbmGibbs { .. }, Protocol::PositionBased)
            | (Self::RsfTs {} | Self::CascadeTs {} | Self::DcmTs { .. }, Protocol::SemiBandit) => Ok(None),
            (Self::RsfTs {} | Self::CascadeTs {} | Self::DcmTs { .. }, Protocol::Cascade) => {
                Ok(Some(GoesOn::CASCADE))
            }
            (Self::DcmTs { continuation: Some(click) }, Protocol::Dcm) => {
                Ok(Some(GoesOn { skip: 1.0, click: click.get() }))
            }
            _ => Err(BuildError::NoValues { policy: self.name(), users }),
        }
    }
}

impl AnyPolicy {
    /// The policy, if the list that earns most for the values of items can be its choice.
    ///
    /// # Errors
    ///
    /// [`BuildError::NoValues`], also for dependent clicks whose lists are not filled from the top
    /// down.
    pub fn valued(&mut self) -> Result<&mut dyn Valued, BuildError> {
        let refused = BuildError::NoValues { policy: self.spec.name(), users: self.protocol };
        let users = self.spec.values_for(self.protocol)?;
        if users.is_some() && !self.knowledge.places.is_sorted() {
            return Err(refused);
        }
        let policy = self.policy.table_mut().and_then(|table| table.valued()).ok_or(refused)?;
        policy.set_users(users);
        Ok(policy)
    }
}

const NO_LISTS: &str = "it chooses no lists";

impl<I: CatalogueProtocol + Interaction<Action = Ranking>> NamedLive<I> {
    fn ask<R: Rng + ?Sized>(&mut self, ask: &Ask<'_>, rng: &mut R, out: &mut Decision<Ranking, Context>) {
        self.policy.select(ask, rng, &mut self.buffer);
        out.action.clone_from(&self.buffer.action);
        out.note.clone_from(ask.context);
    }
}

impl<I: CatalogueProtocol + Interaction<Action = Ranking>> SelectFor<Ranking> for NamedLive<I> {
    type Note = Context;

    fn select_for<R: Rng + ?Sized>(
        &mut self,
        context: &Context,
        rng: &mut R,
        out: &mut Decision<Ranking, Context>,
    ) {
        self.ask(&Ask { context, ..Ask::default() }, rng, out);
    }

    fn repeat_round_for(&mut self) -> bool {
        self.policy.repeat_round()
    }
}

impl<I: CatalogueProtocol + Interaction<Action = Ranking>> SelectAmongFor<Ranking> for NamedLive<I> {
    fn select_among_for<R: Rng + ?Sized>(
        &mut self,
        context: &Context,
        available: &ItemSet,
        rng: &mut R,
        out: &mut Decision<Ranking, Context>,
    ) {
        self.ask(&Ask { context, among: Some(available), ..Ask::default() }, rng, out);
    }

    fn pass_round_for(&mut self) {
        self.policy.pass_round();
    }
}

impl<I: CatalogueProtocol + Interaction<Action = Ranking>> UpdateFor<Ranking, I::Feedback> for NamedLive<I> {
    fn update_for(&mut self, decision: &Decision<Ranking, Context>, feedback: &I::Feedback) {
        self.buffer.action.clone_from(&decision.action);
        decision.note.store(&mut self.buffer.note);
        self.policy.update(&self.buffer, I::clicks(feedback));
    }
}

/// Without displays and changes, if the policy learns from no table.
impl<I: CatalogueProtocol> Tallies for NamedLive<I> {
    fn n_items(&self) -> usize {
        self.told().sizes[0]
    }

    fn n_kinds(&self) -> usize {
        self.tallies().map_or(1, Tallies::n_kinds)
    }

    fn tally(&self, item: ItemId, kind: usize) -> Tally {
        self.tallies().map_or_else(Tally::default, |table| table.tally(item, kind))
    }

    fn add(&mut self, item: ItemId, kind: usize, tally: Tally) {
        if let Some(table) = self.table() {
            table.add(item, kind, tally);
        }
    }

    fn take_back(&mut self, item: ItemId, kind: usize, tally: Tally) {
        if let Some(table) = self.table() {
            table.take_back(item, kind, tally);
        }
    }

    fn add_item(&mut self) -> ItemId {
        let item = self.table().map_or_else(ItemId::default, Tallies::add_item);
        let n_items = &mut self.policy.knowledge.sizes[0];
        *n_items = (item.index() + 1).max(*n_items);
        item
    }

    fn set_present(&mut self, item: ItemId, present: bool) {
        if let Some(table) = self.table() {
            table.set_present(item, present);
        }
    }

    fn bayesian(&mut self) -> Option<&mut dyn Bayesian> {
        self.table()?.bayesian()
    }

    fn n_positions(&self) -> usize {
        self.told().sizes[1]
    }

    fn place(&self, rank: usize) -> usize {
        self.tallies().map_or(rank, |table| table.place(rank))
    }

    fn set_terms(&mut self, terms: Option<Box<Terms>>) {
        if let Some(table) = self.table() {
            table.set_terms(terms);
        }
    }

    fn valued(&mut self) -> Option<&mut dyn Valued> {
        self.policy.valued().ok()
    }
}

/// Without features, if the policy does not see who asks.
impl<I: CatalogueProtocol> FeaturedItems for NamedLive<I> {
    fn n_items(&self) -> usize {
        self.told().sizes[0]
    }

    fn n_item_features(&self) -> usize {
        self.told().context.as_ref().map_or(0, |known| known.item_features.len()) / self.told().sizes[0]
    }

    fn has_features(&mut self, item: ItemId, features: &[f64]) -> bool {
        if self.check(features).is_err() {
            return false;
        }
        match self.policy.policy.items() {
            Some(items) if items.n_item_features() == features.len() => items.has_features(item, features),
            // Without interactions the policy itself does not keep them.
            _ => item.index() < self.told().sizes[0] && FeaturedItems::features(self, item) == features,
        }
    }

    fn features(&mut self, item: ItemId) -> &[f64] {
        let n = self.n_item_features();
        let known = self.told().context.as_ref();
        known.map_or(&[], |known| &known.item_features[item.index() * n..(item.index() + 1) * n])
    }

    fn add_item(&mut self, features: &[f64]) -> Result<ItemId, Error> {
        self.check(features)?;
        let items = self.policy.policy.items().ok_or(Error::NoPrior)?;
        let item = items.add_item(features)?;
        self.keep(item, features);
        Ok(item)
    }

    fn replace_item(&mut self, item: ItemId, features: &[f64]) -> Result<(), Error> {
        self.check(features)?;
        let items = self.policy.policy.items().ok_or(Error::NoPrior)?;
        items.replace_item(item, features)?;
        if item.index() < self.told().sizes[0] {
            self.keep(item, features);
        }
        Ok(())
    }
}
