//! Reads a test of `claims.toml` or a figure of `experiment.toml`: the input of a kind's reader,
//! and the keys that several kinds share.

use crate::keys::{FACTOR, POWER};
use crate::panel::{Panel, Variant};
use crate::reproduction::PaperTable;
use crate::series::Series;
use documents::toml_reader::{Error, Field, InFiles, Table, choice, one_of};
use experiment::result::{EndValue, Quantity};
use itertools::Itertools as _;
use spec::Task;

/// The table of a test or a figure, and what it may refer to.
pub(crate) struct KindReader<'a, 'doc> {
    pub(crate) table: &'a Table<'doc>,
    /// The key `kind` of the table.
    pub(crate) kind: Field<'doc>,
    /// The table of a test's claim; for a figure its own.
    pub(crate) claim: &'a Table<'doc>,
    /// The panel that is judged or shown.
    pub(crate) panel: Option<&'a Panel>,
    /// The experiment's printed table.
    pub(crate) printed: Option<&'a PaperTable>,
    /// The value of the runs that is judged.
    pub(crate) value: EndValue,
}

/// A requirement of a kind on its panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// Dueling users.
    Duels,
    /// Runs that record regret round by round.
    Rounds,
    Variants,
    /// Variants, or runs that end with an answer, which are also compared from policy to policy.
    VariantsOrAnswers,
    /// At least three variants, each with a `size`.
    Sizes,
}

impl Requirement {
    pub(crate) fn check(self, reading: &KindReader<'_, '_>) -> Result<(), Error> {
        let panel = reading.panel()?;
        let records_regret = panel.task() == Task::Regret;
        let without_variants = || {
            let others = if records_regret {
                "\"regret\", \"click-through-rate\" or \"parameters\""
            } else {
                "\"final\" or \"parameters\""
            };
            format!("compares variants, and the panel has none: expected {others}")
        };
        let (is_met, fault) = match self {
            Self::Duels => (panel.has_duels(), "needs dueling users: leave it out".to_owned()),
            Self::Rounds => {
                let task = panel.task().name();
                let fault = format!(
                    "shows regret round by round, which task {task:?} does not record: expected \"final\" or \"heat-map\""
                );
                (records_regret, fault)
            }
            Self::Variants => (panel.has_variants(), without_variants()),
            Self::VariantsOrAnswers => (panel.has_variants() || !records_regret, without_variants()),
            Self::Sizes => {
                let have_sizes = panel.variants.iter().all(|variant| variant.size.is_some());
                let fault =
                    "needs at least three variants, each with a `size`, the number by which they differ";
                (panel.variants.len() >= 3 && have_sizes, fault.to_owned())
            }
        };
        if is_met {
            return Ok(());
        }
        Err(reading.kind.error(format!("{} {fault}", reading.kind.describe())))
    }
}

impl<'a, 'doc> KindReader<'a, 'doc> {
    /// The panel. Refuses a claim without one.
    pub(crate) fn panel(&self) -> Result<&'a Panel, Error> {
        let missing = || self.claim.missing("panel", "the name of the panel whose result is judged");
        self.panel.ok_or_else(missing)
    }

    /// Refuses a value other than regret.
    pub(crate) fn check_regret(&self) -> Result<(), Error> {
        if self.panel()?.task() == Task::Regret && self.value == EndValue::Regret {
            return Ok(());
        }
        Err(self.kind.error(format!(
            "{} judges regret, which the panel's runs do not record: expected \"order\" or \"share\"",
            self.kind.describe()
        )))
    }

    /// Reads a word for a `T`, if the key is given.
    pub(crate) fn word<T: InFiles>(&self, key: &str) -> Result<Option<T>, Error> {
        self.table.field(key).map(|field| field.build()).transpose()
    }

    /// Reads `factor`, by which the higher of two values is multiplied.
    pub(crate) fn factor(&self) -> Result<f64, Error> {
        Ok(self.table.optional(FACTOR.name)?.unwrap_or(1.0))
    }

    /// Reads the power of the variants' sizes in a fitted curve.
    pub(crate) fn power(&self) -> Result<f64, Error> {
        match self.table.optional(POWER.name)? {
            Some(0.0) => {
                let field: Field<'_> = self.table.required(POWER.name)?;
                Err(field.error("0 is not a power: expected another number from −10 to 10"))
            }
            power => Ok(power.unwrap_or(1.0)),
        }
    }

    /// Reads the label of a policy that some variant has.
    pub(crate) fn some_label(&self, key: &str) -> Result<(Field<'doc>, String), Error> {
        let field = self.table.field(key).ok_or_else(|| self.table.missing(key, "the label of a policy"))?;
        let series = self.panel()?.series();
        let known: Vec<&str> = series.iter().map(|series| series.policy.as_str()).unique().collect();
        let label = one_of(&field, &known, "policy")?;
        Ok((field, label))
    }

    /// Reads the label of a policy that all variants have.
    pub(crate) fn label(&self, key: &str) -> Result<String, Error> {
        let (field, label) = self.some_label(key)?;
        let has =
            |variant: &&Variant| variant.experiment.policies().iter().any(|policy| policy.label == label);
        match self.panel()?.variants.iter().find(|variant| !has(variant)) {
            None => Ok(label),
            Some(variant) => Err(field.error(format!("variant {:?} does not have {label:?}", variant.title))),
        }
    }

    /// Reads series of the panel, each once.
    pub(crate) fn series(&self, key: &str) -> Result<Vec<Series>, Error> {
        let panel = self.panel()?;
        let list: Field<'_> = self.table.required(key)?;
        let series = panel.series();
        let names: Vec<String> = series.iter().map(Series::to_string).collect();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let what = if panel.has_variants() { "variant/policy" } else { "policy" };
        let mut found: Vec<Series> = Vec::new();
        for field in list.get::<Vec<Field<'_>>>()? {
            let name = one_of(&field, &known, what)?;
            let Some(index) = names.iter().position(|other| *other == name) else { continue };
            if found.contains(&series[index]) {
                return Err(field.error(format!("{} is already given", field.describe())));
            }
            found.push(series[index].clone());
        }
        Ok(found)
    }

    /// Reads `lower` and `upper`, series that are compared run by run. Refuses one that is in both.
    pub(crate) fn lower_and_upper(&self) -> Result<[Vec<Series>; 2], Error> {
        let (lower, upper) = (self.series("lower")?, self.series("upper")?);
        if let Some(both) = lower.iter().find(|series| upper.contains(series)) {
            return Err(self.table.error(format!("policy \"{both}\" is in `lower` and in `upper`")));
        }
        check_paired(&self.table.required("upper")?, self.panel()?, &[&lower[..], &upper].concat())?;
        Ok([lower, upper])
    }

    /// Reads `t`, a checkpoint of these series; by default the last, if they share it.
    pub(crate) fn round(&self, series: &[Series]) -> Result<Option<u64>, Error> {
        let panel = self.panel()?;
        let field = self.table.field("t");
        if panel.task() != Task::Regret {
            return field.map_or(Ok(None), |field| {
                Err(field.error("the panel's runs are judged as a whole: leave it out"))
            });
        }
        if let Some(field) = field {
            return checkpoint(&field, panel, series).map(Some);
        }
        if !variants_of(panel, series).map(|variant| variant.experiment.horizon()).all_equal() {
            return Err(self.table.missing("t", "a checkpoint, since the variants have different horizons"));
        }
        Ok(None)
    }
}

/// Reads `quantity`, a value of whole runs; `None` for the main value of the task.
pub(crate) fn read_quantity(table: &Table<'_>, panel: &Panel) -> Result<Option<EndValue>, Error> {
    let Some(field) = table.field("quantity") else { return Ok(None) };
    let quantities: &[Quantity] = match panel.task() {
        Task::Regret if panel.has_duels() => {
            let known = [("regret", EndValue::Regret), ("accuracy", EndValue::Accuracy)];
            return choice(&field, &known, "quantity").map(Some);
        }
        Task::Regret => return Err(field.error("the panel records regret: leave it out")),
        Task::Identify => &Quantity::ALL,
        Task::Budget => &[Quantity::Observations, Quantity::Wrong],
    };
    let known =
        quantities.iter().map(|quantity| (quantity.name(), EndValue::Answer(*quantity))).collect_vec();
    choice(&field, &known, "quantity").map(Some)
}

pub(crate) fn variants_of<'a>(panel: &'a Panel, series: &[Series]) -> impl Iterator<Item = &'a Variant> {
    panel.variants.iter().filter(|variant| series.iter().any(|one| one.variant == variant.name))
}

/// Refuses series that do not meet the same users: different numbers of runs or different seeds.
pub(crate) fn check_paired(field: &Field<'_>, panel: &Panel, series: &[Series]) -> Result<(), Error> {
    for (one, other) in variants_of(panel, series).tuple_windows() {
        let [(runs, seed), (others, other_seed)] =
            [one, other].map(|variant| (variant.experiment.runs(), variant.experiment.seed()));
        if (runs, seed) != (others, other_seed) {
            return Err(field.error(format!(
                "the {} has {runs} runs with seed {seed}, the {} {others} with seed {other_seed}: expected \
                 the same, since they are compared run by run",
                one.described(),
                other.described(),
            )));
        }
    }
    Ok(())
}

/// Reads a round that is a checkpoint of every variant of these series.
pub(crate) fn checkpoint(field: &Field<'_>, panel: &Panel, series: &[Series]) -> Result<u64, Error> {
    let round: u64 = field.get()?;
    for variant in variants_of(panel, series) {
        let checkpoints = variant.experiment.checkpoints();
        if !checkpoints.contains(&round) {
            let nearest = checkpoints.iter().min_by_key(|t| t.abs_diff(round));
            let hint = nearest.map_or_else(String::new, |t| format!(": the nearest one is {t}"));
            let fault = format!("round {round} is not a checkpoint of the {}{hint}", variant.described());
            return Err(field.error(fault));
        }
    }
    Ok(round)
}
