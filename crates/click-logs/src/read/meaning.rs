//! What numbers mean where logs differ: from where positions count, and what more clicks than impressions are.

use super::fields::MAX_POSITIONS;
use crate::fault::Fault;
use crate::sink::Sink;

/// What numbers mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meaning {
    /// What the position on top is called, 0 or 1.
    pub(crate) first_position: u64,
    /// Whether more clicks than impressions are as many as impressions, instead of a fault.
    pub(crate) clip_clicks: bool,
}

impl Meaning {
    /// Positions from 1, and no more clicks than impressions.
    pub(crate) const USUAL: Self = Self { first_position: 1, clip_clicks: false };

    /// The same for a format that says itself that positions count from 1.
    pub(crate) fn of_format(self) -> Self {
        Self { first_position: 1, ..self }
    }

    /// A position counted from 0, if it is one of a list of this length.
    #[inline]
    pub(crate) fn position(self, position: u64, depth: u64) -> Result<u8, Fault> {
        let depth = depth.min(MAX_POSITIONS);
        let Some(from_zero) = position.checked_sub(self.first_position) else {
            return Err(Fault::PositionZero);
        };
        if from_zero >= depth {
            return Err(Fault::PositionBeyondDepth { last: depth - 1 + self.first_position });
        }
        #[expect(clippy::cast_possible_truncation, reason = "below 64")]
        Ok(from_zero as u8)
    }

    /// What a position counted from 0 is called.
    pub(crate) fn named(self, position: usize) -> u64 {
        position as u64 + self.first_position
    }

    /// The clicks that count: no more than impressions.
    #[inline]
    pub(crate) fn clicks<S: Sink>(self, clicks: u64, impressions: u64, sink: &mut S) -> Result<u64, Fault> {
        if clicks <= impressions {
            return Ok(clicks);
        }
        if !self.clip_clicks {
            return Err(Fault::ClicksAboveImpressions { impressions });
        }
        sink.clicks_clipped(clicks - impressions);
        Ok(impressions)
    }
}
