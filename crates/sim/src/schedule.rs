//! The rounds at which a run is recorded: a list that ends at the horizon.

/// The checkpoints of a run, increasing; the last one is the horizon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    checkpoints: Vec<u64>,
}

/// A list of rounds that is not a valid schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// There is no checkpoint.
    #[error("no checkpoint: at least the horizon is needed")]
    Empty,
    /// A checkpoint is not later than the one before it, or is 0; rounds count from 1.
    #[error("checkpoint {0} is not later than the one before it (rounds count from 1)")]
    NotIncreasing(u64),
}

impl Schedule {
    /// A schedule of these rounds; the last one is the horizon.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::Empty`], [`ScheduleError::NotIncreasing`].
    pub fn new(checkpoints: Vec<u64>) -> Result<Self, ScheduleError> {
        if checkpoints.is_empty() {
            return Err(ScheduleError::Empty);
        }
        let mut before = 0;
        for &checkpoint in &checkpoints {
            if checkpoint <= before {
                return Err(ScheduleError::NotIncreasing(checkpoint));
            }
            before = checkpoint;
        }
        Ok(Self { checkpoints })
    }

    /// The checkpoints, 1-based rounds.
    pub fn checkpoints(&self) -> &[u64] {
        &self.checkpoints
    }

    /// The last round.
    pub fn horizon(&self) -> u64 {
        self.checkpoints[self.checkpoints.len() - 1]
    }
}
