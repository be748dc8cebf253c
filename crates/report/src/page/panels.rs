//! The sections of the panels: pictures, final values, statement, claims and files.

use super::claims::{claims_of, write_claim};
use super::values;
use crate::html::Html;
use crate::reproduction::{Panel, Reproduction, Variant};
use crate::reproduction_report::{PanelReport, Report, VariantReport};
use crate::standing::Standing;
use experiment::models::InstanceTable;
use experiment::number;
use experiment::result::ResultFile;
use sim::Assignment;

/// The most claims beside the pictures. More of them would be longer than the pictures, so they are below.
const BESIDE: usize = 4;

/// Writes a panel. Pictures and final values are at the left, statement and claims at the right. Wide pictures are above both columns, wide
/// tables and further claims below.
pub(super) fn write_panel(html: &mut Html, report: &Report<'_>, panel: &Panel, found: &PanelReport) {
    html.raw("<section id=\"").text(&panel.name).raw("\">\n");
    html.element("h2", "", &panel.title);
    let users = if panel.takes_data() {
        " · measured"
    } else if panel.instances().iter().any(InstanceTable::is_calibrated) {
        " · calibrated, not measured"
    } else {
        ""
    };
    let ran = ran(panel, found);
    // Who is best, in a sentence; of variants the table tells it.
    let standing = match found.variants.as_slice() {
        [alone] if !panel.has_variants() => Standing::of(&alone.result).named(&report.styles).sentences(),
        _ => Vec::new(),
    };
    html.element("p", "muted", &format!("{}{ran}{users}", source(report.reproduction, panel)));
    for sentence in standing.iter().take(1) {
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
    html.open("div", "card says").open("p", "small muted").text("What the paper says").close("p");
    html.paragraph("", &panel.statement).close("div");
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

    if !panel.choices.is_empty() {
        html.element("h3", "", "Choices that are ours").list(&panel.choices);
    }
    write_files(html, panel, found);
    html.close("section");
}

/// The paper of a panel, and the place in it.
fn source(reproduction: &Reproduction, panel: &Panel) -> String {
    let paper = reproduction.papers.get(panel.paper);
    paper.map_or_else(String::new, |paper| format!("{} paper, {} · ", paper.key, panel.place))
}

/// Writes a panel that was not run: its statement, the reason, and its claims.
pub(super) fn write_awaiting(html: &mut Html, report: &Report<'_>, panel: &Panel) {
    let reproduction = report.reproduction;
    html.raw("<section id=\"").text(&panel.name).raw("\">\n");
    html.element("h2", "", &panel.title);
    html.element("p", "muted", &format!("{}not run", source(reproduction, panel)));
    html.open("div", "columns").open("div", "");
    html.open("div", "card says").open("p", "small muted").text("What the paper says").close("p");
    html.paragraph("", &panel.statement).close("div");
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
    if !panel.choices.is_empty() {
        html.element("h3", "", "Choices that are ours").list(&panel.choices);
    }
    html.close("section");
}

/// Writes links to the files of a panel. Those of variants are in a folded list, one line for each variant.
pub(super) fn write_files(html: &mut Html, panel: &Panel, found: &PanelReport) {
    if !panel.has_variants() {
        html.open("p", "small").text("Files: ");
        for (index, file) in found.variants.iter().flat_map(|variant| &variant.files).enumerate() {
            html.text(if index > 0 { ", " } else { "" }).link(file, file);
        }
        html.close("p");
        return;
    }
    if !found.pictures.is_empty() {
        html.open("p", "small").text("Figures: ");
        for (index, picture) in found.pictures.iter().enumerate() {
            html.text(if index > 0 { ", " } else { "" }).link(&picture.file, &picture.file);
        }
        html.close("p");
    }
    html.open("details", "small");
    html.element(
        "summary",
        "",
        &format!("Files of {}", number::counted(found.variants.len() as u64, "variant")),
    )
    .open("ul", "");
    for (variant, found) in panel.variants.iter().zip(&found.variants) {
        html.open("li", "").text(&format!("{}: ", variant.title));
        for (index, file) in found.files.iter().enumerate() {
            let name = file.rsplit('/').next().unwrap_or(file);
            html.text(if index > 0 { ", " } else { "" }).link(file, name);
        }
        html.close("li");
    }
    html.close("ul").close("details");
}

/// The runs, rounds and seed of a panel, in words.
pub(super) fn ran(panel: &Panel, found: &PanelReport) -> String {
    let of = |found: &VariantReport| {
        let result = &found.result;
        format!(
            "{} of {}, seed {}",
            number::counted(result.runs, "run"),
            length_in_words(result),
            result.seed
        )
    };
    let of = |(variant, found): (&Variant, &VariantReport)| {
        let queries = variant.experiment.instances().count();
        match variant.experiment.assignment() {
            Assignment::Drawn => of(found),
            Assignment::InTurn => {
                let each = found.result.runs / queries.max(1) as u64;
                let one = if variant.experiment.has_duels() { "subset" } else { "query" };
                let all = number::counted(queries as u64, one);
                format!("{}, {} on each of {all}", of(found), number::grouped(each))
            }
        }
    };
    let mut each: Vec<String> = panel.variants.iter().zip(&found.variants).map(of).collect();
    each.dedup();
    let variants = number::counted(found.variants.len() as u64, "variant");
    match (panel.has_variants(), each.as_slice()) {
        (false, _) => each.join(", "),
        (true, [same]) => format!("{variants}, each {same}"),
        (true, _) => format!("{variants}: {}", each.join("; ")),
    }
}

/// The number of rounds of a run, in words.
fn length_in_words(result: &ResultFile) -> String {
    match (result.horizon, result.max_steps) {
        (None, Some(most)) => format!("at most {}", number::counted(most, "round")),
        (horizon, _) => number::counted(horizon.unwrap_or(0), "round"),
    }
}
