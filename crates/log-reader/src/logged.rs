//! Users, propensities and values of lines, read only if lists are handed over.

use crate::columns::{LIST, NUMBERS, PREFIX, PROPENSITY, USER, VALUE};
use crate::fault::Fault;
use crate::fields::{propensity, value};
use crate::lists::{ShownList, unit_hash};

/// The user and the logger of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct LoggedRow {
    /// Hashes of the names of user and session.
    pub(crate) user: Option<u64>,
    pub(crate) session: Option<u64>,
    /// Propensities of the item, of the prefix, of the list, and the value of the click.
    pub(crate) propensities: [Option<f64>; NUMBERS],
}

/// The value of a row with this number of clicks; nothing there is 0 without a click.
pub(crate) fn value_of(value: Result<f64, Fault>, clicks: u64) -> Result<f64, Fault> {
    match value {
        Err(Fault::Empty) if clicks == 0 => Ok(0.0),
        Ok(value) if clicks == 0 && value > 0.0 => Err(Fault::ValueWithoutClick),
        value => value,
    }
}

/// The propensities of a list and the values of its clicks, by kind: one for each item, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Propensities<'a>(pub(crate) [&'a [f64]; NUMBERS]);

/// Two propensities that differ by less are equal: they may be 32-bit floats in a file.
const TOLERANCE: f64 = 1e-6;

impl<'a> Propensities<'a> {
    /// The first item, role and fault that make these impossible for one list.
    pub(crate) fn fault(self) -> Option<(usize, usize, Fault)> {
        let Self([_, prefixes, lists, _]) = self;
        let differ = |a: f64, b: f64| (a - b).abs() > TOLERANCE * b;
        let grows = |pair: &[f64]| pair[1] > pair[0] * (1.0 + TOLERANCE);
        let grown = prefixes.windows(2).position(grows).map(|at| (at + 1, PREFIX, Fault::PrefixGrows));
        let other = lists.iter().position(|&list| differ(list, lists[0]));
        let other = other.map(|at| (at, LIST, Fault::AnotherListPropensity));
        let of_last = lists.last().zip(prefixes.last()).filter(|(list, prefix)| differ(**list, **prefix));
        let of_last = of_last.map(|_| (lists.len() - 1, LIST, Fault::NotTheLastPrefix));
        [grown, other, of_last].into_iter().flatten().min_by_key(|fault| fault.0)
    }

    pub(crate) fn with(self, list: ShownList<'a>) -> ShownList<'a> {
        let Self([items, prefixes, lists, values]) = self;
        let known = |of: &'a [f64]| (!of.is_empty()).then_some(of);
        ShownList {
            propensities: known(items),
            prefix_propensities: known(prefixes),
            list_propensity: prefixes.last().or(lists.first()).copied(),
            values: known(values),
            ..list
        }
    }
}

/// The texts of the line before and their values: adjacent lines often have the same ones.
#[derive(Debug, Default)]
pub(crate) struct LastTexts {
    names: [(Vec<u8>, u64); 2],
    propensities: [(Vec<u8>, f64); NUMBERS],
}

impl LastTexts {
    /// The hash of the name of a user or a session.
    #[inline]
    pub(crate) fn hash(&mut self, name: &[u8], role: usize) -> u64 {
        let (last, hash) = &mut self.names[usize::from(role == USER)];
        if last != name || last.is_empty() {
            last.clear();
            last.extend_from_slice(name);
            *hash = unit_hash(name);
        }
        *hash
    }

    /// A propensity of one of three kinds, or a value.
    #[inline]
    pub(crate) fn propensity(&mut self, text: &[u8], kind: usize) -> Result<f64, Fault> {
        let (last, last_value) = &mut self.propensities[kind];
        if last != text || last.is_empty() {
            *last_value = if PROPENSITY + kind == VALUE { value(text) } else { propensity(text) }?;
            last.clear();
            last.extend_from_slice(text);
        }
        Ok(*last_value)
    }
}
