//! What `simulate` says when it is done: a line a policy, the bounds, and where the rest is.

use crate::report::number;
use crate::simulate::Simulation;
use std::fmt;
use std::path::Path;

/// The final values of a simulation, as text.
#[derive(Debug)]
pub(crate) struct Overview<'a> {
    /// What was found.
    pub(crate) simulation: &'a Simulation,
    /// Where the files are.
    pub(crate) out: &'a Path,
}

impl fmt::Display for Overview<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Simulation { result, timing } = self.simulation;
        let labels = result.policies.iter().map(|policy| policy.label.chars().count());
        let width = labels.max().unwrap_or(0).max("policy".len());
        let (runs, rounds) = (number::grouped(result.runs), number::grouped(result.horizon));
        writeln!(formatter, "After {rounds} rounds, mean of {runs} runs ± its standard error:\n")?;
        let heads = ["regret", "clicks", "rounds/CPU-second"];
        writeln!(formatter, "  {:width$}  {:>20}  {:>20}  {:>17}", "policy", heads[0], heads[1], heads[2])?;
        for (policy, time) in result.policies.iter().zip(&timing.policies) {
            let last = policy.t.len() - 1;
            let regret = number::with_error(policy.regret.mean[last], policy.regret.se[last]);
            let clicks = number::with_error(policy.clicks.mean[last], policy.clicks.se[last]);
            let speed = number::fixed(time.speed.rounds_per_cpu_second.unwrap_or(f64::NAN), 0);
            writeln!(formatter, "  {:width$}  {regret:>20}  {clicks:>20}  {speed:>17}", policy.label)?;
        }
        for bound in &result.bounds {
            let value = number::significant(bound.value[bound.value.len() - 1], 4);
            writeln!(formatter, "\n  {}: {value}", bound.label)?;
        }
        writeln!(formatter, "\nFigures and all numbers: {}", self.out.display())
    }
}
