//! `pbm`: position-based users.

use super::context::{self, CONTEXT, ItemCount, read_attraction};
use super::fields::at_fault;
use super::keys::{ALSO_ATTRACTION, ATTRACTION, OF_POSITIONS, THETA, VALUES};
use super::posterior::{Drawn, instances};
use super::{EvidenceOf, Instance, Instances, LowerBound, Member, Model, Parameter, WithValues, evidence};
use crate::key::Key;
use crate::posterior::{LogPart, Query, Uncertain};
use click_models::{ListShape, PositionBased};
use confidence::Probability;
use documents::toml_reader::{Error, Table, all};
use policies::catalogue::Protocol;

pub(super) static MODEL: Model = Model {
    name: "pbm",
    protocol: Protocol::PositionBased,
    sentence: "A user clicks what is examined and attracts; how probably a position is examined is known.",
    keys: &[THETA, ALSO_ATTRACTION, KAPPA, ALSO_EXAMINATION, CONTEXT.in_place_of(&[THETA.name]), VALUES],
    first_choices: &["pbm-ts", "pbm-pie"],
    names_best_items: false,
    read: |tables, _| context::instances(tables, |table, given| read(table, given, PositionBased::new)),
    of_queries: Some(|queries| Ok(Instances::named(queries.each(PositionBased::new)?))),
    of_posterior: Some(|file| instances(file, &DRAWN)),
};

/// Users drawn from a fit.
pub(super) static DRAWN: Drawn<PositionBased> = Drawn {
    parameters: attraction_and_examination,
    of_items: 1,
    clicks: |lists, items, out| {
        out.clear();
        out.extend(items.iter().zip(&lists[1]).map(|(&item, examined)| lists[0][item] * examined));
    },
    build: |lists, _| PositionBased::from_values(&lists[0], &lists[1]),
};

/// Attraction and examination. The log's first position need not be the most examined one; then
/// examination relative to it exceeds 1.
fn attraction_and_examination(fit: &LogPart, query: &Query, n_positions: usize) -> Vec<Vec<Uncertain>> {
    let examination = fit.positions_of(query, n_positions, 0.0);
    let scale = examination.iter().fold(1.0_f64, |largest, examined| largest.max(examined.mean));
    let attraction = query.attraction().into_iter().map(|attraction| attraction.times(scale)).collect();
    vec![attraction, examination.into_iter().map(|examined| examined.times(1.0 / scale)).collect()]
}

/// The examination of positions, of this model and of `semi-bandit`.
pub(crate) const KAPPA: Key = Key::required(
    "kappa",
    OF_POSITIONS,
    "The probability that a position is examined; positions may come in any order.",
    "[0.9, 0.6, 0.3]",
)
.called("Examination kappa");

/// `examination` in the place of `kappa`.
pub(crate) const ALSO_EXAMINATION: Key = Key { name: "examination", ..KAPPA }.in_place_of(&[KAPPA.name]);

impl Member for PositionBased {
    const MODEL: &'static Model = &MODEL;
    const SHAPE: Option<fn(&Self) -> ListShape> = Some(Self::shape);
    const OF_ATTRACTION: &'static Key = &THETA;
    const LOWER_BOUND: Option<LowerBound<Self>> =
        Some(("lower bound (PBM paper, Theorem 6)", Self::lower_bound));
    const EVIDENCE: Option<EvidenceOf<Self>> = Some(evidence::of_lists);
    const WITH_VALUES: Option<WithValues<Self>> = Some(Self::with_values);

    fn parameters(instance: &Instance<Self>) -> Vec<(&'static str, Parameter)> {
        theta_kappa(instance.model.attraction(), instance.model.examination())
    }
}

/// The attraction of items and the examination of positions as parameters.
pub(super) fn theta_kappa(theta: &[Probability], kappa: &[Probability]) -> Vec<(&'static str, Parameter)> {
    vec![THETA.with(theta), KAPPA.with(kappa)]
}

/// Reads users with the attraction of items and the examination of positions.
pub(super) fn read<M>(
    table: &Table<'_>,
    given: Option<&ItemCount<'_>>,
    build: impl Fn(Vec<Probability>, Vec<Probability>) -> Result<M, click_models::Error>,
) -> Result<M, Error> {
    let theta = read_attraction(table, given, &[THETA, ATTRACTION]);
    let kappa = Key::read_one_of::<Vec<_>>(&[KAPPA, ALSO_EXAMINATION], table);
    let (theta, kappa, ()) = all((theta, kappa, table.finish()))?;
    build(theta.value, kappa.value).map_err(|error| at_fault(&error, &theta.field, &kappa.field))
}
