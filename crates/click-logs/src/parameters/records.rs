//! Collects fits into records.

use super::lines;
use super::rows::{digits, rounded};
use super::{
    ComponentRecord, EstimateRecord, FEW, FittedRecord, IdentifiabilityRecord, ItemRecord, LogRecord,
    ModelRecord, PairRecord, Parameters, PositionClicksRecord, PositionRecord, QueryRecord, RankOneRecord,
    SCHEMA, SiteRecord, SkippedRecord,
};
use crate::fit::{Estimate, Fit, Identifiability, ItemFit, Options, QueryFit, identifiability, rank_one_svd};
use crate::study::FilteredLog;
use log_reader::{Counts, Id, Names, QueryCounts, ReadReport, SkippedLines};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::io::Write;

/// Writes [`Parameters`] of fits to a log, with those of the queries for which `keep` is true. One
/// query at a time is in memory.
///
/// # Errors
///
/// Fails if `out` does.
pub fn write(
    log: &FilteredLog,
    fits: &[Fit],
    options: &Options,
    keep: &dyn Fn(Id) -> bool,
    out: &mut dyn Write,
) -> serde_json::Result<()> {
    lines::write(&made(log, fits, options, keep), out)
}

/// A list whose elements are made one after another while it is written.
pub(super) struct Made<'a, T>(pub(super) Box<dyn Fn() -> Box<dyn Iterator<Item = T> + 'a> + 'a>);

impl<'a, T> Made<'a, T> {
    fn new<I: Iterator<Item = T> + 'a>(elements: impl Fn() -> I + 'a) -> Self {
        Self(Box::new(move || Box::new(elements())))
    }
}

impl<T: Serialize> Serialize for Made<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// Parameters of which one query at a time is in memory.
pub(super) type MadeParameters<'a> = Parameters<
    Made<'a, ModelRecord<Made<'a, QueryRecord>>>,
    Made<'a, IdentifiabilityRecord>,
    Made<'a, RankOneRecord>,
>;

/// Collects what belongs to all queries, and to those for which `keep` is true.
pub(super) fn made<'a>(
    log: &'a FilteredLog,
    fits: &'a [Fit],
    options: &'a Options,
    keep: &'a dyn Fn(Id) -> bool,
) -> MadeParameters<'a> {
    let FilteredLog { report, n_queries, counts, .. } = log;
    let (names, [item_type, query_type]) = (counts.names(), report.ids.of());
    Parameters {
        schema: SCHEMA,
        log: log_record(report, *n_queries),
        fitted: FittedRecord {
            queries: counts.n_queries(),
            cells: counts.n_cells(),
            positions: counts.n_positions(),
            impressions: counts.impressions(),
            clicks: counts.clicks(),
        },
        scope: options.scope,
        level: options.level,
        item_type,
        query_type,
        models: Made::new(move || fits.iter().map(move |fit| model_record(fit, counts, keep))),
        identifiability: Made::new(move || {
            let reports = identifiability(counts, options.scope, FEW).into_iter();
            let kept = reports.filter(move |report| report.query.is_none_or(keep));
            kept.map(move |report| identifiability_record(&report, names, keep))
        }),
        rank_one: Made::new(move || {
            let svd = move |query: QueryCounts<'a>| {
                let svd = rank_one_svd(&query)?;
                Some(RankOneRecord {
                    query: name(names, query.id()),
                    items: svd.items.len(),
                    share: digits(svd.share()),
                    share_of_squares: digits(svd.share_of_squares()),
                    singular_values: svd.singular_values.into_iter().map(digits).collect(),
                })
            };
            counts.queries().filter(move |query| keep(query.id())).filter_map(svd)
        }),
    }
}

/// The parameters of a fit, as a file has them.
pub fn record(fit: &Fit, counts: &Counts) -> ModelRecord {
    let ModelRecord { model, site, queries } = model_record(fit, counts, &|_| true);
    ModelRecord { model, site, queries: queries.0().collect() }
}

fn log_record(report: &ReadReport, n_queries: usize) -> LogRecord {
    let skipped = |(reason, skipped): (&Cow<'static, str>, &SkippedLines)| SkippedRecord {
        reason: reason.clone().into_owned(),
        lines: skipped.lines,
        impressions: skipped.impressions,
        clicks: skipped.clicks,
        first: skipped.first.to_string(),
    };
    LogRecord {
        files: report.files,
        lines: report.lines,
        bytes: report.bytes,
        sessions: report.sessions,
        sessions_left_out: report.sessions_left_out,
        sessions_at_fault: report.sessions_at_fault,
        sessions_with_repeats: report.sessions_with_repeats,
        impressions: report.impressions,
        clicks: report.clicks,
        clicks_outside: report.clicks_outside,
        clicks_clipped: report.clicks_clipped,
        queries: n_queries,
        skipped: report.skipped.iter().map(skipped).collect(),
    }
}

fn model_record<'a>(
    fit: &'a Fit,
    counts: &'a Counts,
    keep: &'a dyn Fn(Id) -> bool,
) -> ModelRecord<Made<'a, QueryRecord>> {
    let has_satisfaction = fit.model().parameters().has_satisfaction;
    ModelRecord {
        model: fit.model(),
        site: SiteRecord {
            typical: digits(fit.attractions.site.typical),
            lift: fit.attractions.site.lift.iter().copied().map(digits).collect(),
            prior: fit.attractions.site.prior_strength,
            typical_satisfaction: fit.typical_leave.filter(|_| has_satisfaction).map(digits),
            continuation: fit.continuation.site.iter().map(estimate_record).collect(),
            below_first_click: fit.below_first_click.map(digits),
            positions: positions(fit, &fit.positions.site),
            convergence: fit.attractions.site.convergence,
        },
        queries: Made::new(move || {
            let kept = fit.queries().iter().filter(|query| keep(query.id));
            kept.map(move |query| query_record(fit, query, counts))
        }),
    }
}

fn query_record(fit: &Fit, query: &QueryFit, counts: &Counts) -> QueryRecord {
    let names = counts.names();
    let satisfaction = fit.satisfaction(query.id);
    let has_gaps = query.positions.end() > query.positions.len();
    let item = |(place, item): (usize, &ItemFit)| ItemRecord {
        item: name(names, item.item),
        attraction: estimate_record(&item.attraction),
        prior: item.prior.map(digits),
        satisfaction: satisfaction.get(place).map(estimate_record),
        clicks: item.clicks,
        impressions: item.impressions,
    };
    QueryRecord {
        query: name(names, query.id),
        typical: digits(query.typical),
        items: query.items.iter().enumerate().map(item).collect(),
        n_positions: counts.query(query.id).map(|query| query.n_positions()),
        shown: query.positions.iter().filter(|_| has_gaps).map(|position| position + 1).collect(),
        positions: positions(fit, fit.own_positions(query.id)),
        continuation: fit.own_continuation(query.id).iter().map(estimate_record).collect(),
        convergence: query.convergence,
    }
}

fn estimate_record(estimate: &Estimate) -> EstimateRecord {
    let Estimate { value, standard_error: se, interval } = rounded(estimate);
    EstimateRecord { value, se, lower: interval.map(|ends| ends.0), upper: interval.map(|ends| ends.1) }
}

fn identifiability_record(
    report: &Identifiability,
    names: &Names,
    keep: &dyn Fn(Id) -> bool,
) -> IdentifiabilityRecord {
    let kept = |&&(query, _): &&(Id, Id)| keep(query);
    let pair = |&(query, item): &(Id, Id)| PairRecord {
        query: name(names, query),
        item: name(names, item),
        impressions: None,
    };
    let few = |&(query, item, impressions): &(Id, Id, u64)| PairRecord {
        impressions: Some(impressions),
        ..pair(&(query, item))
    };
    IdentifiabilityRecord {
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
        never_clicked: report.never_clicked.iter().filter(kept).map(pair).collect(),
        always_clicked: report.always_clicked.iter().filter(kept).map(pair).collect(),
        few_impressions: report.few_impressions.iter().filter(|few| keep(few.0)).map(few).collect(),
        few_clicks: report
            .few_clicks
            .iter()
            .map(|&(position, clicks)| PositionClicksRecord { position: position + 1, clicks })
            .collect(),
        few_comparisons: report
            .few_comparisons
            .iter()
            .map(|&(position, clicks)| PositionClicksRecord {
                position: position + 1,
                clicks: digits(clicks),
            })
            .collect(),
        few: report.few,
    }
}

/// Parameters of positions with their places.
fn positions(fit: &Fit, estimates: &[Estimate]) -> Vec<PositionRecord> {
    let record = |(position, last_click, estimate): (usize, Option<usize>, &Estimate)| PositionRecord {
        position: position + 1,
        last_click: fit.model().has_last_clicks().then(|| last_click.map_or(0, |click| click + 1)),
        estimate: estimate_record(estimate),
    };
    fit.rows(estimates).map(record).collect()
}

fn name(names: &Names, id: Id) -> String {
    names.name(id).into_owned()
}
