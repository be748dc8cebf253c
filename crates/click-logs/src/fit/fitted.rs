//! Fitted models: a sum type with one variant per model.
//!
//! Every model has [`Attractions`]; other parameters are in its variant. The methods of [`Fit`]
//! serve code that treats all models alike.

use super::options::Scope;
use super::squarem::Convergence;
use super::{Estimate, Model};
use crate::counts::Positions;
use crate::names::Id;

/// A fitted model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Fit {
    /// Position-based.
    Pbm {
        /// Relative to a first position that is always examined.
        attractions: Attractions,
        /// Examination; 1 at the first position.
        examination: ByPosition,
    },
    /// Cascade.
    Cascade {
        /// Down to the first click.
        attractions: Attractions,
        /// The click-through rate below the first click, where the model itself allows no click.
        below_first_click: f64,
    },
    /// Dependent clicks.
    Dcm {
        /// Given examination.
        attractions: Attractions,
        /// Probability of leaving after a click.
        leave: ByPosition,
        /// Probability of leaving after a click at any position.
        typical_leave: f64,
    },
    /// User browsing.
    Ubm {
        /// Relative to a first position that is always examined.
        attractions: Attractions,
        /// Examination by position and last click, in the order of [`Model::places`].
        examination: ByPosition,
    },
    /// Simplified dynamic Bayesian network.
    Sdbn {
        /// Given examination.
        attractions: Attractions,
        /// Probability of leaving satisfied after a click, one per item for every query.
        satisfaction: Vec<Vec<Estimate>>,
        /// Probability of leaving satisfied after a click on an unseen item.
        typical_satisfaction: f64,
    },
    /// Dynamic Bayesian network.
    Dbn {
        /// Given examination.
        attractions: Attractions,
        /// Probability of leaving satisfied after a click, one per item for every query.
        satisfaction: Vec<Vec<Estimate>>,
        /// Probability of leaving satisfied after a click on an unseen item.
        typical_satisfaction: f64,
        /// Probability that a user who has not left satisfied examines the next position: one
        /// number.
        continuation: Continuation,
    },
    /// Click chain.
    Ccm {
        /// Given examination.
        attractions: Attractions,
        /// Probability of examining the next position, three numbers: after no click, after a click
        /// on an item that attracts nobody, and after one on an item that attracts everybody.
        continuation: Continuation,
    },
    /// Logistic regression.
    CtrLogistic {
        /// Probability of a click at the first position.
        attractions: Attractions,
        /// Odds ratio to the first position, by position and last click, in the order of
        /// [`Model::places`]; of the site.
        odds: ByPosition,
    },
    /// One click-through rate for all.
    CtrGlobal {
        /// No queries; [`Site::typical`] is the rate.
        attractions: Attractions,
    },
    /// A click-through rate for each position.
    CtrRank {
        /// No queries.
        attractions: Attractions,
        /// The rates.
        rates: Vec<Estimate>,
    },
    /// A click-through rate for each query and item.
    CtrDocument {
        /// The rates.
        attractions: Attractions,
    },
}

/// The attraction of items, which every model has.
#[derive(Debug, Clone, PartialEq)]
pub struct Attractions {
    /// Queries, sorted by identifier.
    pub queries: Vec<QueryFit>,
    /// Parameters of all queries together.
    pub site: Site,
}

/// Parameters of positions.
#[derive(Debug, Clone, PartialEq)]
pub struct ByPosition {
    /// For all queries together; NaN at positions without impressions.
    pub site: Vec<Estimate>,
    /// For every query down to its last position, if queries have their own; NaN at positions where
    /// the log does not show the query.
    pub queries: Option<Vec<Vec<Estimate>>>,
}

/// Probabilities of examining the next position.
#[derive(Debug, Clone, PartialEq)]
pub struct Continuation {
    /// For all queries together.
    pub site: Vec<Estimate>,
    /// For every query, if queries have their own.
    pub queries: Option<Vec<Vec<Estimate>>>,
}

/// The fit of one query.
#[derive(Debug, Clone, PartialEq)]
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
#[derive(Debug, Clone, Copy, PartialEq)]
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
#[derive(Debug, Clone, PartialEq)]
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
    /// The model.
    pub fn model(&self) -> Model {
        match self {
            Self::Pbm { .. } => Model::Pbm,
            Self::Cascade { .. } => Model::Cascade,
            Self::Dcm { .. } => Model::Dcm,
            Self::Ubm { .. } => Model::Ubm,
            Self::Sdbn { .. } => Model::Sdbn,
            Self::Dbn { .. } => Model::Dbn,
            Self::Ccm { .. } => Model::Ccm,
            Self::CtrLogistic { .. } => Model::CtrLogistic,
            Self::CtrGlobal { .. } => Model::CtrGlobal,
            Self::CtrRank { .. } => Model::CtrRank,
            Self::CtrDocument { .. } => Model::CtrDocument,
        }
    }

    /// The attraction of items.
    pub fn attractions(&self) -> &Attractions {
        match self {
            Self::Pbm { attractions, .. }
            | Self::Cascade { attractions, .. }
            | Self::Dcm { attractions, .. }
            | Self::Ubm { attractions, .. }
            | Self::Sdbn { attractions, .. }
            | Self::Dbn { attractions, .. }
            | Self::Ccm { attractions, .. }
            | Self::CtrLogistic { attractions, .. }
            | Self::CtrGlobal { attractions }
            | Self::CtrRank { attractions, .. }
            | Self::CtrDocument { attractions } => attractions,
        }
    }

    /// All queries, sorted by identifier.
    pub fn queries(&self) -> &[QueryFit] {
        &self.attractions().queries
    }

    /// The fit of one query.
    pub fn query(&self, id: Id) -> Option<&QueryFit> {
        Some(&self.queries()[self.place(id)?])
    }

    /// Parameters of all queries together.
    pub fn site(&self) -> &Site {
        &self.attractions().site
    }

    /// Whether queries have their own parameters of positions, or of continuation.
    pub fn scope(&self) -> Scope {
        let own = match self {
            Self::Dbn { continuation, .. } | Self::Ccm { continuation, .. } => &continuation.queries,
            Self::Pbm { examination: positions, .. }
            | Self::Dcm { leave: positions, .. }
            | Self::Ubm { examination: positions, .. } => &positions.queries,
            _ => &None,
        };
        if own.is_some() { Scope::Query } else { Scope::Site }
    }

    /// Parameters of positions for all queries together: examination of the PBM and the UBM
    /// ([`Model::places`] has the positions), probabilities of leaving of the DCM, odds ratios of
    /// the logistic regression, click-through rates. Empty for models without such parameters.
    pub fn site_positions(&self) -> &[Estimate] {
        match self {
            Self::Pbm { examination: positions, .. }
            | Self::Ubm { examination: positions, .. }
            | Self::Dcm { leave: positions, .. }
            | Self::CtrLogistic { odds: positions, .. } => &positions.site,
            Self::CtrRank { rates, .. } => rates,
            Self::Cascade { .. }
            | Self::Sdbn { .. }
            | Self::Dbn { .. }
            | Self::Ccm { .. }
            | Self::CtrGlobal { .. }
            | Self::CtrDocument { .. } => &[],
        }
    }

    /// A query's own parameters of positions; empty if it has none.
    pub fn own_positions(&self, query: Id) -> &[Estimate] {
        let own = self.positions_of_queries().zip(self.place(query));
        own.map_or(&[], |(queries, place)| &queries[place])
    }

    /// The parameters of positions for a query: its own, or those of the site.
    pub fn positions(&self, query: &QueryFit) -> &[Estimate] {
        let own = self.own_positions(query.id);
        if own.is_empty() { self.site_positions() } else { own }
    }

    /// DBN and simplified DBN: the probability of leaving satisfied after a click, one per item of
    /// the query. Empty for other models.
    pub fn satisfaction(&self, query: Id) -> &[Estimate] {
        match (self, self.place(query)) {
            (Self::Sdbn { satisfaction, .. } | Self::Dbn { satisfaction, .. }, Some(place)) => {
                &satisfaction[place]
            }
            _ => &[],
        }
    }

    /// The probability of examining the next position for all queries together: one number for the
    /// DBN, three for the click chain model. Empty for other models.
    pub fn site_continuation(&self) -> &[Estimate] {
        match self {
            Self::Dbn { continuation, .. } | Self::Ccm { continuation, .. } => &continuation.site,
            _ => &[],
        }
    }

    /// A query's own probability of examining the next position; empty if it has none.
    pub fn own_continuation(&self, query: Id) -> &[Estimate] {
        match self {
            Self::Dbn { continuation, .. } | Self::Ccm { continuation, .. } => {
                let own = continuation.queries.as_ref().zip(self.place(query));
                own.map_or(&[], |(queries, place)| &queries[place])
            }
            _ => &[],
        }
    }

    /// The probability of examining the next position for a query: its own, or that of the site.
    pub fn continuation(&self, query: &QueryFit) -> &[Estimate] {
        let own = self.own_continuation(query.id);
        if own.is_empty() { self.site_continuation() } else { own }
    }

    /// The parameters of positions that have a row, with the position and that of the last click
    /// above: all but those of positions that the log does not show.
    pub fn rows<'a>(
        &self,
        estimates: &'a [Estimate],
    ) -> impl Iterator<Item = (usize, Option<usize>, &'a Estimate)> + use<'a> {
        let has_gaps = matches!(self, Self::Pbm { .. } | Self::CtrRank { .. });
        let all = self.model().places(estimates.len()).zip(estimates);
        let rows = all.map(|((position, last_click), estimate)| (position, last_click, estimate));
        rows.filter(move |row| !(has_gaps && row.2.value.is_nan()))
    }

    fn positions_of_queries(&self) -> Option<&[Vec<Estimate>]> {
        match self {
            Self::Pbm { examination: positions, .. }
            | Self::Ubm { examination: positions, .. }
            | Self::Dcm { leave: positions, .. } => positions.queries.as_deref(),
            _ => None,
        }
    }

    fn place(&self, id: Id) -> Option<usize> {
        self.queries().binary_search_by_key(&id, |query| query.id).ok()
    }
}

/// The column of an impression in the user browsing model; `None` if the last click is not above.
pub(super) fn browsing_column(position: usize, last_click: Option<usize>) -> Option<usize> {
    match last_click {
        Some(above) if above >= position => None,
        Some(above) => Some(position * (position + 1) / 2 + above + 1),
        None => Some(position * (position + 1) / 2),
    }
}
