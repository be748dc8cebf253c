//! Live use of a policy that sees who asks for a list.

use crate::items::{Items, SavedItems};
use crate::open::{OpenDecision, OpenDecisions, ShownList};
use crate::{Error, Handle, Keeps, Learns, LiveUse, ObservationRule, SavedError, Settings, Skips};
use click_models::{Context, ItemId, ListProtocol, Ranking};
use policies::{Decision, FeaturedItems, SelectAmongFor, Tally, UpdateFor};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::hash::Hash;

/// A policy in live use that sees who asks, such as `hybrid-ts`. `I` is the protocol by which
/// answers are read, `D` the client's name of a decision.
///
/// The policy learns from the whole answer to a decision, with its context, when the decision is
/// closed. A posterior cannot be taken back from, so what comes later is
/// [`Taken::Closed`](crate::Taken::Closed) and
/// changes nothing, and the settings `window`, `skips` and `estimate_prior` of a
/// [`Live`](crate::Live) are refused. Answers that come twice count once; decisions that are never
/// closed teach nothing. When an item is forgotten, its answers keep their effect on the
/// coefficients of all items.
///
/// # Examples
///
/// ```
/// use click_models::{Cascade, Context, ContextKnown, ListShape};
/// use live::{Ask, LiveFor, Settings, Taken};
/// use policies::{HybridSettings, HybridTs};
/// use rand::{SeedableRng, rngs::ChaCha8Rng};
///
/// let rng = &mut ChaCha8Rng::seed_from_u64(1);
/// // Users have one feature, items two; a list has two positions.
/// let known = ContextKnown::new(2, &[0.0; 4])?.with_user_features(1);
/// let policy = HybridTs::new(ListShape::new(2, 2)?, known, HybridSettings::default())?;
/// let mut live = LiveFor::<Cascade, _>::empty(policy, Settings::default())?;
/// for features in [[0.3, 1.0], [-0.2, 0.0], [0.5, 0.5]] {
///     live.add_item_with(&features)?;
/// }
/// let user = Context { segment: 0, features: vec![0.7] };
/// let ask = Ask { user: &user, ..Ask::default() };
/// let list = live.decide(&17, ask, rng).to_vec();
/// assert_eq!(live.decide(&17, ask, rng), list);
/// assert_eq!(live.click(&17, 1), Taken::Counted);
/// assert_eq!(live.tally(list[0], 0).shows, 0);
/// assert_eq!(live.close(&17, None), Taken::Counted);
/// assert_eq!([live.tally(list[0], 0).shows, live.tally(list[1], 0).clicks], [1, 1]);
/// assert_eq!(live.click(&17, 0), Taken::Closed);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type LiveFor<I, P, D = u64> = LiveUse<I, ForUsers<P>, D>;

/// A policy that sees who asks, and learns from whole answers.
#[derive(Debug, Clone)]
pub struct ForUsers<P> {
    policy: P,
    /// Displays and clicks that the policy has learned from, by place.
    tallies: Vec<Tally>,
    /// Memory for the decision that it learns from.
    decision: Decision<Ranking, Context>,
}

/// In place of an item that was forgotten: policies ignore an item that they do not have.
const NONE: ItemId = ItemId::new(u32::MAX);

/// A list that was shown to a user.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserList {
    shown: ShownList,
    context: Context,
}

impl OpenDecision for UserList {
    fn shown(&self) -> &ShownList {
        &self.shown
    }

    fn shown_mut(&mut self) -> &mut ShownList {
        &mut self.shown
    }
}

impl<P> Keeps for ForUsers<P> {
    type Open = UserList;
    type Note = Context;
}

impl<I, P> Learns<I> for ForUsers<P>
where
    I: ObservationRule + ListProtocol,
    P: SelectAmongFor<Ranking, Note = Context> + UpdateFor<Ranking, I::Feedback> + FeaturedItems,
{
    type Policy = P;
    const CORRECTS: bool = false;

    fn of(policy: P) -> Self {
        Self { tallies: vec![Tally::default(); policy.n_items()], policy, decision: Decision::default() }
    }

    fn set_settings(
        &mut self,
        settings: &Settings,
        _: &mut dyn Iterator<Item = &mut UserList>,
    ) -> Result<(), Error> {
        check(settings)
    }

    fn policy(&self) -> &P {
        &self.policy
    }

    fn policy_mut(&mut self) -> &mut P {
        &mut self.policy
    }

    fn n_items(&self) -> usize {
        self.policy.n_items()
    }

    fn tally(&self, item: ItemId, _: usize) -> Tally {
        self.tallies[item.index()]
    }

    fn has_features(&mut self, item: ItemId, features: &[f64]) -> bool {
        self.policy.has_features(item, features)
    }

    fn add_item(&mut self, free: Option<ItemId>, features: &[f64]) -> Result<(), policies::Error> {
        match free {
            Some(item) => self.policy.replace_item(item, features),
            None => self.policy.add_item(features).map(|_| self.tallies.push(Tally::default())),
        }
    }

    fn clear(&mut self, item: ItemId) {
        self.tallies[item.index()] = Tally::default();
        let nothing = vec![0.0; self.policy.n_item_features()];
        self.policy.replace_item(item, &nothing).expect("as many features as items have");
    }

    fn begin(&self, open: &mut UserList, context: &Context, list: impl ExactSizeIterator<Item = Handle>) {
        open.shown.reset(list, false);
        open.context.clone_from(context);
        // Policies read them so, and a saved state has numbers only.
        let odd = open.context.features.iter_mut().filter(|feature| !feature.is_finite());
        odd.for_each(|feature| *feature = 0.0);
    }

    /// Learns from a decision that has been closed.
    fn learn(&mut self, _: &Settings, items: &Items, UserList { shown, context }: &mut UserList) {
        let last_click = (u64::BITS - shown.clicks.bits().leading_zeros()) as usize;
        let seen = shown.end().map_or(0, |end| end.max(last_click));
        if seen == 0 {
            return;
        }
        let list = self.decision.action.positions_mut(seen);
        let observed = I::observed(shown.clicks, Some(seen));
        for (position, (slot, &item)) in list.iter_mut().zip(&shown.list).enumerate() {
            *slot = if items.is_known(item) { item.slot } else { NONE };
            if observed >> position & 1 == 1
                && let Some(tally) = self.tallies.get_mut(slot.index())
            {
                tally.shows += 1;
                tally.clicks += u64::from(shown.clicks.get(position));
            }
        }
        self.decision.note.clone_from(context);
        self.policy.update_for(&self.decision, &I::read(shown.clicks, seen));
    }
}

fn check(settings: &Settings) -> Result<(), Error> {
    match settings {
        Settings { window: Some(_), .. } => Err(Error::NoTable("window")),
        Settings { skips: Skips::AtOnce, .. } => Err(Error::NoTable("skips")),
        Settings { estimate_prior: true, .. } => Err(Error::NoTable("estimate_prior")),
        _ => Ok(()),
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State<P, O> {
    settings: Settings,
    items: SavedItems,
    tallies: Vec<Tally>,
    /// The oldest first.
    open: Vec<O>,
    policy: P,
}

impl<I, P: Serialize, D: Clone + Eq + Hash + Serialize> Serialize for LiveFor<I, P, D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        State {
            settings: self.settings,
            items: SavedItems::from(&self.items),
            tallies: self.learner.tallies.clone(),
            open: self.open.in_order().collect::<Vec<&(D, UserList)>>(),
            policy: &self.learner.policy,
        }
        .serialize(serializer)
    }
}

impl<'de, I, P, D> Deserialize<'de> for LiveFor<I, P, D>
where
    P: FeaturedItems + Deserialize<'de>,
    D: Clone + Eq + Hash + Deserialize<'de>,
{
    fn deserialize<E: Deserializer<'de>>(deserializer: E) -> Result<Self, E::Error> {
        let State { settings, items, tallies, open, policy } =
            State::<P, (D, UserList)>::deserialize(deserializer)?;
        let settings = settings.check().and_then(|settings| check(&settings).map(|()| settings));
        let settings = settings.map_err(|_| E::Error::custom(SavedError::Settings))?;
        let items = items.check(policy.n_items()).map_err(E::Error::custom)?;
        let n_items = items.len();
        let is_possible = |tally: &Tally| tally.clicks <= tally.shows && tally.shows < u64::MAX / 2;
        if tallies.len() != n_items || !tallies.iter().all(is_possible) {
            return Err(E::Error::custom(SavedError::Tallies));
        }
        let is_sound = |UserList { shown, context }: &UserList| {
            shown.is_sound(false, |item| item.slot.index() < n_items)
                && context.features.iter().all(|feature| feature.is_finite())
        };
        let open = OpenDecisions::restore(open, settings.keep_open, is_sound).map_err(E::Error::custom)?;
        let learner = ForUsers { policy, tallies, decision: Decision::default() };
        Ok(Self::with_parts(learner, settings, items, open))
    }
}
