//! Reads the claims of an experiment: statements, tests, and known verdicts.

use std::collections::BTreeSet;

use super::fields::{read_quantity, tables};
use super::{Extent, Panel, Reproduction};
use crate::claims::{Claim, Kind, Reading, Untested, Verdict};
use experiment::result::EndValue;
use experiment::toml_reader::{Error, Field, Table, all, choice, collect, one_of};

/// The default level of a claim.
const LEVEL: f64 = 1e-3;

pub(super) fn read(
    root: &Table<'_>,
    reproduction: &Reproduction,
    extent: Extent,
) -> Result<Vec<Claim>, Error> {
    let level = read_level(root);
    let own = *level.as_ref().unwrap_or(&None);
    let mut names = BTreeSet::new();
    let claims = tables(root, "claims").and_then(|tables| {
        collect(tables.iter().map(|table| {
            let claim = read_claim(table, own.unwrap_or(LEVEL), reproduction, extent)?;
            if !names.insert(claim.name.clone()) {
                let name: Field<'_> = table.required("name")?;
                return Err(
                    name.error(format!("claim {} is already given: expected another name", name.describe()))
                );
            }
            Ok(claim)
        }))
    });
    let (_, claims, ()) = all((level, claims, root.finish()))?;
    Ok(claims)
}

fn read_level(table: &Table<'_>) -> Result<Option<f64>, Error> {
    let Some(field) = table.field("level") else { return Ok(None) };
    let level: f64 = field.get()?;
    if level > 0.0 && level < 0.5 {
        return Ok(Some(level));
    }
    Err(field.error(format!("{} is not a level: expected a number above 0 and below 0.5", field.describe())))
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
        return Ok(claim(Untested::left(reason), EndValue::Regret, says, read_known(&own_known)?));
    }
    if quick.is_none() && panel.is_some_and(|panel| panel.differs) {
        return Err(table.missing(
            "quick",
            "the verdict known for a quick check, which simulates something else than the full run, or the reason to leave it out",
        ));
    }
    let test = match &quick {
        Some(quick) => quick.optional("test")?.unwrap_or(own_test),
        None => own_test,
    };
    let value = read_value(&test, panel)?;
    let kind: Field<'_> = test.required("kind")?;
    let printed = reproduction.printed.as_ref();
    let reading = Reading { claim: table, table: &test, kind, panel, printed, value };
    let read = Kind::named(&reading.kind)?.read(&reading)?;
    let Some(quick) = quick else { return Ok(claim(read, value, says, read_known(&own_known)?)) };
    let (known, instead): (Table<'_>, String) = (quick.required("known")?, quick.required("instead")?);
    quick.finish()?;
    Ok(claim(read, value, format!("{says} Quick check: {instead}."), read_known(&known)?))
}

/// Reads the known verdict of a claim, and the evidence for it.
fn read_known(table: &Table<'_>) -> Result<(Verdict, String), Error> {
    let verdict = choice(&table.required("verdict")?, &Verdict::NAMES, "verdict")?;
    let field: Field<'_> = table.required("evidence")?;
    let evidence: String = field.get()?;
    if evidence.trim().is_empty() {
        return Err(
            field.error("no evidence given: expected the run or the reason that the verdict rests on")
        );
    }
    table.finish()?;
    Ok((verdict, evidence))
}

/// Reads the value that is judged: the main value of the panel's task, unless another quantity is named.
fn read_value(table: &Table<'_>, panel: Option<&Panel>) -> Result<EndValue, Error> {
    let Some(panel) = panel else { return Ok(EndValue::Regret) };
    Ok(read_quantity(table, panel)?.unwrap_or(EndValue::of_task(panel.task())))
}
