//! `index.html`: what is wrong with the log and the answer first, then the comparison of models and
//! the figures.

use super::arguments::Arguments;
use super::overview::{not_compared, not_simulated, rows_of};
use super::{MAX_CLICKS, figures, transfer};
use ::answer::Answer;
use click_logs::study::{Checks, Study};
use documents::number::counted;
use report::html::Html;

/// The page of a fit. `drawn` are figures, `table` names the file with the parameters.
pub(super) fn page(
    arguments: &Arguments,
    study: &Study,
    checks: &Checks,
    answer: Result<&Answer, &String>,
    drawn: &[&str],
    table: &str,
) -> String {
    let mut html = Html::new();
    html.element("h1", "", "What a click log says");
    html.element("p", "lead", &format!("{}: {}", arguments.named(), study.log.report));
    for sentence in checks.sentences(MAX_CLICKS) {
        html.element("p", "", &sentence);
    }
    for without in answer.iter().flat_map(|answer| &answer.without) {
        html.element("p", "", &without.sentence());
    }
    match answer {
        Ok(answer) => super::answer::write(answer, &mut html),
        Err(why) => {
            html.element("h2", "", "No answer on today's ranking");
            for sentence in not_simulated(study).chain([format!("The reason: {why}.")]) {
                html.element("p", "", &sentence);
            }
        }
    }
    html.element("h2", "", "Models compared");
    match &study.comparison {
        Some(comparison) => {
            let heads = ["Model", "#Log-likelihood", "#Behind the best", "#Perplexity"];
            html.texts(&heads, rows_of(comparison).map(|row| row[..4].to_vec()));
            let impressions = comparison.scores.first().map_or(0, |score| score.impressions);
            let held_out = counted(impressions, "impression");
            html.note(&format!("On {held_out} held out, in nats an impression."));
        }
        None => {
            html.paragraph("", not_compared(arguments));
        }
    }
    if let Some(transfers) = &study.transfer {
        html.paragraph("", &transfer::heading(transfers));
        let heads = ["Model", "#Happens", "#95 %", "#Squared error", "Verdict"];
        html.texts(&heads, transfer::rows_of(transfers));
        let of_answer =
            |answer: &&Answer| transfers.models.iter().find(|of| of.model.name() == answer.models[0].model);
        if let Some((answer, of_model)) = answer.ok().and_then(|answer| Some((answer, of_answer(&answer)?))) {
            html.open("div", "pictures");
            html.figure("", &figures::transfer(of_model, answer));
            html.close("div");
        }
    }
    html.element("h2", "", "Parameters");
    html.open("div", "pictures");
    for figure in drawn {
        html.figure("", figure);
    }
    html.close("div");
    let of_answer = if answer.is_ok() { ", `answer.json`" } else { "" };
    let numbers = format!("All numbers: `parameters.json`, `{table}`, `comparison.json`{of_answer}.");
    html.note(&numbers);
    html.page("What a click log says")
}
