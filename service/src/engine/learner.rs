//! A policy in live use, with decisions by number.

use crate::config::{ItemPrior, Template, Users};
use crate::event::{Propensities, whole_by};
use live::{ByName, ByNameError, ContextFit};
use policies::catalogue::{ContextKnowledge, Knowledge, Protocol};
use policies::{AnyPolicy, Error, Prior, Propensity, Tallies};

pub(crate) type Learner = dyn ByName<u64>;

/// The propensities of a list that has any.
pub(crate) fn propensities(of: &[Propensity]) -> Option<Propensities> {
    let (items, prefixes) = of.iter().map(|of| (of.item, of.prefix)).unzip();
    (!of.is_empty()).then_some(Propensities { items, prefixes })
}

fn protocol(template: &Template) -> Protocol {
    match template.users {
        Users::Pbm => Protocol::PositionBased,
        Users::Cascade => Protocol::Cascade,
        Users::Dcm => Protocol::Dcm,
        Users::SemiBandit => Protocol::SemiBandit,
        Users::ClicksOnly => Protocol::ClicksOnly,
    }
}

/// A policy's knowledge of the users of a template.
fn knowledge(template: &Template, n_items: usize) -> Knowledge {
    let known = Knowledge::sizes(n_items, template.positions);
    match template.users {
        Users::Pbm => Knowledge { examination: template.examination.clone(), ..known },
        _ => known,
    }
}

/// A policy without items.
pub(crate) fn fresh(template: &Template, prior: Option<[f64; 2]>) -> Result<Box<Learner>, String> {
    Learner::empty(policy(template, prior)?, template.settings()).map_err(fault)
}

/// Takes a policy from settings to the next ones, with what it knows. A prior that was not
/// configured stays, unless it is: then, and after one that was, it is that of the log.
pub(crate) fn carry(
    learner: &mut Learner,
    old: &Template,
    new: &Template,
    of_log: Option<[f64; 2]>,
) -> Result<(), String> {
    let told = |of: &Template| (of.policy.clone(), of.positions, of.examination.clone(), of.prior);
    if told(old) != told(new) {
        let present = learner.prior().filter(|_| old.prior == new.prior).map(|of| [of.a(), of.b()]);
        learner.set_policy(policy(new, present.or(of_log))?).map_err(fault)?;
    }
    learner.set_settings(new.settings()).map_err(|error| error.to_string())
}

fn policy(template: &Template, prior: Option<[f64; 2]>) -> Result<AnyPolicy, String> {
    let spec = template.policy.0;
    let invalid = |error: Error| format!("`{}`: {error}", spec.name());
    let context = template.sees_contexts().then(|| ContextKnowledge {
        segments: u32::try_from(template.segments.len().max(1)).unwrap_or(u32::MAX),
        user_features: template.features.len(),
        item_features: vec![0.0; template.positions * template.item_features.len()],
    });
    let known = Knowledge { context, ..knowledge(template, template.positions) };
    if !template.sees_contexts() {
        spec.check_live().map_err(|error| error.to_string())?;
    }
    let mut policy = AnyPolicy::build(spec, protocol(template), known).map_err(|error| error.to_string())?;
    let bayesian = policy.tallies_mut().and_then(Tallies::bayesian);
    match (template.prior, prior, bayesian) {
        // A prior that is given is for every query; that of a log is for policies that have one.
        (Some(ItemPrior::Beta([a, b])), _, policy) => {
            let policy = policy.ok_or(Error::NoPrior).map_err(invalid)?;
            Prior::new(a, b).and_then(|prior| policy.set_prior(prior)).map_err(invalid)?;
        }
        (_, Some([a, b]), Some(policy)) => policy.set_fitted_prior(a, b),
        _ => {}
    }
    Ok(policy)
}

/// A policy that begins with the fit of a log, whose items it has.
pub(crate) fn fitted(template: &Template, fit: &ContextFit) -> Result<Box<Learner>, String> {
    let spec = template.policy.0;
    if matches!(template.prior, Some(ItemPrior::Beta(_))) {
        return Err(format!("`{}`: {}", spec.name(), Error::NoPrior));
    }
    let known = knowledge(template, fit.items.len());
    let policy = fit.policy(spec, protocol(template), known).map_err(|error| error.to_string())?;
    Learner::new(policy, template.settings()).map_err(fault)
}

/// The fault of a setting, or the policy's.
fn fault(error: ByNameError) -> String {
    match error {
        ByNameError::Settings { error, .. } => error.to_string(),
        ByNameError::Policy(error) => error.to_string(),
    }
}

/// Reads a policy that was saved.
pub(crate) fn restore(template: &Template, saved: &[u8]) -> Result<Box<Learner>, String> {
    let (protocol, sees) = (protocol(template), template.sees_contexts());
    let live = whole_by(saved, |reader| Learner::read(protocol, sees, reader))?;
    let (found, expected) = (live.policy().spec(), &template.policy.0);
    if found == expected && live.settings() == template.settings() {
        return Ok(live);
    }
    Err(format!("it is a state of `{found}`, or of other settings, expected `{expected}`"))
}
