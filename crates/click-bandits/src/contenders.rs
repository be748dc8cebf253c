//! From the policies of an experiment to contenders that can be played.
//!
//! Which models a policy can play says [`PolicySpec::speaks`], after which the reader of experiments refuses a wrong one.
//! What is left over here is said in an error all the same.

use crate::config::PolicyEntry;
use crate::toml_reader::Error;
use click_models::{ListShape, PbmKnown, PositionBased, RandomSemiBandit};
use confidence::Rate;
use policies::spec::{PbmPiePosition, PolicySpec};
use policies::{
    BatchRank, BcMpTs, PbmPie, PbmTs, PbmUcb, Pie, PrefixKlUcb, PrefixTs, PrefixUcb, PrefixUcbV, RbaKlUcb,
    TopRank, TsCascade, Uniform,
};
use sim::{Contender, Entry, Oracle};

/// Contenders on a position-based model.
///
/// # Errors
///
/// A policy that does not speak its protocol.
pub(crate) fn position_based(
    policies: &[PolicyEntry],
    horizon: u64,
) -> Result<Vec<Box<dyn Contender<PositionBased>>>, Error> {
    let enter = |entry: &PolicyEntry| -> Result<Box<dyn Contender<PositionBased>>, Error> {
        let label = entry.label.clone();
        Ok(match entry.spec {
            PolicySpec::PbmUcb { epsilon } => Box::new(Entry::new(label, move |known: PbmKnown<'_>| {
                PbmUcb::new(known, Rate::scaled_log(epsilon))
            })),
            PolicySpec::PbmPie { epsilon, level, position: PbmPiePosition::Last } => {
                let rate = level.rate(epsilon, horizon);
                Box::new(Entry::new(label, move |known: PbmKnown<'_>| PbmPie::new(known, rate)))
            }
            PolicySpec::PbmTs {} => Box::new(Entry::new(label, |known: PbmKnown<'_>| PbmTs::new(known))),
            PolicySpec::BcMpTs {} => Box::new(Entry::new(label, |known: PbmKnown<'_>| BcMpTs::new(known))),
            PolicySpec::RbaKlUcb {} => {
                Box::new(Entry::new(label, |known: PbmKnown<'_>| RbaKlUcb::new(known.shape)))
            }
            PolicySpec::TopRank {} => {
                Box::new(Entry::new(label, move |known: PbmKnown<'_>| TopRank::new(known.shape, horizon)))
            }
            PolicySpec::BatchRank {} => {
                Box::new(Entry::new(label, move |known: PbmKnown<'_>| BatchRank::new(known.shape, horizon)))
            }
            PolicySpec::Uniform {} => {
                Box::new(Entry::new(label, |known: PbmKnown<'_>| Uniform::new(known.shape)))
            }
            PolicySpec::Oracle {} => Box::new(Oracle::new(label)),
            _ => return Err(wrong_protocol(entry, "pbm")),
        })
    };
    policies.iter().map(enter).collect()
}

/// Contenders on a random semi-bandit model.
///
/// # Errors
///
/// A policy that does not speak its protocol, or an exploring position beyond the list.
pub(crate) fn semi_bandit(
    policies: &[PolicyEntry],
    horizon: u64,
) -> Result<Vec<Box<dyn Contender<RandomSemiBandit>>>, Error> {
    let enter = |entry: &PolicyEntry| -> Result<Box<dyn Contender<RandomSemiBandit>>, Error> {
        let label = entry.label.clone();
        Ok(match entry.spec {
            PolicySpec::RbaKlUcb {} => Box::new(Entry::new(label, RbaKlUcb::new)),
            PolicySpec::TopRank {} => {
                Box::new(Entry::new(label, move |shape: ListShape| TopRank::new(shape, horizon)))
            }
            PolicySpec::BatchRank {} => {
                Box::new(Entry::new(label, move |shape: ListShape| BatchRank::new(shape, horizon)))
            }
            PolicySpec::RsfUcb {} => Box::new(Entry::new(label, PrefixUcb::rsf)),
            PolicySpec::RsfKlUcb { level }
            | PolicySpec::KlUcb { level }
            | PolicySpec::CascadeKlUcb { level }
            | PolicySpec::DcmKlUcb { level } => {
                Box::new(Entry::new(label, move |shape: ListShape| PrefixKlUcb::new(shape, level.into())))
            }
            PolicySpec::RsfTs {} | PolicySpec::CascadeTs {} | PolicySpec::DcmTs {} => {
                Box::new(Entry::new(label, PrefixTs::new))
            }
            PolicySpec::CascadeUcb1 {} => Box::new(Entry::new(label, PrefixUcb::cascade)),
            PolicySpec::TsCascade {} => Box::new(Entry::new(label, TsCascade::new)),
            PolicySpec::CascadeUcbV {} => Box::new(Entry::new(label, PrefixUcbV::new)),
            PolicySpec::Pie { position, level } => Box::new(Entry::new(label, move |shape: ListShape| {
                // Experiments with a position beyond one of their lists have been refused by their reader.
                let position = position.unwrap_or(shape.n_positions() - 1).min(shape.n_positions() - 1);
                Pie::at(shape, position, level.into()).expect("the position is on the list")
            })),
            PolicySpec::Uniform {} => Box::new(Entry::new(label, Uniform::new)),
            PolicySpec::Oracle {} => Box::new(Oracle::new(label)),
            _ => return Err(wrong_protocol(entry, "semi-bandit")),
        })
    };
    policies.iter().map(enter).collect()
}

fn wrong_protocol(entry: &PolicyEntry, model: &str) -> Error {
    entry.location.error(format!("policy `{}` does not speak the protocol of model `{model}`", entry.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Experiment, Instances};
    use crate::toml_reader::{Source, variants};

    /// Every policy can be entered on every model that the reader lets it have.
    #[test]
    fn no_policy_is_forgotten() {
        let mut entered = 0;
        for name in variants::<PolicySpec>() {
            for model in ["pbm", "semi-bandit"] {
                let head = "name = \"x\"\ntask = \"regret\"\nhorizon = 10\nruns = 1\nseed = 1\n";
                let users =
                    format!("[[instances]]\nmodel = \"{model}\"\ntheta = [0.5, 0.4]\nkappa = [0.9]\n");
                let text = format!("{head}{users}[[policies]]\npolicy = \"{name}\"\n");
                let source = Source::from_text("spec.toml", text).unwrap();
                let Ok(experiment) = Experiment::from_document(&source.parse().unwrap()) else { continue };
                match experiment.instances {
                    Instances::Pbm(_) => drop(position_based(&experiment.policies, 10).unwrap()),
                    Instances::SemiBandit(_) => drop(semi_bandit(&experiment.policies, 10).unwrap()),
                }
                entered += 1;
            }
        }
        // All but `rba-kl-ucb`, `top-rank`, `batch-rank`, `uniform` and `oracle` play one of these models, the five both.
        assert_eq!(entered, variants::<PolicySpec>().len() + 5);
    }
}
