//! What a fit says, as JSON: `parameters.json` and `comparison.json`.
//!
//! Positions count from 1, as in logs. What is not known is left out or null.

use super::arguments::Arguments;
use super::source::Whole;
use anyhow::Result;
use click_logs::fit::{
    Choice, Comparison, Convergence, Difference, Estimate, Fit, Identifiability, Model, Options, QueryFit,
    Scope, Score, identifiability, rank_one_svd,
};
use click_logs::{Id, Names};
use serde::Serialize;

/// Fewer impressions of an item, or clicks at a position, are listed as few.
pub(super) const FEW: u64 = 20;

/// `parameters.json`.
#[derive(Debug, Serialize)]
pub(super) struct Parameters {
    schema: u32,
    log: LogRecord,
    fitted: Fitted,
    scope: &'static str,
    /// The confidence level of intervals.
    level: f64,
    models: Vec<ModelRecord>,
    /// What the counts cannot tell of a position-based model: a report for every query, or one for all.
    identifiability: Vec<IdentifiabilityRecord>,
    /// How nearly the click-through rates of every query are of rank one.
    rank_one: Vec<RankOneRecord>,
}

#[derive(Debug, Serialize)]
struct LogRecord {
    files: usize,
    lines: u64,
    bytes: u64,
    #[serde(skip_serializing_if = "is_zero")]
    sessions: u64,
    /// Those that lost lines.
    #[serde(skip_serializing_if = "is_zero")]
    sessions_at_fault: u64,
    /// Those whose list shows an item more than once.
    #[serde(skip_serializing_if = "is_zero")]
    sessions_with_repeats: u64,
    impressions: u64,
    clicks: u64,
    #[serde(skip_serializing_if = "is_zero")]
    clicks_outside: u64,
    /// Clicks above the impressions of their line, which are not counted.
    #[serde(skip_serializing_if = "is_zero")]
    clicks_clipped: u64,
    queries: usize,
    skipped: Vec<SkippedRecord>,
}

#[derive(Debug, Serialize)]
struct SkippedRecord {
    reason: &'static str,
    lines: u64,
    /// As far as they can be read.
    impressions: u64,
    clicks: u64,
    first: String,
}

#[derive(Debug, Serialize)]
struct Fitted {
    queries: usize,
    cells: usize,
    positions: usize,
    impressions: u64,
    clicks: u64,
}

#[derive(Debug, Serialize)]
struct ModelRecord {
    model: &'static str,
    site: SiteRecord,
    queries: Vec<QueryRecord>,
}

/// What holds for queries and items that no one has seen.
#[derive(Debug, Serialize)]
struct SiteRecord {
    typical: f64,
    /// By position: an item that no one has seen is taken for `typical` times this.
    #[serde(skip_serializing_if = "<[f64]>::is_empty")]
    lift: Vec<f64>,
    /// Pseudo-impressions of every item's prior.
    prior: f64,
    /// Simplified DBN: satisfaction of an item that no one has seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    typical_satisfaction: Option<f64>,
    /// Cascade: the click-through rate below the first click of a session, where the model has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    below_first_click: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    positions: Vec<PositionRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    convergence: Option<ConvergenceRecord>,
}

#[derive(Debug, Serialize)]
struct QueryRecord {
    query: String,
    typical: f64,
    items: Vec<ItemRecord>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    positions: Vec<PositionRecord>,
    #[serde(skip_serializing_if = "Option::is_none")]
    convergence: Option<ConvergenceRecord>,
}

#[derive(Debug, Serialize)]
struct ItemRecord {
    item: String,
    attraction: EstimateRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    satisfaction: Option<EstimateRecord>,
    clicks: u64,
    impressions: u64,
}

#[derive(Debug, Serialize)]
struct PositionRecord {
    position: usize,
    /// User browsing: the position of the last click above; 0 for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_click: Option<usize>,
    #[serde(flatten)]
    estimate: EstimateRecord,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct EstimateRecord {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    se: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper: Option<f64>,
}

#[derive(Debug, Serialize)]
struct ConvergenceRecord {
    converged: bool,
    iterations: usize,
    log_likelihood: f64,
}

#[derive(Debug, Serialize)]
struct IdentifiabilityRecord {
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<String>,
    identified: bool,
    components: Vec<ComponentRecord>,
    never_clicked: Vec<Pair>,
    always_clicked: Vec<Pair>,
    few_impressions: Vec<Pair>,
    few_clicks: Vec<PositionClicks>,
    few_comparisons: Vec<PositionComparisons>,
    few: u64,
}

#[derive(Debug, Serialize)]
struct ComponentRecord {
    positions: Vec<usize>,
    items: usize,
    impressions: u64,
}

#[derive(Debug, Serialize)]
struct Pair {
    query: String,
    item: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    impressions: Option<u64>,
}

/// How many clicks compare the examination of a position with that of the first.
#[derive(Debug, Serialize)]
struct PositionComparisons {
    position: usize,
    clicks: f64,
}

#[derive(Debug, Serialize)]
struct PositionClicks {
    position: usize,
    clicks: u64,
}

#[derive(Debug, Serialize)]
struct RankOneRecord {
    query: String,
    /// Items that were shown at every position.
    items: usize,
    singular_values: Vec<f64>,
    /// Of the first in the sum of all.
    share: f64,
    /// Of its square in the sum of squares.
    share_of_squares: f64,
}

/// `comparison.json`.
#[derive(Debug, Serialize)]
pub(super) struct ComparisonRecord {
    schema: u32,
    /// One session in `held_out` was held out; one impression where lines are no sessions.
    held_out: u64,
    seed: u64,
    /// Standard errors are clustered by `session`, or by `cell` where there are no sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    clusters: Option<ClustersRecord>,
    /// Differences of more standard errors are taken for real.
    told_apart_at: f64,
    /// Of all models.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<ChoiceRecord>,
    /// Of those whose users can be simulated: the model of `spec.toml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    users: Option<ChoiceRecord>,
    /// The best first; none at all where nothing was held out.
    models: Vec<ScoreRecord>,
}

#[derive(Debug, Serialize)]
struct ClustersRecord {
    by: &'static str,
    number: u64,
}

#[derive(Debug, Serialize)]
struct ChoiceRecord {
    /// The simplest of those alike.
    model: &'static str,
    /// The one that foretold best.
    best: &'static str,
    /// Not told apart from the best, itself among them; the simplest first.
    alike: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
struct ScoreRecord {
    model: &'static str,
    impressions: u64,
    log_likelihood: f64,
    /// The log-likelihood less that of the best model.
    difference: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference_se: Option<f64>,
    perplexity: f64,
    conditional_perplexity: f64,
    perplexity_by_rank: Vec<f64>,
    conditional_by_rank: Vec<f64>,
}

impl Parameters {
    pub(super) fn new(whole: &Whole, fits: &[Fit], options: &Options) -> Self {
        let Whole { report, counts, .. } = whole;
        let names = counts.names();
        let skipped = |(&reason, skipped): (&&'static str, &click_logs::Skipped)| SkippedRecord {
            reason,
            lines: skipped.lines,
            impressions: skipped.impressions,
            clicks: skipped.clicks,
            first: skipped.first.to_string(),
        };
        Self {
            schema: 1,
            log: LogRecord {
                files: report.files,
                lines: report.lines,
                bytes: report.bytes,
                sessions: report.sessions,
                sessions_at_fault: report.sessions_at_fault,
                sessions_with_repeats: report.sessions_with_repeats,
                impressions: report.impressions,
                clicks: report.clicks,
                clicks_outside: report.clicks_outside,
                clicks_clipped: report.clicks_clipped,
                queries: whole.n_queries,
                skipped: report.skipped.iter().map(skipped).collect(),
            },
            fitted: Fitted {
                queries: counts.n_queries(),
                cells: counts.n_cells(),
                positions: counts.n_positions(),
                impressions: counts.impressions(),
                clicks: counts.clicks(),
            },
            scope: match options.scope {
                Scope::Query => "query",
                Scope::Site => "site",
            },
            level: options.level,
            models: fits.iter().map(|fit| ModelRecord::new(fit, names)).collect(),
            identifiability: identifiability(counts, options.scope, FEW)
                .iter()
                .map(|report| IdentifiabilityRecord::new(report, names))
                .collect(),
            rank_one: counts
                .queries()
                .filter_map(|query| {
                    let svd = rank_one_svd(&query)?;
                    Some(RankOneRecord {
                        query: name(names, query.id()),
                        items: svd.items.len(),
                        share: svd.share(),
                        share_of_squares: svd.share_of_squares(),
                        singular_values: svd.singular_values,
                    })
                })
                .collect(),
        }
    }
}

impl ModelRecord {
    fn new(fit: &Fit, names: &Names) -> Self {
        let leave_of = |model: Model| (fit.model() == model).then(|| fit.site().typical_leave);
        Self {
            model: fit.model().name(),
            site: SiteRecord {
                typical: fit.site().typical,
                lift: fit.site().lift.clone(),
                prior: fit.site().prior_strength,
                typical_satisfaction: leave_of(Model::Sdbn),
                below_first_click: leave_of(Model::Cascade),
                positions: positions(fit, &fit.site().positions),
                convergence: fit.site().convergence.as_ref().map(convergence),
            },
            queries: fit.queries().iter().map(|query| QueryRecord::new(fit, query, names)).collect(),
        }
    }
}

impl QueryRecord {
    fn new(fit: &Fit, query: &QueryFit, names: &Names) -> Self {
        let item = |(place, item): (usize, &click_logs::fit::ItemFit)| ItemRecord {
            item: name(names, item.item),
            attraction: EstimateRecord::new(&item.attraction),
            satisfaction: query.satisfaction.get(place).map(EstimateRecord::new),
            clicks: item.clicks,
            impressions: item.impressions,
        };
        Self {
            query: name(names, query.id),
            typical: query.typical,
            items: query.items.iter().enumerate().map(item).collect(),
            positions: positions(fit, &query.positions),
            convergence: query.convergence.as_ref().map(convergence),
        }
    }
}

impl EstimateRecord {
    fn new(estimate: &Estimate) -> Self {
        Self {
            value: estimate.value,
            se: estimate.standard_error,
            lower: estimate.interval.map(|interval| interval.0),
            upper: estimate.interval.map(|interval| interval.1),
        }
    }
}

impl IdentifiabilityRecord {
    fn new(report: &Identifiability, names: &Names) -> Self {
        let pair = |&(query, item): &(Id, Id)| Pair {
            query: name(names, query),
            item: name(names, item),
            impressions: None,
        };
        let few = |&(query, item, impressions): &(Id, Id, u64)| Pair {
            impressions: Some(impressions),
            ..pair(&(query, item))
        };
        Self {
            query: report.query.map(|query| name(names, query)),
            identified: report.is_identified(),
            components: report
                .components
                .iter()
                .map(|part| ComponentRecord {
                    positions: part.positions.iter().map(|position| position + 1).collect(),
                    items: part.items,
                    impressions: part.impressions,
                })
                .collect(),
            never_clicked: report.never_clicked.iter().map(pair).collect(),
            always_clicked: report.always_clicked.iter().map(pair).collect(),
            few_impressions: report.few_impressions.iter().map(few).collect(),
            few_clicks: report
                .few_clicks
                .iter()
                .map(|&(position, clicks)| PositionClicks { position: position + 1, clicks })
                .collect(),
            few_comparisons: report
                .few_comparisons
                .iter()
                .map(|&(position, clicks)| PositionComparisons { position: position + 1, clicks })
                .collect(),
            few: report.few,
        }
    }
}

impl ComparisonRecord {
    pub(super) fn new(
        arguments: &Arguments,
        comparison: Option<&Comparison>,
        users: Option<&Choice>,
    ) -> Self {
        let models = comparison.into_iter().flat_map(|comparison| {
            let record = |(place, score)| ScoreRecord::new(score, comparison.difference(place, 0));
            comparison.scores().iter().enumerate().map(record)
        });
        Self {
            schema: 1,
            held_out: arguments.held_out,
            seed: arguments.seed,
            clusters: comparison.map(|comparison| ClustersRecord {
                by: if comparison.is_by_session() { "session" } else { "cell" },
                number: comparison.n_clusters(),
            }),
            told_apart_at: Difference::TOLD_APART_AT,
            choice: comparison
                .and_then(|comparison| comparison.choice(|_| true))
                .as_ref()
                .map(ChoiceRecord::new),
            users: users.map(ChoiceRecord::new),
            models: models.collect(),
        }
    }
}

impl ScoreRecord {
    fn new(score: &Score, from_best: Difference) -> Self {
        Self {
            model: score.model.name(),
            impressions: score.impressions,
            log_likelihood: score.log_likelihood,
            difference: from_best.mean,
            difference_se: from_best.standard_error,
            perplexity: score.perplexity,
            conditional_perplexity: score.conditional_perplexity,
            perplexity_by_rank: score.perplexity_by_rank.clone(),
            conditional_by_rank: score.conditional_by_rank.clone(),
        }
    }
}

impl ChoiceRecord {
    fn new(choice: &Choice) -> Self {
        Self {
            model: choice.model.name(),
            best: choice.best.name(),
            alike: choice.alike.iter().map(|model| model.name()).collect(),
        }
    }
}

/// Parameters of positions, each with its place: the position, and in the user browsing model that of the last click above.
fn positions(fit: &Fit, estimates: &[Estimate]) -> Vec<PositionRecord> {
    let record = |((position, last_click), estimate): ((usize, Option<usize>), &Estimate)| PositionRecord {
        position: position + 1,
        last_click: (fit.model() == Model::Ubm).then(|| last_click.map_or(0, |click| click + 1)),
        estimate: EstimateRecord::new(estimate),
    };
    places(fit.model(), estimates.len()).zip(estimates).map(record).collect()
}

/// The position and the last click above that each of so many parameters of positions is of.
pub(super) fn places(model: Model, count: usize) -> impl Iterator<Item = (usize, Option<usize>)> {
    let browsing = model == Model::Ubm;
    let clicks_above = move |position: usize| if browsing { position } else { 0 };
    (0..count)
        .flat_map(move |position| {
            (0..=clicks_above(position)).map(move |above| (position, above.checked_sub(1)))
        })
        .take(count)
}

fn convergence(convergence: &Convergence) -> ConvergenceRecord {
    ConvergenceRecord {
        converged: convergence.converged,
        iterations: convergence.last.iterations,
        log_likelihood: convergence.last.log_likelihood,
    }
}

fn name(names: &Names, id: Id) -> String {
    names.name(id).into_owned()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the serialiser asks with a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A file's content.
pub(super) fn to_json(record: &impl Serialize) -> Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(record)?;
    text.push(b'\n');
    Ok(text)
}
