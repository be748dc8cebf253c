//! Reads tests from `claims.toml`: the input of a kind's reader, and the keys that several kinds share.

use super::Limits;
use super::order::ComparedAt;
use crate::reproduction::{Panel, Printed, Variant};
use crate::series::Series;
use experiment::Task;
use experiment::number;
use experiment::result::EndValue;
use experiment::toml_reader::{Error, Field, Table, one_of};

/// The input of a kind's reader: the table of a test, and what the test may refer to.
pub(crate) struct Reading<'a, 'doc> {
    /// The claim's table.
    pub(crate) claim: &'a Table<'doc>,
    /// The test's table.
    pub(crate) table: &'a Table<'doc>,
    /// The key `kind` of the test.
    pub(crate) kind: Field<'doc>,
    /// The panel that the claim is about.
    pub(crate) panel: Option<&'a Panel>,
    /// The experiment's printed table.
    pub(crate) printed: Option<&'a Printed>,
    /// The value of the runs that is judged.
    pub(crate) value: EndValue,
}

impl<'a> Reading<'a, '_> {
    /// The panel that the claim is about. Refuses a claim without a panel.
    pub(super) fn panel(&self) -> Result<&'a Panel, Error> {
        let missing = || self.claim.missing("panel", "the name of the panel whose result is judged");
        let panel = self.panel.ok_or_else(missing)?;
        let shares_users = |variant: &Variant| variant.experiment.runs_per_draw() > 1;
        if panel.variants.iter().any(shares_users) {
            return Err(self.kind.error(format!(
                "several runs of panel {:?} meet the same users, and claims are tested on independent runs: expected no \
                 runs-per-draw",
                panel.name
            )));
        }
        Ok(panel)
    }

    /// The panel that the claim is about, for a test that judges regret only. Refuses any other value.
    pub(super) fn panel_with_regret(&self) -> Result<&'a Panel, Error> {
        let panel = self.panel()?;
        if self.value == EndValue::Regret {
            return Ok(panel);
        }
        Err(self.kind.error(format!(
            "{} judges regret, which the panel's runs do not record: expected \"order\" or \"share\"",
            self.kind.describe()
        )))
    }

    /// Reads series of the panel: at least one, each once.
    pub(super) fn series(&self, key: &str) -> Result<Vec<Series>, Error> {
        let panel = self.panel()?;
        let list: Field<'_> = self.table.required(key)?;
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
        if found.is_empty() {
            return Err(list.error("no policies: expected at least one label"));
        }
        Ok(found)
    }

    /// Reads `lower` and `upper`, series that are compared run by run. Refuses one that is in both.
    pub(super) fn lower_and_upper(&self) -> Result<[Vec<Series>; 2], Error> {
        let (panel, table) = (self.panel()?, self.table);
        let (lower, upper) = (self.series("lower")?, self.series("upper")?);
        if let Some(both) = lower.iter().find(|series| upper.contains(series)) {
            return Err(table.error(format!("policy \"{both}\" is in `lower` and in `upper`")));
        }
        let all = [lower.as_slice(), upper.as_slice()].concat();
        check_paired(&table.required("upper")?, panel, &all)?;
        Ok([lower, upper])
    }

    /// Reads `factor`, by which the higher of two values is multiplied; 1 by default.
    pub(super) fn factor(&self) -> Result<f64, Error> {
        let Some(field) = self.table.field("factor") else { return Ok(1.0) };
        let factor: f64 = field.get()?;
        if factor > 0.0 && factor <= 1e6 {
            return Ok(factor);
        }
        Err(field.error(format!("{factor} is not a factor: expected a number above 0, at most 1e6")))
    }

    /// Reads `t`, a checkpoint of every variant of these series. It may be absent, for the last checkpoint, if all variants have the same
    /// horizon.
    pub(super) fn round(&self, series: &[Series]) -> Result<Option<u64>, Error> {
        let panel = self.panel()?;
        if panel.task() != Task::Regret {
            return match self.table.field("t") {
                Some(field) => Err(field.error("the panel's runs are judged as a whole: leave it out")),
                None => Ok(None),
            };
        }
        let variants = variants_of(panel, series);
        if let Some(field) = self.table.field("t") {
            let round: u64 = field.get()?;
            check_round(&field, round, &variants)?;
            return Ok(Some(round));
        }
        if variants.windows(2).any(|pair| pair[0].experiment.horizon() != pair[1].experiment.horizon()) {
            return Err(self.table.missing("t", "a checkpoint, since the variants have different horizons"));
        }
        Ok(None)
    }

    /// Reads the quantity by which these series are compared: `t` or `slope`.
    pub(super) fn compared_at(&self, series: &[Series]) -> Result<ComparedAt, Error> {
        match self.table.field("slope") {
            Some(slope) if self.panel()?.task() != Task::Regret => {
                Err(slope.error("the panel's runs have no checkpoints: leave it out"))
            }
            Some(_) => {
                if let Some(t) = self.table.field("t") {
                    return Err(
                        t.error("`slope` already gives the rounds: expected `t` or `slope`, not both")
                    );
                }
                let (from, to) = self.slope(series)?;
                Ok(ComparedAt::Slope(from, to))
            }
            None => Ok(ComparedAt::Round(self.round(series)?)),
        }
    }

    /// Reads `slope`, two checkpoints between which a slope is measured.
    pub(super) fn slope(&self, series: &[Series]) -> Result<(u64, u64), Error> {
        let panel = self.panel()?;
        let field: Field<'_> = self.table.required("slope")?;
        let ends: Vec<Field<'_>> = field.get()?;
        let [first, second] = ends.as_slice() else {
            let rounds = number::counted(ends.len() as u64, "round");
            return Err(field.error(format!("{rounds}: expected two, [t1, t2]")));
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

    /// Reads `bound`, the label of a bound that the instances of all series have; `None` for the first bound.
    pub(super) fn bound(&self, series: &[Series]) -> Result<Option<String>, Error> {
        let panel = self.panel()?;
        let field = self.table.field("bound");
        let wanted: Option<String> = field.as_ref().map(Field::get).transpose()?;
        for variant in variants_of(panel, series) {
            let Some((label, _)) = variant.experiment.instances().lower_bound() else {
                return Err(self.kind.error("the panel's instances have no lower bound to compare with"));
            };
            if let (Some(field), Some(wanted)) = (&field, &wanted)
                && wanted != label
            {
                return Err(field.error(format!("no bound has the label {wanted:?}: expected {label:?}")));
            }
        }
        Ok(wanted)
    }

    /// Reads `least`, `most`, or both.
    pub(super) fn limits(&self) -> Result<Limits, Error> {
        let limit = |key: &str| -> Result<Option<f64>, Error> {
            let Some(field) = self.table.field(key) else { return Ok(None) };
            let limit: f64 = field.get()?;
            if limit > 0.0 && limit.is_finite() {
                return Ok(Some(limit));
            }
            Err(field.error(format!("{} is not a limit: expected a number above 0", field.describe())))
        };
        match (limit("least")?, limit("most")?) {
            (Some(least), Some(most)) if least < most => Ok(Limits::Between(least, most)),
            (Some(_), Some(_)) => {
                let most: Field<'_> = self.table.required("most")?;
                Err(most.error("`most` is not above `least`: expected a larger number"))
            }
            (Some(least), None) => Ok(Limits::AtLeast(least)),
            (None, Some(most)) => Ok(Limits::AtMost(most)),
            (None, None) => Err(self.table.missing("least", "a number, here or as `most`")),
        }
    }
}

/// The variants of these series.
pub(super) fn variants_of<'a>(panel: &'a Panel, series: &[Series]) -> Vec<&'a Variant> {
    panel.variants.iter().filter(|variant| series.iter().any(|one| one.variant == variant.name)).collect()
}

/// Refuses series that do not meet the same users: variants with different numbers of runs or different seeds.
pub(super) fn check_paired(field: &Field<'_>, panel: &Panel, series: &[Series]) -> Result<(), Error> {
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

/// Refuses a round that is not a checkpoint of every variant.
pub(super) fn check_round(field: &Field<'_>, round: u64, variants: &[&Variant]) -> Result<(), Error> {
    for variant in variants {
        let checkpoints = variant.experiment.checkpoints();
        if !checkpoints.contains(&round) {
            let nearest = checkpoints.iter().min_by_key(|t| t.abs_diff(round)).copied();
            let hint = nearest.map_or_else(String::new, |t| format!(": the nearest one is {t}"));
            return Err(field
                .error(format!("round {round} is not a checkpoint of the {}{hint}", variant.described())));
        }
    }
    Ok(())
}
