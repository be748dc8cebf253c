//! Priors of items and positions, such as the fit of a log.

use crate::Error;
use crate::checked::checked;
use crate::products::Pseudo;
use serde::{Deserialize, Serialize};

/// Displays that a known parameter, without a standard deviation, is worth.
const KNOWN: f64 = 1_048_576.0;
/// The most displays that a prior is worth: a fit of more is no surer of what users do today.
const MOST: f64 = 1_073_741_824.0;

/// Priors of attraction and examination.
///
/// A belief is a mean `m` with a standard deviation `d`. It counts as `m (1 - m) / d^2 - 1`
/// displays that were certainly examined (of an attraction; of an examination: displays of an item
/// that attracts everybody), a share `m` of them clicked. That is the Beta distribution with this
/// mean and deviation. Items and positions without a belief begin as those of a fresh policy.
///
/// # Examples
///
/// ```
/// use click_models::ListShape;
/// use policies::{PbmGibbs, PbmGibbsOrder, PbmPrior};
///
/// // The last of three items is new. The first position is the one that examination is relative to.
/// let prior = PbmPrior::new([Some((0.3, 0.01)), Some((0.1, 0.01)), None], [Some((1.0, 0.0)), Some((0.4, 0.02))])?;
/// let shape = ListShape::new(3, 2)?;
/// let policy = PbmGibbs::new(shape, PbmGibbsOrder::Unknown).with_prior(&prior)?;
/// assert!(PbmGibbs::new(ListShape::new(2, 2)?, PbmGibbsOrder::Unknown).with_prior(&prior).is_err());
/// # Ok::<(), policies::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct PbmPrior {
    pub(super) attraction: Vec<Pseudo>,
    pub(super) examination: Vec<Pseudo>,
}

impl PbmPrior {
    /// Beliefs of the first items and of the first positions: mean and standard deviation.
    ///
    /// # Errors
    ///
    /// [`Error::NotABelief`] if a mean is no probability or a deviation is negative.
    pub fn new(
        attraction: impl IntoIterator<Item = Option<(f64, f64)>>,
        examination: impl IntoIterator<Item = Option<(f64, f64)>>,
    ) -> Result<Self, Error> {
        let attraction = attraction.into_iter().map(pseudo).collect::<Result<_, _>>()?;
        let examination = examination.into_iter().map(pseudo).collect::<Result<_, _>>()?;
        Ok(Self { attraction, examination })
    }
}

/// The displays and clicks that a belief is worth.
fn pseudo(belief: Option<(f64, f64)>) -> Result<Pseudo, Error> {
    let Some((mean, deviation)) = belief else { return Ok(Pseudo::default()) };
    if !(0.0..=1.0).contains(&mean) || !(0.0..=f64::MAX).contains(&deviation) {
        return Err(Error::NotABelief { mean, deviation });
    }
    let plays = if deviation == 0.0 { KNOWN } else { mean * (1.0 - mean) / (deviation * deviation) - 1.0 };
    let plays = plays.clamp(0.0, MOST);
    Ok(Pseudo { plays, clicks: mean * plays })
}

checked!(PbmPrior, |self| {
    let is_sound = |belief: &Pseudo| {
        (0.0..=MOST).contains(&belief.plays) && (0.0..=belief.plays).contains(&belief.clicks)
    };
    let are_sound = self.attraction.iter().chain(&self.examination).all(is_sound);
    if are_sound { Ok(self) } else { Err(Error::SavedPrior) }
});
