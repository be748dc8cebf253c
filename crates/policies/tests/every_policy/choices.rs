//! The first choices of every policy for fixed seeds, and the bits of its regret.
//!
//! These numbers mean nothing in themselves. A change of them means that experiments give other
//! results than before.

use super::trials::{Extent, Trial, trials};
use super::users::Users;
use crate::support::duelists::in_line;
use click_models::{
    CascadeModel, DcmReward, DependentClick, PositionBased, RandomSemiBandit, RankOneModel, TableShape,
};

/// Policy, choices of rounds 1, 2, 3, 10 and 1000, and the bits of the regret after the last.
fn line(trial: &mut dyn Trial, rounds: u32) -> String {
    let mut regret = 0.0;
    let mut choices = vec![];
    for round in 1..=rounds {
        regret += trial.round();
        if [1, 2, 3, 10, 1000].contains(&round) {
            choices.push(format!("{:?}", trial.choice()));
        }
    }
    let name = trial.name();
    let policy = name.split(" on ").next().unwrap_or_default();
    format!("{policy}: {} {:016x}", choices.join(" "), f64::to_bits(regret))
}

fn lines(title: &str, users: Users, horizon: u64, rounds: u32) -> Vec<String> {
    let mut lines = vec![format!("# {title}")];
    lines.extend(trials(users, Extent::Variants, horizon).iter_mut().map(|trial| line(&mut **trial, rounds)));
    lines
}

const EXPECTED: &str = include_str!("../data/value_stability.txt");

#[test]
fn choices_are_what_they_always_were() {
    let position_based = PositionBased::from_values(&[0.45, 0.35, 0.25, 0.15, 0.05], &[0.9, 0.6, 0.3]);
    let semi_bandit = RandomSemiBandit::from_values(&[0.6, 0.58, 0.55, 0.45, 0.45, 0.4], &[1.0, 0.8, 0.6]);
    let cascade = CascadeModel::from_values(&[0.3, 0.25, 0.2, 0.15, 0.1, 0.05], 3);
    let attraction = [0.5, 0.4, 0.3, 0.2, 0.1];
    let dependent = DependentClick::from_values(&attraction, &[0.5, 0.9, 0.2], DcmReward::Satisfaction);
    let lists = Users {
        position_based: vec![position_based.expect("valid")],
        semi_bandits: vec![semi_bandit.expect("valid")],
        cascades: vec![cascade.expect("valid")],
        dependent_clicks: vec![dependent.expect("valid")],
        ..Users::default()
    };
    let shape = TableShape::new(12, 16).expect("valid");
    let needle = RankOneModel::needle(shape, (0.25, 0.5), (0.25, 0.5)).expect("valid");
    let cells = Users { rank_one: vec![needle], ..Users::default() };
    let pairs = Users { dueling: vec![in_line(20)], ..Users::default() };
    let found = [
        // Horizons so short that something happens.
        lines("lists", lists, 100, 1000),
        lines("cells", cells, 5000, 60_000),
        lines("pairs", pairs, 40_000, 60_000),
    ]
    .concat()
    .join("\n");
    assert!(
        found == EXPECTED.trim_end(),
        "choices have changed, so experiments give other results than before. If that is intended (another order of draws, \
         another rounding, a corrected policy), say so in the commit and put these lines into tests/data/value_stability.txt; \
         if not, look for what changed.\n\n{found}\n"
    );
}
