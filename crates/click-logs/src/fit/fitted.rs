//! Fitted models: the parameters of any model.
//!
//! Every model has [`Attractions`]; parameters that a model does not have are empty.

use super::credibility::PositionEffects;
use super::item_prior::ItemPrior;
use super::options::Scope;
use super::squarem::Convergence;
use super::{Estimate, Model};
use log_reader::{Id, Positions};
use serde::{Deserialize, Serialize};

/// A fitted model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fit {
    pub(super) model: Model,
    /// Attraction of items: relative to a first position that is always examined in models that
    /// multiply attraction and examination; else given examination; of click-through rates the
    /// rates.
    pub attractions: Attractions,
    /// Parameters of positions in the order of [`Model::places`]: examination of the PBM and the
    /// UBM, probabilities of leaving of the DCM, click-through rates. NaN at positions without
    /// impressions, of the site or of the query.
    pub positions: Estimates,
    /// Probability of leaving satisfied after a click, one per item for every query.
    pub satisfaction: Vec<Vec<Estimate>>,
    /// Probability of leaving after any click: that of an unseen item or position.
    pub typical_leave: Option<f64>,
    /// Probability of examining the next position. DBN: one number, for users who have not left
    /// satisfied. CCM: three, after no click, after a click on an item that attracts nobody, and
    /// after one on an item that attracts everybody.
    pub continuation: Estimates,
    /// The click-through rate below the first click, where the cascade itself allows no click.
    pub below_first_click: Option<f64>,
    /// The prior of attraction, where a fit to a similar log starts; `None` if it was not
    /// estimated.
    pub(super) prior: Option<FoundPrior>,
}

/// Examination and lifts, and the prior of items.
pub(super) type FoundPrior = (PositionEffects, ItemPrior);

/// The attraction of items, which every model has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attractions {
    /// Queries, sorted by identifier.
    pub queries: Vec<QueryFit>,
    /// Parameters of all queries together.
    pub site: Site,
}

/// Parameters that all queries share, or each has for itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimates {
    /// For all queries together.
    pub site: Vec<Estimate>,
    /// For every query, if queries have their own; of positions, down to its last one.
    pub queries: Option<Vec<Vec<Estimate>>>,
}

impl Estimates {
    fn of(&self, place: Option<usize>) -> &[Estimate] {
        let own = self.own(place);
        if own.is_empty() { &self.site } else { own }
    }

    /// Returns the estimates of the query at this index of the fit; empty if it has none.
    fn own(&self, place: Option<usize>) -> &[Estimate] {
        self.queries.as_ref().zip(place).map_or(&[], |(queries, place)| &queries[place])
    }
}

/// The fit of one query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueryFit {
    /// The query.
    pub id: Id,
    /// Its items, sorted by identifier.
    pub items: Vec<ItemFit>,
    /// The positions at which the log shows them.
    pub positions: Positions,
    /// The attraction of an unseen item at the first position; see [`Site::lift`].
    pub typical: f64,
    /// Convergence of the query's own fit.
    pub convergence: Option<Convergence>,
}

/// The fit of an item of a query.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ItemFit {
    /// The item.
    pub item: Id,
    /// Probability of a click on an examined impression.
    pub attraction: Estimate,
    /// Mean of the Beta prior of attraction; `None` without one.
    pub prior: Option<f64>,
    /// Clicks used by the model.
    pub clicks: u64,
    /// Impressions used by the model; the cascade stops at the first click.
    pub impressions: u64,
}

/// Parameters of all queries, which also apply to unseen queries and items.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// Attraction of an unseen item in an unseen query, at the first position.
    pub typical: f64,
    /// Ratio of the typical attraction at each position to that at the first: an unseen item has
    /// the attraction `typical` times this. Empty for click-through rates.
    pub lift: Vec<f64>,
    /// Pseudo-impressions in the prior of every item's attraction.
    pub prior_strength: f64,
    /// Convergence of the fit of all queries together.
    pub convergence: Option<Convergence>,
}

impl Fit {
    /// A fit with nothing but attraction.
    pub(crate) fn new(model: Model, attractions: Attractions) -> Self {
        Self {
            model,
            attractions,
            positions: Estimates::default(),
            satisfaction: Vec::new(),
            typical_leave: None,
            continuation: Estimates::default(),
            below_first_click: None,
            prior: None,
        }
    }

    /// This fit of a part of a log with the queries and items of a fit of the whole log. Those that
    /// the part does not show have no estimates.
    #[must_use]
    pub fn with_items_of(&self, whole: &Self) -> Self {
        let unknown = Estimate::bare(f64::NAN);
        let mut found = Self { satisfaction: Vec::new(), ..Self::new(self.model, self.attractions.clone()) };
        found.attractions.queries.clear();
        let own_queries = |scoped: &Estimates| scoped.queries.is_some().then(Vec::new);
        found.positions =
            Estimates { site: self.positions.site.clone(), queries: own_queries(&self.positions) };
        found.continuation =
            Estimates { site: self.continuation.site.clone(), queries: own_queries(&self.continuation) };
        (found.typical_leave, found.below_first_click) = (self.typical_leave, self.below_first_click);
        for query in whole.queries() {
            let place = self.place(query.id);
            let own = place.map(|place| &self.queries()[place]);
            let of_item = |item: &ItemFit| {
                own.and_then(|own| own.items.binary_search_by_key(&item.item, |own| own.item).ok())
            };
            let places: Vec<Option<usize>> = query.items.iter().map(of_item).collect();
            let items = query.items.iter().zip(&places).map(|(item, place)| match (own, place) {
                (Some(own), Some(place)) => own.items[*place],
                _ => ItemFit { attraction: unknown, prior: None, clicks: 0, impressions: 0, ..*item },
            });
            found.attractions.queries.push(QueryFit {
                items: items.collect(),
                typical: own.map_or(self.attractions.site.typical, |own| own.typical),
                convergence: None,
                ..query.clone()
            });
            if !self.satisfaction.is_empty() {
                let own = self.satisfaction(query.id);
                let of_item = |place: &Option<usize>| place.map_or(unknown, |place| own[place]);
                found.satisfaction.push(places.iter().map(of_item).collect());
            }
            for (scoped, own) in
                [(&mut found.positions, &self.positions), (&mut found.continuation, &self.continuation)]
            {
                if let Some(queries) = &mut scoped.queries {
                    queries.push(own.own(place).to_vec());
                }
            }
        }
        found
    }

    /// The model.
    pub fn model(&self) -> Model {
        self.model
    }

    /// All queries, sorted by identifier.
    pub fn queries(&self) -> &[QueryFit] {
        &self.attractions.queries
    }

    /// The fit of one query.
    pub fn query(&self, id: Id) -> Option<&QueryFit> {
        Some(&self.queries()[self.place(id)?])
    }

    /// Whether queries have their own parameters of positions, or of continuation.
    pub fn scope(&self) -> Scope {
        let own = self.positions.queries.is_some() || self.continuation.queries.is_some();
        if own { Scope::Query } else { Scope::Site }
    }

    /// Whether all searches for its parameters met their criterion.
    pub fn has_converged(&self) -> bool {
        let ends = self.queries().iter().map(|query| &query.convergence);
        ends.chain([&self.attractions.site.convergence]).flatten().all(|end| end.converged)
    }

    /// A query's own parameters of positions; empty if it has none.
    pub fn own_positions(&self, query: Id) -> &[Estimate] {
        self.positions.own(self.place(query))
    }

    /// The parameters of positions for a query: its own, or those of the site.
    pub fn positions(&self, query: &QueryFit) -> &[Estimate] {
        self.positions.of(self.place(query.id))
    }

    /// The probability of leaving satisfied after a click, one per item of the query. Empty for
    /// models without it.
    pub fn satisfaction(&self, query: Id) -> &[Estimate] {
        let place = self.place(query);
        place.and_then(|place| self.satisfaction.get(place)).map_or(&[], Vec::as_slice)
    }

    /// A query's own probabilities of examining the next position; empty if it has none.
    pub fn own_continuation(&self, query: Id) -> &[Estimate] {
        self.continuation.own(self.place(query))
    }

    /// The probabilities of examining the next position for a query: its own, or those of the site.
    pub fn continuation(&self, query: &QueryFit) -> &[Estimate] {
        self.continuation.of(self.place(query.id))
    }

    /// The parameters of positions that have a row, with the position and that of the last click
    /// above: all but those of positions that counts do not have.
    pub fn rows<'a>(
        &self,
        estimates: &'a [Estimate],
    ) -> impl Iterator<Item = (usize, Option<usize>, &'a Estimate)> + use<'a> {
        let has_gaps = !self.model.needs_sessions();
        let all = self.model.places(estimates.len()).zip(estimates);
        let rows = all.map(|((position, last_click), estimate)| (position, last_click, estimate));
        rows.filter(move |row| !(has_gaps && row.2.value.is_nan()))
    }

    fn place(&self, id: Id) -> Option<usize> {
        self.queries().binary_search_by_key(&id, |query| query.id).ok()
    }
}

/// The column of an impression in the user browsing model; `None` if the last click is not above.
pub(crate) fn browsing_column(position: usize, last_click: Option<usize>) -> Option<usize> {
    match last_click {
        Some(above) if above >= position => None,
        Some(above) => Some(position * (position + 1) / 2 + above + 1),
        None => Some(position * (position + 1) / 2),
    }
}
