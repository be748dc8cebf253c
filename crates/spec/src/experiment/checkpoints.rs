//! Checkpoints: the rounds after which results are recorded.

use documents::toml_reader::{Error, Field, Table, all, collect};
use num_traits::ToPrimitive as _;
use std::ops::RangeInclusive;

/// Valid numbers of checkpoints.
pub(crate) const COUNTS: RangeInclusive<u64> = 1..=10_000;
/// The default number of checkpoints.
const DEFAULT_COUNT: u64 = 200;

/// A rule that gives the checkpoints for a horizon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Schedule {
    /// At most `count` rounds up to the horizon, evenly spread by their logarithm, and others.
    Log {
        /// The number of evenly spread rounds; rounds that coincide count once.
        count: u64,
        /// Additional rounds, strictly increasing.
        also: Vec<u64>,
    },
    /// These rounds, strictly increasing.
    List(Vec<u64>),
}

impl Default for Schedule {
    fn default() -> Self {
        Self::Log { count: DEFAULT_COUNT, also: Vec::new() }
    }
}

impl Schedule {
    /// Reads `{ log = n }`, `{ log = n, also = [...] }` or a list. Listed rounds are distinct, in
    /// any order, from 1 to the horizon.
    ///
    /// # Errors
    ///
    /// The value has another form, or a round is out of range or given twice.
    pub fn read(field: &Field<'_>, horizon: u64) -> Result<Self, Error> {
        if field.is_table() {
            let table: Table<'_> = field.get()?;
            let count = table.field("log").ok_or_else(|| table.missing("log", "the number of checkpoints"));
            let count = count.and_then(|count| count.integer_in(&COUNTS));
            let also = table.field("also").map(|field| read_rounds(&field, horizon)).transpose();
            let (count, also, ()) = all((count, also, table.finish()))?;
            return Ok(Self::Log { count, also: also.unwrap_or_default() });
        }
        if !field.is_array() {
            let found = field.describe();
            return Err(field.error(format!("{found} found: expected {{ log = 200 }} or a list of rounds")));
        }
        Ok(Self::List(read_rounds(field, horizon)?))
    }

    /// The checkpoints of runs with `horizon` rounds: strictly increasing, up to the horizon.
    pub fn checkpoints(&self, horizon: u64) -> Vec<u64> {
        let mut rounds: Vec<u64> = match self {
            Self::Log { count, .. } => (0..*count).map(|index| log_spaced(index, *count, horizon)).collect(),
            Self::List(_) => Vec::new(),
        };
        rounds.extend(self.listed(horizon));
        rounds.push(horizon);
        rounds.sort_unstable();
        rounds.dedup();
        rounds
    }

    /// The listed rounds before the horizon.
    pub fn listed(&self, horizon: u64) -> impl Iterator<Item = u64> + '_ {
        let (Self::Log { also: rounds, .. } | Self::List(rounds)) = self;
        rounds.iter().copied().filter(move |&round| round < horizon)
    }
}

/// Reads a list of distinct rounds from 1 to the horizon, and sorts it.
fn read_rounds(field: &Field<'_>, horizon: u64) -> Result<Vec<u64>, Error> {
    let entries: Vec<Field<'_>> = field.get()?;
    if entries.is_empty() || entries.len() as u64 > *COUNTS.end() {
        let message = format!("{} checkpoints: expected from 1 to {}", entries.len(), COUNTS.end());
        return Err(field.error(message));
    }
    let read = |(index, entry): (usize, &Field<'_>)| {
        let round: u64 = entry.get()?;
        if (1..=horizon).contains(&round) {
            return Ok((round, index));
        }
        let message =
            format!("round {round} does not exist: expected an integer from 1 to the horizon, {horizon}");
        Err(entry.error(message))
    };
    let mut rounds: Vec<(u64, usize)> = collect(entries.iter().enumerate().map(read))?;
    // Equal rounds keep the order of the file, so the error is at the later one.
    rounds.sort_unstable();
    if let Some(pair) = rounds.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let [(round, first), (_, second)] = [pair[0], pair[1]];
        let message = format!("round {round} is already given at place {first} (counted from 0)");
        return Err(entries[second].error(message));
    }
    Ok(rounds.into_iter().map(|(round, _)| round).collect())
}

/// `horizon` to the power `index / (count - 1)`, rounded. It does not depend on the machine.
fn log_spaced(index: u64, count: u64, horizon: u64) -> u64 {
    if index + 1 == count {
        return horizon;
    }
    let share = index as f64 / (count - 1) as f64;
    let round = libm::round(libm::exp(share * libm::log(horizon as f64))).to_u64().unwrap_or(horizon);
    round.clamp(1, horizon)
}

#[cfg(test)]
mod tests;
