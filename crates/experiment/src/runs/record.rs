//! The bytes of one run of one policy, in memory and in journals.
//!
//! A record is three integers of variable length (LEB128): the number of the run, its CPU time and
//! its wall time in nanoseconds. Its values follow, numbers in little-endian order:
//!
//! - a curve: the regret at every checkpoint, the clicks at every checkpoint, and, if the policy
//!   recommends an item, a byte for every checkpoint;
//! - an answer: steps and observations as integers, and a byte with the flags answered (1) and
//!   correct (2).

use crate::timing::Span;
use contenders::Record;
use sim::{Curve, Identification};
use spec::{Experiment, Task};
use std::ops::Range;
use std::time::Duration;

/// Bytes of a number.
const NUMBER: usize = 8;
/// Bytes of an answer.
const ANSWER: usize = 2 * NUMBER + 1;

/// Appends the values of a record.
pub(crate) fn write_record(record: &Record, bytes: &mut Vec<u8>) {
    match record {
        Record::Curve(curve) => {
            let numbers = curve.regret.iter().chain(&curve.clicks);
            numbers.for_each(|number| bytes.extend(number.to_le_bytes()));
            bytes.extend(curve.accurate.iter().map(|&accurate| u8::from(accurate)));
        }
        Record::Answer(answer) => {
            bytes.extend(answer.steps.to_le_bytes());
            bytes.extend(answer.observations.to_le_bytes());
            bytes.push(u8::from(answer.answered) | u8::from(answer.correct) << 1);
        }
    }
}

/// A quantity of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Cumulative expected regret.
    Regret,
    /// Cumulative realised clicks.
    Clicks,
    /// 1 if the item that the policy would recommend is a best one, 0 otherwise.
    Accuracy,
}

/// The values that the records of an experiment have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Curves with this number of checkpoints.
    Curves(usize),
    Answers,
}

impl Layout {
    /// The layout of the runs of an experiment.
    pub(crate) fn of(experiment: &Experiment) -> Self {
        match experiment.task() {
            Task::Regret => Self::Curves(experiment.checkpoints().len()),
            Task::Identify | Task::Budget => Self::Answers,
        }
    }

    /// Returns whether values may have this number of bytes.
    pub(crate) fn admits(self, length: usize) -> bool {
        match self {
            Self::Curves(n) => length == 2 * NUMBER * n || length == (2 * NUMBER + 1) * n,
            Self::Answers => length == ANSWER,
        }
    }

    /// The largest number of bytes of a record.
    pub(crate) fn longest(self) -> usize {
        let values = match self {
            Self::Curves(n) => (2 * NUMBER + 1) * n,
            Self::Answers => ANSWER,
        };
        Head::LONGEST + values
    }

    /// Returns whether values of this number of bytes have accuracy.
    pub(crate) fn has_accuracy(self, length: usize) -> bool {
        matches!(self, Self::Curves(n) if length == (2 * NUMBER + 1) * n)
    }

    /// The bytes of a quantity at these checkpoints within the values.
    pub(crate) fn bytes_of(self, quantity: Quantity, checkpoints: &Range<usize>) -> Range<usize> {
        let n = if let Self::Curves(n) = self { n } else { 0 };
        let offset = |checkpoint: usize| match quantity {
            Quantity::Regret => NUMBER * checkpoint,
            Quantity::Clicks => NUMBER * (n + checkpoint),
            Quantity::Accuracy => 2 * NUMBER * n + checkpoint,
        };
        offset(checkpoints.start)..offset(checkpoints.end)
    }
}

pub(crate) fn numbers(quantity: Quantity, bytes: &[u8]) -> impl Iterator<Item = f64> + '_ {
    let width = if quantity == Quantity::Accuracy { 1 } else { NUMBER };
    bytes.chunks_exact(width).map(|chunk| match <[u8; NUMBER]>::try_from(chunk) {
        Ok(number) => f64::from_le_bytes(number),
        Err(_) => f64::from(chunk[0]),
    })
}

pub(crate) fn curve(layout: Layout, values: &[u8]) -> Curve {
    let Layout::Curves(n) = layout else { return Curve::default() };
    let column = |quantity| values.get(layout.bytes_of(quantity, &(0..n))).unwrap_or_default();
    Curve {
        regret: numbers(Quantity::Regret, column(Quantity::Regret)).collect(),
        clicks: numbers(Quantity::Clicks, column(Quantity::Clicks)).collect(),
        accurate: column(Quantity::Accuracy).iter().map(|&accurate| accurate != 0).collect(),
    }
}

pub(crate) fn answer(values: &[u8]) -> Identification {
    let integer = |place: usize| {
        let bytes = values.get(place..place + NUMBER).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u64::from_le_bytes)
    };
    let flags = values.get(2 * NUMBER).copied().unwrap_or(0);
    Identification {
        steps: integer(0),
        observations: integer(NUMBER),
        answered: flags & 1 != 0,
        correct: flags & 2 != 0,
    }
}

/// The beginning of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) run: u64,
    pub(crate) elapsed: Span,
}

impl Head {
    /// The largest number of bytes of a head.
    const LONGEST: usize = 3 * 10;

    pub(crate) fn write_to(self, bytes: &mut Vec<u8>) {
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let head = (self.run, nanoseconds(self.elapsed.cpu), nanoseconds(self.elapsed.wall));
        bytes.extend(postcard::to_allocvec(&head).expect("integers"));
    }

    /// Reads a head; returns it and its number of bytes, or `None` if the bytes begin otherwise.
    pub(crate) fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let ((run, cpu, wall), rest): ((u64, u64, u64), _) = postcard::take_from_bytes(bytes).ok()?;
        let elapsed = Span { cpu: Duration::from_nanos(cpu), wall: Duration::from_nanos(wall) };
        Some((Self { run, elapsed }, bytes.len() - rest.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_read_as_they_were_written() {
        for number in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let (head, mut bytes) = (Head { run: number, elapsed: Span::default() }, Vec::new());
            head.write_to(&mut bytes);
            assert_eq!(Head::read(&bytes), Some((head, bytes.len())));
            assert_eq!(Head::read(&bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(Head::read(&[0xac, 2, 1, 0]).unwrap().0.run, 300);
        assert_eq!((Head::read(&[0xff; 30]), Head::read(&[0x80; 60])), (None, None));
    }

    #[test]
    fn records_are_read_as_they_were_written() {
        for accurate in [vec![], vec![true, false]] {
            let written = Curve { regret: vec![0.1, -0.0], clicks: vec![3.0, 1e300], accurate };
            let mut bytes = Vec::new();
            write_record(&Record::Curve(written.clone()), &mut bytes);
            let layout = Layout::Curves(2);
            assert!(layout.admits(bytes.len()) && bytes.len() <= layout.longest());
            assert_eq!(layout.has_accuracy(bytes.len()), !written.accurate.is_empty());
            assert_eq!(curve(layout, &bytes), written);
            let second = &bytes[layout.bytes_of(Quantity::Clicks, &(1..2))];
            assert_eq!(numbers(Quantity::Clicks, second).collect::<Vec<_>>(), [1e300]);
        }
        let written =
            Identification { steps: 1 << 53, observations: u64::MAX, answered: true, correct: false };
        let mut bytes = Vec::new();
        write_record(&Record::Answer(written), &mut bytes);
        assert!(Layout::Answers.admits(bytes.len()));
        assert_eq!(answer(&bytes), written);
        let head = Head { run: 7, elapsed: Span { cpu: Duration::MAX, wall: Duration::from_nanos(3) } };
        let mut bytes = Vec::new();
        head.write_to(&mut bytes);
        let (read, length) = Head::read(&bytes).unwrap();
        assert_eq!((read.run, read.elapsed.wall, length), (7, Duration::from_nanos(3), bytes.len()));
    }
}
