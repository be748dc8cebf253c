//! The posterior of an attraction's log-odds with a normal prior, after one click or none.

/// The largest log-odds, in absolute value, at which information is computed.
const EXTREME: f64 = 30.0;
/// Log-odds beyond which the probabilities of both answers would leave their range.
const LARGEST: f64 = 300.0;
/// The least information of an answer.
const LEAST_INFORMATION: f64 = 1e-12;
/// Newton's steps; a bracket halves at least every second one.
const STEPS: usize = 60;
/// Relative change of the last step.
const TOLERANCE: f64 = 1e-13;

/// The effect of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Answer {
    /// Change of the mean per unit of variance.
    pub(super) step: f64,
    /// Fisher information about the log-odds, at the mode.
    pub(super) information: f64,
}

impl Answer {
    /// A click, or none, on an item that was examined with probability `examined`, if its log-odds
    /// had this mean and variance.
    ///
    /// The mode is the root of `x = mean + variance g(x)`, where `g` is the derivative of the
    /// logarithm of the answer's probability: Newton's method inside a bracket that shrinks,
    /// because without a click the likelihood of position-based users is not log-concave, and one
    /// step from the mean would go too far.
    pub(super) fn new(mean: f64, variance: f64, examined: f64, click: bool) -> Self {
        let (mut low, mut high) = if click { (mean, mean + variance) } else { (mean - variance, mean) };
        let mut mode = mean;
        for _ in 0..STEPS {
            let (gradient, slope) = derivatives(mode, examined, click);
            let excess = mode - mean - variance * gradient;
            *(if excess > 0.0 { &mut high } else { &mut low }) = mode;
            let steepness = 1.0 - variance * slope;
            let newton = mode - excess / steepness;
            let is_inside = steepness > 0.0 && low <= newton && newton <= high;
            let next = if is_inside { newton } else { 0.5 * (low + high) };
            let change = (next - mode).abs();
            mode = next;
            if change <= TOLERANCE * (1.0 + mode.abs()) {
                break;
            }
        }
        let at = mode.clamp(-EXTREME, EXTREME);
        let (attracts, repels) = both(at);
        let slope = examined * attracts * repels;
        let variance_of_click = examined * attracts * no_click(repels, examined);
        let information = slope * slope / (variance_of_click + f64::MIN_POSITIVE);
        Self { step: (at - mean) / variance, information: information.max(LEAST_INFORMATION) }
    }
}

/// The probability of attraction, and its distance from 1.
fn both(log_odds: f64) -> (f64, f64) {
    let log_odds = log_odds.clamp(-LARGEST, LARGEST);
    (1.0 / (1.0 + libm::exp(-log_odds)), 1.0 / (1.0 + libm::exp(log_odds)))
}

/// The probability of no click.
fn no_click(repels: f64, examined: f64) -> f64 {
    (1.0 - examined) + examined * repels
}

/// First and second derivative of the logarithm of an answer's probability.
fn derivatives(log_odds: f64, examined: f64, click: bool) -> (f64, f64) {
    let (attracts, repels) = both(log_odds);
    if click {
        return (repels, -attracts * repels);
    }
    let slope = examined * attracts * repels / no_click(repels, examined);
    let curvature = repels * repels - (1.0 - examined) * attracts * attracts;
    (-slope, -slope * curvature / no_click(repels, examined))
}
