//! The page of a reproduction: every figure beside what the paper says of it, what was measured, and the verdict.

mod values;

use crate::claims::{Agreement, Column, Comparison, Finding, Verdict};
use crate::figure::PolicyStyles;
use crate::html::Html;
use crate::reproduction::{DataSource, Panel, Printed, Reproduction, Variant};
use crate::reproduction_report::{Judged, PanelReport, Picture, Report, VariantReport};
use experiment::manifest::Manifest;
use experiment::models::{Calibration, InstanceTable, Parameter};
use experiment::number;
use experiment::result::ResultFile;
use experiment::timing::Timing;
use policies::catalogue::Protocol;
use sim::Assignment;

/// Where models are fitted to a log, beside the page.
pub const FITTED: &str = "fitted";

/// The page, complete.
pub fn page(report: &Report<'_>) -> String {
    let reproduction = report.reproduction;
    let mut html = Html::new();
    html.element("h1", "", &reproduction.title);
    for paragraph in &reproduction.summary {
        html.paragraph("lead", paragraph);
    }
    if report.quick {
        html.open("div", "card warning").open("p", "");
        html.raw("<strong>A quick check</strong> with fewer runs than the papers, and smaller instances where a claim says so. At their scale: ");
        html.raw("<code>")
            .text(&format!("cargo xtask reproduce {}{}", reproduction.name, reproduction.option))
            .raw("</code>.");
        html.close("p").close("div");
    }
    if let Some(measured) = &reproduction.measured {
        html.open("div", "card").paragraph("", measured).close("div");
    }
    write_overview(&mut html, report);
    for (panel, found) in reproduction.panels.iter().zip(&report.panels) {
        write_panel(&mut html, report, panel, found);
    }
    for panel in &reproduction.awaiting {
        write_awaiting(&mut html, report, panel);
    }
    write_instances(&mut html, report);
    write_method(&mut html, report);
    write_sources(&mut html, report);
    html.page(&reproduction.title)
}

/// The page of one simulation of which no paper says anything: pictures, values at the end, parameters.
pub(crate) fn of_one(panel: &Panel, found: &PanelReport, styles: &PolicyStyles) -> String {
    let mut html = Html::new();
    html.element("h1", "", &panel.title);
    html.element("p", "muted", &ran(panel, found));
    html.open("section", "").open("div", "columns").open("div", "");
    for picture in &found.pictures {
        write_picture(&mut html, "", picture);
    }
    html.close("div").open("div", "");
    values::write(&mut html, styles, panel, found);
    write_files(&mut html, panel, found);
    html.close("div").close("div").close("section");
    html.open("section", "").element("h2", "", "Users");
    write_parameters(&mut html, &panel.instances(), None);
    html.close("section");
    html.page(&panel.title)
}

/// All claims in one table.
fn write_overview(html: &mut Html, report: &Report<'_>) {
    html.open("section", "").element("h2", "", "Claims");
    let count =
        |verdict: Verdict| report.claims.iter().filter(|judged| judged.finding.verdict == verdict).count();
    let counts: Vec<String> = Verdict::ALL
        .iter()
        .filter(|verdict| count(**verdict) > 0)
        .map(|verdict| format!("{} {}", count(*verdict), verdict.words()))
        .collect();
    let outcome = report.outcome();
    let compared = match report.reproduction.measured {
        Some(_) => "Nothing is known of these data beforehand".to_owned(),
        None => format!("Compared with larger runs: {outcome}"),
    };
    html.element(
        "p",
        "muted",
        &format!(
            "Of {}: {}. {compared}.",
            number::counted(report.claims.len() as u64, "claim"),
            counts.join(", ")
        ),
    );
    let rows: Vec<Vec<Html>> = report
        .claims
        .iter()
        .map(|judged| {
            let mut anchor = Html::new();
            anchor.link(&format!("#claim-{}", judged.claim.name), &judged.claim.says);
            let mut found = badge(judged.finding.verdict);
            write_disagreement(&mut found, judged);
            vec![anchor, found, Html::of(&judged.finding.summary), Html::of(&judged.claim.place)]
        })
        .collect();
    html.table("wide claims", &["What the paper says", "Verdict", "Measured", "Where"], &rows);
    html.close("section");
}

/// One panel: pictures at the left, with the final numbers, statement and claims at the right; what is wide, below or above.
fn write_panel(html: &mut Html, report: &Report<'_>, panel: &Panel, found: &PanelReport) {
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
    html.element("p", "muted", &format!("{}{ran}{users}", source(report.reproduction, panel)));
    for picture in found.pictures.iter().filter(|picture| picture.is_wide) {
        write_picture(html, "wide", picture);
    }
    let narrow = || found.pictures.iter().filter(|picture| !picture.is_wide);
    // A column a variant needs the whole width.
    let wide = values::needs_width(panel, found);
    let nothing_at_the_left = wide && narrow().next().is_none();
    html.open("div", if nothing_at_the_left { "lead" } else { "columns" }).open("div", "");
    narrow().for_each(|picture| write_picture(html, "", picture));
    if !wide {
        values::write(html, &report.styles, panel, found);
    }
    html.close("div").open("div", "");
    html.open("div", "card says").open("p", "small muted").text("What the paper says").close("p");
    html.paragraph("", &panel.statement).close("div");
    for judged in claims_of(report, Some(&panel.name)) {
        write_claim(html, judged);
    }
    html.close("div").close("div");
    if wide {
        values::write(html, &report.styles, panel, found);
    }

    if !panel.choices.is_empty() {
        html.element("h3", "", "Choices that are ours").list(&panel.choices);
    }
    write_files(html, panel, found);
    html.close("section");
}

/// Where a panel is taken from.
fn source(reproduction: &Reproduction, panel: &Panel) -> String {
    let paper = reproduction.papers.get(panel.paper);
    paper.map_or_else(String::new, |paper| format!("{} paper, {} · ", paper.key, panel.place))
}

/// A panel that could not be run: what it would show, and its claims.
fn write_awaiting(html: &mut Html, report: &Report<'_>, panel: &Panel) {
    let reproduction = report.reproduction;
    html.raw("<section id=\"").text(&panel.name).raw("\">\n");
    html.element("h2", "", &panel.title);
    html.element("p", "muted", &format!("{}not run", source(reproduction, panel)));
    html.open("div", "columns").open("div", "");
    html.open("div", "card says").open("p", "small muted").text("What the paper says").close("p");
    html.paragraph("", &panel.statement).close("div");
    html.open("div", "card warning").open("p", "").raw("<strong>Not run:</strong> ");
    let name = &reproduction.name;
    let (why, command) = match &panel.left {
        Some(reason) => {
            (format!("{reason}. It is left to the full run: "), format!("cargo xtask reproduce {name}"))
        }
        None => (
            "the data are not public. Who has them: ".to_owned(),
            format!("cargo xtask reproduce {name} --data FILE"),
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

fn write_picture(html: &mut Html, class: &str, picture: &Picture) {
    // Written by this program, its texts escaped.
    html.open("figure", class).raw(&picture.svg);
    // Shown on narrow screens, where the letters are small.
    html.open("figcaption", "").link(&picture.file, "Open this figure by itself, to enlarge it");
    html.close("figcaption").close("figure");
}

/// Links to the files of a panel; of variants, one line each, folded.
fn write_files(html: &mut Html, panel: &Panel, found: &PanelReport) {
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

/// How much was simulated.
fn ran(panel: &Panel, found: &PanelReport) -> String {
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

/// How many rounds a run has.
fn length_in_words(result: &ResultFile) -> String {
    match (result.horizon, result.max_steps) {
        (None, Some(most)) => format!("at most {}", number::counted(most, "round")),
        (horizon, _) => number::counted(horizon.unwrap_or(0), "round"),
    }
}

fn claims_of<'a, 'b>(report: &'a Report<'b>, panel: Option<&'a str>) -> impl Iterator<Item = &'a Judged<'b>> {
    report.claims.iter().filter(move |judged| judged.claim.panel.as_deref() == panel)
}

/// A claim, its verdict, and the comparisons it rests on.
fn write_claim(html: &mut Html, judged: &Judged<'_>) {
    let Judged { claim, finding, .. } = judged;
    html.raw("<div class=\"card\" id=\"claim-").text(&claim.name).raw("\">\n");
    html.open("p", "").raw(badge(finding.verdict).markup());
    write_disagreement(html, judged);
    html.close("p").paragraph("", &claim.says);
    html.element("p", "small muted", &claim.place);
    html.paragraph("", &finding.summary);
    write_comparisons(html, finding);
    if let Some(remark) = &claim.remark {
        html.paragraph("small", remark);
    }
    html.open("p", "small muted")
        .text(&format!("Known: {}. ", claim.known.words()))
        .prose(&claim.evidence)
        .close("p");
    html.close("div");
}

/// The comparisons of a finding, one row each.
fn write_comparisons(html: &mut Html, finding: &Finding) {
    let any = |has: fn(&Comparison) -> bool| finding.comparisons.iter().any(has);
    let statistics = any(|comparison| comparison.se.is_some());
    // A few exact comparisons are in the summary already; those of one run are not.
    if !statistics && finding.verdict != Verdict::Undecided && finding.comparisons.len() <= 3 {
        return;
    }
    let leads = any(|comparison| comparison.leads_from.is_some());
    let quantity =
        if statistics { format!("{} ± se", finding.quantity) } else { finding.quantity.to_owned() };
    let mut heads = vec![String::new(), format!("#{quantity}")];
    heads.extend(statistics.then(|| "#z".to_owned()));
    heads.extend(leads.then(|| "#ahead from t".to_owned()));
    let rows: Vec<Vec<Html>> = finding
        .comparisons
        .iter()
        .map(|comparison| {
            let mut row = vec![Html::of(&comparison.readers), Html::of(&comparison.measured)];
            if statistics {
                let z = comparison.statistic.map_or_else(|| "–".to_owned(), |z| number::fixed(z, 1));
                row.push(Html::of(&format!("{z} {}", sign(comparison.says))));
            }
            if leads {
                row.push(Html::of(&comparison.leads_from.map_or_else(|| "–".to_owned(), number::grouped)));
            }
            row
        })
        .collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    html.table("narrow", &heads, &rows);
}

/// The parameters that were used, beside what the papers print of them.
fn write_instances(html: &mut Html, report: &Report<'_>) {
    let reproduction = report.reproduction;
    html.open("section", "").element("h2", "", "Instances");
    if let Some(measured) = &reproduction.measured {
        html.paragraph("lead", measured);
    }
    if let Some(source) = &reproduction.source {
        write_source(html, source);
    }
    for judged in claims_of(report, None) {
        write_claim(html, judged);
    }
    if !reproduction.found_in_log.is_empty() {
        write_found_in_log(html, reproduction);
    }
    if let Some(printed) = &reproduction.printed {
        write_printed(html, printed, reproduction.found_in_log.len());
    }
    // Estimates have more digits than anybody reads.
    let decimals = (!reproduction.found_in_log.is_empty()).then_some(5);
    let mut shown: Vec<Vec<InstanceTable>> = Vec::new();
    for panel in &reproduction.panels {
        let used = panel.instances();
        if shown.contains(&used) {
            continue;
        }
        let mut title =
            if shown.is_empty() { "Parameters".to_owned() } else { format!("Parameters of {}", panel.title) };
        if let Some(decimals) = decimals {
            title = format!("{title}, to {decimals} decimals");
        }
        html.element("h3", "", &title);
        write_parameters(html, &used, decimals);
        shown.push(used);
    }
    html.close("section");
}

/// The parameters of instances, a row each.
fn write_parameters(html: &mut Html, instances: &[InstanceTable], decimals: Option<usize>) {
    let mut columns: Vec<&str> = Vec::new();
    for (name, _) in instances.iter().flat_map(|instance| &instance.parameters) {
        if !columns.contains(name) {
            columns.push(name);
        }
    }
    let rows: Vec<Vec<Html>> = instances
        .iter()
        .map(|InstanceTable { name, n_items, parameters, .. }| {
            let cell = |column: &&str| {
                let found = parameters.iter().find(|(name, _)| name == column);
                Html::of(&found.map_or_else(|| "–".to_owned(), |(_, value)| written(value, decimals)))
            };
            let head = [Html::of(name), Html::of(&n_items.to_string())];
            head.into_iter().chain(columns.iter().map(cell)).collect()
        })
        .collect();
    let heads: Vec<&str> = ["Instance", "#Items"].into_iter().chain(columns).collect();
    html.table("wide", &heads, &rows);
}

/// A parameter's value, exactly or rounded to decimals.
fn written(value: &Parameter, decimals: Option<usize>) -> String {
    match value {
        Parameter::Numbers(numbers) => summed_up(numbers, decimals),
        Parameter::Count(count) => count.to_string(),
        Parameter::Name(name) => name.clone(),
        Parameter::Calibration(Calibration { mu, p_max, seed, positions, .. }) => {
            format!("{positions} positions, mu = {mu}, p_max = {p_max}, drawn with seed {seed}")
        }
        // Summed up where instances are made readable.
        Parameter::Matrix(_) | Parameter::Arms(_) => String::new(),
    }
}

/// The longest list that is shown number by number.
const SHOWN: usize = 24;

/// Numbers as they are, or of many what they are like.
fn summed_up(values: &[f64], decimals: Option<usize>) -> String {
    if values.len() <= SHOWN {
        return aligned(values, decimals);
    }
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let [least, most, mean] = [least, most, mean].map(|value| number::significant(value, 3));
    format!("{} numbers from {least} to {most}, on average {mean}", values.len())
}

/// Numbers all with as many decimals; without a number of them, exactly as they are, with those of the longest.
fn aligned(values: &[f64], decimals: Option<usize>) -> String {
    let own = |value: &f64| format!("{value}").split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let decimals = decimals.unwrap_or_else(|| values.iter().map(own).max().unwrap_or(0));
    values.iter().map(|value| format!("{value:.decimals$}")).collect::<Vec<_>>().join(", ")
}

fn write_source(html: &mut Html, source: &DataSource) {
    html.open("p", "lead").text(&source.text);
    if let Some(licence) = &source.licence {
        html.text(&format!(" Licence: {licence}."));
    }
    if let Some(link) = &source.link {
        html.text(" ").link(link, link);
    }
    html.close("p");
}

/// What tables of papers list of their queries, of those that were fitted to a log.
fn write_found_in_log(html: &mut Html, reproduction: &Reproduction) {
    html.element("h3", "", "The queries of the log");
    let how = match reproduction.prior {
        Some(0.0) => "by maximum likelihood".to_owned(),
        Some(strength) => format!("with priors of {strength} pseudo-impressions"),
        None => "with priors as `click-bandits fit` has them".to_owned(),
    };
    html.open("p", "lead").prose(&format!("A position-based model was fitted to each query, {how}. ")).text(
        "Ordered by the number of items, then of records. Records are the impressions that a query was fitted to; theta is the attraction \
         at the first position. The share is that of the first singular value, in the sum of all, of the click-through rates by item \
         and position of the items that were shown at every position: 1 where they are exactly a product of attraction and \
         examination. Chance alone makes it less, the more so the fewer impressions there are. ",
    );
    let reordered: Vec<&str> = reproduction
        .found_in_log
        .iter()
        .filter(|query| query.reordered)
        .map(|query| query.name.as_str())
        .collect();
    if !reordered.is_empty() {
        html.text(&format!(
            "Some positions are examined more than one above them, of {}: in the parameters below and in the simulations positions stand \
             from the most to the least examined, and theta is the attraction at the first of these. ",
            reordered.join(", ")
        ));
    }
    html.text("Every parameter with its interval: ");
    for (index, file) in
        ["parameters.json", "parameters.csv", "examination.svg", "attraction.svg"].iter().enumerate()
    {
        html.text(if index > 0 { ", " } else { "" }).link(&format!("{FITTED}/{file}"), file);
    }
    html.text(".").close("p");
    let rows: Vec<Vec<Html>> = reproduction
        .found_in_log
        .iter()
        .map(|query| {
            let share =
                query.first_singular_value.map_or_else(|| "–".to_owned(), |share| number::fixed(share, 3));
            let theta =
                [Column::MinTheta, Column::MaxTheta].map(|column| number::fixed(column.of(&query.theta), 3));
            let [least, most] = &theta;
            let (n_items, records) = (query.theta.len().to_string(), number::grouped(query.records));
            [&query.name, &records, &n_items, least, most, &share].map(|text| Html::of(text)).into()
        })
        .collect();
    let heads =
        ["Query", "#records", "#n items", "#min theta", "#max theta", "#first singular value's share"];
    html.table("", &heads, &rows);
}

/// A printed table; `in_log` queries were found in a log.
fn write_printed(html: &mut Html, printed: &Printed, in_log: usize) {
    html.element("h3", "", &format!("{}, as printed", printed.title));
    if in_log == printed.rows.len() {
        html.element(
            "p",
            "lead",
            "The papers do not name their queries. A row is taken for the query of the log at the same place in the same order: an \
             assumption, on which the verdicts on this table rest.",
        );
    }
    let mut columns: Vec<&str> = Vec::new();
    for (key, _) in printed.rows.iter().flat_map(|row| &row.printed) {
        if !columns.contains(&key.as_str()) {
            columns.push(key);
        }
    }
    let heads: Vec<String> = columns.iter().map(|column| format!("#{}", column.replace('_', " "))).collect();
    let heads: Vec<&str> = std::iter::once(if in_log > 0 { "Query" } else { "Instance" })
        .chain(heads.iter().map(String::as_str))
        .collect();
    let rows: Vec<Vec<Html>> = printed
        .rows
        .iter()
        .map(|row| {
            let cell = |column: &&str| {
                let value = row.printed.iter().find(|(key, _)| key == column).map(|(_, value)| *value);
                Html::of(&value.map_or_else(|| "–".to_owned(), printed_figure))
            };
            std::iter::once(Html::of(&row.name)).chain(columns.iter().map(cell)).collect()
        })
        .collect();
    html.table("", &heads, &rows);
}

/// A printed figure: whole numbers grouped, others with the three decimals that papers print.
fn printed_figure(value: f64) -> String {
    number::fixed(value, if value.fract() == 0.0 { 0 } else { 3 })
}

/// How to read the verdicts.
fn write_method(html: &mut Html, report: &Report<'_>) {
    html.open("section", "").element("h2", "", "How the claims are judged");
    let mut levels: Vec<f64> = report.claims.iter().map(|judged| judged.claim.level).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let levels: Vec<String> = levels.iter().map(|level| format!("{level}")).collect();
    let users = if is_played_in_sweeps(report.reproduction) {
        "The policies of a run meet the same users, except that eliminations are played in whole sweeps, on users of their own of the \
         same kind. Two policies are compared on the difference of their regrets, run by run. "
    } else {
        "All policies of a run meet the same users, so two policies are compared on the difference of their regrets, run by run. "
    };
    html.open("p", "lead").text(&format!(
        "Regret is the expected one: the gap of everything that was played, the first rounds included. {users}A comparison is \
         significant if its mean lies further from zero than Student's t distribution allows at level {} (one-sided).",
        levels.join(" or ")
    ));
    html.close("p").open("p", "lead");
    html.text("A claim is ")
        .raw(badge(Verdict::Reproduced).markup())
        .text(" if all its comparisons are significant in the direction the paper states, ");
    html.raw(badge(Verdict::Contradicted).markup()).text(" if any is significant the other way round, and ");
    html.raw(badge(Verdict::Undecided).markup()).text(" otherwise. “Ahead from t” is the first checkpoint from which on the difference is significant at every later one. ");
    html.text("That two slopes are the same is shown within a margin, that a ratio or an exponent is as stated between two limits: \
         both directions have to be significantly inside, one is enough outside. A claim of several comparisons is contradicted at the \
         level divided by their number, two directions being two, so that chance does it no more often than the level; to be \
         reproduced it needs all of them. Of a mean of fewer runs than could show anything by their signs alone (2⁻ⁿ above the level) \
         nothing is said. ");
    if report.reproduction.measured.is_none() {
        html.text(
            "“Known” is what a larger run with another seed found; this check fails if it finds the opposite.",
        );
    }
    html.close("p").close("section");
}

/// Whether some policies are simulated by whole sweeps: users of tables of rows and columns have those.
fn is_played_in_sweeps(reproduction: &Reproduction) -> bool {
    let mut variants = reproduction.panels.iter().flat_map(|panel| &panel.variants);
    variants.any(|variant| variant.experiment.instances().model().protocol == Protocol::RankOne)
}

/// Papers, machine, manifests.
fn write_sources(html: &mut Html, report: &Report<'_>) {
    html.open("section", "").element("h2", "", "Papers").open("ul", "");
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
            number::fixed(found.variants.iter().map(|variant| seconds(&variant.timing)).sum(), 1)
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
    // The manifests of variants are linked beside their other files.
    for found in report.panels.iter().filter_map(|panel| match panel.variants.as_slice() {
        [alone] => Some(alone),
        _ => None,
    }) {
        if let Some(manifest) = &found.manifest {
            html.open("details", "").element("summary", "", &format!("Manifest of {}", found.result.name));
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
    let cpu = host.cpu.clone().unwrap_or_else(|| host.arch.clone());
    let threads =
        if manifest.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", manifest.threads) };
    format!("{cpu}, {threads}, {}", host.os)
}

/// A verdict as one character.
fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "✓",
        Verdict::Contradicted => "✗",
        Verdict::Undecided => "?",
        Verdict::NotTestable | Verdict::Left => "–",
    }
}

/// A verdict as a coloured word.
fn badge(verdict: Verdict) -> Html {
    let mut html = Html::new();
    html.open("span", &format!("badge {}", verdict.name()))
        .text(&format!("{} {}", sign(verdict), verdict.words()))
        .raw("</span>");
    html
}

/// A word on a finding that is not what is known.
fn write_disagreement(html: &mut Html, judged: &Judged<'_>) {
    match judged.agreement {
        Agreement::Contradicts => html.raw(" <strong>").text("not what is known").raw("</strong>"),
        Agreement::Undecided => html
            .raw(" <span class=\"small muted\">")
            .text(&format!("known: {}", judged.claim.known.words()))
            .raw("</span>"),
        Agreement::Agrees | Agreement::New => html,
    };
}
