//! Claims: the table of all claims, and each claim with its comparisons.

use crate::claims::{Agreement, Comparison, Finding, POWER, Verdict};
use crate::html::Html;
use crate::reproduction_report::{ClaimResult, Report};
use documents::number;

pub(super) fn write_overview(html: &mut Html, report: &Report<'_>) {
    html.section("Claims");
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
            "Of {}: {}. {compared}. Regret is what a policy lost against a best action; z is a difference divided by its standard error.",
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
            if judged.agreement == Agreement::Contradicts {
                write_disagreement(&mut found, judged);
            }
            let known = Html::of(&judged.claim.known_words());
            vec![anchor, found, known, Html::of(&judged.finding.summary), Html::of(&judged.claim.place)]
        })
        .collect();
    html.table("wide claims", &["What the paper says", "Verdict", "Known", "Measured", "Where"], &rows);
    html.close("section");
}

pub(super) fn claims_of<'a, 'b>(
    report: &'a Report<'b>,
    panel: Option<&'a str>,
) -> impl Iterator<Item = &'a ClaimResult<'b>> {
    report.claims.iter().filter(move |judged| judged.claim.panel.as_deref() == panel)
}

/// Writes a claim, its verdict, and its comparisons.
pub(super) fn write_claim(html: &mut Html, judged: &ClaimResult<'_>) {
    let ClaimResult { claim, finding, .. } = judged;
    html.raw("<div class=\"card\" id=\"claim-").text(&claim.name).raw("\">\n");
    html.open("p", "").raw(badge(finding.verdict).markup());
    write_disagreement(html, judged);
    html.close("p").paragraph("", &claim.says);
    html.element("p", "small muted", &claim.place);
    html.paragraph("", &finding.summary);
    write_comparisons(html, finding);
    if let Some(runs) = judged.runs_needed {
        let hundredths = number::significant(100.0 * POWER, 2);
        let said = format!(
            "With effects of this size, {} would come to this verdict in {hundredths} of 100 checks.",
            number::counted(runs, "run")
        );
        html.element("p", "small muted", &said);
    }
    if let Some(remark) = &claim.remark {
        html.paragraph("small", remark);
    }
    html.open("p", "small muted")
        .text(&format!("Known: {}. ", claim.known_words()))
        .prose(&claim.evidence)
        .close("p");
    html.close("div");
}

fn write_comparisons(html: &mut Html, finding: &Finding) {
    let any = |has: fn(&Comparison) -> bool| finding.comparisons.iter().any(has);
    let statistics = any(|comparison| comparison.se.is_some());
    // The summary has up to three exact comparisons, unless the claim is undecided.
    if !statistics && finding.verdict != Verdict::Undecided && finding.comparisons.len() <= 3 {
        return;
    }
    let leads = any(|comparison| comparison.leads_from.is_some());
    let quantity =
        if statistics { format!("{} ± se", finding.quantity) } else { finding.quantity.to_owned() };
    let mut heads = vec!["Compared".to_owned(), format!("#{quantity}")];
    heads.extend(statistics.then(|| "#z".to_owned()));
    heads.extend(leads.then(|| "#ahead from round".to_owned()));
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
    if leads {
        html.note(
            "Ahead from round: from this recorded round to the end, the difference is significant at every recorded round.",
        );
    }
}

fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "✓",
        Verdict::Contradicted => "✗",
        Verdict::Undecided => "?",
        Verdict::NotTestable | Verdict::Left => "–",
    }
}

/// A verdict as coloured words.
pub(super) fn badge(verdict: Verdict) -> Html {
    let mut html = Html::new();
    html.open("span", &format!("badge {}", verdict.name()))
        .text(&format!("{} {}", sign(verdict), verdict.words()))
        .raw("</span>");
    html
}

/// Writes a note if the verdict differs from the known one.
fn write_disagreement(html: &mut Html, judged: &ClaimResult<'_>) {
    match judged.agreement {
        Agreement::Contradicts => html.raw(" <strong>").text("not what is known").raw("</strong>"),
        Agreement::Undecided => html
            .raw(" <span class=\"small muted\">")
            .text(&format!("known: {}", judged.claim.known_words()))
            .raw("</span>"),
        Agreement::Agrees | Agreement::New => html,
    };
}
