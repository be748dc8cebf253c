//! Users and propensities of lines, read only if lists are handed over.

use crate::columns::{LIST, PREFIX, USER};
use crate::fault::Fault;
use crate::fields::propensity;
use crate::lists::{ShownList, unit_hash};

/// The user and the logger of a line.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct LoggedRow {
    /// Hashes of the names of user and session.
    pub(crate) user: Option<u64>,
    pub(crate) session: Option<u64>,
    /// Propensities of the item, of the prefix, of the list.
    pub(crate) propensities: [Option<f64>; 3],
}

/// The propensities of a list, by kind: one for each item, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Propensities<'a>(pub(crate) [&'a [f64]; 3]);

/// Two propensities that differ by less are equal: they may be 32-bit floats in a file.
const TOLERANCE: f64 = 1e-6;

impl<'a> Propensities<'a> {
    /// The first item, role and fault that make these impossible for one list.
    pub(crate) fn fault(self) -> Option<(usize, usize, Fault)> {
        let Self([_, prefixes, lists]) = self;
        let differ = |a: f64, b: f64| (a - b).abs() > TOLERANCE * b;
        let grows = |pair: &[f64]| pair[1] > pair[0] * (1.0 + TOLERANCE);
        let grown = prefixes.windows(2).position(grows).map(|at| (at + 1, PREFIX, Fault::PrefixGrows));
        let other = lists.iter().position(|&list| differ(list, lists[0]));
        let other = other.map(|at| (at, LIST, Fault::AnotherListPropensity));
        let of_last = lists.last().zip(prefixes.last()).filter(|(list, prefix)| differ(**list, **prefix));
        let of_last = of_last.map(|_| (lists.len() - 1, LIST, Fault::NotTheLastPrefix));
        [grown, other, of_last].into_iter().flatten().min_by_key(|fault| fault.0)
    }

    /// The list with these propensities.
    pub(crate) fn with(self, list: ShownList<'a>) -> ShownList<'a> {
        let Self([items, prefixes, lists]) = self;
        let known = |of: &'a [f64]| (!of.is_empty()).then_some(of);
        ShownList {
            propensities: known(items),
            prefix_propensities: known(prefixes),
            list_propensity: prefixes.last().or(lists.first()).copied(),
            ..list
        }
    }
}

/// The texts of the line before and their values: adjacent lines often have the same ones.
#[derive(Debug, Default)]
pub(crate) struct LastTexts {
    names: [(Vec<u8>, u64); 2],
    propensities: [(Vec<u8>, f64); 3],
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

    /// A propensity of one of three kinds.
    #[inline]
    pub(crate) fn propensity(&mut self, text: &[u8], kind: usize) -> Result<f64, Fault> {
        let (last, value) = &mut self.propensities[kind];
        if last != text || last.is_empty() {
            *value = propensity(text)?;
            last.clear();
            last.extend_from_slice(text);
        }
        Ok(*value)
    }
}
