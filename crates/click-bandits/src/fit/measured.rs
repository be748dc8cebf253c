//! Fits the users of a log for a paper's experiment, beside the report.

use super::{Arguments, Outcome, fit_and_write};
use anyhow::{Context as _, Result};
use click_logs::fit::{Fit, QueryFit, Users, rank_one_svd};
use click_logs::study::Study;
use spec::{FittedQuery, Queries};

/// Position-based models of the queries of a log, ordered by the number of items, then of
/// impressions, as papers list them. Nothing is written if `may_write` refuses the SHA-256 of the
/// parameters.
pub(crate) fn queries_of_log(
    arguments: &Arguments,
    may_write: &dyn Fn(&str) -> Result<()>,
) -> Result<Queries> {
    let Outcome { study: Study { log, fits, .. }, parameters, .. } = fit_and_write(arguments, may_write)?;
    let measured = |(fit, query): (&Fit, &QueryFit)| {
        let counts = log.counts.query(query.id).context("a query without counts")?;
        let users = fit.users(query, counts.n_positions());
        let model = users.and_then(Users::model).context("no position-based model")?;
        let svd = rank_one_svd(&counts);
        let found = FittedQuery {
            name: log.counts.names().name(query.id).to_string(),
            theta: query.items.iter().map(|item| item.attraction.value).collect(),
            records: counts.impressions(),
            first_singular_value: svd.map(|svd| svd.share()),
        };
        Ok((found, model))
    };
    let queries = fits.iter().flat_map(|fit| fit.queries().iter().map(move |query| (fit, query)));
    let mut queries = queries.map(measured).collect::<Result<Vec<_>>>()?;
    queries.sort_by_key(|(found, ..)| (found.theta.len(), found.records));
    Ok(Queries::fitted(&arguments.logs[0], parameters, queries, arguments.settings.prior))
}
