//! Where an experiment's keys are looked up: in a table of its own, and in what stands above it.

use super::{Experiment, SpecContext};
use crate::toml_reader::{Error, Field, Table};

/// Where an experiment's keys are looked up.
pub(super) struct Scope<'a, 'doc> {
    /// The tables whose keys go before all others, nearest first; of the keys [`Experiment::OVER`] alone.
    pub(super) over: &'a [&'a Table<'doc>],
    /// The experiment's own table.
    pub(super) own: &'a Table<'doc>,
    /// The tables whose keys stand in for missing ones, nearest first; the last one is the top of the file.
    pub(super) shared: &'a [&'a Table<'doc>],
    /// What stands in for data and matrices.
    pub(super) given: SpecContext<'a>,
}

impl<'doc> Scope<'_, 'doc> {
    pub(super) fn optional(&self, key: &str) -> Option<Field<'doc>> {
        self.over(key)
            .or_else(|| self.own.field(key))
            .or_else(|| self.shared.iter().find_map(|table| table.field(key)))
    }

    fn over(&self, key: &str) -> Option<Field<'doc>> {
        if !Experiment::OVER.contains(&key) {
            return None;
        }
        self.over.iter().find_map(|table| table.field(key))
    }

    pub(super) fn required(&self, key: &str, expected: &str) -> Result<Field<'doc>, Error> {
        self.optional(key).ok_or_else(|| {
            let elsewhere = match self.shared.len() {
                0 => "",
                1 => ", here or at the top of the file",
                _ => ", here, in the panel or at the top of the file",
            };
            self.own.missing(key, &format!("{expected}{elsewhere}"))
        })
    }

    /// A key of the experiment's own, or of its panel: the top of a file that holds several speaks of others, too.
    pub(super) fn nearby(&self, key: &str) -> Option<Field<'doc>> {
        let panels = self.shared.split_last().map_or(&[][..], |(_, panels)| panels);
        self.over(key)
            .or_else(|| self.own.field(key))
            .or_else(|| panels.iter().find_map(|table| table.field(key)))
    }

    /// The model of all instances, which a panel or its variant may give, the top of a file not.
    pub(super) fn common_model(&self) -> Option<Field<'doc>> {
        let (_, panels) = self.shared.split_last()?;
        self.own.field("model").or_else(|| panels.iter().find_map(|table| table.field("model")))
    }

    pub(super) fn own_required(&self, key: &str, expected: &str) -> Result<Field<'doc>, Error> {
        self.own.field(key).ok_or_else(|| self.own.missing(key, expected))
    }
}
