//! The page of an experiment of its own, without a paper: the leaderboard in sentences, figures,
//! final values, users, and how to read them.

use super::instances::write_parameters;
use super::panels::ran;
use super::values;
use crate::figure::PolicyStyles;
use crate::html::Html;
use crate::leaderboard::Leaderboard;
use crate::panel::Panel;
use crate::reproduction_report::PanelReport;
use policies::catalogue::PolicySpec;
use sim::Assignment;
use spec::{Experiment, Task};

pub(crate) fn page(
    panel: &Panel,
    found: &PanelReport,
    leaderboard: &Leaderboard,
    styles: &PolicyStyles,
) -> String {
    let mut html = Html::new();
    html.element("h1", "", &panel.title);
    html.element("p", "muted", &ran(panel, found));
    let experiment = &panel.variants[0].experiment;
    for sentence in leaderboard.sentences() {
        html.element("p", "lead", &sentence);
    }
    write_reading(&mut html, panel, experiment);
    html.section("Figures").open("div", "pictures");
    for picture in &found.pictures {
        html.figure("", &picture.svg);
    }
    html.close("div").close("section");
    html.section(&values::heading(found));
    values::write_tables(&mut html, styles, panel, found);
    html.close("section");
    html.section("Policies");
    write_policies(&mut html, experiment);
    html.close("section");
    html.section("Users");
    write_users(&mut html, panel, experiment);
    html.close("section");
    html.section("Files");
    write_files(&mut html, found);
    html.close("section");
    html.page(&panel.title)
}

fn write_policies(html: &mut Html, experiment: &Experiment) {
    let mut all = Vec::new();
    for policy in experiment.policies() {
        let (label, name, spec) = (&policy.label, &policy.name, &policy.spec);
        let named = if label == name { format!("`{label}`") } else { format!("`{label}` (`{name}`)") };
        let mut parameters: Vec<String> =
            spec.parameters().iter().map(|(key, value)| format!("`{key} = {value}`")).collect();
        let settings = Experiment::settings(policy).into_iter();
        parameters.extend(settings.map(|(key, value)| format!("`{key} = {value}`")));
        let with = if parameters.is_empty() { String::new() } else { format!(" {}.", parameters.join(", ")) };
        all.push(format!("{named}: {}{with}", spec.row().sentence));
    }
    html.list(&all);
}

fn write_users(html: &mut Html, panel: &Panel, experiment: &Experiment) {
    let model = experiment.instances().model();
    html.paragraph("lead", &format!("Click model `{}`: {}", model.name, model.sentence));
    match experiment.instances().posterior() {
        Some(_) => {
            html.paragraph(
                "lead",
                "Every run draws users of its own from the posterior distribution of a log's fit. The table has the mean parameters, to five decimals.",
            );
            write_parameters(html, &panel.instances(), Some(5));
        }
        None => write_parameters(html, &panel.instances(), None),
    }
    for doubt in experiment.instances().doubts() {
        html.paragraph("lead", &format!("Note: {doubt}."));
    }
    write_conditions(html, panel);
}

/// Writes what disturbs the policies of a panel, variant by variant, if anything does.
pub(super) fn write_conditions(html: &mut Html, panel: &Panel) {
    let mut is_dynamic = false;
    for variant in &panel.variants {
        let conditions = variant.experiment.live_in_words();
        if conditions.is_empty() {
            continue;
        }
        let name = if panel.has_variants() { format!(", {}", variant.title) } else { String::new() };
        html.paragraph("lead", &format!("Conditions{name}: {}", conditions.join(" ")));
        is_dynamic |= variant.experiment.live().users_change();
    }
    if is_dynamic {
        html.paragraph(
            "lead",
            "In every round, regret is measured against the best list of that round, of the items that may be shown.",
        );
    }
}

/// Writes what the numbers mean.
fn write_reading(html: &mut Html, panel: &Panel, experiment: &Experiment) {
    let measure = match panel.task() {
        Task::Regret if panel.has_duels() && experiment.instances().unit() != "Copeland scores" => {
            "Regret is what a policy lost in all rounds so far, counted in preferences: how much less often than the best item the two \
             compared items are preferred, on average. Less is better. It is computed from the users' preferences, so it has no noise of \
             single comparisons."
        }
        Task::Regret if panel.has_duels() => {
            "Regret is Copeland regret, since no item beats all others. The Copeland score of an item is the share of the other items that \
             it beats. In every round a policy loses the largest score minus the mean score of the two compared items. Less is better. It \
             is computed from the users' preferences, so it has no noise of single comparisons."
        }
        Task::Regret => {
            "Regret is what a policy lost in all rounds so far: the expected reward of a best action minus that of the actions taken. Less \
             is better. It is computed from the users' parameters, so it has no noise of single clicks."
        }
        Task::Identify => {
            "The stopping time is the number of rounds after which a policy names the best items. Less is better, as long as the answers \
             are right."
        }
        Task::Budget => {
            "Every policy has the same number of rounds, and then names the best items. The share of right answers is compared."
        }
    };
    let competing = || experiment.policies().iter().filter(|policy| policy.name != "oracle");
    let compares = competing().count() > 1;
    let mut error = "± is followed by the standard error of a mean over the runs (se).".to_owned();
    if compares {
        error.push_str(" z is a difference divided by its standard error.");
    }
    if compares && panel.task() == Task::Regret {
        error.push_str(
            " A policy is ahead from a round on if the difference is significant at every recorded round from there to the end.",
        );
    }
    let users = match (experiment.instances().count(), experiment.assignment()) {
        _ if experiment.instances().posterior().is_some() => "Every run draws users of its own.",
        (1, _) if panel.has_duels() => "Every run draws new comparisons.",
        (1, _) => "Every run draws new clicks.",
        (n, Assignment::Drawn) => &format!(
            "Each block of {n} runs takes every one of the {n} instances once, in an order that is drawn; the mean of a block is one \
             observation."
        ),
        (n, Assignment::InTurn) => {
            &format!("The runs take the {n} instances in turn; the mean of {n} runs is one observation.")
        }
    };
    let paired = if compares {
        " All policies of a run meet the same users, so two policies are compared run by run."
    } else {
        ""
    };
    let mut notes = vec![measure.to_owned(), error, format!("{users}{paired}")];
    if competing().count() < experiment.policies().len() {
        notes.push("The policy `oracle` knows the users. It is shown, but not compared.".to_owned());
    }
    if experiment.policies().iter().any(|policy| matches!(policy.spec, PolicySpec::Logged {})) {
        notes.push(
            "`logged` shows the lists of the log as often as the log does: today's ranking.".to_owned(),
        );
    }
    html.open("div", "reading small muted").list(&notes).close("div");
}

fn write_files(html: &mut Html, found: &PanelReport) {
    let mut files: Vec<(&str, &str)> =
        found.pictures.iter().map(|picture| (picture.file.as_str(), "figure")).collect();
    files.extend([
        ("spec.toml", "the experiment: `click-bandits simulate spec.toml --out DIR` plays it again"),
        ("result.json", "all numbers of this page, and more"),
        ("curves.csv", "the means and quantiles as a table"),
        ("timing.json", "CPU time of every policy"),
        ("manifest.json", "program, machine, date, and hashes of all files"),
    ]);
    html.open("ul", "");
    for (file, what) in files {
        html.open("li", "").link(file, file).text(": ").prose(what).close("li");
    }
    html.close("ul");
}
