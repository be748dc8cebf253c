//! Reads the claims of an experiment: statements, tests, and known verdicts.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Extent, Panel, Reproduction, tables};
use crate::claims::{Claim, KINDS, Kind, LEVEL, MissingTest, Test, Verdict};
use crate::reading::{KindReader, read_quantity};
use documents::toml_reader::{Error, Field, Table, all, choice, collect, one_of};
use experiment::result::EndValue;

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

/// Reads a claim; if there are errors, all of them.
fn read_claim(
    table: &Table<'_>,
    level: f64,
    reproduction: &Reproduction,
    extent: Extent,
) -> Result<Claim, Error> {
    let texts = all((table.required("name"), table.required("says"), table.required("place")));
    let own = all((read_level(table), table.optional("remark")));
    let quick = table.optional::<Table<'_>>("quick").map(|quick| quick.filter(|_| extent == Extent::Quick));
    let panel = read_panel_name(table, quick.as_ref().ok().and_then(Option::as_ref), reproduction);
    let tables = all((table.required::<Table<'_>>("test"), table.required::<Table<'_>>("known")));
    let finished = table.finish();
    let judged = match (&quick, &panel, &tables) {
        (Ok(quick), Ok(panel), Ok((test, known))) => {
            let panel = panel.as_deref().and_then(|name| reproduction.panel(name));
            read_judgment(table, (test, known), quick.as_ref(), panel, reproduction).map(Some)
        }
        _ => Ok(None),
    };
    let parts = all((quick, tables, finished)).map(|_| ());
    let (texts, own, panel, (), judged) = all((texts, own, panel, parts, judged))?;
    let ((name, says, place), (own_level, remark)): ((_, String, _), _) = (texts, own);
    let judged = judged.expect("a part without which nothing is judged is an error");
    let ((test, value), instead, (known, evidence)) = judged;
    let full = instead.as_ref().map(|&(_, full)| full).filter(|&full| full != known);
    let says = match instead {
        Some((instead, _)) => format!("{says} Quick check: {instead}."),
        None => says,
    };
    let level = own_level.unwrap_or(level);
    Ok(Claim { name, panel, says, place, level, test, value, known, full, evidence, remark })
}

/// Reads the panel of a claim. A quick check may be about another one.
fn read_panel_name(
    table: &Table<'_>,
    quick: Option<&Table<'_>>,
    reproduction: &Reproduction,
) -> Result<Option<String>, Error> {
    let panels: Vec<&str> = reproduction.panels.iter().map(|panel| panel.name.as_str()).collect();
    let read = |field: Option<Field<'_>>| field.map(|field| one_of(&field, &panels, "panel")).transpose();
    let (own, of_quick) =
        all((read(table.field("panel")), read(quick.and_then(|quick| quick.field("panel")))))?;
    Ok(of_quick.or(own))
}

/// How a claim is judged: the test and its value, that of a quick check instead in words beside the
/// known verdict of the full run, and the known verdict with its evidence.
type Judgment = ((Arc<dyn Test>, EndValue), Option<(String, Verdict)>, (Verdict, String));

fn read_judgment(
    claim: &Table<'_>,
    (test, known): (&Table<'_>, &Table<'_>),
    quick: Option<&Table<'_>>,
    panel: Option<&Panel>,
    reproduction: &Reproduction,
) -> Result<Judgment, Error> {
    let left = match quick {
        Some(quick) => quick.optional("left")?,
        None => panel.and_then(|panel| panel.left.clone()),
    };
    if let Some(reason) = left {
        let (known, ()) = all((read_known(known), quick.map_or(Ok(()), Table::finish)))?;
        return Ok(((MissingTest::left(reason), EndValue::Regret), None, known));
    }
    let Some(quick) = quick else {
        if panel.is_some_and(|panel| panel.differs) {
            return Err(claim.missing(
                "quick",
                "the verdict known for a quick check, which simulates something else than the full run, or the reason to leave it out",
            ));
        }
        let (test, known) = all((read_test(claim, test, panel, reproduction), read_known(known)))?;
        return Ok((test, None, known));
    };
    let own = quick.optional::<Table<'_>>("test");
    let of_quick = quick.required::<Table<'_>>("known").and_then(|known| read_known(&known));
    let instead = quick.required("instead");
    let finished = quick.finish();
    let test = own.and_then(|own| read_test(claim, own.as_ref().unwrap_or(test), panel, reproduction));
    let (test, of_quick, (full, _), instead, ()) =
        all((test, of_quick, read_known(known), instead, finished))?;
    Ok((test, Some((instead, full)), of_quick))
}

/// Reads the test of a claim, and the value that it judges.
fn read_test(
    claim: &Table<'_>,
    test: &Table<'_>,
    panel: Option<&Panel>,
    reproduction: &Reproduction,
) -> Result<(Arc<dyn Test>, EndValue), Error> {
    let value = match panel {
        Some(panel) => read_quantity(test, panel)?.unwrap_or(EndValue::of_task(panel.task())),
        None => EndValue::Regret,
    };
    let kind: Field<'_> = test.required("kind")?;
    if let Some(Panel { name, variants, .. }) = panel
        && variants.iter().any(|variant| variant.experiment.runs_per_draw() > 1)
    {
        return Err(kind.error(format!(
            "several runs of panel {name:?} meet the same users, and claims are tested on independent runs: \
             expected no runs-per-draw"
        )));
    }
    let printed = reproduction.printed.as_ref();
    let reading = KindReader { claim, table: test, kind, panel, printed, value };
    Ok((Kind::read(&KINDS, &reading)?.1, value))
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
