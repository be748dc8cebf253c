//! Fitted models: a sum over models, each with what the model has.
//!
//! Every model has [`Attractions`]. What else there is belongs to its variant; the methods of [`Fit`] give it to those who treat all
//! models alike.

use super::options::Scope;
use super::position_based::browsing_column;
use super::squarem::Convergence;
use super::{Estimate, Model};
use crate::names::Id;

/// A fitted model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Fit {
    /// Position-based.
    Pbm {
        /// On the scale on which the first position is always examined.
        attractions: Attractions,
        /// 1 at the first position.
        examination: ByPosition,
    },
    /// Cascade.
    Cascade {
        /// Down to the first click.
        attractions: Attractions,
        /// The click-through rate below the first click, where the model has none.
        below_first_click: f64,
    },
    /// Dependent clicks.
    Dcm {
        /// Of what is examined.
        attractions: Attractions,
        /// How probably a user leaves after a click.
        leave: ByPosition,
        /// The same at any position.
        typical_leave: f64,
    },
    /// User browsing.
    Ubm {
        /// On the scale on which the first position is always examined.
        attractions: Attractions,
        /// By position and last click, see [`Fit::browsing`]; of all queries together.
        examination: Vec<Estimate>,
    },
    /// Simplified dynamic Bayesian network.
    Sdbn {
        /// Of what is examined.
        attractions: Attractions,
        /// How probably a user leaves satisfied after a click, one an item for every query.
        satisfaction: Vec<Vec<Estimate>>,
        /// The same of an item of which nothing is known.
        typical_satisfaction: f64,
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

/// What every model has: the attraction of items.
#[derive(Debug, Clone, PartialEq)]
pub struct Attractions {
    /// By identifier.
    pub queries: Vec<QueryFit>,
    /// Of all queries together.
    pub site: Site,
}

/// Parameters of positions.
#[derive(Debug, Clone, PartialEq)]
pub struct ByPosition {
    /// Of all queries together.
    pub site: Vec<Estimate>,
    /// Of every query down to its last position, where queries have their own.
    pub queries: Option<Vec<Vec<Estimate>>>,
}

/// What a model says of one query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryFit {
    /// The query.
    pub id: Id,
    /// Its items, by identifier.
    pub items: Vec<ItemFit>,
    /// The attraction of an item of which nothing is known, at the first position; see [`Site::lift`].
    pub typical: f64,
    /// How the fit ended where the query was fitted alone.
    pub convergence: Option<Convergence>,
}

/// What a model says of an item of a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ItemFit {
    /// The item.
    pub item: Id,
    /// How probably an examined impression is clicked.
    pub attraction: Estimate,
    /// Clicks that the model makes use of.
    pub clicks: u64,
    /// Impressions that the model makes use of; the cascade stops at the first click.
    pub impressions: u64,
}

/// What holds for queries and items that no one has seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Site {
    /// Attraction of an item of which nothing is known, in a query of which nothing is known, at the first position.
    pub typical: f64,
    /// How much more attractive items are that the log shows at a position than those at the first one: an item of which nothing is known
    /// has the attraction `typical` times this. Empty for click-through rates.
    pub lift: Vec<f64>,
    /// Pseudo-impressions of the prior of every item's attraction.
    pub prior_strength: f64,
    /// How the fit ended where all queries were fitted together.
    pub convergence: Option<Convergence>,
}

impl Fit {
    /// Which model.
    pub fn model(&self) -> Model {
        match self {
            Self::Pbm { .. } => Model::Pbm,
            Self::Cascade { .. } => Model::Cascade,
            Self::Dcm { .. } => Model::Dcm,
            Self::Ubm { .. } => Model::Ubm,
            Self::Sdbn { .. } => Model::Sdbn,
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
            | Self::CtrGlobal { attractions }
            | Self::CtrRank { attractions, .. }
            | Self::CtrDocument { attractions } => attractions,
        }
    }

    /// Every query, by identifier.
    pub fn queries(&self) -> &[QueryFit] {
        &self.attractions().queries
    }

    /// One query.
    pub fn query(&self, id: Id) -> Option<&QueryFit> {
        Some(&self.queries()[self.place(id)?])
    }

    /// What holds for all queries.
    pub fn site(&self) -> &Site {
        &self.attractions().site
    }

    /// Whether queries have parameters of positions of their own.
    pub fn scope(&self) -> Scope {
        if self.positions_of_queries().is_some() { Scope::Query } else { Scope::Site }
    }

    /// Parameters of positions of all queries together: examination of the PBM and the UBM ([`Model::places`] says which is which), the
    /// DCM's probabilities to leave, click-through rates; empty for models that have none.
    pub fn site_positions(&self) -> &[Estimate] {
        match self {
            Self::Pbm { examination: positions, .. } | Self::Dcm { leave: positions, .. } => &positions.site,
            Self::Ubm { examination: positions, .. } | Self::CtrRank { rates: positions, .. } => positions,
            Self::Cascade { .. } | Self::Sdbn { .. } | Self::CtrGlobal { .. } | Self::CtrDocument { .. } => {
                &[]
            }
        }
    }

    /// A query's own parameters of positions; empty where it has none.
    pub fn own_positions(&self, query: Id) -> &[Estimate] {
        let own = self.positions_of_queries().zip(self.place(query));
        own.map_or(&[], |(queries, place)| &queries[place])
    }

    /// The parameters of positions that hold for a query: its own, or those of the site.
    pub fn positions(&self, query: &QueryFit) -> &[Estimate] {
        let own = self.own_positions(query.id);
        if own.is_empty() { self.site_positions() } else { own }
    }

    /// How probably a user leaves satisfied after a click, one an item of the query; empty but for the simplified DBN.
    pub fn satisfaction(&self, query: Id) -> &[Estimate] {
        match (self, self.place(query)) {
            (Self::Sdbn { satisfaction, .. }, Some(place)) => &satisfaction[place],
            _ => &[],
        }
    }

    /// Examination in the user browsing model, of a position after a last click at a position above, or after none.
    pub fn browsing(&self, position: usize, last_click: Option<usize>) -> Option<&Estimate> {
        let Self::Ubm { examination, .. } = self else { return None };
        examination.get(browsing_column(position, last_click)?)
    }

    fn positions_of_queries(&self) -> Option<&[Vec<Estimate>]> {
        match self {
            Self::Pbm { examination: positions, .. } | Self::Dcm { leave: positions, .. } => {
                positions.queries.as_deref()
            }
            _ => None,
        }
    }

    fn place(&self, id: Id) -> Option<usize> {
        self.queries().binary_search_by_key(&id, |query| query.id).ok()
    }
}
