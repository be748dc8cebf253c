//! Reads figures from `experiment.toml`: the input of a kind's reader, and the keys that several kinds share.

use super::Band;
use crate::axis::Scale;
use crate::reproduction::Panel;
use experiment::Task;
use experiment::toml_reader::{Error, Field, Table, choice};

/// Scales by their names in files.
pub(crate) const SCALES: [(&str, Scale); 2] = [("log", Scale::Log), ("linear", Scale::Linear)];

/// The input of a kind's reader: the table of a figure, and the panel that it shows.
pub(crate) struct Reading<'a, 'doc> {
    /// The figure's table.
    pub(crate) table: &'a Table<'doc>,
    /// The key `kind`.
    pub(crate) kind: Field<'doc>,
    /// The panel.
    pub(crate) panel: &'a Panel,
}

impl Reading<'_, '_> {
    /// Reads a scale, if the key is given.
    pub(super) fn scale(&self, key: &str) -> Result<Option<Scale>, Error> {
        self.table.field(key).map(|field| choice(&field, &SCALES, "scale")).transpose()
    }

    /// Refuses `y-scale`, which only figures of regret have.
    pub(super) fn refuse_y_scale(&self) -> Result<(), Error> {
        match self.table.field("y-scale") {
            Some(field) => Err(field.error("only figures of regret have this key: leave it out")),
            None => Ok(()),
        }
    }

    /// Reads `band`, one of these, if it is given.
    pub(super) fn band(&self, bands: &[(&str, Band)]) -> Result<Option<Band>, Error> {
        self.table.field("band").map(|field| choice(&field, bands, "band")).transpose()
    }
}

/// A requirement of a figure on its panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Requirement {
    /// Dueling users.
    Duels,
    /// Runs that record regret round by round.
    Rounds,
    /// Variants.
    Variants,
    /// Variants, or runs that end with an answer, which are also compared from policy to policy.
    VariantsOrAnswers,
}

impl Requirement {
    /// Refuses a panel that does not meet the requirement.
    pub(super) fn check(self, reading: &Reading<'_, '_>) -> Result<(), Error> {
        let Reading { kind, panel, .. } = reading;
        let records_regret = panel.task() == Task::Regret;
        let is_met = match self {
            Self::Duels => panel.has_duels(),
            Self::Rounds => records_regret,
            Self::Variants => panel.has_variants(),
            Self::VariantsOrAnswers => panel.has_variants() || !records_regret,
        };
        if is_met {
            return Ok(());
        }
        let named = kind.describe();
        Err(kind.error(match self {
            Self::Duels => format!("{named} needs dueling users: leave it out"),
            Self::Rounds => format!(
                "{named} shows regret round by round, which task {:?} does not record: expected \"final\" or \"heat-map\"",
                panel.task().name()
            ),
            Self::Variants | Self::VariantsOrAnswers => format!(
                "{named} compares variants, and the panel has none: expected {}",
                if records_regret {
                    "\"regret\", \"click-through-rate\" or \"parameters\""
                } else {
                    "\"final\" or \"parameters\""
                }
            ),
        }))
    }
}
