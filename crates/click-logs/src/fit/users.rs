//! Users of a fitted position-based model who can be simulated: every number a probability, the most examined position first.
//!
//! A log's first position need not be the most examined one, and then examination relative to it exceeds 1. Simulated users read
//! from the top; which position of a list is called the first makes no difference to them.

use super::{Fit, Model, QueryFit};

/// Users of a query, by position-based model.
#[derive(Debug, Clone, PartialEq)]
pub struct Users {
    /// How probably an examined impression is clicked, one an item of the fit.
    pub attraction: Vec<f64>,
    /// How probably a position is examined, falling.
    pub examination: Vec<f64>,
    /// Which position of the log each one is, from 0.
    pub positions: Vec<usize>,
}

impl Fit {
    /// Users of a query who see its first `n_positions` positions, or as many as it has; none of another model than the PBM.
    ///
    /// Where nothing is known of an item it is the query's typical one, and where nothing is known of a position it is never
    /// examined.
    ///
    /// # Examples
    ///
    /// ```
    /// use click_logs::fit::{Model, Options, fit};
    /// use click_logs::{Format, Reader};
    /// use click_models::PositionBased;
    ///
    /// let log = "query,item,position,clicks,impressions\nq,a,1,100,1000\nq,a,2,200,1000\nq,b,1,50,1000\nq,b,2,100,1000\n";
    /// let log = Reader::new(Format::counts()).read("counts.csv", log.as_bytes())?;
    /// let options = Options { prior_strength: Some(0.0), ..Options::default() };
    /// let pbm = fit(Model::Pbm, &log.counts, &log.sessions, &options)?;
    /// // The second position is examined twice as often as the first.
    /// let users = pbm.users(&pbm.queries()[0], 2).unwrap();
    /// assert_eq!(users.positions, [1, 0]);
    /// assert!((users.attraction[0] - 0.2).abs() < 1e-9 && (users.examination[1] - 0.5).abs() < 1e-9);
    /// let users = PositionBased::from_values(&users.attraction, &users.examination)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn users(&self, query: &QueryFit, n_positions: usize) -> Option<Users> {
        if self.model() != Model::Pbm {
            return None;
        }
        let known = |value: f64, otherwise: f64| if value.is_nan() { otherwise } else { value };
        let estimates = self.positions(query).iter().take(n_positions);
        let mut positions: Vec<(f64, usize)> =
            estimates.map(|estimate| known(estimate.value, 0.0)).zip(0..).collect();
        positions.sort_by(|a, b| b.0.total_cmp(&a.0));
        let scale = positions.first().map_or(1.0, |first| first.0.max(1.0));
        let attraction = |value: f64| (known(value, query.typical) * scale).clamp(0.0, 1.0);
        Some(Users {
            attraction: query.items.iter().map(|item| attraction(item.attraction.value)).collect(),
            examination: positions.iter().map(|(value, _)| (value / scale).clamp(0.0, 1.0)).collect(),
            positions: positions.into_iter().map(|(_, position)| position).collect(),
        })
    }
}
