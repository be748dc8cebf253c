//! The index of several reproductions: a page with their verdicts and pictures, and a summary for
//! each paper.

use crate::claims::Verdict;
use crate::html::Html;
use crate::reproduction::Paper;
use crate::reproduction_report::{ClaimResult, Report};
use documents::{TemporaryFile, number};
use experiment::PathError;
use serde::Serialize;
use std::fs;
use std::path::Path;

/// The number of claims with each verdict, in the order of [`Verdict::ALL`].
pub type Counts = [usize; Verdict::ALL.len()];

/// One reproduction in the index.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Its folder, relative to the index.
    pub folder: String,
    /// Whether its verdicts agree with the known ones.
    pub ok: bool,
    /// How they compare, as the end of a sentence.
    pub outcome: String,
    /// Every paper with its claims.
    pub papers: Vec<PaperSummary>,
    /// The first picture, as SVG.
    #[serde(skip)]
    pub picture: Option<String>,
}

/// The claims of one paper, and the time that its simulations took.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PaperSummary {
    /// Authors, title, place and year.
    pub citation: String,
    /// Claims by verdict.
    pub claims: Counts,
    /// CPU seconds of the panels.
    pub cpu_seconds: f64,
}

impl Summary {
    /// The summary of a report that is in this folder.
    pub fn new(report: &Report<'_>, folder: &str) -> Self {
        let reproduction = report.reproduction;
        // A claim about no panel is about the first paper.
        let panels = || reproduction.panels.iter().chain(&reproduction.awaiting);
        let paper_of = |judged: &ClaimResult<'_>| {
            let panel = panels().find(|panel| Some(&panel.name) == judged.claim.panel.as_ref());
            panel.map_or(0, |panel| panel.paper)
        };
        let summed_up = |(index, paper): (usize, &Paper)| {
            let with = |verdict: &Verdict, judged: &&ClaimResult<'_>| {
                paper_of(judged) == index && judged.finding.verdict == *verdict
            };
            let ran = reproduction.panels.iter().zip(&report.panels);
            let variants =
                ran.filter(|(panel, _)| panel.paper == index).flat_map(|(_, found)| &found.variants);
            PaperSummary {
                citation: paper.citation.clone(),
                claims: Verdict::ALL
                    .map(|verdict| report.claims.iter().filter(|judged| with(&verdict, judged)).count()),
                cpu_seconds: variants
                    .filter_map(|variant| Some(variant.timing.as_ref()?.total.cpu_seconds))
                    .sum(),
            }
        };
        let papers = reproduction.papers.iter().enumerate().map(summed_up).collect();
        let mut pictures = report.panels.iter().flat_map(|panel| &panel.pictures);
        Self {
            name: reproduction.name.clone(),
            title: reproduction.title.clone(),
            folder: folder.to_owned(),
            ok: report.is_as_known(),
            outcome: report.outcome(),
            papers,
            picture: pictures.next().map(|picture| picture.svg.clone()),
        }
    }

    fn claims(&self) -> Counts {
        added(self.papers.iter().map(|paper| paper.claims))
    }

    fn cpu_seconds(&self) -> f64 {
        self.papers.iter().map(|paper| paper.cpu_seconds).sum()
    }
}

fn added(counts: impl Iterator<Item = Counts>) -> Counts {
    let mut all = Counts::default();
    for counts in counts {
        all.iter_mut().zip(counts).for_each(|(all, count)| *all += count);
    }
    all
}

/// The claims of every paper in all reproductions, papers in the order of their first appearance.
pub fn by_paper(summaries: &[Summary]) -> Vec<PaperSummary> {
    let mut papers: Vec<PaperSummary> = Vec::new();
    for one in summaries.iter().flat_map(|summary| &summary.papers) {
        match papers.iter_mut().find(|paper| paper.citation == one.citation) {
            None => papers.push(one.clone()),
            Some(paper) => {
                paper.claims = added([paper.claims, one.claims].into_iter());
                paper.cpu_seconds += one.cpu_seconds;
            }
        }
    }
    papers.retain(|paper| paper.claims.iter().any(|count| *count > 0) || paper.cpu_seconds > 0.0);
    papers
}

/// The page of the index. `n_all`: the number of reproductions when all are done.
pub fn page(summaries: &[Summary], n_all: usize, quick: bool) -> String {
    const TITLE: &str = "Reproductions";
    let mut html = Html::new();
    html.element("h1", "", TITLE);
    let scale = if quick { ", as a quick check with fewer runs than the papers" } else { "" };
    let so_far = if summaries.len() < n_all {
        format!(" {} of {n_all} are done so far.", summaries.len())
    } else {
        String::new()
    };
    html.paragraph(
        "lead",
        &format!("Every claim of the papers' experiments, tested by simulation{scale}.{so_far}"),
    );
    html.section("Papers");
    let row = |name: Html, counts: &Counts, cpu_seconds: f64| -> Vec<Html> {
        let counts =
            counts.map(|count| Html::of(&if count == 0 { "–".to_owned() } else { count.to_string() }));
        let time = Html::of(&number::significant(cpu_seconds, 3));
        std::iter::once(name).chain(counts).chain([time]).collect()
    };
    let mut heads = vec!["Paper"];
    let words = Verdict::ALL.map(|verdict| format!("#{}", verdict.words()));
    heads.extend(words.iter().map(String::as_str));
    heads.push("#CPU-seconds");
    let papers = by_paper(summaries);
    let rows: Vec<Vec<Html>> =
        papers.iter().map(|paper| row(Html::of(&paper.citation), &paper.claims, paper.cpu_seconds)).collect();
    html.table("narrow", &heads, &rows).close("section");
    html.section("Experiments");
    heads[0] = "Experiment";
    let link = |summary: &Summary| {
        let mut link = Html::new();
        link.link(&format!("#{}", summary.name), &summary.name);
        if !summary.ok {
            link.raw(" <strong>").text("not as known").raw("</strong>");
        }
        link
    };
    let rows: Vec<Vec<Html>> = summaries
        .iter()
        .map(|summary| row(link(summary), &summary.claims(), summary.cpu_seconds()))
        .collect();
    html.table("narrow", &heads, &rows).close("section");
    for summary in summaries {
        html.raw("<section id=\"").text(&summary.name).raw("\">\n");
        html.open("h2", "").link(&format!("{}/index.html", summary.folder), &summary.title).close("h2");
        html.element("p", "muted", &format!("{}: {}.", summary.name, summary.outcome));
        if let Some(picture) = &summary.picture {
            html.figure("", picture);
        }
        html.close("section");
    }
    html.page(TITLE)
}

/// Writes the index as `NAME.html` and, for programs, `NAME.json`.
///
/// # Errors
///
/// A page of this name that has no such file beside it was not written by this program; a file
/// cannot be written.
pub fn write(
    dir: &Path,
    name: &str,
    summaries: &[Summary],
    n_all: usize,
    quick: bool,
) -> Result<(), PathError> {
    check(dir, name)?;
    fs::create_dir_all(dir).map_err(PathError::system(dir, "cannot be created"))?;
    let json = serde_json::to_vec_pretty(summaries);
    let mut json =
        json.map_err(|error| PathError::system(dir, "the index cannot be written")(error.into()))?;
    json.push(b'\n');
    let files = [("json", json), ("html", page(summaries, n_all, quick).into_bytes())];
    for (end, content) in files {
        let path = dir.join(format!("{name}.{end}"));
        let written = TemporaryFile::write(&path, &content).and_then(TemporaryFile::rename);
        written.map_err(PathError::system(&path, "cannot be written"))?;
    }
    Ok(())
}

/// Refuses a directory with a page of this name that was not written by this program.
///
/// # Errors
///
/// There is such a page.
pub fn check(dir: &Path, name: &str) -> Result<(), PathError> {
    let [page, json] = ["html", "json"].map(|end| dir.join(format!("{name}.{end}")));
    if page.exists() && !json.exists() { Err(PathError::in_the_way(page)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(name: &str, ok: bool, papers: &[(&str, Counts, f64)]) -> Summary {
        let paper = |&(citation, claims, cpu_seconds): &(&str, Counts, f64)| PaperSummary {
            citation: citation.to_owned(),
            claims,
            cpu_seconds,
        };
        Summary {
            name: name.to_owned(),
            title: format!("The <{name}>"),
            folder: format!("{name}-quick"),
            ok,
            outcome: "every verdict is as known".to_owned(),
            papers: papers.iter().map(paper).collect(),
            picture: Some("<svg></svg>".to_owned()),
        }
    }

    #[test]
    fn papers_are_added_up_over_experiments() {
        let summaries = [
            summary("a", true, &[("P", [1, 0, 0, 2, 0], 3.0), ("Q", [0, 1, 0, 0, 0], 1.0)]),
            summary("b", false, &[("P", [4, 0, 1, 0, 0], 0.5), ("R", [0; 5], 0.0)]),
        ];
        let papers = by_paper(&summaries);
        assert_eq!(papers.len(), 2);
        assert_eq!((papers[0].claims, papers[0].cpu_seconds), ([5, 0, 1, 2, 0], 3.5));
        let page = page(&summaries, 3, true);
        for text in [
            "2 of 3 are done so far.",
            "href=\"a-quick/index.html\">The &lt;a&gt;</a>",
            "<strong>not as known</strong>",
            "#CPU-seconds",
        ] {
            assert_eq!(page.contains(text), !text.starts_with('#'), "{text}");
        }
        assert_eq!(page.matches("<svg>").count(), 2);
    }

    #[test]
    fn a_page_of_another_program_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("index.html"), "mine").unwrap();
        let refused = write(dir.path(), "index", &[], 1, false).unwrap_err().to_string();
        assert!(refused.contains("index.html: is in the way"), "{refused}");
        write(dir.path(), "index-quick", &[], 1, false).unwrap();
        write(dir.path(), "index-quick", &[summary("a", true, &[])], 1, false).unwrap();
        assert!(fs::read_to_string(dir.path().join("index-quick.json")).unwrap().contains("\"a-quick\""));
    }
}
