//! The sections of the panels: pictures, final values, statement, claims and files.

use super::alone::write_conditions;
use super::claims::{claims_of, write_claim};
use super::values;
use crate::html::Html;
use crate::leaderboard::Leaderboard;
use crate::panel::Panel;
use crate::reproduction::Reproduction;
use crate::reproduction_report::{PanelReport, Report, VariantReport};
use documents::number;
use experiment::result::ResultFile;
use itertools::Itertools as _;
use sim::Assignment;
use spec::models::InstanceTable;

/// The most claims beside the pictures; further ones are below.
const BESIDE: usize = 4;

/// Writes a panel. Pictures and final values are at the left, statement and claims at the right.
/// Wide pictures are above both columns, wide tables and further claims below.
pub(super) fn write_panel(html: &mut Html, report: &Report<'_>, panel: &Panel, found: &PanelReport) {
    write_heading(html, panel);
    let users = if panel.takes_data() {
        " · measured"
    } else if panel.instances().iter().any(InstanceTable::is_calibrated) {
        " · calibrated, not measured"
    } else {
        ""
    };
    let ran = ran(panel, found);
    // Who is best, in a sentence; of variants the table tells it.
    let leaderboard = match found.variants.as_slice() {
        [alone] if !panel.has_variants() => Leaderboard::of(&alone.result).named(&report.styles).sentences(),
        _ => Vec::new(),
    };
    html.element("p", "muted", &format!("{}{ran}{users}", source(report.reproduction, panel)));
    for sentence in leaderboard.iter().take(1) {
        html.element("p", "lead", sentence);
    }
    for picture in found.pictures.iter().filter(|picture| picture.is_wide) {
        html.figure("wide", &picture.svg);
    }
    let narrow = || found.pictures.iter().filter(|picture| !picture.is_wide);
    // A table with a column for each variant needs the whole width.
    let wide = values::needs_width(panel, found);
    let nothing_at_the_left = wide && narrow().next().is_none();
    html.open("div", if nothing_at_the_left { "lead" } else { "columns" }).open("div", "");
    for picture in narrow() {
        html.figure("", &picture.svg);
    }
    if !wide {
        values::write(html, &report.styles, panel, found);
    }
    html.close("div").open("div", "");
    write_statement(html, panel);
    write_conditions(html, panel);
    let (beside, below): (Vec<_>, Vec<_>) =
        claims_of(report, Some(&panel.name)).enumerate().partition(|(number, _)| *number < BESIDE);
    for (_, judged) in beside {
        write_claim(html, judged);
    }
    html.close("div").close("div");
    if !below.is_empty() {
        html.open("div", "claims-below");
        for (_, judged) in below {
            write_claim(html, judged);
        }
        html.close("div");
    }
    if wide {
        values::write(html, &report.styles, panel, found);
    }

    write_choices(html, panel);
    write_files(html, panel, found);
    html.close("section");
}

/// The paper of a panel, and the place in it.
fn source(reproduction: &Reproduction, panel: &Panel) -> String {
    let paper = reproduction.papers.get(panel.paper);
    paper.map_or_else(String::new, |paper| format!("{} paper, {} · ", paper.key, panel.place))
}

/// Writes the start of a panel's section.
fn write_heading(html: &mut Html, panel: &Panel) {
    html.raw("<section id=\"").text(&panel.name).raw("\">\n").element("h2", "", &panel.title);
}

fn write_statement(html: &mut Html, panel: &Panel) {
    html.open("div", "card says").open("p", "small muted").text("What the paper says").close("p");
    html.paragraph("", &panel.statement).close("div");
}

fn write_choices(html: &mut Html, panel: &Panel) {
    if !panel.choices.is_empty() {
        html.element("h3", "", "Choices that are ours").list(&panel.choices);
    }
}

/// Writes a panel that was not run: its statement, the reason, and its claims.
pub(super) fn write_awaiting(html: &mut Html, report: &Report<'_>, panel: &Panel) {
    let reproduction = report.reproduction;
    write_heading(html, panel);
    html.element("p", "muted", &format!("{}not run", source(reproduction, panel)));
    html.open("div", "columns").open("div", "");
    write_statement(html, panel);
    html.open("div", "card note").open("p", "").raw("<strong>Not run:</strong> ");
    let name = &reproduction.name;
    let (why, command) = match &panel.left {
        Some(reason) => {
            (format!("{reason}. It is left to the full run: "), format!("click-bandits reproduce {name}"))
        }
        None => (
            "the data are not public. Who has them: ".to_owned(),
            format!("click-bandits reproduce {name} --data FILE"),
        ),
    };
    html.text(&why).raw("<code>").text(&command).raw("</code>.");
    html.close("p").close("div").close("div").open("div", "");
    for judged in claims_of(report, Some(&panel.name)) {
        write_claim(html, judged);
    }
    html.close("div").close("div");
    write_choices(html, panel);
    html.close("section");
}

/// Writes links to the files of a panel; those of variants are in a folded list.
fn write_files<'a>(html: &mut Html, panel: &Panel, found: &'a PanelReport) {
    if !panel.has_variants() {
        let files = found.variants.iter().flat_map(|variant| &variant.files);
        html.open("p", "small").text("Files: ").links(files.map(|file| (&**file, &**file))).close("p");
        return;
    }
    if !found.pictures.is_empty() {
        let files = found.pictures.iter().map(|picture| &*picture.file);
        html.open("p", "small").text("Figures: ").links(files.map(|file| (file, file))).close("p");
    }
    let n_variants = number::counted(found.variants.len() as u64, "variant");
    html.open("details", "small").element("summary", "", &format!("Files of {n_variants}")).open("ul", "");
    for (variant, found) in panel.variants.iter().zip(&found.variants) {
        html.open("li", "").text(&format!("{}: ", variant.title));
        let named = |file: &'a String| (&**file, file.rsplit('/').next().unwrap_or(file));
        html.links(found.files.iter().map(named)).close("li");
    }
    html.close("ul").close("details");
}

/// The runs, rounds and seed of a panel, in words.
pub(super) fn ran(panel: &Panel, found: &PanelReport) -> String {
    let simulations = panel.variants.iter().zip(&found.variants);
    let described = simulations.map(|(variant, VariantReport { result, .. })| {
        let runs = number::counted(result.runs, "run");
        let seed = format!("seed {}", result.seed);
        if variant.experiment.assignment() == Assignment::Drawn {
            return ([runs, seed], result);
        }
        let queries = variant.experiment.instances().count() as u64;
        let each = number::grouped(result.runs / queries.max(1));
        let one = if variant.experiment.has_duels() { "subset" } else { "query" };
        ([runs, format!("{seed}, {each} on each of {}", number::counted(queries, one))], result)
    });
    // Variants that differ in their length alone are described once.
    let each: Vec<String> = (&described.chunk_by(|(same, _)| same.clone()))
        .into_iter()
        .map(|([runs, rest], results)| {
            let mut results: Vec<&ResultFile> = results.map(|(_, result)| result).collect();
            results.sort_by_key(|result| result.horizon.or(result.max_steps));
            let ends = [results[0], results[results.len() - 1]].map(length_in_words);
            format!("{runs} of {}, {rest}", ends.iter().dedup().join(" to "))
        })
        .collect();
    let variants = number::counted(found.variants.len() as u64, "variant");
    match (panel.has_variants(), each.as_slice()) {
        (false, _) => each.join(", "),
        (true, [same]) => format!("{variants}, each {same}"),
        (true, _) => format!("{variants}: {}", each.join("; ")),
    }
}

fn length_in_words(result: &ResultFile) -> String {
    match (result.horizon, result.max_steps) {
        (None, Some(most)) => format!("at most {}", number::counted(most, "round")),
        (horizon, _) => number::counted(horizon.unwrap_or(0), "round"),
    }
}
