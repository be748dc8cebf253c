//! A policy that begins with what a fit knows of a query.

use super::{ContextFit, Fitted};
use crate::catalogue::{spec_of, to_parameters};
use crate::context::UserNames;
use crate::live::fit_protocol;
use crate::message::{check_fit, value_error};
use crate::name::query_text;
use crate::names::Names;
use crate::options::Given;
use crate::policy::Policy;
use crate::prior::{BEGINNINGS, Prior};
use crate::task::{UserFacts, build, seeded};
use ::live::ObservationRule;
use click_logs::fit::{Fit, ItemFit, Model, QueryFit, Users};
use click_logs::parameters::IdType;
use click_models::{Cascade, Dcm, ItemId, PositionBased};
use log_reader::Id;
use policies::Tally;
use policies::catalogue::{Family, PolicySpec, Protocol};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// The name of an item, with displays and clicks by position.
pub(crate) type CountedItem = (String, Vec<(usize, Tally)>);

/// The arguments of `Policy.from_fit`.
pub(crate) struct FromFit<'py> {
    query: Option<Bound<'py, PyAny>>,
    model: Option<String>,
    horizon: Option<u64>,
    seed: Option<u64>,
    policy: Option<String>,
    parameters: Bound<'py, PyDict>,
}

impl<'py> FromFit<'py> {
    pub(crate) fn new(query: Option<Bound<'py, PyAny>>, mut given: Given<'py>) -> PyResult<Self> {
        Ok(Self {
            query,
            model: given.one("model")?,
            horizon: given.count("horizon")?,
            seed: given.seed()?,
            policy: given.one("policy")?,
            parameters: given.dict,
        })
    }

    fn spec(&self, usual: &str) -> PyResult<PolicySpec> {
        let function = self.parameters.py().get_type::<Policy>().getattr("from_fit")?;
        let parameters = to_parameters(Some(&self.parameters))?;
        spec_of(self.policy.as_deref().unwrap_or(usual), parameters, &function)
    }
}

/// The users and items of a fit, as the log tells of them.
pub(crate) fn given_of(fit: &spec::ContextFit, protocol: Protocol) -> UserFacts {
    let known = fit.prior.known();
    UserFacts {
        items: Some(fit.items.len()),
        positions: Some(fit.positions),
        examination: (protocol == Protocol::PositionBased).then(|| fit.of_positions.clone()),
        item_features: Some(fit.item_features()),
        user_features: Some(known.n_user_features()),
        segments: Some(known.n_segments()),
        ..UserFacts::default()
    }
}

impl ContextFit {
    /// The policy that begins where the log ends.
    pub(crate) fn to_policy(&self, py: Python<'_>, from: &FromFit<'_>) -> PyResult<Policy> {
        let fit = &self.fit;
        let query = from.query.as_ref().map(|query| query_text(query, None)).transpose()?;
        check_fit("query", query.as_deref(), fit.query.as_deref())?;
        check_fit("model", from.model.as_deref(), Some(&fit.model))?;
        let protocol = fit_protocol(fit);
        let given = UserFacts { horizon: from.horizon, ..given_of(fit, protocol) };
        let spec = from.spec("hybrid-ts")?;
        let mut policy = build(spec, protocol, &given)?;
        Prior::Contexts(Box::new(fit.clone())).give(&mut policy, None)?;
        let names = Names::of(self.items(py)?.as_any())?;
        let policy = Policy::of(policy, seeded(from.seed)?, protocol, Some(Arc::new(names)));
        Ok(policy.for_users(UserNames::of(fit)))
    }
}

impl Fitted {
    pub(crate) fn to_policy(&self, py: Python<'_>, from: &FromFit<'_>) -> PyResult<Policy> {
        self.whole("Policy.from_fit")?;
        let fit = self.fit(from.model.as_deref())?;
        let row_of = |model: Model| BEGINNINGS.into_iter().find(|row| row.0 == model);
        let Some((_, protocol, usual)) = row_of(fit.model()) else {
            let fitted = self.study.fits.iter().map(Fit::model).filter(|model| row_of(*model).is_some());
            let fitted: Vec<String> = fitted.map(|model| format!("{:?}", model.name())).collect();
            let remedy = match &fitted[..] {
                [] => "fit \"pbm\", \"cascade\" or \"dcm\"".to_owned(),
                fitted => format!("give model={}, which the log was fitted to as well", fitted.join(" or ")),
            };
            let found = fit.model().name();
            return Err(value_error(format!("no policy learns from counts of {found:?} users: {remedy}")));
        };
        let query = self.query_of(fit, from.query.as_ref())?;
        let spec = from.spec(usual)?;
        let mut policy = build(
            spec,
            protocol,
            &UserFacts { horizon: from.horizon, ..self.given(&spec, protocol, fit, query) },
        )?;
        if policy.tallies().is_none() {
            let learns = "choose one whose `live` in `policies()` is \"table\"";
            return Err(value_error(format!("`{}` does not learn from counts: {learns}", spec.name())));
        }
        let name = self.study.log.counts.names().name(query.id).into_owned();
        if fit.attractions.site.prior_strength > 0.0 {
            // Policies that draw from no posterior have none.
            _ = Prior::Written(self.json(py)?).give(&mut policy, Some(&name));
        }
        let (tallies, lists) = self.tallies(fit.model(), query);
        if let Some(table) = policy.tallies_mut() {
            let last = table.n_kinds() - 1;
            for (item, position, tally) in tallies {
                table.add(item, position.min(last), tally);
            }
        }
        (0..lists).for_each(|_| policy.pass_round());
        let names = Names::of(self.item_names(py, query)?.as_any())?;
        Ok(Policy::of(policy, seeded(from.seed)?, protocol, Some(Arc::new(names))))
    }

    /// The fit of the query of this name, or of the only one.
    fn query_of<'a>(&self, fit: &'a Fit, name: Option<&Bound<'_, PyAny>>) -> PyResult<&'a QueryFit> {
        match (name, fit.queries()) {
            (Some(name), _) => {
                let name = query_text(name, Some(self.study.log.report.ids.of()[1]))?;
                self.query_named(fit, &name)
            }
            (None, [only]) => Ok(only),
            (None, all) => Err(value_error(format!("the fit has {} queries: give query=", all.len()))),
        }
    }

    /// The sizes of the query, and the examination of its positions.
    fn given(&self, spec: &PolicySpec, protocol: Protocol, fit: &Fit, query: &QueryFit) -> UserFacts {
        let counts = self.study.log.counts.query(query.id);
        let n_positions = counts.map_or(1, |counts| counts.n_positions()).min(query.items.len());
        let knows = protocol == Protocol::PositionBased
            && spec.row().family_on(protocol) != Some(Family::UnknownExamination);
        let users: Option<PositionBased> =
            if knows { fit.users(query, n_positions).and_then(Users::model) } else { None };
        UserFacts {
            items: Some(query.items.len()),
            positions: Some(n_positions),
            examination: users.map(|users| users.examination().iter().map(|p| p.get()).collect()),
            ..UserFacts::default()
        }
    }

    /// The items of a query, with displays and clicks by position, and the type of their names.
    pub(crate) fn items_of(
        &self,
        model: Model,
        query: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Vec<CountedItem>, IdType)> {
        self.whole("Live.begin_with")?;
        let query = self.query_of(self.fit(Some(model.name()))?, query)?;
        let names = self.study.log.counts.names();
        let name = |item: &ItemFit| (names.name(item.item).into_owned(), vec![]);
        let mut items: Vec<CountedItem> = query.items.iter().map(name).collect();
        for (item, position, tally) in self.tallies(model, query).0 {
            items[item.index()].1.push((position, tally));
        }
        Ok((items, self.study.log.report.ids.of()[0]))
    }

    /// The displays and clicks of a query: those of each position for "pbm", those that users
    /// observed for models of whole lists; and the number of lists.
    fn tallies(&self, model: Model, query: &QueryFit) -> (Vec<(ItemId, usize, Tally)>, u64) {
        let item = |id: Id| {
            let place = query.items.binary_search_by_key(&id, |item| item.item).ok();
            place.map(ItemId::from_index)
        };
        let mut tallies: Vec<(ItemId, usize, Tally)> = Vec::new();
        let mut lists = 0;
        if model == Model::Pbm {
            let positions: Vec<usize> = query.first_positions(query.items.len()).collect();
            for cell in self.study.log.counts.query(query.id).into_iter().flat_map(|counts| counts.cells()) {
                let place = positions.iter().position(|&position| position == cell.position);
                if let (Some(item), Some(place)) = (item(cell.item), place) {
                    tallies.push((item, place, Tally { shows: cell.impressions, clicks: cell.clicks }));
                }
            }
            let shown = |place| {
                let tallies = tallies.iter().filter(|(_, counted, _)| *counted == place);
                tallies.map(|(.., tally)| tally.shows).sum()
            };
            lists = (0..positions.len()).map(shown).max().unwrap_or(0);
        } else {
            let observed = if model == Model::Cascade { Cascade::observed } else { Dcm::observed };
            for list in self.study.log.sessions.query(query.id).into_iter().flat_map(|query| query.lists()) {
                for pattern in list.patterns {
                    lists += pattern.sessions;
                    let seen = observed(pattern.clicks, Some(list.items.len()));
                    for (position, &id) in list.items.iter().enumerate() {
                        if let Some(item) = item(id).filter(|_| seen >> position & 1 == 1) {
                            // A cascade ends with its first click.
                            let clicks = if pattern.clicks.get(position) { pattern.sessions } else { 0 };
                            tallies.push((item, position, Tally { shows: pattern.sessions, clicks }));
                        }
                    }
                }
            }
        }
        (tallies, lists)
    }
}
