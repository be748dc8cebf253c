//! Examination of columns and lifts of positions.

use confidence::math::ln;
use libm::exp;

/// Smaller examination is replaced by this, so that it has a logarithm.
const SMALLEST_EXAMINATION: f64 = 1e-6;

/// Examination of columns and lifts of positions, in logarithms.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in super::super) struct PositionEffects {
    pub(in super::super) examination: Vec<f64>,
    pub(in super::super) lift: Vec<f64>,
    /// The logarithm by which examination was divided for the first column to be 1.
    pub(super) scale: f64,
    /// Variance of the walk.
    pub(super) variance: f64,
    /// Whether clicks determine the lifts.
    pub(super) tells_lifts: bool,
}

impl PositionEffects {
    /// Known examination of columns, without lifts.
    pub(in super::super) fn known(examination: &[f64], n_positions: usize) -> Self {
        let examination = examination.iter().map(|g| ln(g.max(SMALLEST_EXAMINATION))).collect();
        Self { examination, lift: vec![0.0; n_positions], scale: 0.0, variance: 0.0, tells_lifts: false }
    }

    pub(in super::super) fn examination(&self) -> Vec<f64> {
        self.examination.iter().map(|y| exp(*y)).collect()
    }

    /// The largest change of a logarithm.
    pub(super) fn change(&self, before: &Self) -> f64 {
        let examination = self.examination.iter().zip(&before.examination);
        let all = examination.chain(self.lift.iter().zip(&before.lift));
        all.map(|(now, then)| (now - then).abs()).fold(0.0, f64::max)
    }
}
