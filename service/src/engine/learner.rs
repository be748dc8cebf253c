//! A policy in live use, of a protocol that is known at run time only.

use crate::config::{ItemPrior, Template, Users};
use crate::event::{Propensities, whole};
use click_models::{
    Cascade, ClicksOnly, Context, ContextKnown, Dcm, ListProtocol, ListShape, Pbm, PbmKnown, SemiBandit,
};
use live::{Among, ContextFit, Counted, Entry, Handle, Learns, Live, LiveFor, LiveUse, Settings, Taken};
use policies::catalogue::{Catalogued, NamedAmong, NamedTable};
use policies::{Bayesian, Error, PolicySpec, PositionsKnown, PrefixKnown, Prior, Tallies as _, Tally};
use rand_xoshiro::Xoshiro256PlusPlus as Rng;
use serde::Serialize;

/// [`Live`] with decisions by number.
type Of<I> = Live<I, NamedTable<I>, u64>;

/// [`LiveFor`] with decisions by number.
type OfUsers<I> = LiveFor<I, NamedAmong<I>, u64>;

/// A request for a list.
pub(crate) struct Ask<'a> {
    /// The number of the decision.
    pub(crate) number: u64,
    pub(crate) user: &'a Context,
    pub(crate) among: Among<'a>,
    /// The most positions.
    pub(crate) positions: usize,
}

/// [`LiveUse`] with decisions by number.
pub(crate) trait Learner: Send {
    fn decide(&mut self, ask: &Ask<'_>, rng: &mut Rng) -> &[Handle];
    fn decide_again(&mut self, ask: &Ask<'_>, list: &[Handle], rng: &mut Rng) -> Result<bool, live::Error>;
    fn show(&mut self, number: u64, context: &Context, list: &[Handle]) -> Result<Taken, live::Error>;
    fn click(&mut self, number: u64, position: usize) -> Taken;
    fn close(&mut self, number: u64, seen: Option<usize>) -> Taken;
    fn forget_before(&mut self, number: u64);
    /// `None` if there is no room for it.
    fn add_item(&mut self, features: &[f64]) -> Option<Handle>;
    /// Whether an item has these features, as far as the policy knows features.
    fn has_features(&mut self, item: Handle, features: &[f64]) -> bool;
    fn is_present(&self, item: Handle) -> bool;
    fn retire(&mut self, item: Handle) -> bool;
    fn bring_back(&mut self, item: Handle) -> bool;
    fn forget(&mut self, item: Handle) -> bool;
    fn begin_with(&mut self, item: Handle, kind: usize, tally: Tally) -> bool;
    fn propensities(&self, number: u64) -> Option<Propensities>;
    fn entries(&self, item: Handle) -> Vec<Entry>;
    fn save(&self) -> Vec<u8>;
}

impl<I: Counted, L: Learns<I, Open: Send, Note: Send> + Send> Learner for LiveUse<I, L, u64>
where
    Self: Serialize,
{
    fn decide(&mut self, ask: &Ask<'_>, rng: &mut Rng) -> &[Handle] {
        self.decide_for(&ask.number, ask.user, ask.among, ask.positions, rng)
    }

    fn decide_again(&mut self, ask: &Ask<'_>, list: &[Handle], rng: &mut Rng) -> Result<bool, live::Error> {
        self.decide_again(&ask.number, ask.user, ask.among, ask.positions, list, rng)
    }

    fn show(&mut self, number: u64, context: &Context, list: &[Handle]) -> Result<Taken, live::Error> {
        self.show_to(&number, context, list)
    }

    fn click(&mut self, number: u64, position: usize) -> Taken {
        self.click(&number, position)
    }

    fn close(&mut self, number: u64, seen: Option<usize>) -> Taken {
        self.close(&number, seen)
    }

    fn forget_before(&mut self, number: u64) {
        while self.oldest().is_some_and(|&oldest| oldest < number) {
            self.forget_oldest();
        }
    }

    fn add_item(&mut self, features: &[f64]) -> Option<Handle> {
        self.add_item_with(features).ok()
    }

    fn has_features(&mut self, item: Handle, features: &[f64]) -> bool {
        self.has_features(item, features)
    }

    fn is_present(&self, item: Handle) -> bool {
        self.is_present(item)
    }

    fn retire(&mut self, item: Handle) -> bool {
        self.retire(item)
    }

    fn bring_back(&mut self, item: Handle) -> bool {
        self.bring_back(item)
    }

    fn forget(&mut self, item: Handle) -> bool {
        self.forget(item)
    }

    fn begin_with(&mut self, item: Handle, kind: usize, tally: Tally) -> bool {
        self.begin_with(item, kind, tally)
    }

    fn propensities(&self, number: u64) -> Option<Propensities> {
        let of = self.propensities(&number).filter(|of| !of.is_empty())?;
        let (items, prefixes) = of.iter().map(|of| (of.item, of.prefix)).unzip();
        Some(Propensities { items, prefixes })
    }

    fn entries(&self, item: Handle) -> Vec<Entry> {
        self.entries(item).collect()
    }

    fn save(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("a policy is plain data")
    }
}

/// A policy without items.
pub(crate) fn fresh(template: &Template, prior: Option<[f64; 2]>) -> Result<Box<dyn Learner>, String> {
    made(template, template.positions, &From { prior, fit: None })
}

/// A policy that begins with the fit of a log, whose items it has.
pub(crate) fn fitted(template: &Template, fit: &ContextFit) -> Result<Box<dyn Learner>, String> {
    made(template, fit.items.len(), &From { prior: None, fit: Some(fit) })
}

/// The beginning of a policy.
struct From<'a> {
    prior: Option<[f64; 2]>,
    fit: Option<&'a ContextFit>,
}

fn made(template: &Template, n_items: usize, from: &From<'_>) -> Result<Box<dyn Learner>, String> {
    let shape = ListShape::new(n_items, template.positions).map_err(|error| error.to_string())?;
    match template.users {
        Users::Pbm if template.examination.is_empty() => of::<Pbm>(template, from, shape.into()),
        Users::Pbm => {
            let known = PbmKnown::new(shape, &template.examination).map_err(|error| error.to_string())?;
            of::<Pbm>(template, from, PositionsKnown::from(known))
        }
        Users::Cascade => of::<Cascade>(template, from, PrefixKnown::from(shape)),
        Users::Dcm => of::<Dcm>(template, from, PrefixKnown::from(shape)),
        Users::SemiBandit => of::<SemiBandit>(template, from, PrefixKnown::from(shape)),
        Users::ClicksOnly => of::<ClicksOnly>(template, from, shape),
    }
}

fn of<I: Counted + ListProtocol + Catalogued + 'static>(
    template: &Template,
    from: &From<'_>,
    known: I::Known<'_>,
) -> Result<Box<dyn Learner>, String> {
    if template.sees_contexts() {
        return of_users::<I>(template, from.fit, known);
    }
    let mut policy = NamedTable::<I>::build(template.policy.0, known).map_err(|error| error.to_string())?;
    match (template.prior, from.prior, policy.bayesian()) {
        // A prior that is given is for every query; that of a log is for policies that have one.
        (Some(ItemPrior::Beta([a, b])), _, policy) => {
            let set = |policy: &mut dyn Bayesian| policy.set_prior(Prior::new(a, b)?);
            let outcome = policy.ok_or(Error::NoPrior).and_then(set);
            outcome.map_err(|error| format!("`{}`: {error}", template.policy.0.name()))?;
        }
        (_, Some([a, b]), Some(policy)) => policy.set_estimated_prior(a, b),
        _ => {}
    }
    let live = Of::<I>::empty(policy, template.settings()).map_err(|error| error.to_string())?;
    Ok(Box::new(live))
}

fn of_users<I: Counted + ListProtocol + Catalogued + 'static>(
    template: &Template,
    fit: Option<&ContextFit>,
    known: I::Known<'_>,
) -> Result<Box<dyn Learner>, String> {
    let spec = template.policy.0;
    if matches!(template.prior, Some(ItemPrior::Beta(_))) {
        return Err(format!("`{}`: {}", spec.name(), Error::NoPrior));
    }
    let settings = template.settings();
    let live = if let Some(fit) = fit {
        let policy = fit.policy::<I>(spec, known).map_err(|error| error.to_string())?;
        OfUsers::<I>::new(policy, settings)
    } else {
        let features = vec![0.0; template.positions * template.item_features.len()];
        let segments = u32::try_from(template.segments.len()).unwrap_or(u32::MAX);
        let context = ContextKnown::new(template.positions, &features).map_err(|error| error.to_string())?;
        let context = context.with_user_features(template.features.len()).with_segments(segments);
        let policy = NamedAmong::<I>::build(spec, known, context).map_err(|error| error.to_string())?;
        OfUsers::<I>::empty(policy, settings)
    };
    Ok(Box::new(live.map_err(|error| error.to_string())?))
}

/// The bytes that [`Learner::save`] wrote.
pub(crate) fn restore(template: &Template, saved: &[u8]) -> Result<Box<dyn Learner>, String> {
    match template.users {
        Users::Pbm => restored::<Pbm>(template, saved),
        Users::Cascade => restored::<Cascade>(template, saved),
        Users::Dcm => restored::<Dcm>(template, saved),
        Users::SemiBandit => restored::<SemiBandit>(template, saved),
        Users::ClicksOnly => restored::<ClicksOnly>(template, saved),
    }
}

fn restored<I: Counted + ListProtocol + Catalogued + 'static>(
    template: &Template,
    saved: &[u8],
) -> Result<Box<dyn Learner>, String> {
    let check = |found: &PolicySpec, settings: Settings| {
        let expected = &template.policy.0;
        if found == expected && settings == template.settings() {
            return Ok(());
        }
        Err(format!("it is a state of `{found}`, or of other settings, expected `{expected}`"))
    };
    if template.sees_contexts() {
        let live: OfUsers<I> = whole(saved)?;
        check(live.policy().policy().spec(), live.settings())?;
        return Ok(Box::new(live));
    }
    let live: Of<I> = whole(saved)?;
    check(live.policy().policy().spec(), live.settings())?;
    Ok(Box::new(live))
}
