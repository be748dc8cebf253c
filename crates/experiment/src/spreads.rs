//! Statistics over the runs of a policy at every checkpoint.

use crate::result::Spread;
use sim::{Curve, Summary};

/// Mean, standard error, range and quantiles of regret, clicks and accuracy over the runs of a policy, at every checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Spreads {
    /// Cumulative expected regret.
    pub regret: Spread,
    /// Cumulative realised clicks.
    pub clicks: Spread,
    /// 1 if the recommended item would be best, 0 otherwise; `None` if the policy recommends nothing.
    pub accuracy: Option<Spread>,
}

impl Spreads {
    pub(crate) fn of(curves: &[Curve]) -> Self {
        let recommends = curves.iter().any(|curve| !curve.accurate.is_empty());
        let accurate = |curve: &Curve, t: usize| f64::from(u8::from(curve.accurate[t]));
        Self {
            regret: spread(curves, |curve, t| curve.regret[t]),
            clicks: spread(curves, |curve, t| curve.clicks[t]),
            accuracy: recommends.then(|| spread(curves, accurate)),
        }
    }
}

/// Statistics of one quantity over runs, at every checkpoint.
fn spread(curves: &[Curve], quantity: impl Fn(&Curve, usize) -> f64) -> Spread {
    let n_checkpoints = curves.first().map_or(0, |curve| curve.regret.len());
    let mut spread = Spread::default();
    for checkpoint in 0..n_checkpoints {
        let sample: Vec<f64> = curves.iter().map(|curve| quantity(curve, checkpoint)).collect();
        if let Some(summary) = Summary::of(&sample) {
            spread.mean.push(summary.mean);
            spread.se.push(summary.standard_error);
            spread.min.push(summary.min);
            spread.max.push(summary.max);
            spread.q10.push(summary.q10);
            spread.q90.push(summary.q90);
        }
    }
    spread
}
