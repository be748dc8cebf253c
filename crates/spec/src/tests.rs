//! The tasks that policies can be entered for, and bounds on stopping times.

use crate::Experiment;
use contenders::{recommending_contenders, stopping_contenders};
use documents::toml_reader::Source;
use policies::catalogue::{PolicySpec, rows};
use std::fmt::Write as _;

#[test]
fn exactly_the_policies_that_name_best_items_can_be_entered_for_tasks_that_ask_for_them() {
    let count = |is_for: fn(&PolicySpec) -> bool| rows().iter().filter(|row| is_for(&row.spec())).count();
    for (task, length, n_policies) in [
        ("identify", "max_steps", count(PolicySpec::stops)),
        ("budget", "horizon", count(PolicySpec::recommends)),
    ] {
        let mut entered = 0;
        for name in rows().iter().map(|row| row.name) {
            let text = format!(
                "name = \"x\"\ntask = \"{task}\"\n{length} = 10\nruns = 1\nseed = 1\n[[instances]]\nmodel = \"cascade\"\n\
                 attraction = [0.5, 0.4]\npositions = 1\n[[policies]]\npolicy = \"{name}\"\n"
            );
            let source = Source::from_text("spec.toml", text).unwrap();
            let Ok(experiment) = Experiment::from_document(&source.parse().unwrap()) else { continue };
            if task == "identify" {
                drop(stopping_contenders(experiment.policies(), &experiment.live().delay).unwrap());
            }
            drop(recommending_contenders(experiment.policies(), 10).unwrap());
            entered += 1;
        }
        assert_eq!(entered, n_policies);
    }
}

/// The bounds on stopping times of an experiment with these weights and one policy for each
/// `delta`: label and value.
fn bounds_of_stopping(attraction: &[f64], deltas: &[f64]) -> Vec<(String, f64)> {
    let mut text = format!(
        "name = \"x\"\ntask = \"identify\"\nmax_steps = 10\nruns = 1\nseed = 1\n[[instances]]\nmodel = \"cascade\"\n\
         attraction = {attraction:?}\npositions = 1\n"
    );
    for delta in deltas {
        let _ = writeln!(text, "[[policies]]\npolicy = \"cascade-kl\"\nlabel = \"{delta}\"\ndelta = {delta}");
    }
    let source = Source::from_text("spec.toml", text).unwrap();
    let experiment = Experiment::from_document(&source.parse().unwrap()).unwrap();
    let bounds = experiment.instances().bounds_of_stopping(experiment.policies());
    bounds.into_iter().map(|bound| (bound.label, bound.value[0])).collect()
}

#[test]
fn stopping_times_are_bounded_by_the_theorem_and_by_the_characteristic_time() {
    let bounds = bounds_of_stopping(&[0.5, 0.4], &[0.1, 0.6]);
    let labels: Vec<&str> = bounds.iter().map(|(label, _)| &label[..]).collect();
    // From one half on, the formula of the characteristic time is no bound.
    let wanted = [
        "lower bound (CascadeBAI paper, Theorem 4.8, delta = 0.1)",
        "lower bound (CascadeBAI paper, Theorem 4.8, delta = 0.6)",
        "lower bound (characteristic time, delta = 0.1)",
    ];
    assert_eq!(labels, wanted);
    let nats = confidence::bernoulli_kl(0.9, 0.1);
    assert_eq!(bounds[2].1, click_models::bounds::cascade_characteristic_time(&[0.5, 0.4], 1) * nats);
    assert!(bounds[2].1 > bounds[0].1);
    // No bound holds for items that cannot be told apart, and one that takes too long is left out.
    assert_eq!(bounds_of_stopping(&[0.5, 0.5], &[0.1]), []);
    let weights: Vec<f64> = (1..=129).map(|item| f64::from(item) / 130.0).collect();
    assert_eq!(bounds_of_stopping(&weights, &[0.1]).len(), 1);
}
