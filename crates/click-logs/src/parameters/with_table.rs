//! The file that names a table: version 2. It has no field for what belongs to single queries, so
//! none of its lists is empty in error.

use super::lines;
use super::records::made;
use super::{
    ComponentRecord, FittedRecord, LogRecord, ModelRecord, PositionClicksRecord, SiteRecord, WITH_TABLE,
};
use crate::fit::{Fit, Model, Options, Scope};
use crate::study::FilteredLog;
use serde::Serialize;
use std::io::Write;

/// The fields of the file.
#[derive(Serialize)]
struct WithTable<'a> {
    schema: u64,
    table: &'a str,
    log: LogRecord,
    fitted: FittedRecord,
    scope: Scope,
    level: f64,
    models: Vec<ModelOfSite>,
    #[serde(skip_serializing_if = "Option::is_none")]
    identifiability: Option<IdentifiabilityOfSite>,
}

#[derive(Serialize)]
struct ModelOfSite {
    model: Model,
    site: SiteRecord,
}

/// The report on all queries together.
#[derive(Serialize)]
struct IdentifiabilityOfSite {
    identified: bool,
    components: Vec<ComponentRecord>,
    few_clicks: Vec<PositionClicksRecord>,
    few_comparisons: Vec<PositionClicksRecord<f64>>,
    few: u64,
}

/// [`write`](super::write) without the parameters of single queries. `table` is the name of the
/// file, in the same directory, that has them.
///
/// # Errors
///
/// Fails if `out` does.
pub fn write_with_table(
    table: &str,
    log: &FilteredLog,
    fits: &[Fit],
    options: &Options,
    out: &mut dyn Write,
) -> serde_json::Result<()> {
    let made = made(log, fits, options, &|_| false);
    let of_all = (made.scope == Scope::Site).then(|| made.identifiability.0().next()).flatten();
    let of_site = |record: ModelRecord<_>| ModelOfSite { model: record.model, site: record.site };
    let with_table = WithTable {
        schema: WITH_TABLE,
        table,
        models: made.models.0().map(of_site).collect(),
        log: made.log,
        fitted: made.fitted,
        scope: made.scope,
        level: made.level,
        identifiability: of_all.map(|report| IdentifiabilityOfSite {
            identified: report.identified,
            components: report.components,
            few_clicks: report.few_clicks,
            few_comparisons: report.few_comparisons,
            few: report.few,
        }),
    };
    lines::write(&with_table, out)
}
