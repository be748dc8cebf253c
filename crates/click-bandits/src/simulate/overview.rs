//! The overview that `simulate` prints at the end.

use crate::terminal;
use documents::number;
use experiment::result::{Bound, Difference, MeanSe, PolicyResult};
use experiment::timing::PolicyTiming;
use experiment::{Measurement, ResultFile};
use itertools::Itertools as _;
use report::{Leaderboard, PanelRun};
use std::fmt;
use std::path::Path;

/// The final values of a simulation, as text.
#[derive(Debug)]
pub(crate) struct Overview<'a> {
    pub(crate) simulation: &'a PanelRun,
    /// Which policy is ahead.
    pub(crate) standing: &'a Leaderboard,
    /// The directory of its files.
    pub(crate) out: &'a Path,
}

impl fmt::Display for Overview<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measurement { result, timing, .. } = &self.simulation.measured;
        writeln!(formatter, "{}:\n", heading(result))?;
        let mut policies: Vec<(&PolicyResult, &PolicyTiming)> =
            result.policies.iter().zip(&timing.policies).collect();
        let place = |label: &str| self.standing.places.iter().position(|place| place.label == label);
        policies.sort_by_key(|(policy, _)| place(&policy.label));
        let rows: Vec<Row<'_>> =
            policies.iter().map(|(policy, time)| row(self.standing, policy, time)).collect();
        formatter.write_str(&table(&rows))?;
        for line in result.bounds.iter().filter_map(Bound::line) {
            writeln!(formatter, "\n  {line}")?;
        }
        for sentence in self.standing.sentences().into_iter().chain(passed(result)) {
            writeln!(
                formatter,
                "\n  {}",
                terminal::wrapped(&sentence, terminal::columns() - 2).join("\n  ")
            )?;
        }
        writeln!(formatter, "\nFigures and all numbers: {}", self.out.display())
    }
}

/// The content of the table: after how many rounds, over how many runs.
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

/// The head of the column of speeds.
const SPEED: &str = "rounds/CPU-s";

/// A policy in the table: its label, and its cells with their heads.
type Row<'a> = (&'a str, Vec<(&'static str, String)>);

fn row<'a>(standing: &Leaderboard, policy: &'a PolicyResult, time: &PolicyTiming) -> Row<'a> {
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
            // Dueling users prefer one of two items in every round: there are no clicks to count.
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
    columns.push((SPEED, number::fixed(speed, 0)));
    (&policy.label, columns)
}

/// The table, with the speed at the end. A row may have heads of its own: dueling policies that
/// recommend nothing have clicks where others have accuracy.
fn table(rows: &[Row<'_>]) -> String {
    let heads = rows.iter().flat_map(|(_, cells)| cells).map(|(head, _)| *head).unique();
    let heads: Vec<&str> = heads.sorted_by_key(|head| *head == SPEED).collect();
    let cell = |row: &Row<'_>, head: &str| {
        let found = row.1.iter().find(|(name, _)| *name == head);
        found.map_or_else(String::new, |(_, cell)| cell.clone())
    };
    let mut lines = vec![["policy"].iter().chain(&heads).map(ToString::to_string).collect::<Vec<_>>()];
    for row in rows {
        let label = std::iter::once(row.0.to_owned());
        lines.push(label.chain(heads.iter().map(|head| cell(row, head))).collect());
    }
    terminal::table(&lines, 1..heads.len() + 1)
}

/// When a policy passes `logged`, today's ranking, and what it has gained at the end: a sentence
/// for each policy beside the lists of a log.
fn passed(result: &ResultFile) -> Vec<String> {
    let is_logged =
        |label: &str| result.policies.iter().any(|policy| policy.label == label && policy.policy == "logged");
    let unit = result.unit;
    let mut sentences = Vec::new();
    for paired in &result.paired {
        let (today, policy, sign) = match (is_logged(&paired.a), is_logged(&paired.b)) {
            (true, false) => (&paired.a, &paired.b, 1.0),
            (false, true) => (&paired.b, &paired.a, -1.0),
            _ => continue,
        };
        let Difference::Curves { t, regret: MeanSe { mean, se }, .. } = &paired.difference else { continue };
        let (Some(end), Some(error)) = (mean.last().map(|last| sign * last), se.last()) else { continue };
        let amount = number::with_error(end.abs(), *error);
        // The first checkpoint from which on the policy is ahead.
        let behind = mean.iter().rposition(|gain| sign * gain <= 0.0);
        sentences.push(match t.get(behind.map_or(0, |place| place + 1)) {
            Some(&round) => {
                let rounds = number::counted(round, "round");
                format!("{policy} has passed {today} after {rounds}, on average, and has gained {amount} {unit} at the end.")
            }
            None => format!("{policy} does not pass {today}: it has lost {amount} {unit} at the end."),
        });
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Options, simulate};
    use documents::toml_reader::Source;
    use experiment::Runner;
    use report::Drawing;
    use spec::Experiment;

    fn overview(text: &str) -> String {
        let source = Source::from_text("spec.toml", format!("name = \"x\"\nseed = 1\n{text}")).unwrap();
        let experiment = Experiment::from_document(&source.parse().unwrap()).unwrap();
        let out = tempfile::tempdir().unwrap();
        let options = Options { threads: Some(1), quiet: true, ..Options::default() };
        let drawing = Drawing::of(&Runner::new(&experiment));
        let simulation = simulate(&experiment, out.path(), &drawing, options).unwrap().0;
        assert!(out.path().join("index.html").is_file());
        let standing = Leaderboard::of_runs(&simulation.measured).unwrap();
        Overview { simulation: &simulation, standing: &standing, out: out.path() }.to_string()
    }

    #[test]
    fn several_runs_have_a_standard_error_and_one_has_none() {
        let users = "[[instances]]\nmodel = \"pbm\"\ntheta = [0.5, 0.4]\nkappa = [0.9]\n[[policies]]\npolicy = \"uniform\"";
        let overview = |runs| overview(&format!("task = \"regret\"\nhorizon = 10\nruns = {runs}\n{users}\n"));
        let text = overview(1);
        assert!(text.starts_with("After 10 rounds, one run:\n") && !text.contains('±'), "{text}");
        let text = overview(3);
        assert!(text.starts_with("After 10 rounds, mean of 3 runs ± its standard error:\n"), "{text}");
        // In the head, in two columns, and in the sentence on the only policy.
        assert_eq!(text.matches('±').count(), 4, "{text}");
    }

    #[test]
    fn the_overview_of_answers_has_the_share_of_right_ones() {
        let users = "[[instances]]\nmodel = \"cascade\"\nattraction = [1.0, 0.0]\npositions = 1\n[[policies]]\npolicy = \"cascade-bai\"";
        let overview =
            |task, length| overview(&format!("task = \"{task}\"\n{length} = 2000\nruns = 2\n{users}\n"));
        let text = overview("identify", "max_steps");
        assert!(text.starts_with("Until it stops, at most 2,000 rounds, mean of 2 runs ± "), "{text}");
        // In two columns, and in the sentence on the only policy.
        assert!(text.contains("stopped  correct") && text.matches("100 %").count() == 3, "{text}");
        let text = overview("budget", "horizon");
        assert!(text.starts_with("After 2,000 rounds, mean of 2 runs ± "), "{text}");
        assert!(!text.contains("stopp") && text.matches("100 %").count() == 1, "{text}");
    }
}
