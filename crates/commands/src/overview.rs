//! The overview that `simulate` prints at the end: one line for each policy, the bounds, and the directory of the results.

mod today;

use crate::simulate::{Options, simulate};
use crate::terminal;
use anyhow::Result;
use experiment::{Experiment, Measured, Runner, number};
use report::{Drawing, PanelRun, Simulation};
use std::fmt;
use std::path::Path;

/// The final values of a simulation, as text.
#[derive(Debug)]
pub(crate) struct Overview<'a> {
    /// The simulation.
    pub(crate) simulation: &'a PanelRun,
    /// The directory of its files.
    pub(crate) out: &'a Path,
}

/// Runs an experiment with the default figures of its task, writes its files to `out`, and prints the overview.
///
/// # Errors
///
/// The errors of [`simulate`].
pub(crate) fn simulate_and_say(experiment: &Experiment, out: &Path, options: Options<'_>) -> Result<()> {
    let drawing = Drawing::of(&Runner::new(experiment));
    let Simulation { ran, is_new } = simulate(experiment, out, &drawing, options)?;
    if options.quiet {
        return Ok(());
    }
    if !is_new {
        terminal::tell(&format_args!(
            "{}: has this result already; its files stay as they are",
            out.display()
        ));
    }
    terminal::say(&Overview { simulation: &ran, out })
}

impl fmt::Display for Overview<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measured { result, timing, .. } = &self.simulation.measured;
        let labels = result.policies.iter().map(|policy| terminal::width(&policy.label));
        let width = labels.max().unwrap_or(0).max("policy".len());
        let (runs, many) = (number::grouped(result.runs), result.runs > 1);
        let statistic =
            if many { format!("mean of {runs} runs ± its standard error") } else { "one run".to_owned() };
        match (result.horizon, result.max_steps) {
            (_, Some(most)) => {
                writeln!(
                    formatter,
                    "Until it stops, at most {}, {statistic}:\n",
                    number::counted(most, "round")
                )?;
            }
            (rounds, None) => {
                writeln!(
                    formatter,
                    "After {}, {statistic}:\n",
                    number::counted(rounds.unwrap_or(0), "round")
                )?;
            }
        }
        // The error of a single run is unknown.
        let value = |mean: f64, se: f64| {
            if many { number::with_error(mean, se) } else { number::significant(mean, 4) }
        };
        let share = |share: f64| format!("{} %", number::significant(100.0 * share, 3));
        let mut heads: Vec<&str> = Vec::new();
        let mut rows = Vec::new();
        for (policy, time) in result.policies.iter().zip(&timing.policies) {
            let mut columns: Vec<(&str, String)> = Vec::new();
            if let Some(curves) = policy.curves()
                && let Some(last) = curves.t.len().checked_sub(1)
            {
                columns.push(("regret", value(curves.regret.mean[last], curves.regret.se[last])));
                match curves.accuracy.get(last) {
                    // Dueling users prefer one of two items in every round, so there are no clicks to count.
                    Some(&accuracy) => columns.push(("accuracy", share(accuracy))),
                    None => columns.push(("clicks", value(curves.clicks.mean[last], curves.clicks.se[last]))),
                }
            }
            if let Some(answers) = policy.answers() {
                let time = answers.stopping_time.map(|time| value(time.mean, time.se));
                columns.extend(time.map(|time| ("stopping time", time)));
                columns.push(("observations", value(answers.observations.mean, answers.observations.se)));
                columns.extend(answers.stopped.map(|stopped| ("stopped", share(stopped))));
                columns.push(("correct", share(answers.correct)));
            }
            let speed = time.speed.rounds_per_cpu_second.unwrap_or(f64::NAN);
            columns.push(("rounds/CPU-second", number::fixed(speed, 0)));
            let cells: Vec<String>;
            (heads, cells) = columns.into_iter().unzip();
            rows.push((policy.label.as_str(), cells));
        }
        let widths: Vec<usize> =
            heads.iter().map(|head| if is_share(head) { 8 } else { head.len().max(20) }).collect();
        let mut line = |name: &str, cells: &[&str]| {
            write!(formatter, "  {}", terminal::left(name, width))?;
            for (cell, width) in cells.iter().zip(&widths) {
                write!(formatter, "  {cell:>width$}")?;
            }
            writeln!(formatter)
        };
        line("policy", &heads)?;
        for (label, cells) in &rows {
            line(label, &cells.iter().map(String::as_str).collect::<Vec<_>>())?;
        }
        for bound in &result.bounds {
            let Some(&last) = bound.value.last() else { continue };
            writeln!(formatter, "\n  {}: {}", bound.reader_name(), number::significant(last, 4))?;
        }
        for sentence in today::sentences(result) {
            writeln!(formatter, "\n  {sentence}")?;
        }
        writeln!(formatter, "\nFigures and all numbers: {}", self.out.display())
    }
}

/// Whether a column has shares of the runs, and so is narrow.
fn is_share(head: &str) -> bool {
    ["stopped", "correct", "accuracy"].contains(&head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::toml_reader::Source;

    fn overview(runs: u64) -> String {
        overview_of(runs, &[&"é".repeat(100)])
    }

    fn overview_of(runs: u64, labels: &[&str]) -> String {
        let policy = |label: &&str| format!("[[policies]]\npolicy = \"uniform\"\nlabel = \"{label}\"\n");
        let policies: String = labels.iter().map(policy).collect();
        let text = format!(
            "name = \"x\"\ntask = \"regret\"\nhorizon = 10\nruns = {runs}\nseed = 1\n\
             [[instances]]\nmodel = \"pbm\"\ntheta = [0.5, 0.4]\nkappa = [0.9]\n{policies}"
        );
        let source = Source::from_text("spec.toml", text).unwrap();
        let experiment = Experiment::from_document(&source.parse().unwrap()).unwrap();
        let out = tempfile::tempdir().unwrap();
        let options = Options { threads: Some(1), quiet: true, ..Options::default() };
        let styles = PolicyStyles::of(labels.iter().copied());
        let simulation = simulate(&experiment, out.path(), &[], &styles, options).unwrap();
        Overview { simulation: &simulation.ran, out: out.path() }.to_string()
    }

    #[test]
    fn columns_are_aligned_for_labels_in_any_script() {
        let text = overview_of(3, &["ab", "日本語", "e\u{301}", "👍🏽"]);
        let ends: Vec<usize> = text.lines().skip(2).take(5).map(terminal::width).collect();
        assert!(ends.windows(2).all(|pair| pair[0] == pair[1]), "{ends:?}\n{text}");
    }

    #[test]
    fn one_run_has_no_standard_error() {
        let text = overview(1);
        assert!(text.starts_with("After 10 rounds, one run:\n") && !text.contains('±'), "{text}");
    }

    #[test]
    fn the_overview_of_answers_has_the_share_of_right_ones() {
        let overview = |task: &str, length: &str| {
            let text = format!(
                "name = \"x\"\ntask = \"{task}\"\n{length} = 2000\nruns = 2\nseed = 1\n\
                 [[instances]]\nmodel = \"cascade\"\nattraction = [1.0, 0.0]\npositions = 1\n\
                 [[policies]]\npolicy = \"cascade-bai\"\n"
            );
            let source = Source::from_text("spec.toml", text).unwrap();
            let experiment = Experiment::from_document(&source.parse().unwrap()).unwrap();
            let out = tempfile::tempdir().unwrap();
            let options = Options { threads: Some(1), quiet: true, ..Options::default() };
            let styles = PolicyStyles::of(["cascade-bai"]);
            let figures = Figure::defaults(experiment.task(), false);
            let simulation = simulate(&experiment, out.path(), &figures, &styles, options).unwrap();
            assert!(out.path().join("final.svg").is_file());
            Overview { simulation: &simulation.ran, out: out.path() }.to_string()
        };
        let text = overview("identify", "max_steps");
        assert!(text.starts_with("Until it stops, at most 2,000 rounds, mean of 2 runs ± "), "{text}");
        assert!(text.contains("stopped   correct") && text.matches("100 %").count() == 2, "{text}");
        let text = overview("budget", "horizon");
        assert!(text.starts_with("After 2,000 rounds, mean of 2 runs ± "), "{text}");
        assert!(!text.contains("stopp") && text.matches("100 %").count() == 1, "{text}");
    }

    #[test]
    fn several_runs_have_a_standard_error() {
        let text = overview(3);
        assert!(text.starts_with("After 10 rounds, mean of 3 runs ± its standard error:\n"), "{text}");
        assert_eq!(text.matches('±').count(), 3, "{text}");
    }
}
