//! Every run of every policy of an experiment, in memory or in the journal of its directory.
//!
//! The values of 100,000 runs do not fit into memory. So they are read by columns: one quantity at
//! some checkpoints, in all runs.

pub(crate) mod record;
mod sequence;

pub(crate) use record::Layout;
pub use record::Quantity;
pub(crate) use sequence::Sequence;

use crate::journal::JournalError;
use crate::timing::Span;
use contenders::Record;
use record::{answer, curve, numbers};
use sim::{Curve, Identification};
use spec::Experiment;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Journals up to this number of bytes are loaded to be read.
const LOADED: u64 = 1 << 28;

/// Every run of every policy, policies in the order of the result.
#[derive(Clone, fieldwork::Fieldwork)]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct Runs {
    layout: Layout,
    /// The index of the instance of every run.
    #[field]
    instances: Vec<usize>,
    of_policies: Arc<Vec<Mutex<Sequence>>>,
}

impl fmt::Debug for Runs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("Runs");
        text.field("layout", &self.layout).field("runs", &self.instances.len());
        text.field("policies", &self.of_policies.len()).finish()
    }
}

pub(crate) fn lock(sequence: &Mutex<Sequence>) -> MutexGuard<'_, Sequence> {
    // A thread that panicked while it recorded a run has ended the experiment.
    sequence.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runs {
    /// The runs in these sequences, one for each policy; `instances` has the instance of every run.
    pub(crate) fn new(
        layout: Layout,
        instances: Vec<usize>,
        of_policies: Arc<Vec<Mutex<Sequence>>>,
    ) -> Result<Self, JournalError> {
        let mut bytes = 0;
        for sequence in &*of_policies {
            if let Some(file) = lock(sequence).file() {
                file.release()?;
                bytes += file.length();
            }
        }
        if bytes <= LOADED {
            of_policies.iter().try_for_each(|sequence| lock(sequence).load())?;
        }
        Ok(Self { layout, instances, of_policies })
    }

    /// Runs in memory: the records of every policy (outer index) in every run (inner index).
    #[doc(hidden)]
    pub fn in_memory<R: Clone + Into<Record>>(records: &[Vec<R>]) -> Self {
        let layout = match records.iter().flatten().next().cloned().map(Into::into) {
            Some(Record::Curve(curve)) => Layout::Curves(curve.regret.len()),
            Some(Record::Answer(_)) => Layout::Answers,
            None => Layout::Curves(0),
        };
        let sequence = |runs: &Vec<R>| {
            let mut sequence = Sequence::in_memory(layout, 0, runs.len());
            for (run, record) in (0..).zip(runs) {
                let recorded = sequence.record(run, Span::default(), &record.clone().into());
                recorded.expect("memory has no errors");
            }
            Mutex::new(sequence)
        };
        let of_policies = Arc::new(records.iter().map(sequence).collect());
        Self { layout, instances: vec![0; records.first().map_or(0, Vec::len)], of_policies }
    }

    /// The records of every policy (outer index) in every run (inner index), as bytes.
    ///
    /// # Errors
    ///
    /// The journal cannot be read.
    pub fn records(&self) -> Result<Vec<Vec<Vec<u8>>>, JournalError> {
        let of_policy = |sequence: &Mutex<Sequence>| {
            let mut sequence = lock(sequence);
            (0..self.n_runs()).map(|run| sequence.record_of(run)).collect()
        };
        self.of_policies.iter().map(of_policy).collect()
    }

    /// The runs of an experiment from their [`records`](Self::records).
    ///
    /// # Errors
    ///
    /// A record is no run of the experiment, or one is missing.
    pub fn restored(experiment: &Experiment, records: &[Vec<Vec<u8>>]) -> Result<Self, JournalError> {
        let (layout, instances) = (Layout::of(experiment), experiment.instances_of_runs());
        let of_policy = |(policy, records): (usize, &Vec<Vec<u8>>)| {
            let fault = |fault: String| JournalError::Run(format!("a run of policy {policy} {fault}"));
            let mut sequence = Sequence::in_memory(layout, 0, instances.len());
            records.iter().try_for_each(|record| sequence.restore(record)).map_err(fault)?;
            if sequence.n_missing() > 0 {
                return Err(fault("is missing".to_owned()));
            }
            Ok(Mutex::new(sequence))
        };
        let of_policies = records.iter().enumerate().map(of_policy).collect::<Result<Vec<_>, _>>()?;
        Self::new(layout, instances, Arc::new(of_policies))
    }

    /// The number of runs of each policy.
    pub fn n_runs(&self) -> usize {
        self.instances.len()
    }

    /// The number of policies.
    pub fn n_policies(&self) -> usize {
        self.of_policies.len()
    }

    /// The number of checkpoints of a curve; `None` if runs end with an answer.
    pub fn n_checkpoints(&self) -> Option<usize> {
        match self.layout {
            Layout::Curves(n) => Some(n),
            Layout::Answers => None,
        }
    }

    /// Returns whether a policy recommends items, by its index.
    pub fn has_accuracy(&self, policy: usize) -> bool {
        self.sequence(policy).is_some_and(|sequence| sequence.has_accuracy)
    }

    fn sequence(&self, policy: usize) -> Option<MutexGuard<'_, Sequence>> {
        self.of_policies.get(policy).map(lock)
    }

    /// A quantity of a policy at these checkpoints: for every checkpoint, its value in every run.
    /// Empty if there is no such quantity.
    ///
    /// # Errors
    ///
    /// The journal cannot be read.
    pub fn columns(
        &self,
        policy: usize,
        quantity: Quantity,
        checkpoints: Range<usize>,
    ) -> Result<Vec<Vec<f64>>, JournalError> {
        let is_there = checkpoints.end <= self.n_checkpoints().unwrap_or(0);
        let is_there = is_there && (quantity != Quantity::Accuracy || self.has_accuracy(policy));
        let Some(mut sequence) = self.sequence(policy).filter(|_| is_there) else { return Ok(Vec::new()) };
        let mut columns = vec![Vec::with_capacity(self.n_runs()); checkpoints.len()];
        let part = self.layout.bytes_of(quantity, &checkpoints);
        sequence.each(Some(&part), |bytes| {
            for (column, number) in columns.iter_mut().zip(numbers(quantity, bytes)) {
                column.push(number);
            }
        })?;
        Ok(columns)
    }

    /// A quantity of a policy at one checkpoint, in every run. Empty if there is no such quantity.
    ///
    /// # Errors
    ///
    /// The journal cannot be read.
    pub fn column(
        &self,
        policy: usize,
        quantity: Quantity,
        checkpoint: usize,
    ) -> Result<Vec<f64>, JournalError> {
        let columns = self.columns(policy, quantity, checkpoint..checkpoint.saturating_add(1))?;
        Ok(columns.into_iter().next().unwrap_or_default())
    }

    /// The curve of a policy in one run, by their indices.
    ///
    /// # Errors
    ///
    /// The journal cannot be read.
    pub fn curve(&self, policy: usize, run: usize) -> Result<Curve, JournalError> {
        let values = self.sequence(policy).map_or(Ok(Vec::new()), |mut sequence| sequence.values(run))?;
        Ok(curve(self.layout, &values))
    }

    /// The answers of a policy in every run. Empty if runs have curves.
    ///
    /// # Errors
    ///
    /// The journal cannot be read.
    pub fn answers(&self, policy: usize) -> Result<Vec<Identification>, JournalError> {
        let mut answers = Vec::new();
        if self.layout == Layout::Answers
            && let Some(mut sequence) = self.sequence(policy)
        {
            sequence.each(None, |values| answers.push(answer(values)))?;
        }
        Ok(answers)
    }
}
