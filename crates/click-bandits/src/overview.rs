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
        let Simulation { measured, timing } = self.simulation;
        let result = &measured.result;
        let labels = result.policies.iter().map(|policy| policy.label.chars().count());
        let width = labels.max().unwrap_or(0).max("policy".len());
        let (runs, rounds) = (number::grouped(result.runs), number::grouped(result.horizon));
        let many = result.runs > 1;
        let what =
            if many { format!("mean of {runs} runs ± its standard error") } else { "one run".to_owned() };
        writeln!(formatter, "After {rounds} rounds, {what}:\n")?;
        // One run says nothing of its error.
        let value = |mean: f64, se: f64| {
            if many { number::with_error(mean, se) } else { number::significant(mean, 4) }
        };
        let heads = ["regret", "clicks", "rounds/CPU-second"];
        writeln!(formatter, "  {:width$}  {:>20}  {:>20}  {:>17}", "policy", heads[0], heads[1], heads[2])?;
        for (policy, time) in result.policies.iter().zip(&timing.policies) {
            let last = policy.t.len() - 1;
            let regret = value(policy.regret.mean[last], policy.regret.se[last]);
            let clicks = value(policy.clicks.mean[last], policy.clicks.se[last]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Experiment;
    use crate::report::figure::Looks;
    use crate::simulate::{Options, simulate};
    use crate::toml_reader::Source;

    fn overview(runs: u64) -> String {
        let label = "é".repeat(100);
        let text = format!(
            "name = \"x\"\ntask = \"regret\"\nhorizon = 10\nruns = {runs}\nseed = 1\n\
             [[instances]]\nmodel = \"pbm\"\ntheta = [0.5, 0.4]\nkappa = [0.9]\n\
             [[policies]]\npolicy = \"uniform\"\nlabel = \"{label}\"\n"
        );
        let source = Source::from_text("spec.toml", text).unwrap();
        let experiment = Experiment::from_document(&source.parse().unwrap()).unwrap();
        let out = tempfile::tempdir().unwrap();
        let options = Options { threads: Some(1), quiet: true, keep_runs: false };
        let looks = Looks::of([label.as_str()]);
        let simulation = simulate(&experiment, out.path(), &[], &looks, options).unwrap();
        Overview { simulation: &simulation, out: out.path() }.to_string()
    }

    #[test]
    fn one_run_has_no_standard_error() {
        let text = overview(1);
        assert!(text.starts_with("After 10 rounds, one run:\n") && !text.contains('±'), "{text}");
    }

    #[test]
    fn several_runs_have_one() {
        let text = overview(3);
        assert!(text.starts_with("After 10 rounds, mean of 3 runs ± its standard error:\n"), "{text}");
        assert_eq!(text.matches('±').count(), 3, "{text}");
    }
}
