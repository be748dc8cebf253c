//! The file that names a table: version 2. It has no field for what belongs to single queries, so none of its lists is empty in error.

use super::collect::MadeParameters;
use super::{
    ComparisonsRecord, ComponentRecord, FittedRecord, IdentifiabilityRecord, LogRecord, ModelRecord,
    Parameters, PositionClicksRecord, SiteRecord, WITH_TABLE,
};
use crate::fit::{Model, Scope};
use serde::{Deserialize, Serialize};

/// The fields of the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WithTable {
    schema: u64,
    table: String,
    log: LogRecord,
    fitted: FittedRecord,
    scope: Scope,
    level: f64,
    models: Vec<ModelOfSite>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    identifiability: Option<IdentifiabilityOfSite>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelOfSite {
    model: Model,
    site: SiteRecord,
}

/// The report on all queries together.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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

impl From<WithTable> for Parameters {
    fn from(file: WithTable) -> Self {
        let model =
            |ModelOfSite { model, site }: ModelOfSite| ModelRecord { model, site, queries: Vec::new() };
        let of_all = file.identifiability.map(|report| IdentifiabilityRecord {
            query: None,
            identified: report.identified,
            components: report.components,
            never_clicked: Vec::new(),
            always_clicked: Vec::new(),
            few_impressions: Vec::new(),
            few_clicks: report.few_clicks,
            few_comparisons: report.few_comparisons,
            few: report.few,
        });
        Self {
            schema: file.schema,
            table: Some(file.table),
            log: file.log,
            fitted: file.fitted,
            scope: file.scope,
            level: file.level,
            models: file.models.into_iter().map(model).collect(),
            identifiability: of_all.into_iter().collect(),
            rank_one: Vec::new(),
        }
    }
}
