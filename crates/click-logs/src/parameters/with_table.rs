//! The file that names a table: version 2. It has no field for what belongs to single queries, so none of its lists is empty in error.

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
    /// The file of these parameters; `None` if they name no table.
    pub(super) fn of(parameters: &Parameters) -> Option<Self> {
        let of_all = parameters.identifiability.iter().find(|report| report.query.is_none());
        let model = |record: &ModelRecord| ModelOfSite { model: record.model, site: record.site.clone() };
        Some(Self {
            schema: WITH_TABLE,
            table: parameters.table.clone()?,
            log: parameters.log.clone(),
            fitted: parameters.fitted.clone(),
            scope: parameters.scope,
            level: parameters.level,
            models: parameters.models.iter().map(model).collect(),
            identifiability: of_all.map(|report| IdentifiabilityOfSite {
                identified: report.identified,
                components: report.components.clone(),
                few_clicks: report.few_clicks.clone(),
                few_comparisons: report.few_comparisons.clone(),
                few: report.few,
            }),
        })
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
