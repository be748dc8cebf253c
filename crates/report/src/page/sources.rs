//! The section of the sources: papers, machine, timing and manifests.

use super::panels::ran;
use crate::html::Html;
use crate::reproduction_report::{Report, VariantReport};
use documents::number;
use experiment::manifest::Manifest;
use experiment::timing::Timing;

pub(super) fn write_sources(html: &mut Html, report: &Report<'_>) {
    html.section("Papers").open("ul", "");
    for paper in &report.reproduction.papers {
        html.open("li", "").text(&format!("{}: {}", paper.key, paper.citation));
        if let Some(link) = &paper.link {
            html.text(" ").link(link, link);
        }
        html.close("li");
    }
    html.close("ul").element("h2", "", "How this was made");
    let mut rows = Vec::new();
    for (panel, found) in report.reproduction.panels.iter().zip(&report.panels) {
        let total = |seconds: fn(&Timing) -> f64| -> String {
            let timings = found.variants.iter().filter_map(|variant| variant.timing.as_ref());
            number::fixed(timings.map(seconds).sum(), 1)
        };
        let mut row = vec![
            Html::of(&panel.name),
            Html::of(&ran(panel, found)),
            Html::of(&total(|timing| timing.total.cpu_seconds)),
            Html::of(&total(|timing| timing.total.wall_seconds)),
        ];
        match found.variants.last() {
            Some(VariantReport { manifest: Some(manifest), .. }) => {
                row.push(Html::of(&manifest.finished));
                row.push(Html::of(&commit(manifest)));
                row.push(Html::of(&machine(manifest)));
            }
            _ => row.resize_with(7, Html::new),
        }
        rows.push(row);
    }
    html.table(
        "",
        &["Panel", "Simulated", "#CPU seconds", "#Seconds", "Finished", "Source", "Machine"],
        &rows,
    );
    if let Some(seconds) = report.cpu_seconds() {
        html.element("p", "small", &format!("All together: {} CPU seconds.", number::fixed(seconds, 1)));
    }
    // The manifests of variants are linked among their files, and not repeated here.
    for panel in &report.panels {
        if let [VariantReport { manifest: Some(manifest), result, .. }] = panel.variants.as_slice() {
            html.open("details", "").element("summary", "", &format!("Manifest of {}", result.name));
            html.element("pre", "", &String::from_utf8_lossy(&manifest.to_json())).close("details");
        }
    }
    html.close("section");
}

fn commit(manifest: &Manifest) -> String {
    let program = &manifest.program;
    let git = program.git.as_ref().map_or_else(String::new, |git| {
        let short: String = git.commit.chars().take(10).collect();
        format!(", commit {short}{}", if git.dirty { " with changes" } else { "" })
    });
    format!("{} {}{git}", program.name, program.version)
}

fn machine(manifest: &Manifest) -> String {
    let host = &manifest.host;
    let threads = number::counted(manifest.threads as u64, "thread");
    format!("{}, {threads}, {}", host.cpu.as_ref().unwrap_or(&host.arch), host.os)
}
