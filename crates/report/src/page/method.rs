//! The section on how claims are judged.

use super::claims::badge;
use crate::claims::Verdict;
use crate::html::Html;
use crate::reproduction::Reproduction;
use crate::reproduction_report::Report;
use itertools::Itertools as _;
use policies::catalogue::Protocol;

pub(super) fn write_method(html: &mut Html, report: &Report<'_>) {
    html.section("How the claims are judged");
    let levels = report.claims.iter().map(|judged| judged.claim.level).sorted_by(f64::total_cmp);
    let users = if is_played_in_sweeps(report.reproduction) {
        "The policies of a run meet the same users, except that eliminations are played in whole sweeps, on users of their own of the \
         same kind. Two policies are compared on the difference of their regrets, run by run. "
    } else {
        "All policies of a run meet the same users, so two policies are compared on the difference of their regrets, run by run. "
    };
    html.open("p", "lead").text(&format!(
        "Regret is the expected one: the gap of everything that was played, the first rounds included. {users}A comparison is \
         significant if its mean lies further from zero than Student's t distribution allows at level {} (one-sided).",
        levels.dedup().join(" or ")
    ));
    html.close("p").open("p", "lead");
    html.text("A claim is ")
        .raw(badge(Verdict::Reproduced).markup())
        .text(" if all its comparisons are significant in the direction the paper states, ");
    html.raw(badge(Verdict::Contradicted).markup()).text(" if any is significant the other way round, and ");
    html.raw(badge(Verdict::Undecided).markup()).text(" otherwise. “Ahead from round” is the first checkpoint from which on the difference is significant at every later one. ");
    html.text("That two slopes are the same is shown within a margin, that a ratio or an exponent is as stated between two limits: \
         both directions have to be significantly inside, one is enough outside. A claim of several comparisons is contradicted at the \
         level divided by their number, two directions being two, so that chance does it no more often than the level; to be \
         reproduced it needs all of them. The page says nothing about a mean of fewer runs than could show anything by their signs alone (2⁻ⁿ above \
         the level). ");
    if report.reproduction.measured.is_none() {
        html.text(
            "“Known” is what a larger run with another seed found; this check fails if it finds the opposite.",
        );
    }
    html.close("p").close("section");
}

/// Returns whether policies may be simulated by whole sweeps, as on users of rank-one tables.
fn is_played_in_sweeps(reproduction: &Reproduction) -> bool {
    let mut variants = reproduction.panels.iter().flat_map(|panel| &panel.variants);
    variants.any(|variant| variant.experiment.instances().model().protocol == Protocol::RankOne)
}
