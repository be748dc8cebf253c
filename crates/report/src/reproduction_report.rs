//! A report on a reproduction: panel after panel is judged and drawn as soon as it was run, and written with the page at the end.

use crate::claims::{Agreement, Claim, Comparison, Evidence, Finding, Verdict, judge};
use crate::figure::{self, Figure, PolicyStyles};
use crate::page;
use crate::report_dir::{self, Owner};
use crate::reproduction::{Panel, Reproduction};
use crate::series::{Series, Simulated};
use anyhow::{Context as _, Result};
use experiment::manifest::Manifest;
use experiment::timing::Timing;
use experiment::{Measured, ResultFile, SPEC, number};
use serde::Serialize;
use std::path::Path;

/// What one simulation of a panel left.
#[derive(Debug)]
pub struct PanelRun {
    /// What it measured.
    pub measured: Measured,
    /// The figures that were written beside its result: name and content.
    pub figures: Vec<(String, String)>,
    /// How, when and where it was run.
    pub manifest: Manifest,
}

/// What a panel's simulations left.
#[derive(Debug, Clone)]
pub struct PanelReport {
    /// Its pictures, the paper's own figure first.
    pub pictures: Vec<Picture>,
    /// One for each variant, in the same order.
    pub variants: Vec<VariantReport>,
}

/// A picture of a panel.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Its file, relative to the page.
    pub file: String,
    /// The picture itself.
    pub svg: String,
    /// Whether it needs the whole width of a page.
    pub is_wide: bool,
}

/// What one simulation left.
#[derive(Debug, Clone)]
pub struct VariantReport {
    /// What it found.
    pub result: ResultFile,
    /// Its files, relative to the page.
    pub files: Vec<String>,
    /// How long each policy took.
    pub timing: Timing,
    /// How, when and where it ran; none where the page is one of the files that the manifest lists.
    pub manifest: Option<Manifest>,
}

/// A claim and what was found of it.
#[derive(Debug, Clone)]
pub struct Judged<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// What its test found.
    pub finding: Finding,
    /// How that compares with what is known.
    pub agreement: Agreement,
}

/// Everything a page shows.
#[derive(Debug, Clone)]
pub struct Report<'a> {
    /// What was reproduced.
    pub reproduction: &'a Reproduction,
    /// Whether at a smaller scale than the papers'.
    pub quick: bool,
    /// Whether of all panels, with their own runs and seeds.
    pub is_whole: bool,
    /// One for each panel that was run, in the same order.
    pub panels: Vec<PanelReport>,
    /// One for each claim that was judged, in the order of the claims.
    pub claims: Vec<Judged<'a>>,
    /// Colours and markers.
    pub styles: PolicyStyles,
}

impl<'a> Report<'a> {
    /// Begins a report: what needs no run is judged.
    pub fn begin(reproduction: &'a Reproduction, quick: bool, is_whole: bool) -> Self {
        let styles = reproduction.styles();
        let mut report =
            Self { reproduction, quick, is_whole, panels: Vec::new(), claims: Vec::new(), styles };
        for panel in &reproduction.awaiting {
            report.judge(Some(panel), &[]);
        }
        report.judge(None, &[]);
        report
    }

    /// Adds the next panel: its claims are judged, and what compares its variants is drawn.
    ///
    /// # Errors
    ///
    /// A figure that cannot be drawn.
    pub fn add(&mut self, panel: &'a Panel, ran: Vec<PanelRun>) -> Result<()> {
        let mut own_figures = Vec::new();
        let mut manifests = Vec::new();
        let mut simulated = Vec::new();
        for (variant, ran) in panel.variants.iter().zip(ran) {
            let PanelRun { measured, figures, manifest } = ran;
            own_figures.extend(figures);
            manifests.push(manifest);
            let (name, title) = (variant.name.clone(), variant.title.clone());
            simulated.push(Simulated { name, title, size: variant.size, measured });
        }
        // A panel's runs are many: they are judged and drawn before the next ones are made.
        self.judge(Some(panel), &simulated);
        let drawn = if panel.has_variants() {
            figure::draw_variants(&panel.figures, &simulated, &self.styles)?
        } else {
            own_figures
        };
        let pictures = drawn.into_iter().zip(&panel.figures).map(|((file, svg), figure)| Picture {
            file: format!("{}/{file}", panel.name),
            svg,
            is_wide: figure.plot.kind().is_wide,
        });
        let found = panel.variants.iter().zip(simulated).zip(manifests);
        let variants = found.map(|((variant, simulated), manifest)| {
            let folder = variant.folder(&panel.name);
            VariantReport::new(&folder, panel.own_figures(), simulated.measured, Some(manifest))
        });
        let report = PanelReport { pictures: pictures.collect(), variants: variants.collect() };
        self.panels.push(report);
        Ok(())
    }

    /// Judges the claims about a panel by what its variants measured; those about no panel without.
    fn judge(&mut self, panel: Option<&Panel>, variants: &[Simulated]) {
        let styles = &self.styles;
        let reader_name = |series: &Series| {
            panel.map_or_else(|| series.to_string(), |panel| panel.reader_name(series, styles))
        };
        let rows = self.reproduction.printed.as_ref().map_or(&[][..], |printed| &printed.rows);
        let mut judged = Vec::new();
        for claim in &self.reproduction.claims {
            if claim.panel.as_deref() != panel.map(|panel| panel.name.as_str()) {
                continue;
            }
            let evidence =
                panel.map(|_| Evidence { variants, value: claim.value, reader_name: &reader_name });
            // What cannot be judged by these runs is not decided by them; the other claims are.
            let finding = judge(claim, evidence.as_ref(), rows)
                .unwrap_or_else(|error| Finding::without_a_test(Verdict::Undecided, &format!("{error:#}")));
            let agreement = Agreement::of(finding.verdict, claim.known);
            judged.push(Judged { claim, finding, agreement });
        }
        self.claims.extend(judged);
        let place = |judged: &Judged<'_>| {
            self.reproduction.claims.iter().position(|claim| std::ptr::eq(claim, judged.claim))
        };
        self.claims.sort_by_key(place);
    }

    /// CPU seconds of all simulations together; none without a simulation.
    pub fn cpu_seconds(&self) -> Option<f64> {
        let all = self.panels.iter().flat_map(|panel| &panel.variants);
        all.map(|found| found.timing.total.cpu_seconds).reduce(|a, b| a + b)
    }

    /// How the verdicts compare with what is known, as the end of a sentence.
    pub fn outcome(&self) -> String {
        if self.reproduction.measured.is_some() {
            return "nothing is known of these data beforehand".to_owned();
        }
        let count =
            |wanted: Agreement| self.claims.iter().filter(|judged| judged.agreement == wanted).count();
        let open = if self.leaves_too_much_open() {
            let all = number::counted(self.testable() as u64, "claim");
            let are = if self.open() == 1 { "is" } else { "are" };
            format!(", and {} of {all} {are} open: MORE THAN A TENTH", self.open())
        } else {
            String::new()
        };
        let compared = match (count(Agreement::Contradicts), count(Agreement::Undecided)) {
            (0, 0) => match count(Agreement::New) {
                0 => "every verdict is as known".to_owned(),
                1 => "nothing contradicts what is known, 1 decided that was open".to_owned(),
                new => format!("nothing contradicts what is known, {new} decided that were open"),
            },
            (0, undecided) => format!("nothing contradicts what is known, {undecided} undecided"),
            (against, 0) => format!("{against} NOT as known"),
            (against, undecided) => format!("{against} NOT as known, {undecided} undecided"),
        };
        format!("{compared}{open}")
    }

    /// Whether all is as known, as far as a check of this extent has to tell.
    pub fn is_as_known(&self) -> bool {
        !self.claims.iter().any(|judged| judged.agreement.fails(self.quick)) && !self.leaves_too_much_open()
    }

    /// How many claims can be tested here at all.
    fn testable(&self) -> usize {
        self.claims.iter().filter(|judged| judged.finding.verdict != Verdict::NotTestable).count()
    }

    /// How many of them were not decided, whatever is known of them.
    fn open(&self) -> usize {
        let open = [Verdict::Undecided, Verdict::Left];
        self.claims.iter().filter(|judged| open.contains(&judged.finding.verdict)).count()
    }

    /// Whether it is a quick check of all claims that leaves more than a tenth of them open: what it is for is to decide them.
    fn leaves_too_much_open(&self) -> bool {
        self.is_whole && self.quick && 10 * self.open() > self.testable()
    }

    /// Writes `index.html`, `claims.json` and the figures that compare variants, all or none of them.
    ///
    /// # Errors
    ///
    /// Something cannot be written.
    pub fn write(&self, dir: &Path, owner: &Owner) -> Result<()> {
        let panels = self.reproduction.panels.iter().zip(&self.panels);
        let drawn_here: Vec<(&str, &str)> = panels
            .filter(|(panel, _)| panel.has_variants())
            .flat_map(|(_, found)| &found.pictures)
            .map(|picture| (picture.file.as_str(), picture.svg.as_str()))
            .collect();
        report_dir::write(dir, &self.claims_json(owner)?, &page::page(self), &drawn_here)
    }

    /// `claims.json`.
    fn claims_json(&self, owner: &Owner) -> Result<String> {
        #[derive(Serialize)]
        struct File<'a> {
            #[serde(flatten)]
            owner: &'a Owner,
            ok: bool,
            claims: Vec<Entry<'a>>,
        }
        #[derive(Serialize)]
        struct Entry<'a> {
            name: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            panel: Option<&'a str>,
            says: &'a str,
            place: &'a str,
            level: f64,
            verdict: Verdict,
            known: Verdict,
            agreement: Agreement,
            evidence: &'a str,
            summary: &'a str,
            comparisons: &'a [Comparison],
        }
        fn entry<'e>(judged: &'e Judged<'_>) -> Entry<'e> {
            Entry {
                name: &judged.claim.name,
                panel: judged.claim.panel.as_deref(),
                says: &judged.claim.says,
                place: &judged.claim.place,
                level: judged.claim.level,
                verdict: judged.finding.verdict,
                known: judged.claim.known,
                agreement: judged.agreement,
                evidence: &judged.claim.evidence,
                summary: &judged.finding.summary,
                comparisons: &judged.finding.comparisons,
            }
        }
        let file = File { owner, ok: self.is_as_known(), claims: self.claims.iter().map(entry).collect() };
        let mut text = serde_json::to_string_pretty(&file).context("claims.json cannot be written")?;
        text.push('\n');
        Ok(text)
    }
}

impl VariantReport {
    /// The report of a result whose files, these figures among them, stand in `folder`, which is relative to the page.
    pub(crate) fn new(
        folder: &str,
        figures: &[Figure],
        measured: Measured,
        manifest: Option<Manifest>,
    ) -> Self {
        let mut files = figure::file_names(figures);
        files.extend(["result.json", "curves.csv", "timing.json", "manifest.json", SPEC].map(str::to_owned));
        let path = |file: String| if folder.is_empty() { file } else { format!("{folder}/{file}") };
        Self {
            result: measured.result,
            files: files.into_iter().map(path).collect(),
            timing: measured.timing,
            manifest,
        }
    }
}
