//! Policies of the catalogue under the conditions of live use.
//!
//! A policy is chosen at run time, so that the round loop is compiled once for the users of each
//! model and each way to learn: from a table, or from whole answers.

use crate::lists::ListModel;
use crate::{Entrant, MaybeContender};
use click_models::{
    Cascade, CascadeFeedback, Dcm, Feedback, ItemId, ListProtocol, ListShape, Pbm, Ranking, SemiBandit,
    WithAttraction,
};
use confidence::Probability;
use live::{ObservationRule, Settings, Skips};
use policies::catalogue::{
    AnyPolicy, CatalogueProtocol, Knowledge, Live, NamedLive, NamedPolicy, PolicySpec, Protocol, Purpose,
};
use policies::{Decision, PrefixKnown, Prior, Recommend, Select, Stop, Update};
use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sim::{Answer, Conditions, Delay, Delays, Entry, InParts, InWhole, LivePolicy as _, OnTable};
use std::ops::ControlFlow;

/// How a policy is used live: the table `live` of a policy in files.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LiveUse {
    /// The prior of a policy that draws from posteriors: the two shapes of a Beta distribution, or
    /// "estimated", from the items so far.
    #[schemars(example = &"estimated")]
    pub prior: Option<LivePrior>,
    /// The number of observations of each item that count, the last ones.
    #[schemars(range(min = 1, max = 1_000_000_000), example = 1000)]
    pub window: Option<usize>,
    /// The probability with which the last position shows a random item.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1), example = 0.05)]
    pub explore: f64,
    /// When a display without a click counts: when it is known, or at once, and a click corrects
    /// it.
    #[serde(default)]
    #[schemars(example = &"at-once")]
    pub skips: Skips,
    /// Learns from whole answers in the order of the decisions; after this many later decisions an
    /// answer is taken as it is.
    #[schemars(range(max = 1_000_000_000), example = 1000)]
    pub wait: Option<u64>,
}

/// The prior of a policy in live use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LivePrior {
    /// Estimated from the items so far.
    Estimated,
    /// Beta with these shapes.
    #[serde(untagged)]
    Beta(
        #[schemars(range(max = 1_000_000), extend("exclusiveMinimum" = 0))] f64,
        #[schemars(range(max = 1_000_000), extend("exclusiveMinimum" = 0))] f64,
    ),
}

impl LiveUse {
    /// Why a policy with a table cannot be used so; `None` if it can.
    pub fn fault(&self, spec: PolicySpec, protocol: Protocol) -> Option<String> {
        let none = Delays::default();
        let known = Knowledge::sizes(2, 1);
        match protocol {
            Protocol::PositionBased => {
                let known = Knowledge { examination: vec![Probability::ONE], ..known };
                self.table::<Pbm>(spec, known, &none).err()
            }
            Protocol::SemiBandit => self.table::<SemiBandit>(spec, known, &none).err(),
            Protocol::Dcm => self.table::<Dcm>(spec, known, &none).err(),
            _ => self.table::<Cascade>(spec, known, &none).err(),
        }
    }

    fn table<I: CatalogueProtocol + ObservationRule>(
        &self,
        spec: PolicySpec,
        known: Knowledge,
        delays: &Delays,
    ) -> Result<OnTable<I, NamedLive<I>>, String> {
        spec.check_live().map_err(|error| error.to_string())?;
        let policy = AnyPolicy::build(spec, I::PROTOCOL, known).and_then(NamedLive::try_from);
        let mut policy = policy.map_err(|error| error.to_string())?;
        let &Self { prior, window, explore, skips, .. } = self;
        if let Some(LivePrior::Beta(a, b)) = prior {
            let set = Prior::new(a, b).and_then(|prior| policy.set_prior(prior));
            set.map_err(|error| format!("{}: {error}", spec.name()))?;
        }
        let estimate_prior = prior == Some(LivePrior::Estimated);
        let settings = Settings { window, explore, skips, estimate_prior, ..Settings::default() };
        OnTable::new(policy, settings, delays).map_err(|error| format!("{}: {error}", spec.name()))
    }
}

/// Panic message; experiments reject other policies when they are read.
const FITS: &str = "a policy that fits its users and its live use";

/// Enters a policy on users who can change while it is used live.
pub(crate) fn enter_live<M>(entrant: &Entrant, horizon: u64, conditions: &Conditions) -> MaybeContender<M>
where
    M: ListModel + WithAttraction<Interaction: CatalogueProtocol + ObservationRule + ListProtocol>,
    Feedback<M>: InParts,
{
    let (label, conditions, spec) = (entrant.label.clone(), *conditions, entrant.spec);
    let used = entrant.live.unwrap_or_default();
    let is_plain = entrant.read_as.is_none() && entrant.examination.is_none() && entrant.priors.is_none();
    let is_for_regret = spec.row().purpose() == Purpose::Regret;
    let plays = is_plain && is_for_regret && spec.speaks(M::Interaction::PROTOCOL);
    if !plays || matches!(spec, PolicySpec::Oracle {} | PolicySpec::Logged {}) {
        return None;
    }
    if spec.row().live == Live::Table && used.wait.is_none() {
        return Some(Box::new(Entry::live(label, conditions, move |users: M::Known<'_>| {
            let known = Knowledge::positions(&M::positions(&users));
            used.table::<M::Interaction>(spec, known, &conditions.delay).expect(FITS)
        })));
    }
    if conditions.items_change() || used != (LiveUse { wait: used.wait, ..LiveUse::default() }) {
        return None;
    }
    Some(Box::new(Entry::live(label, conditions, move |users: M::Known<'_>| {
        let known = Knowledge::positions(&M::positions(&users));
        let known = Knowledge { horizon: Some(horizon), ..known };
        let policy = AnyPolicy::build(spec, M::Interaction::PROTOCOL, known)
            .and_then(NamedPolicy::<M::Interaction>::try_from);
        InWhole::<M::Interaction, _>::new(policy.expect(FITS), used.wait)
    })))
}

/// A policy that looks for the best items, and whose answers come late.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Late {
    policy: InWhole<Cascade, NamedPolicy<Cascade>>,
    /// The rounds until a click is known, and until it is known that there is none.
    delays: [u64; 2],
    round: u64,
}

impl Late {
    /// The policy of an entrant; `None` if it cannot play with these delays.
    pub(crate) fn new(entrant: &Entrant, shape: ListShape, delays: &Delays) -> Option<Self> {
        let Delays { click: Delay::Rounds(click), skip: Delay::Rounds(skip), .. } = *delays else {
            return None;
        };
        let policy = NamedPolicy::build(entrant.spec, PrefixKnown::from(shape), None).ok()?;
        let wait = entrant.live.and_then(|used| used.wait);
        Some(Self { policy: InWhole::new(policy, wait), delays: [click, skip], round: 0 })
    }
}

impl Select<Ranking> for Late {
    type Note = ();

    fn select<R: Rng + ?Sized>(&mut self, rng: &mut R, out: &mut Decision<Ranking>) {
        self.round += 1;
        self.policy.decide(rng, &mut out.action);
    }
}

impl Update<Ranking, CascadeFeedback> for Late {
    /// Takes the answer to the last list, and learns from all answers that are known before the
    /// next.
    fn update(&mut self, decision: &Decision<Ranking>, feedback: &CascadeFeedback) {
        let [click, skip] = self.delays.map(|delay| self.round.saturating_add(delay));
        let clicks: Vec<(usize, u64)> =
            feedback.click().map(|position| (position, click)).into_iter().collect();
        let end = Some(if clicks.is_empty() { skip } else { click });
        let answer = Answer { clicks, seen: decision.action.len(), end };
        self.policy.answered(self.round, &answer);
        self.policy.learn(self.round + 1);
    }
}

impl Stop for Late {
    type Answer = Vec<ItemId>;

    fn check(&self) -> ControlFlow<Vec<ItemId>> {
        self.policy.policy().answer().map_or(ControlFlow::Continue(()), ControlFlow::Break)
    }
}

impl Recommend<Ranking> for Late {
    fn recommend<R: Rng + ?Sized>(&self, rng: &mut R, out: &mut Ranking) {
        self.policy.policy().recommend(rng, out);
    }
}
