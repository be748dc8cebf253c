//! Numbers whose meaning differs between logs: the first position, and clicks above impressions.

use crate::collect::Batches;
use crate::counts::Positions;
use crate::error::{Error, ErrorKind};
use crate::fault::Fault;
use crate::fields::MAX_POSITIONS;
use crate::read_report::ReadReport;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meaning {
    /// The number of the top position, 0 or 1.
    pub(crate) first_position: u64,
    /// Whether to clip clicks at impressions, instead of reporting a fault.
    pub(crate) clip_clicks: bool,
    /// The number of positions that are wanted; those below may be beyond the longest list.
    pub(crate) n_positions: u64,
}

impl Meaning {
    /// Positions count from 1, and clicks above impressions are a fault.
    pub(crate) const USUAL: Self = Self { first_position: 1, clip_clicks: false, n_positions: u64::MAX };

    /// The position counted from 0, if a list of this length has it. `None` if it is beyond the
    /// longest list, and is not wanted.
    #[inline]
    pub(crate) fn position(self, position: u64, depth: u64) -> Result<Option<u8>, Fault> {
        let Some(from_zero) = position.checked_sub(self.first_position) else {
            return Err(Fault::PositionZero);
        };
        let supported = depth.min(MAX_POSITIONS);
        if from_zero >= supported {
            return if from_zero < depth && from_zero >= self.n_positions {
                Ok(None)
            } else {
                Err(Fault::PositionBeyondDepth { last: supported - 1 + self.first_position })
            };
        }
        #[expect(clippy::cast_possible_truncation, reason = "below 64")]
        Ok(Some(from_zero as u8))
    }

    /// Refuses positions that are to count from 0 if none of those shown is 0.
    pub(crate) fn check(self, shown: Positions) -> Result<(), Error> {
        if self.first_position > 0 || shown.is_empty() || shown.contains(0) {
            return Ok(());
        }
        let message = "0, but no position of the log is 0: it counts from 1";
        Err(Error::of(ErrorKind::Settings, "first_position", message))
    }

    /// The log's number of a position counted from 0.
    pub(crate) fn named(self, position: usize) -> u64 {
        position as u64 + self.first_position
    }

    /// The clicks to count: no more than impressions.
    #[inline]
    pub(crate) fn clicks(
        self,
        clicks: u64,
        impressions: u64,
        batches: &mut Batches<'_>,
    ) -> Result<u64, Fault> {
        if clicks <= impressions {
            return Ok(clicks);
        }
        if !self.clip_clicks {
            return Err(Fault::ClicksAboveImpressions { impressions });
        }
        let ReadReport { lines_clipped, clicks_clipped, .. } = &mut batches.report;
        *lines_clipped += 1;
        *clicks_clipped = clicks_clipped.saturating_add(clicks - impressions);
        Ok(impressions)
    }
}
