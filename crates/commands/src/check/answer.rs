//! The answer of `check`, as text and as JSON.

use super::Checked;
use super::overview::{Overview, time};
use crate::progress::size;
use experiment::number::counted;
use experiment::{SpecError, Task};
use num_traits::ToPrimitive as _;
use serde_json::{Value, json};
use std::fmt;
use std::path::Path;

/// How the estimates were obtained, for programs.
const HOW: &str = "time: extrapolated from the beginning of a run, at most 20 ms of each policy on up to three instances; memory and disk: computed";

/// The errors of a file, or what it runs.
pub(super) struct Answer<'a> {
    pub(super) path: &'a Path,
    pub(super) faults: &'a [SpecError],
    pub(super) checked: &'a [Checked],
    /// Number of threads for which the time is estimated.
    pub(super) threads: u64,
}

impl Answer<'_> {
    /// The whole processor time, the largest memory and the whole place on disk.
    fn totals(&self) -> (f64, f64, f64) {
        let cpu = self.checked.iter().map(Checked::cpu_seconds).sum();
        let memory = self.checked.iter().map(|one| one.estimate.memory).fold(0.0, f64::max);
        (cpu, memory, self.checked.iter().map(|one| one.estimate.disk).sum())
    }

    pub(super) fn json(&self) -> Value {
        let (cpu, memory, disk) = self.totals();
        let mut answer = json!({
            "schema": 1,
            "file": self.path.display().to_string(),
            "valid": self.faults.is_empty(),
            "errors": self.faults.iter().map(fault).collect::<Vec<_>>(),
        });
        if self.faults.is_empty() {
            answer["experiments"] = self.checked.iter().map(Checked::json).collect();
            answer["estimate"] = json!({
                "cpu_seconds": cpu,
                "seconds": cpu / self.threads as f64,
                "threads": self.threads,
                "memory_bytes": memory.to_u64(),
                "disk_bytes": disk.to_u64(),
                "how": HOW,
            });
        }
        answer
    }
}

/// An error for programs. An error of the command line has no place.
fn fault(error: &SpecError) -> Value {
    match error {
        SpecError::File(error) => json!({
            "file": error.file(),
            "line": error.line(),
            "column": error.column(),
            "field": error.field(),
            "message": error.message(),
        }),
        other => {
            json!({ "file": null, "line": null, "column": null, "field": "", "message": other.to_string() })
        }
    }
}

impl Checked {
    /// The processor time of all runs.
    pub(super) fn cpu_seconds(&self) -> f64 {
        self.estimate.cpu_seconds(self.experiment.runs())
    }

    fn json(&self) -> Value {
        let Self { experiment, estimate } = self;
        let (tables, shapes) = (experiment.instances().tables(), experiment.instances().shapes());
        let instance = |(index, table): (usize, &experiment::models::InstanceTable)| {
            let positions = shapes.get(index).map(|shape| shape.n_positions());
            json!({ "name": table.name, "items": table.n_items, "positions": positions })
        };
        let policies = experiment.policies().iter().zip(&estimate.seconds).map(|(entry, seconds)| {
            json!({ "label": entry.label, "policy": entry.spec.to_string(), "seconds_of_a_run": seconds })
        });
        json!({
            "name": experiment.name(),
            "task": experiment.task().name(),
            "rounds": experiment.horizon(),
            "runs": experiment.runs(),
            "seed": experiment.seed(),
            "checkpoints": experiment.checkpoints().len(),
            "model": experiment.instances().model().name,
            "instances": tables.iter().enumerate().map(instance).collect::<Vec<_>>(),
            "policies": policies.collect::<Vec<_>>(),
            "cpu_seconds": self.cpu_seconds(),
            "warnings": experiment.doubts(),
        })
    }
}

impl fmt::Display for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fault in self.faults {
            writeln!(f, "{fault}")?;
        }
        if !self.faults.is_empty() {
            return Ok(());
        }
        let is_one = self.checked.len() == 1;
        if is_one {
            write!(f, "{}: no errors\n\n", self.path.display())?;
        } else {
            let n = counted(self.checked.len() as u64, "simulation");
            write!(f, "{}: no errors, {n}\n\n", self.path.display())?;
        }
        for checked in self.checked {
            write!(f, "{}", Overview { checked, is_short: !is_one })?;
        }
        let (cpu, memory, disk) = self.totals();
        let on_threads = match self.threads {
            1 => String::new(),
            n => format!(", {} on {n} threads", time(cpu / n as f64)),
        };
        let stops = self.checked.iter().any(|one| one.experiment.task() == Task::Identify);
        let at_most = if stops { "; less if policies stop before `max_steps`" } else { "" };
        let bytes = |bytes: f64| size(bytes.to_u64().unwrap_or(u64::MAX));
        write!(
            f,
            "\nAbout {} on one core{on_threads}{at_most}.\n\
             About {} of memory besides the policies' own, and {} on disk.\n\
             The time is that of this machine: each policy has played the beginning of a run,\n\
             at most 20 ms on up to three instances. Memory and disk are computed.\n",
            time(cpu),
            bytes(memory),
            bytes(disk),
        )?;
        let doubts: Vec<(&str, String)> = self
            .checked
            .iter()
            .flat_map(|one| one.experiment.doubts().into_iter().map(|doubt| (one.experiment.name(), doubt)))
            .collect();
        if !doubts.is_empty() {
            writeln!(f)?;
        }
        for (name, doubt) in doubts {
            if is_one {
                writeln!(f, "warning: {doubt}")?;
            } else {
                writeln!(f, "warning: {name}: {doubt}")?;
            }
        }
        Ok(())
    }
}
