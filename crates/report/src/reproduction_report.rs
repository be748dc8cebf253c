//! The report on a reproduction. Each panel is judged and drawn as soon as it has run; everything
//! is written at the end.

use crate::claims::{Agreement, Claim, Comparison, Evidence, Finding, Verdict, judge, runs_needed};
use crate::figure::{self, Figure, FigureData, Picture, PolicyStyles};
use crate::page;
use crate::panel::Panel;
use crate::report_dir::{self, Owner};
use crate::reproduction::Reproduction;
use crate::series::{Series, VariantRuns};
use documents::number;
use experiment::manifest::Manifest;
use experiment::timing::Timing;
use experiment::{Measurement, PathError, ResultFile, SPEC};
use serde::Serialize;
use std::error::Error;
use std::path::Path;

/// The output of one simulation of a panel.
#[derive(Debug)]
pub struct PanelRun {
    /// Its runs and their summary.
    pub measured: Measurement,
    /// The figures that were written beside its result.
    pub figures: Vec<Picture>,
    /// Its manifest: how, when and where it was run.
    pub manifest: Manifest,
}

/// The part of a report about one panel.
#[derive(Debug, Clone)]
pub struct PanelReport {
    /// Its pictures, the paper's own figure first. Files are relative to the page.
    pub pictures: Vec<Picture>,
    /// One entry for each variant, in the same order.
    pub variants: Vec<VariantReport>,
}

/// The part of a report about one simulation.
#[derive(Debug, Clone)]
pub struct VariantReport {
    /// Its result.
    pub result: ResultFile,
    /// Its files, relative to the page.
    pub files: Vec<String>,
    /// The time that each policy took; `None` if the page must not depend on it.
    pub timing: Option<Timing>,
    /// Its manifest; `None` if the manifest lists the page, and so cannot be part of it.
    pub manifest: Option<Manifest>,
}

/// A claim and its verdict.
#[derive(Debug, Clone)]
pub struct ClaimResult<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// The finding of its test.
    pub finding: Finding,
    /// Whether the finding agrees with the known verdict.
    pub agreement: Agreement,
    /// From how many runs on a check comes to this verdict again with a probability of 0.99; `None`
    /// if this is not known.
    pub runs_needed: Option<u64>,
}

/// The report on a reproduction: everything that its page shows.
#[derive(Debug, Clone)]
pub struct Report<'a> {
    /// The reproduction.
    pub reproduction: &'a Reproduction,
    /// Whether it is a quick check, at a smaller scale than the papers'.
    pub quick: bool,
    /// Whether it has all panels, with their own runs and seeds.
    pub is_whole: bool,
    /// One entry for each panel that was run, in the same order.
    pub panels: Vec<PanelReport>,
    /// One entry for each claim that was judged, in the order of the claims.
    pub claims: Vec<ClaimResult<'a>>,
    /// Colours and markers.
    pub styles: PolicyStyles,
}

impl<'a> Report<'a> {
    /// Begins a report, and judges the claims that need no run.
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

    /// Adds the next panel: judges its claims, and draws the figures that compare its variants.
    pub fn add(&mut self, panel: &'a Panel, ran: Vec<PanelRun>) {
        let mut own_figures = Vec::new();
        let mut manifests = Vec::new();
        let mut simulated = Vec::new();
        for (variant, ran) in panel.variants.iter().zip(ran) {
            let PanelRun { measured, figures, manifest } = ran;
            own_figures.extend(figures);
            manifests.push(manifest);
            let (name, title) = (variant.name.clone(), variant.title.clone());
            simulated.push(VariantRuns { name, title, size: variant.size, measured });
        }
        // Runs need much memory, so they are judged and drawn before the next panel is run.
        self.judge(Some(panel), &simulated);
        let mut pictures = if panel.has_variants() {
            figure::draw(&panel.figures, FigureData::Variants(&simulated), &self.styles)
        } else {
            own_figures
        };
        for picture in &mut pictures {
            picture.file = format!("{}/{}", panel.name, picture.file);
        }
        let found = panel.variants.iter().zip(simulated).zip(manifests);
        let variants = found.map(|((variant, simulated), manifest)| {
            let folder = variant.folder(&panel.name);
            VariantReport::new(&folder, panel.own_figures(), &simulated.measured, Some(manifest))
        });
        self.panels.push(PanelReport { pictures, variants: variants.collect() });
    }

    /// Judges the claims about a panel, or about none, by the runs of its variants.
    fn judge(&mut self, panel: Option<&Panel>, variants: &[VariantRuns]) {
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
            let finding = judge(claim, evidence.as_ref(), rows).unwrap_or_else(|error| {
                let reason = format!("claim `{}` cannot be judged: {}", claim.name, with_sources(&error));
                Finding::without_a_test(Verdict::Undecided, &reason)
            });
            let agreement = Agreement::of(finding.verdict, claim.known);
            let runs_needed = runs_needed(claim, &finding, evidence.as_ref());
            judged.push(ClaimResult { claim, finding, agreement, runs_needed });
        }
        self.claims.extend(judged);
        let place = |judged: &ClaimResult<'_>| {
            self.reproduction.claims.iter().position(|claim| std::ptr::eq(claim, judged.claim))
        };
        self.claims.sort_by_key(place);
    }

    /// CPU seconds of all simulations together; `None` without a simulation.
    pub fn cpu_seconds(&self) -> Option<f64> {
        let all = self.panels.iter().flat_map(|panel| &panel.variants);
        all.filter_map(|found| Some(found.timing.as_ref()?.total.cpu_seconds)).reduce(|a, b| a + b)
    }

    /// How the verdicts compare with the known ones, as the end of a sentence.
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

    /// Returns whether the check passes: no verdict fails at this extent, and not too many claims
    /// are open.
    pub fn is_as_known(&self) -> bool {
        !self.claims.iter().any(|judged| judged.agreement.fails(self.quick)) && !self.leaves_too_much_open()
    }

    fn testable(&self) -> usize {
        self.claims.iter().filter(|judged| judged.finding.verdict != Verdict::NotTestable).count()
    }

    /// The number of testable claims that were not decided.
    fn open(&self) -> usize {
        let open = [Verdict::Undecided, Verdict::Left];
        self.claims.iter().filter(|judged| open.contains(&judged.finding.verdict)).count()
    }

    /// Returns whether a quick check of all claims leaves more than a tenth of them open.
    fn leaves_too_much_open(&self) -> bool {
        self.is_whole && self.quick && 10 * self.open() > self.testable()
    }

    /// Writes `index.html`, `claims.json` and the figures that compare variants, all or none.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn write(&self, dir: &Path, owner: &Owner) -> Result<(), PathError> {
        let panels = self.reproduction.panels.iter().zip(&self.panels);
        let drawn_here: Vec<(&str, &str)> = panels
            .filter(|(panel, _)| panel.has_variants())
            .flat_map(|(_, found)| &found.pictures)
            .map(|picture| (picture.file.as_str(), picture.svg.as_str()))
            .collect();
        report_dir::write(dir, &self.claims_json(owner), &page::page(self), &drawn_here)
    }

    fn claims_json(&self, owner: &Owner) -> String {
        #[derive(Serialize)]
        struct File<'a> {
            #[serde(flatten)]
            owner: &'a Owner,
            ok: bool,
            claims: Vec<JudgedClaim<'a>>,
        }
        #[derive(Serialize)]
        struct JudgedClaim<'a> {
            name: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            panel: Option<&'a str>,
            says: &'a str,
            place: &'a str,
            level: f64,
            verdict: Verdict,
            known: Verdict,
            #[serde(skip_serializing_if = "Option::is_none")]
            known_of_full_run: Option<Verdict>,
            agreement: Agreement,
            #[serde(skip_serializing_if = "Option::is_none")]
            runs_needed: Option<u64>,
            evidence: &'a str,
            summary: &'a str,
            comparisons: &'a [Comparison],
        }
        let claims =
            self.claims.iter().map(|ClaimResult { claim, finding, agreement, runs_needed }| JudgedClaim {
                name: &claim.name,
                panel: claim.panel.as_deref(),
                says: &claim.says,
                place: &claim.place,
                level: claim.level,
                verdict: finding.verdict,
                known: claim.known,
                known_of_full_run: claim.full,
                agreement: *agreement,
                runs_needed: *runs_needed,
                evidence: &claim.evidence,
                summary: &finding.summary,
                comparisons: &finding.comparisons,
            });
        let file = File { owner, ok: self.is_as_known(), claims: claims.collect() };
        serde_json::to_string_pretty(&file).expect("a report is JSON") + "\n"
    }
}

fn with_sources(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {}", with_sources(source)))
}

impl VariantReport {
    /// The report on one simulation, whose files are in `folder`, relative to the page.
    pub(crate) fn new(
        folder: &str,
        figures: &[Figure],
        measured: &Measurement,
        manifest: Option<Manifest>,
    ) -> Self {
        let mut files = figure::file_names(figures);
        files.extend(["result.json", "curves.csv", "timing.json", "manifest.json", SPEC].map(str::to_owned));
        let path = |file: String| if folder.is_empty() { file } else { format!("{folder}/{file}") };
        Self {
            result: measured.result.clone(),
            files: files.into_iter().map(path).collect(),
            timing: Some(measured.timing.clone()),
            manifest,
        }
    }
}
