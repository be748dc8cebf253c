//! The file that names a table: version 2. It has no field for what belongs to single queries, so
//! none of its lists is empty in error.

use super::collect::MadeParameters;
use super::{
    ComparisonsRecord, ComponentRecord, FittedRecord, LogRecord, ModelRecord, PositionClicksRecord,
    SiteRecord, WITH_TABLE,
};
use crate::fit::{Model, Scope};
use serde::Serialize;

/// The fields of the file.
#[derive(Serialize)]
pub(super) struct WithTable {
    schema: u64,
    table: String,
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
    few_comparisons: Vec<ComparisonsRecord>,
    few: u64,
}

impl WithTable {
    /// The file of these parameters, which names a table.
    pub(super) fn of(made: MadeParameters<'_>, table: &str) -> Self {
        let of_all = (made.scope == Scope::Site).then(|| made.identifiability.0().next()).flatten();
        let of_site = |record: ModelRecord<_>| ModelOfSite { model: record.model, site: record.site };
        Self {
            schema: WITH_TABLE,
            table: table.to_owned(),
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
        }
    }
}
