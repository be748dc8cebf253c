//! `index.html`: how much, how sure, on what assumption; then every finding with its interval, mean
//! weights, models, and what was read.

use click_logs::fit::Model;
use documents::number::{counted, fixed, grouped};
use evaluation::{ALWAYS_ASSUMED, Basis, Evaluation, Finding};
use report::html::Html;

/// The width of a drawn interval, in pixels.
const WIDTH: f64 = 160.0;

/// The page of an evaluation; `report` says what was read.
pub(super) fn page(evaluation: &Evaluation, logs: &str, ranking: &str, report: &str) -> String {
    let mut html = Html::new();
    html.element("h1", "", "What another ranking would have earned");
    html.paragraph("lead", &evaluation.sentence());
    html.list(&evaluation.warnings());
    findings(evaluation, &mut html);
    weights(evaluation, &mut html);
    models(evaluation, &mut html);
    html.element("h2", "", "What was read");
    html.element("p", "", &format!("Log: {logs}: {report}."));
    html.element("p", "", &format!("New ranking: {ranking}."));
    if let Some(levels) = &evaluation.levels {
        let today = fixed(1000.0 * levels.today.value, 1);
        html.paragraph(
            "",
            &format!(
                "Compared: {} of {}, in {} for the intervals (a jackknife over groups). What was shown earned {today} {} per \
                 1,000 lists.",
                counted(levels.lists, "list"),
                counted(levels.about.users, "user"),
                counted(levels.groups as u64, "group"),
                evaluation.unit(),
            ),
        );
    }
    html.note("All numbers: `answer.json`.");
    html.page("What another ranking would have earned")
}

fn findings(evaluation: &Evaluation, html: &mut Html) {
    html.element("h2", "", "Differences from what was shown");
    // Models that are told apart from the best have no value; they are listed below.
    let is_shown = |found: &&Finding| found.value.is_some() || matches!(found.basis, Basis::Level(_));
    let all: Vec<&Finding> = evaluation.findings.all.iter().filter(is_shown).collect();
    let ends = all.iter().filter_map(|found| found.interval).flat_map(|(low, high)| [low, high]);
    let reach = ends.map(f64::abs).fold(0.0, f64::max);
    let cells = all.iter().map(|found| {
        let is_answer = evaluation.findings.answer().is_some_and(|answer| answer.basis == found.basis);
        let [mut name, mut drawn] = [Html::new(), Html::new()];
        name.element(if is_answer { "strong" } else { "span" }, "", found.basis.name());
        if let (Some(ends), Some(difference)) = (found.interval, &found.difference) {
            drawn.raw(&interval(ends, difference.value, reach, is_answer));
        }
        let [difference, interval, lists] = evaluation.figures(found).map(|figure| Html::of(&figure));
        let [assumption, state] = [found.basis.assumption(), evaluation.state(found)].map(|text| {
            let mut html = Html::new();
            html.prose(&text);
            html
        });
        vec![name, difference, interval, drawn, lists, assumption, state]
    });
    let heads = ["From", "#Difference", "#95 %", "Interval", "#Effective lists", "Right if", "State"];
    html.table("narrow", &heads, &cells.collect::<Vec<_>>());
    html.note(&format!(
        "Differences are {} per 1,000 lists. The first of `list`, `prefix` and `position` that has enough data answers, not the one \
         with the narrowest interval; else the model that predicts best. Every number needs that {ALWAYS_ASSUMED}.",
        evaluation.unit()
    ));
}

/// An interval as a line, with zero in the middle.
fn interval((low, high): (f64, f64), middle: f64, reach: f64, is_answer: bool) -> String {
    let x = |value: f64| 4.0 + (WIDTH - 8.0) * 0.5 * (1.0 + if reach > 0.0 { value / reach } else { 0.0 });
    let width = if is_answer { 3 } else { 1 };
    format!(
        "<svg width=\"{WIDTH}\" height=\"16\" role=\"img\" aria-label=\"{} to {}\" stroke=\"currentColor\"><line x1=\"{zero:.1}\" \
         x2=\"{zero:.1}\" y1=\"0\" y2=\"16\" stroke-dasharray=\"2 2\" opacity=\"0.6\"/><line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"8\" \
         y2=\"8\" stroke-width=\"{width}\"/><circle cx=\"{:.1}\" cy=\"8\" r=\"3\" fill=\"currentColor\"/></svg>",
        fixed(1000.0 * low, 1),
        fixed(1000.0 * high, 1),
        x(low),
        x(high),
        x(middle),
        zero = x(0.0),
    )
}

fn weights(evaluation: &Evaluation, html: &mut Html) {
    let Some(levels) = evaluation.levels.as_ref() else { return };
    let known: Vec<_> = levels.levels.iter().filter(|level| level.has_propensities).collect();
    if known.is_empty() {
        return;
    }
    html.element("h2", "", "Mean weights");
    let percent = |share: f64| format!("{} %", fixed(100.0 * share, 1));
    let rows = known.iter().map(|of| {
        let never =
            levels.never_shown.as_ref().map_or_else(|| "–".to_owned(), |never| percent(never.of(of.level)));
        let means: Vec<String> = of.mean_weights.iter().map(|mean| fixed(mean.value, 3)).collect();
        [of.level.name().to_owned(), means.join(", "), percent(of.largest_share), never]
    });
    let heads = ["Level", "Position by position", "#Largest share of a list", "#Never shown"];
    html.texts(&heads, rows);
    html.note(
        "1 is expected if the propensities are those of this log and it can show all of the new ranking.",
    );
}

fn models(evaluation: &Evaluation, html: &mut Html) {
    html.element("h2", "", "Click models");
    let models = match &evaluation.models {
        Ok(models) => models,
        Err(why) => {
            html.element("p", "", &format!("None: {}.", why.text));
            return;
        }
    };
    let row = |score: &click_logs::fit::Score| {
        let model: Model = score.model;
        let transfer = models.transfers.as_ref().and_then(|transfers| transfers.of(model));
        let slope = transfer.map_or_else(
            || "–".to_owned(),
            |transfer| {
                let slope = transfer.slope.map_or_else(|| "?".to_owned(), |slope| fixed(slope, 2));
                let ends = transfer.interval().map_or_else(String::new, |(low, high)| {
                    format!(" [{}, {}]", fixed(low, 2), fixed(high, 2))
                });
                format!("{slope}{ends}: {}", transfer.verdict().name())
            },
        );
        let alike = if models.choice.alike.contains(&model) {
            "as well as the best"
        } else {
            "told apart from the best"
        };
        let share = evaluation.findings.all.iter().find(|found| found.basis == Basis::Model(model));
        let share = share.filter(|found| found.value.is_some());
        let share =
            share.map_or_else(|| "–".to_owned(), |found| format!("{} %", fixed(100.0 * found.share, 0)));
        [model.name().to_owned(), fixed(score.log_likelihood, 5), alike.to_owned(), share, slope]
    };
    let heads = ["Model", "#Log-likelihood", "Predicts held-out users", "#Share of lists valued", "Transfer"];
    html.texts(&heads, models.comparison.scores.iter().map(row));
    let valued =
        if models.not_valued.is_some() { "" } else { "; the new ranking is valued with fits without" };
    html.note(&format!(
        "Compared on {} of held-out users, in nats an impression, with fits that have a prior{valued}. Transfer: the part of the predicted differences between lists that happens on lists left out of a fit with prior; \
         it multiplies no value here.",
        grouped(models.comparison.n_clusters) + " sessions"
    ));
}
