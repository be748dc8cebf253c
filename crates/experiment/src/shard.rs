//! Shares of the runs of an experiment.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// A share of the runs of an experiment: one of several contiguous ranges of nearly equal size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: u64,
    of: u64,
}

impl Shard {
    /// Shard `number` of `of`, counted from 1; `None` unless `1 <= number <= of`.
    pub fn new(number: u64, of: u64) -> Option<Self> {
        (1..=of).contains(&number).then_some(Self { number, of })
    }

    /// The runs of the shard, counted from 0, in an experiment with this number of runs.
    pub fn runs(self, of_all: u64) -> Range<u64> {
        let bound = |number: u64| u128::from(of_all) * u128::from(number) / u128::from(self.of);
        // A share is no more than the whole.
        let [begin, end] =
            [self.number - 1, self.number].map(|number| u64::try_from(bound(number)).unwrap_or(of_all));
        begin..end
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers =
            text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        numbers
            .and_then(|(number, of)| Self::new(number, of))
            .ok_or_else(|| "expected I/N with 1 <= I <= N, as in 2/8".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_divide_the_runs_into_ranges_of_nearly_equal_size() {
        for runs in [0, 1, 7, 1000, u64::MAX] {
            for of in [1, 2, 3, 8, 1001] {
                let mut end = 0;
                for number in 1..=of {
                    let share = Shard::new(number, of).unwrap().runs(runs);
                    assert_eq!(share.start, end);
                    assert!(share.end - share.start <= (runs / of).saturating_add(1));
                    end = share.end;
                }
                assert_eq!(end, runs);
            }
        }
    }

    #[test]
    fn a_shard_is_written_as_number_and_count() {
        assert_eq!("2/8".parse::<Shard>().unwrap().to_string(), "2/8");
        for wrong in ["", "2", "0/8", "9/8", "1/0", "-1/2", "1/2/3", "a/b", "1 /2"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
