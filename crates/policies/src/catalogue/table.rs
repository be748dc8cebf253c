//! The catalogue as tables for readers, in Markdown.

use super::{Answers, AnyPolicy, Knowledge, ParameterRow, PolicySpec, Protocol, Row, maker, rows};
use crate::Prior;
use confidence::Probability;

/// The table of policies: the users, knowledge, cost and guarantee of each.
pub fn policies() -> String {
    let mut text = String::from(
        "| policy | type | users | must know | late feedback | live | cost of a round | guarantee | source |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for row in rows() {
        let families: Vec<&str> = row.families.iter().map(|family| family.plays()).collect();
        let mut told = row.told();
        if row.spec().needs_horizon() {
            told += ", horizon";
        }
        let answers = match row.answers {
            Answers::Late => "counts",
            Answers::IndependentOfClicks => "only if independent of clicks",
        };
        let types: Vec<String> = types(&row.spec()).iter().map(|name| format!("`{name}`")).collect();
        let (types, families) = (types.join(", "), families.join(", "));
        let cells = [
            &format!("`{}`", row.name),
            &types,
            &families,
            &told,
            answers,
            &live(row),
            row.cost,
            row.guarantee,
            row.source,
        ];
        line(&mut text, &cells);
    }
    text
}

/// The table of policies that are kept to compare with, and the policy that dominates each.
pub fn dominated() -> String {
    let mut text = String::from("| policy | dominated by | source |\n|---|---|---|\n");
    for row in rows() {
        for name in row.dominated_by {
            line(&mut text, &[&format!("`{}`", row.name), &format!("`{name}`"), row.source]);
        }
    }
    text
}

/// The table of parameters: names, defaults, possible values and meanings.
pub fn parameters() -> String {
    let mut text =
        String::from("| policy | parameter | default | values | meaning |\n|---|---|---|---|---|\n");
    for row in rows().iter().filter(|row| !row.parameters.is_empty()) {
        let defaults = row.spec().parameters();
        let mut name = format!("`{}`", row.name);
        for parameter in row.parameters {
            let ParameterRow { name: key, kind, meaning, .. } = parameter;
            let default = defaults.get(*key).map_or("absent".to_owned(), |value| format!("`{value}`"));
            line(&mut text, &[&name, &format!("`{key}`"), &default, &kind.to_string(), meaning]);
            name.clear();
        }
    }
    text
}

/// How a policy is used live, and the priors that it takes.
fn live(row: &Row) -> String {
    let prior = match priors(&row.spec()) {
        [_, false] => "",
        [false, true] => ", prior with `a` of at least 1",
        [true, true] => ", any prior",
    };
    format!("{}{prior}", row.live)
}

/// Returns whether a policy in live use takes the prior Beta(1/2, 1), and whether it takes the
/// uniform one.
fn priors(spec: &PolicySpec) -> [bool; 2] {
    let table = |protocol, a| {
        let known = Knowledge { examination: vec![Probability::ONE], ..Knowledge::sizes(1, 1) };
        let mut policy = AnyPolicy::build(*spec, protocol, known).ok()?;
        let bayesian = policy.tallies_mut()?.bayesian()?;
        Some(bayesian.set_prior(Prior::new(a, 1.0).ok()?).is_ok())
    };
    let takes = |a| table(Protocol::Cascade, a).or_else(|| table(Protocol::PositionBased, a));
    [0.5, 1.0].map(|a| takes(a).unwrap_or(false))
}

/// Adds a row in Markdown.
fn line(text: &mut String, cells: &[&str]) {
    text.extend(["| ", &cells.join(" | "), " |\n"]);
}

/// The names of the types that implement a policy.
fn types(spec: &PolicySpec) -> Vec<&'static str> {
    let all = Protocol::ALL.into_iter().filter_map(|users| maker(spec, users));
    let mut names: Vec<&str> = all.map(|maker| maker.type_name).collect();
    names.dedup();
    names
}
