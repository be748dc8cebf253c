//! The overview that `simulate` prints at the end: one line for each policy, from best to worst, the bounds, the standing in sentences, and
//! the directory of the results.

mod document;
mod today;

use crate::simulate::{Options, simulate, simulate_in_memory};
use crate::terminal;
use anyhow::Result;
use document::Document;
use experiment::result::PolicyResult;
use experiment::timing::PolicyTiming;
use experiment::{Experiment, Measured, ResultFile, Runner, number};
use itertools::Itertools as _;
use report::{Drawing, PanelRun, Simulation, Standing};
use std::fmt::{self, Write as _};
use std::path::Path;

/// The width of a terminal, at which sentences are broken.
const WIDTH: usize = 80;

/// The final values of a simulation, as text.
#[derive(Debug)]
pub(crate) struct Overview<'a> {
    /// The simulation.
    pub(crate) simulation: &'a PanelRun,
    /// Which policy is ahead.
    pub(crate) standing: &'a Standing,
    /// The directory of its files.
    pub(crate) out: &'a Path,
}

/// Runs an experiment with the default figures of its task, writes its files to `out`, and prints the overview, or with `json` the document
/// for programs.
pub(crate) fn simulate_and_say(
    experiment: &Experiment,
    out: &Path,
    options: Options<'_>,
    json: bool,
) -> Result<()> {
    let drawing = Drawing::of(&Runner::new(experiment));
    let Simulation { ran, is_new } = simulate(experiment, out, &drawing, options)?;
    if !is_new && !options.quiet {
        terminal::tell(&format_args!(
            "{}: has this result already; its files stay as they are",
            out.display()
        ));
    }
    if json {
        let standing = Standing::of_runs(&ran.measured)?;
        return terminal::print(&Document::of(&ran.measured.result, &standing).to_json()?);
    }
    if options.quiet {
        return Ok(());
    }
    let standing = Standing::of_runs(&ran.measured)?;
    terminal::say(&Overview { simulation: &ran, standing: &standing, out })
}

/// Runs an experiment without a directory, and prints the content of `result.json`.
pub(crate) fn simulate_and_print(experiment: &Experiment, options: Options<'_>) -> Result<()> {
    let measured = simulate_in_memory(experiment, options)?;
    terminal::print(&measured.result.to_json())
}

impl fmt::Display for Overview<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measured { result, timing, .. } = &self.simulation.measured;
        writeln!(formatter, "{}:\n", heading(result))?;
        let mut policies: Vec<(&PolicyResult, &PolicyTiming)> =
            result.policies.iter().zip(&timing.policies).collect();
        let place = |label: &str| self.standing.places.iter().position(|place| place.label == label);
        policies.sort_by_key(|(policy, _)| place(&policy.label));
        let rows: Vec<Row<'_>> =
            policies.iter().map(|(policy, time)| row(self.standing, policy, time)).collect();
        write_table(formatter, &rows)?;
        for bound in &result.bounds {
            let Some(&last) = bound.value.last() else { continue };
            writeln!(formatter, "\n  {}: {}", bound.reader_name(), number::significant(last, 4))?;
        }
        for sentence in self.standing.sentences().into_iter().chain(today::sentences(result)) {
            writeln!(formatter, "\n  {}", terminal::wrapped(&sentence, WIDTH - 2).join("\n  "))?;
        }
        writeln!(formatter, "\nFigures and all numbers: {}", self.out.display())
    }
}

/// What the table has: after how many rounds, over how many runs.
fn heading(result: &ResultFile) -> String {
    let error = if result.observations() > 1 { " ± its standard error" } else { "" };
    let statistic = match result.runs {
        1 => "one run".to_owned(),
        runs => format!("mean of {} runs{error}", number::grouped(runs)),
    };
    match (result.horizon, result.max_steps) {
        (_, Some(most)) => format!("Until it stops, at most {}, {statistic}", number::counted(most, "round")),
        (rounds, None) => format!("After {}, {statistic}", number::counted(rounds.unwrap_or(0), "round")),
    }
}

/// A policy in the table: its label, and its cells with their heads.
type Row<'a> = (&'a str, Vec<(&'static str, String)>);

fn row<'a>(standing: &Standing, policy: &'a PolicyResult, time: &PolicyTiming) -> Row<'a> {
    let value = number::with_error;
    let share = |share: f64| format!("{} %", number::significant(100.0 * share, 3));
    let place = standing.places.iter().find(|place| place.label == policy.label);
    let median = place.and_then(|place| place.median).filter(|_| standing.has_parted_medians());
    let median = median.map(|median| ("median", number::significant(median, 4)));
    let mut columns: Vec<(&str, String)> = Vec::new();
    if let Some(curves) = policy.curves()
        && let Some(last) = curves.t.len().checked_sub(1)
    {
        columns.push(("regret", value(curves.regret.mean[last], curves.regret.se[last])));
        columns.extend(median);
        match curves.accuracy.get(last) {
            // Dueling users prefer one of two items in every round, so there are no clicks to count.
            Some(&accuracy) => columns.push(("accuracy", share(accuracy))),
            None => columns.push(("clicks", value(curves.clicks.mean[last], curves.clicks.se[last]))),
        }
    } else if let Some(answers) = policy.answers() {
        let time = answers.stopping_time.map(|time| value(time.mean, time.se));
        columns.extend(time.map(|time| ("stopping time", time)));
        columns.extend(median);
        columns.push(("observations", value(answers.observations.mean, answers.observations.se)));
        columns.extend(answers.stopped.map(|stopped| ("stopped", share(stopped))));
        columns.push(("correct", share(answers.correct)));
    }
    let speed = time.speed.rounds_per_cpu_second.unwrap_or(f64::NAN);
    columns.push(("rounds/CPU-s", number::fixed(speed, 0)));
    (&policy.label, columns)
}

/// Writes rows in columns that are as wide as their widest cell.
fn write_table(formatter: &mut fmt::Formatter<'_>, rows: &[Row<'_>]) -> fmt::Result {
    // Dueling policies that recommend nothing have clicks where others have accuracy, so a row may have heads of its own.
    let heads = rows.iter().flat_map(|(_, cells)| cells).map(|(head, _)| *head).unique();
    let heads = heads.sorted_by_key(|head| *head == "rounds/CPU-s");
    let cell = |row: &Row<'_>, head: &str| {
        let found = row.1.iter().find(|(its, _)| *its == head);
        found.map_or_else(String::new, |(_, cell)| cell.clone())
    };
    let labels = rows.iter().map(|(label, _)| terminal::width(label));
    let width = labels.max().unwrap_or(0).max("policy".len());
    let mut text = format!("  {}", terminal::left("policy", width));
    let mut lines: Vec<String> =
        rows.iter().map(|(label, _)| format!("  {}", terminal::left(label, width))).collect();
    for head in heads {
        let cells: Vec<String> = rows.iter().map(|row| cell(row, head)).collect();
        let widest = cells.iter().map(|cell| terminal::width(cell)).max().unwrap_or(0);
        let width = widest.max(head.len());
        let _ = write!(text, "  {head:>width$}");
        for (line, cell) in lines.iter_mut().zip(&cells) {
            let _ = write!(line, "  {cell:>width$}");
        }
    }
    writeln!(formatter, "{text}")?;
    lines.iter().try_for_each(|line| writeln!(formatter, "{line}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::toml_reader::Source;

    fn text_of(ran: &PanelRun, out: &Path) -> String {
        let standing = Standing::of_runs(&ran.measured).unwrap();
        Overview { simulation: ran, standing: &standing, out }.to_string()
    }

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
        let drawing = Drawing::of(&Runner::new(&experiment));
        let simulation = simulate(&experiment, out.path(), &drawing, options).unwrap();
        text_of(&simulation.ran, out.path())
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
            let drawing = Drawing::of(&Runner::new(&experiment));
            let simulation = simulate(&experiment, out.path(), &drawing, options).unwrap();
            assert!(out.path().join("final.svg").is_file() && out.path().join("index.html").is_file());
            text_of(&simulation.ran, out.path())
        };
        let text = overview("identify", "max_steps");
        assert!(text.starts_with("Until it stops, at most 2,000 rounds, mean of 2 runs ± "), "{text}");
        assert!(text.contains("stopped  correct") && text.matches("100 %").count() == 2, "{text}");
        let text = overview("budget", "horizon");
        assert!(text.starts_with("After 2,000 rounds, mean of 2 runs ± "), "{text}");
        assert!(!text.contains("stopp") && text.matches("100 %").count() == 1, "{text}");
    }

    #[test]
    fn several_runs_have_a_standard_error() {
        let text = overview(3);
        assert!(text.starts_with("After 10 rounds, mean of 3 runs ± its standard error:\n"), "{text}");
        // In the head, in two columns, and in the sentence on the only policy.
        assert_eq!(text.matches('±').count(), 4, "{text}");
    }
}
