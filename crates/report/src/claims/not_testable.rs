//! Claims without a test: no run of this program can decide them, or a quick check leaves them to
//! the full run.

use crate::keys::{any_text, required};
use std::sync::Arc;

use super::{Basis, Finding, JudgeError, Kind, Sample, Test, Verdict};

pub(super) static KIND: Kind = Kind {
    name: "not-testable",
    says: "nothing: the data are not public",
    keys: &[required("reason", any_text, "why, for readers")],
    relations: Vec::new,
    needs: &[],
    read: |reading| Ok(MissingTest::not_testable(reading.table.required::<String>("reason")?)),
};

/// A missing test, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingTest {
    verdict: Verdict,
    reason: String,
}

impl MissingTest {
    /// No run of this program can decide the claim.
    pub fn not_testable(reason: impl Into<String>) -> Arc<dyn Test> {
        Arc::new(Self { verdict: Verdict::NotTestable, reason: reason.into() })
    }

    /// A quick check leaves the claim to the full run.
    pub fn left(reason: impl Into<String>) -> Arc<dyn Test> {
        Arc::new(Self { verdict: Verdict::Left, reason: reason.into() })
    }
}

impl Test for MissingTest {
    fn sample(&self) -> Sample {
        Sample::Exact
    }

    fn judge(&self, _basis: &Basis<'_>) -> Result<Finding, JudgeError> {
        Ok(Finding::without_a_test(self.verdict, &self.reason))
    }
}
