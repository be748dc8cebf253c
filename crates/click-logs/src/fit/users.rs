//! Users of a fitted model for simulations: every parameter is a probability, with defaults for
//! unknown parameters.
//!
//! Users have the positions of the log, in its order. The first one need not be the most examined
//! one; examination relative to it then exceeds 1, and is scaled for users of a position-based
//! model so that the most examined position is always examined.

use super::{Fit, QueryFit};
use crate::counts::Counts;
use click_models::{
    CascadeModel, ClickChain, DbnReward, DcmReward, DependentClick, DynamicBayesian, ListShape,
    PositionBased, UserBrowsing,
};

/// Users of a query.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Users {
    /// Users of a position-based model.
    PositionBased {
        /// The users; items are in the order of the fit, positions in that of the log.
        model: PositionBased,
        /// The log's position of each position, from 0: a log may leave gaps.
        positions: Vec<usize>,
    },
    /// Users of a cascade; items are in the order of the fit.
    Cascade(CascadeModel),
    /// Users of a dependent click model with satisfaction as the reward; items are in the order of
    /// the fit.
    DependentClick(DependentClick),
    /// Users of a dynamic Bayesian network, also of a simplified one, with clicks as the reward;
    /// items are in the order of the fit.
    DynamicBayesian(DynamicBayesian),
    /// Users of a click chain model; items are in the order of the fit.
    ClickChain(ClickChain),
    /// Users of a user browsing model; items are in the order of the fit.
    UserBrowsing(UserBrowsing),
}

impl Fit {
    /// Users of a query who see the first `n_positions` of its positions. There are at most as many
    /// positions as the query has, and as items, since a list shows an item at most once. `None`
    /// for click-through rates, if there is no position, and for a user browsing model with more
    /// lists than [`UserBrowsing`] takes.
    ///
    /// An item without data is the query's typical one. A position without data is never examined
    /// by users of a position-based or user browsing model; users of a dependent click model leave
    /// after a click at it as at any other position.
    ///
    /// # Examples
    ///
    /// ```
    /// use click_logs::fit::{Model, Options, Users, fit};
    /// use click_logs::{Format, Reader};
    ///
    /// let log = "query,item,position,clicks,impressions\nq,a,1,100,1000\nq,a,2,200,1000\nq,b,1,50,1000\nq,b,2,100,1000\n";
    /// let log = Reader::new(Format::counts()).read("counts.csv", log.as_bytes())?;
    /// let options = Options { prior_strength: Some(0.0), ..Options::default() };
    /// let pbm = fit(Model::Pbm, &log.counts, &log.sessions, &options)?;
    /// // The second position is examined twice as often as the first.
    /// let Some(Users::PositionBased { model, positions }) = pbm.users(&pbm.queries()[0], 2) else { panic!("users") };
    /// assert_eq!(positions, [0, 1]);
    /// assert!((model.attraction()[0].get() - 0.2).abs() < 1e-9 && (model.examination()[0].get() - 0.5).abs() < 1e-9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn users(&self, query: &QueryFit, n_positions: usize) -> Option<Users> {
        let n_positions = n_positions.min(query.items.len());
        match self {
            Self::Pbm { .. } => self.position_based(query, n_positions),
            Self::Cascade { .. } => {
                CascadeModel::from_values(&attraction(query, 1.0), n_positions).map(Users::Cascade).ok()
            }
            Self::Dcm { typical_leave, .. } => {
                let known = self.positions(query);
                let leave = |position: usize| {
                    let leave = known.get(position).map_or(f64::NAN, |leave| leave.value);
                    known_or(leave, *typical_leave).clamp(0.0, 1.0)
                };
                let leave: Vec<f64> = (0..n_positions).map(leave).collect();
                let users =
                    DependentClick::from_values(&attraction(query, 1.0), &leave, DcmReward::default());
                users.map(Users::DependentClick).ok()
            }
            Self::Sdbn { typical_satisfaction, .. } => {
                self.dynamic_bayesian(query, *typical_satisfaction, 1.0, n_positions)
            }
            Self::Dbn { typical_satisfaction, .. } => {
                let [continuation] = self.goes_on(query);
                self.dynamic_bayesian(query, *typical_satisfaction, continuation, n_positions)
            }
            Self::Ccm { .. } => {
                let users =
                    ClickChain::from_values(&attraction(query, 1.0), self.goes_on(query), n_positions);
                users.map(Users::ClickChain).ok()
            }
            Self::Ubm { .. } => self.user_browsing(query, n_positions),
            Self::CtrLogistic { .. }
            | Self::CtrGlobal { .. }
            | Self::CtrRank { .. }
            | Self::CtrDocument { .. } => None,
        }
    }

    /// The number of queries without [`users`](Self::users) of their positions in `counts`.
    pub fn queries_without_users(&self, counts: &Counts) -> usize {
        let has_users = |query: &&QueryFit| {
            counts.query(query.id).is_some_and(|counts| self.users(query, counts.n_positions()).is_some())
        };
        self.queries().iter().filter(|query| !has_users(query)).count()
    }

    /// Continuation; 1 where it is unknown.
    fn goes_on<const N: usize>(&self, query: &QueryFit) -> [f64; N] {
        let known = self.continuation(query);
        std::array::from_fn(|place| {
            known.get(place).map_or(1.0, |estimate| known_or(estimate.value, 1.0).clamp(0.0, 1.0))
        })
    }

    fn dynamic_bayesian(
        &self,
        query: &QueryFit,
        typical_satisfaction: f64,
        continuation: f64,
        n_positions: usize,
    ) -> Option<Users> {
        let satisfaction = self.satisfaction(query.id).iter();
        let satisfaction: Vec<f64> =
            satisfaction.map(|s| known_or(s.value, typical_satisfaction).clamp(0.0, 1.0)).collect();
        let (attraction, reward) = (attraction(query, 1.0), DbnReward::Clicks);
        let users =
            DynamicBayesian::from_values(&attraction, &satisfaction, continuation, n_positions, reward);
        users.map(Users::DynamicBayesian).ok()
    }

    /// Examination is divided by its largest value if that exceeds 1, as far as the attraction of
    /// no item gets larger than 1.
    fn user_browsing(&self, query: &QueryFit, n_positions: usize) -> Option<Users> {
        let positions = self.positions(query);
        let known = (1..=ListShape::MAX_POSITIONS).take_while(|l| l * (l + 1) / 2 <= positions.len()).count();
        let n_positions = n_positions.min(known);
        let known = positions.iter().map(|estimate| known_or(estimate.value, 0.0));
        let examination: Vec<f64> = known.take(n_positions * (n_positions + 1) / 2).collect();
        let largest = attraction(query, 1.0).into_iter().fold(0.0, f64::max);
        let scale = examination.iter().copied().fold(1.0, f64::max).min(1.0 / largest.max(f64::MIN_POSITIVE));
        let scaled: Vec<f64> = examination.iter().map(|g| (g / scale).clamp(0.0, 1.0)).collect();
        let rows: Vec<&[f64]> =
            (0..n_positions).map(|l| &scaled[l * (l + 1) / 2..(l + 1) * (l + 2) / 2]).collect();
        UserBrowsing::from_values(&attraction(query, scale), &rows).map(Users::UserBrowsing).ok()
    }

    fn position_based(&self, query: &QueryFit, n_positions: usize) -> Option<Users> {
        let known = self.positions(query);
        let positions: Vec<usize> = query.positions.iter().take(n_positions).collect();
        let value = |&position: &usize| known_or(known.get(position).map_or(f64::NAN, |g| g.value), 0.0);
        let examination: Vec<f64> = positions.iter().map(value).collect();
        let scale = examination.iter().copied().fold(1.0, f64::max);
        let examination: Vec<f64> = examination.iter().map(|g| (g / scale).clamp(0.0, 1.0)).collect();
        let model = PositionBased::from_values(&attraction(query, scale), &examination).ok()?;
        Some(Users::PositionBased { model, positions })
    }
}

/// Attraction, one per item, scaled so that the most examined position is always examined.
fn attraction(query: &QueryFit, scale: f64) -> Vec<f64> {
    let of_item = |value: f64| (known_or(value, query.typical) * scale).clamp(0.0, 1.0);
    query.items.iter().map(|item| of_item(item.attraction.value)).collect()
}

fn known_or(value: f64, otherwise: f64) -> f64 {
    if value.is_nan() { otherwise } else { value }
}
