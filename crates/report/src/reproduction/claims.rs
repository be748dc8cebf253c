//! Claims of an experiment: what each says, how it is judged, and what is known of it.

use std::collections::BTreeSet;

use confidence::Probability;

use super::panels::{read_fitted, read_label, read_power, read_quantity};
use super::{Extent, Panel, Reproduction, Variant, tables};
use crate::claims::{At, Claim, Column, FitClaim, Growth, Limits, Ratio, ShareLimit, Test, Verdict};
use crate::series::Series;
use experiment::Task;
use experiment::number;
use experiment::result::{EndValue, Quantity};
use experiment::toml_reader::{Error, Field, Table};
use experiment::toml_reader::{choice, one_of};

/// The level of a comparison when a file says nothing.
const LEVEL: f64 = 1e-3;

/// Kinds of tests.
const KINDS: [&str; 14] = [
    "order",
    "near-optimum",
    "below-bound",
    "parallel",
    "same-slope",
    "ratio",
    "printed",
    "growth",
    "fit",
    "share",
    "time-ratio",
    "condorcet",
    "table",
    "not-testable",
];

pub(super) fn read(
    root: &Table<'_>,
    reproduction: &Reproduction,
    extent: Extent,
) -> Result<Vec<Claim>, Error> {
    let level = read_level(root)?.unwrap_or(LEVEL);
    let mut claims = Vec::new();
    let mut names = BTreeSet::new();
    for table in tables(root, "claims")? {
        let claim = read_claim(&table, level, reproduction, extent)?;
        if !names.insert(claim.name.clone()) {
            let name: Field<'_> = table.required("name")?;
            return Err(
                name.error(format!("claim {} is already given: expected another name", name.describe()))
            );
        }
        claims.push(claim);
    }
    root.finish()?;
    Ok(claims)
}

fn read_level(table: &Table<'_>) -> Result<Option<f64>, Error> {
    let Some(field) = table.field("level") else { return Ok(None) };
    let level: f64 = field.get()?;
    if level > 0.0 && level < 0.5 {
        return Ok(Some(level));
    }
    Err(field.error(format!("{} is no level: expected a number above 0 and below 0.5", field.describe())))
}

fn read_claim(
    table: &Table<'_>,
    level: f64,
    reproduction: &Reproduction,
    extent: Extent,
) -> Result<Claim, Error> {
    let name = table.required("name")?;
    let says: String = table.required("says")?;
    let place = table.required("place")?;
    let level = read_level(table)?.unwrap_or(level);
    let panels: Vec<&str> = reproduction.panels.iter().map(|panel| panel.name.as_str()).collect();
    let mut panel_name = match table.field("panel") {
        Some(field) => Some(one_of(&field, &panels, "panel")?),
        None => None,
    };
    let remark = table.optional("remark")?;
    let quick = table.optional::<Table<'_>>("quick")?.filter(|_| extent == Extent::Quick);
    if let Some(field) = quick.as_ref().and_then(|quick| quick.field("panel")) {
        panel_name = Some(one_of(&field, &panels, "panel")?);
    }
    let panel = panel_name.as_deref().and_then(|name| reproduction.panel(name));
    let (own_test, own_known): (Table<'_>, Table<'_>) = (table.required("test")?, table.required("known")?);
    table.finish()?;
    let claim = |test, value, says, (known, evidence)| Claim {
        name,
        panel: panel_name.clone(),
        says,
        place,
        level,
        test,
        value,
        known,
        evidence,
        remark,
    };
    let left = match &quick {
        Some(quick) => quick.optional("left")?,
        None => panel.and_then(|panel| panel.left.clone()),
    };
    if let Some(reason) = left {
        quick.map_or(Ok(()), |quick| quick.finish())?;
        return Ok(claim(Test::Left { reason }, EndValue::Regret, says, read_known(&own_known)?));
    }
    if quick.is_none() && panel.is_some_and(|panel| panel.differs) {
        return Err(table.missing(
            "quick",
            "what is known of it in a quick check, which simulates something else than the full one, or why it is left out",
        ));
    }
    let test = match &quick {
        Some(quick) => quick.optional("test")?.unwrap_or(own_test),
        None => own_test,
    };
    let value = read_value(&test, panel)?;
    let read = read_test(table, &test, panel_name.as_deref(), value, reproduction)?;
    let Some(quick) = quick else { return Ok(claim(read, value, says, read_known(&own_known)?)) };
    let (known, instead): (Table<'_>, String) = (quick.required("known")?, quick.required("instead")?);
    quick.finish()?;
    Ok(claim(read, value, format!("{says} Quick check: {instead}."), read_known(&known)?))
}

/// What is known of a claim, and why.
fn read_known(table: &Table<'_>) -> Result<(Verdict, String), Error> {
    let verdict = choice(&table.required("verdict")?, &Verdict::NAMES, "verdict")?;
    let field: Field<'_> = table.required("evidence")?;
    let evidence: String = field.get()?;
    if evidence.trim().is_empty() {
        return Err(
            field.error("no evidence given: expected the run, or the reason, that the verdict rests on")
        );
    }
    table.finish()?;
    Ok((verdict, evidence))
}

/// What of the runs is judged: what the panel's task is about, unless another quantity is named.
fn read_value(table: &Table<'_>, panel: Option<&Panel>) -> Result<EndValue, Error> {
    let Some(panel) = panel else { return Ok(EndValue::Regret) };
    Ok(read_quantity(table, panel)?.unwrap_or(EndValue::of_task(panel.task())))
}

fn read_test(
    claim: &Table<'_>,
    table: &Table<'_>,
    panel: Option<&str>,
    value: EndValue,
    reproduction: &Reproduction,
) -> Result<Test, Error> {
    let kind: Field<'_> = table.required("kind")?;
    let name = one_of(&kind, &KINDS, "kind")?;
    let simulated = || match panel.and_then(|panel| reproduction.panel(panel)) {
        Some(panel) => Ok(panel),
        None => Err(claim.missing("panel", "the name of the panel whose result is judged")),
    };
    let of_regret = ["near-optimum", "below-bound", "parallel", "same-slope"].contains(&name.as_str());
    if of_regret && value != EndValue::Regret {
        return Err(kind.error(format!(
            "{} judges regret, which the panel's runs do not record: expected \"order\" or \"share\"",
            kind.describe()
        )));
    }
    let test = match name.as_str() {
        "fit" => {
            let panel = simulated()?;
            check_paired(&kind, panel, &panel.series())?;
            let power = read_power(table, &kind, panel)?;
            let policy = read_fitted(table, panel)?;
            let field: Field<'_> = table.required("r-squared")?;
            let r_squared = field.get::<Probability>()?.get();
            Test::Fit(FitClaim { policy, power, r_squared })
        }
        "time-ratio" => read_time_ratio(table, &kind, simulated()?)?,
        "condorcet" => read_condorcet(table, &kind, simulated()?)?,
        "share" => read_share(table, &kind, simulated()?, value)?,
        "order" => read_order(table, simulated()?)?,
        "near-optimum" => {
            let panel = simulated()?;
            let policies = read_series(table, "policies", panel)?;
            let share: Field<'_> = table.required("share")?;
            for variant in variants_of(panel, &policies) {
                let unit = variant.experiment.instances().unit();
                if unit != "clicks" {
                    return Err(kind
                        .error(format!("these users' reward is {unit}, not clicks: no such test of them")));
                }
            }
            let value = share.get::<Probability>()?.get();
            if value == 0.0 || value == 1.0 {
                return Err(
                    share.error("the share is 0 or 1, which any or no policy has: expected one between")
                );
            }
            Test::NearOptimum { share: value, t: read_round(table, panel, &policies)?, policies }
        }
        "below-bound" => {
            let panel = simulated()?;
            let series = read_series(table, "series", panel)?;
            let bound = read_bound(table, &kind, panel, &series)?;
            Test::BelowBound { t: read_round(table, panel, &series)?, series, bound }
        }
        "parallel" => {
            let panel = simulated()?;
            let series = read_series(table, "series", panel)?;
            let bound = read_bound(table, &kind, panel, &series)?;
            Test::Parallel {
                slope: read_slope(&table.required("slope")?, panel, &series)?,
                series,
                margin: read_margin(table)?,
                bound,
            }
        }
        "same-slope" => {
            let panel = simulated()?;
            let series = read_series(table, "series", panel)?;
            let field: Field<'_> = table.required("series")?;
            if series.len() < 2 {
                return Err(field.error("one series alone: expected at least two, to compare"));
            }
            check_paired(&field, panel, &series)?;
            Test::SameSlope {
                slope: read_slope(&table.required("slope")?, panel, &series)?,
                series,
                margin: read_margin(table)?,
            }
        }
        "ratio" => Test::Ratio(read_ratio(table, simulated()?)?),
        "printed" => read_printed(table, simulated()?, value)?,
        "growth" => Test::Growth(read_growth(table, simulated()?)?),
        "table" => read_table_test(table, &kind, reproduction)?,
        _ => Test::NotTestable { reason: table.required("reason")? },
    };
    table.finish()?;
    Ok(test)
}

fn read_time_ratio(table: &Table<'_>, kind: &Field<'_>, panel: &Panel) -> Result<Test, Error> {
    if !panel.has_duels() || panel.variants.len() < 2 {
        return Err(kind.error(format!(
            "{} compares the accuracy of several variants, of dueling users, with a horizon each",
            kind.describe()
        )));
    }
    check_paired(kind, panel, &panel.series())?;
    let policies = [read_label(table, "policy", panel)?, read_label(table, "by", panel)?];
    Ok(Test::TimeRatio { policies, limits: read_limits(table)? })
}

fn read_condorcet(table: &Table<'_>, kind: &Field<'_>, panel: &Panel) -> Result<Test, Error> {
    let matrix = panel.matrix().ok_or_else(|| kind.error("the panel has no preferences"))?;
    let shares = (1..=matrix.shape().n_items()).map(|size| matrix.condorcet_share(size));
    let shares = shares.collect::<Result<_, _>>().map_err(|error| kind.error(error.to_string()))?;
    Ok(Test::Condorcet { least: table.required::<Probability>("least")?.get(), shares })
}

fn read_order(table: &Table<'_>, panel: &Panel) -> Result<Test, Error> {
    let lower = read_series(table, "lower", panel)?;
    let upper = read_series(table, "upper", panel)?;
    if let Some(both) = lower.iter().find(|series| upper.contains(series)) {
        return Err(table.error(format!("policy \"{both}\" is in `lower` and in `upper`")));
    }
    let all = [lower.as_slice(), upper.as_slice()].concat();
    check_paired(&table.required("upper")?, panel, &all)?;
    let at = match table.field("slope") {
        Some(slope) if panel.task() != Task::Regret => {
            return Err(slope.error("the panel's runs have no checkpoints: leave it out"));
        }
        Some(slope) => {
            if let Some(t) = table.field("t") {
                return Err(
                    t.error("`slope` says which rounds are compared: expected `t` or `slope`, not both")
                );
            }
            let (from, to) = read_slope(&slope, panel, &all)?;
            At::Slope(from, to)
        }
        None => At::Round(read_round(table, panel, &all)?),
    };
    let factor = match table.field("factor") {
        Some(field) => {
            let factor: f64 = field.get()?;
            if !(factor > 0.0 && factor <= 1e6) {
                return Err(
                    field.error(format!("{factor} is no factor: expected a number above 0, at most 1e6"))
                );
            }
            factor
        }
        None => 1.0,
    };
    Ok(Test::Order { lower, upper, at, factor })
}

fn read_ratio(table: &Table<'_>, panel: &Panel) -> Result<Ratio, Error> {
    let series = read_series(table, "series", panel)?;
    let by = read_series(table, "by", panel)?;
    let field: Field<'_> = table.required("by")?;
    if series.len() != by.len() {
        let (above, below) = (series.len(), by.len());
        return Err(
            field.error(format!("{above} series by {below}: expected as many, the first by the first"))
        );
    }
    let all = [series.as_slice(), by.as_slice()].concat();
    check_paired(&field, panel, &all)?;
    let by_round = table.field("by-t");
    let t = read_round(table, panel, if by_round.is_some() { &series } else { &all })?;
    let by_t = by_round.as_ref().map(Field::get).transpose()?;
    if let (Some(field), Some(round)) = (&by_round, by_t) {
        check_round(field, round, &variants_of(panel, &by))?;
    }
    if (by_t.is_none() || by_t == t)
        && let Some((same, _)) = series.iter().zip(&by).find(|(series, by)| series == by)
    {
        return Err(field.error(format!("\"{same}\" by itself at the same round is 1")));
    }
    Ok(Ratio { series, by, t, by_t, limits: read_limits(table)? })
}

fn read_printed(table: &Table<'_>, panel: &Panel, value: EndValue) -> Result<Test, Error> {
    if value != EndValue::of_task(panel.task())
        && let Some(quantity) = table.field("quantity")
    {
        return Err(quantity.error("the panel's printed numbers are of another: leave it out"));
    }
    let mut printed = Vec::new();
    for series in read_series(table, "series", panel)? {
        let Some(number) = panel.printed.iter().find(|printed| printed.series == series) else {
            let field: Field<'_> = table.required("series")?;
            return Err(field.error(format!("\"{series}\" has no number in the panel's `printed`")));
        };
        if number.value <= 0.0 {
            let field: Field<'_> = table.required("series")?;
            return Err(field.error(format!("what is printed of \"{series}\" is not above 0: no ratio")));
        }
        printed.push((series, number.value));
    }
    Ok(Test::Printed { printed, limits: read_limits(table)? })
}

fn read_growth(table: &Table<'_>, panel: &Panel) -> Result<Growth, Error> {
    let series = read_series(table, "series", panel)?;
    let field: Field<'_> = table.required("series")?;
    if series.len() < 3 {
        return Err(
            field.error(format!("{} series: expected at least three, to fit a line to", series.len()))
        );
    }
    check_paired(&field, panel, &series)?;
    let field: Field<'_> = table.required("sizes")?;
    let sizes: Vec<f64> = field.get()?;
    if sizes.len() != series.len() {
        let (given, wanted) = (sizes.len(), series.len());
        return Err(field.error(format!("{given} sizes: expected one for each of the {wanted} series")));
    }
    if !(sizes[0] > 0.0 && sizes.is_sorted_by(|a, b| a < b) && sizes.iter().all(|size| size.is_finite())) {
        return Err(field.error("expected numbers above 0, each larger than the one before"));
    }
    Ok(Growth { t: read_round(table, panel, &series)?, series, sizes, limits: read_limits(table)? })
}

/// `least`, `most`, or both.
fn read_limits(table: &Table<'_>) -> Result<Limits, Error> {
    let limit = |key: &str| -> Result<Option<f64>, Error> {
        let Some(field) = table.field(key) else { return Ok(None) };
        let limit: f64 = field.get()?;
        if limit > 0.0 && limit.is_finite() {
            return Ok(Some(limit));
        }
        Err(field.error(format!("{} is no limit: expected a number above 0", field.describe())))
    };
    match (limit("least")?, limit("most")?) {
        (Some(least), Some(most)) if least < most => Ok(Limits::Between(least, most)),
        (Some(_), Some(_)) => Err(table
            .required::<Field<'_>>("most")?
            .error("`most` is not above `least`: expected a larger number")),
        (Some(least), None) => Ok(Limits::AtLeast(least)),
        (None, Some(most)) => Ok(Limits::AtMost(most)),
        (None, None) => Err(table.missing("least", "a number, here or as `most`")),
    }
}

/// What `below` is.
const BELOW: &str = "the share of runs that these have to be enough to see";

fn read_share(table: &Table<'_>, kind: &Field<'_>, panel: &Panel, value: EndValue) -> Result<Test, Error> {
    if !matches!(value, EndValue::Answer(Quantity::Wrong | Quantity::Capped)) {
        let place = table.field("quantity");
        return Err(place.as_ref().unwrap_or(kind).error(
            "a share is one of runs with a wrong answer or with none: expected `quantity`, \"wrong\" or \"capped\"",
        ));
    }
    let series = read_series(table, "series", panel)?;
    let share = |key: &str| -> Result<Option<f64>, Error> {
        let Some(field) = table.field(key) else { return Ok(None) };
        let share = field.get::<Probability>()?.get();
        if share < 1.0 && (share > 0.0 || key == "most") {
            return Ok(Some(share));
        }
        Err(field.error(format!("{} is no share that could be missed", field.describe())))
    };
    let (most, below) = (share("most")?, table.field("below"));
    if let (Some(field), false) = (&below, most == Some(0.0)) {
        return Err(field.error("`below` belongs to `most = 0`: leave it out"));
    }
    let limit = match (most, share("least")?) {
        (Some(0.0), None) => {
            let field = below.ok_or_else(|| table.missing("below", BELOW))?;
            let below = field.get::<Probability>()?.get();
            if below == 0.0 || below == 1.0 {
                return Err(
                    field.error(format!("{} is none or all of them: expected {BELOW}", field.describe()))
                );
            }
            ShareLimit::Never { below }
        }
        (Some(most), None) => ShareLimit::Most(most),
        (None, Some(least)) => ShareLimit::Least(least),
        (Some(_), Some(_)) => {
            return Err(table.required::<Field<'_>>("least")?.error("expected `most` or `least`, not both"));
        }
        (None, None) => return Err(table.missing("most", "a share, here or as `least`")),
    };
    Ok(Test::Share { series, limit })
}

fn read_table_test(table: &Table<'_>, kind: &Field<'_>, reproduction: &Reproduction) -> Result<Test, Error> {
    let Some(printed) = &reproduction.printed else {
        return Err(
            kind.error("the experiment has no printed table: expected `[printed]` in experiment.toml")
        );
    };
    let list: Field<'_> = table.required("columns")?;
    let mut columns = Vec::new();
    for field in list.get::<Vec<Field<'_>>>()? {
        let column = choice(&field, &Column::NAMES, "column")?;
        if let Some(row) =
            printed.rows.iter().find(|row| row.printed.iter().all(|(key, _)| key != column.name()))
        {
            return Err(field.error(format!("the printed row of {:?} has no {:?}", row.name, column.name())));
        }
        columns.push(column);
    }
    if columns.is_empty() {
        return Err(list.error("no columns: expected at least one"));
    }
    let decimals: Field<'_> = table.required("decimals")?;
    let decimals = u32::try_from(decimals.integer_in(&(0..=12))?).unwrap_or(12);
    Ok(Test::Table { columns, decimals })
}

/// Series of a panel, at least one, each once.
fn read_series(table: &Table<'_>, key: &str, panel: &Panel) -> Result<Vec<Series>, Error> {
    let list: Field<'_> = table.required(key)?;
    let series = panel.series();
    let names: Vec<String> = series.iter().map(Series::to_string).collect();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let kind = if panel.has_variants() { "variant/policy" } else { "policy" };
    let mut found: Vec<Series> = Vec::new();
    for field in list.get::<Vec<Field<'_>>>()? {
        let name = one_of(&field, &known, kind)?;
        let Some(index) = names.iter().position(|other| *other == name) else { continue };
        if found.contains(&series[index]) {
            return Err(field.error(format!("{} is already given", field.describe())));
        }
        found.push(series[index].clone());
    }
    if found.is_empty() { Err(list.error("no policies: expected at least one label")) } else { Ok(found) }
}

/// The variants that some series belong to.
fn variants_of<'a>(panel: &'a Panel, series: &[Series]) -> Vec<&'a Variant> {
    panel.variants.iter().filter(|variant| series.iter().any(|one| one.variant == variant.name)).collect()
}

/// Refuses series whose runs are not the same users: of variants with another number of runs or another seed.
fn check_paired(field: &Field<'_>, panel: &Panel, series: &[Series]) -> Result<(), Error> {
    let variants = variants_of(panel, series);
    for pair in variants.windows(2) {
        let [one, other] = [&pair[0].experiment, &pair[1].experiment];
        if (one.runs(), one.seed()) != (other.runs(), other.seed()) {
            return Err(field.error(format!(
                "the {} has {} runs with seed {}, the {} {} with seed {}: expected the same, since they \
                 are compared run by run",
                pair[0].described(),
                one.runs(),
                one.seed(),
                pair[1].described(),
                other.runs(),
                other.seed()
            )));
        }
    }
    Ok(())
}

/// A checkpoint of every variant that some series belong to; the last one when it is not given, if that is the same for all.
fn read_round(table: &Table<'_>, panel: &Panel, series: &[Series]) -> Result<Option<u64>, Error> {
    if panel.task() != Task::Regret {
        return match table.field("t") {
            Some(field) => Err(field.error("the panel's runs are judged as a whole: leave it out")),
            None => Ok(None),
        };
    }
    let variants = variants_of(panel, series);
    if let Some(field) = table.field("t") {
        let round: u64 = field.get()?;
        check_round(&field, round, &variants)?;
        return Ok(Some(round));
    }
    if variants.windows(2).any(|pair| pair[0].experiment.horizon() != pair[1].experiment.horizon()) {
        return Err(table.missing("t", "a checkpoint, since the variants have different horizons"));
    }
    Ok(None)
}

fn check_round(field: &Field<'_>, round: u64, variants: &[&Variant]) -> Result<(), Error> {
    for variant in variants {
        let checkpoints = &variant.experiment.checkpoints();
        if !checkpoints.contains(&round) {
            let nearest = checkpoints.iter().min_by_key(|t| t.abs_diff(round)).copied();
            let hint = nearest.map_or_else(String::new, |t| format!(": the nearest one is {t}"));
            return Err(
                field.error(format!("round {round} is no checkpoint of the {}{hint}", variant.described()))
            );
        }
    }
    Ok(())
}

/// Two checkpoints between which a slope is measured.
fn read_slope(field: &Field<'_>, panel: &Panel, series: &[Series]) -> Result<(u64, u64), Error> {
    let ends: Vec<Field<'_>> = field.get()?;
    let [first, second] = ends.as_slice() else {
        return Err(
            field.error(format!("{}: expected two, [t1, t2]", number::counted(ends.len() as u64, "round")))
        );
    };
    let (from, to): (u64, u64) = (first.get()?, second.get()?);
    if from >= to {
        return Err(
            field.error(format!("round {to} is not after round {from}: expected [t1, t2] with t1 < t2"))
        );
    }
    let variants = variants_of(panel, series);
    check_round(first, from, &variants)?;
    check_round(second, to, &variants)?;
    Ok((from, to))
}

/// The label of a bound that the instances of all series have; none for the first one.
fn read_bound(
    table: &Table<'_>,
    kind: &Field<'_>,
    panel: &Panel,
    series: &[Series],
) -> Result<Option<String>, Error> {
    let field = table.field("bound");
    let wanted: Option<String> = field.as_ref().map(Field::get).transpose()?;
    for variant in variants_of(panel, series) {
        let Some((label, _)) = variant.experiment.instances().lower_bound() else {
            return Err(kind.error("the panel's instances have no lower bound to compare with"));
        };
        if let (Some(field), Some(wanted)) = (&field, &wanted)
            && wanted != label
        {
            return Err(field.error(format!("no bound has the label {wanted:?}: expected {label:?}")));
        }
    }
    Ok(wanted)
}

/// How far two slopes may be apart, as a share.
fn read_margin(table: &Table<'_>) -> Result<f64, Error> {
    let field: Field<'_> = table.required("margin")?;
    let margin: f64 = field.get()?;
    if margin > 0.0 && margin < 1.0 {
        return Ok(margin);
    }
    Err(field.error(format!("{} is no margin: expected a share above 0 and below 1", field.describe())))
}
