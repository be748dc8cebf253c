//! Axes: their range, their ticks, and the place of a value along them.

use documents::number;
use num_traits::ToPrimitive as _;
use schemars::JsonSchema;
use serde::Deserialize;

/// The scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal differences have equal lengths.
    Linear,
    /// Equal ratios have equal lengths; values are positive.
    Log,
}

/// A range of values with a scale. The range is never empty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    /// Its scale.
    pub scale: Scale,
    /// The smallest value on the axis.
    pub from: f64,
    /// The largest value on the axis.
    pub to: f64,
    /// Whether its values are counts, so that ticks are whole numbers.
    counts: bool,
}

/// Values closer to zero count as zero: rounding errors of clicks are far smaller.
const NOTHING: f64 = 1e-9;

/// The least distance of labels on a logarithmic axis, in units of a picture.
const LABEL_DISTANCE: f64 = 64.0;

/// Values within a smaller factor look alike on both scales.
const WORTH_A_LOGARITHM: f64 = 3.0;

/// A line across the chart at a value, with a label if it is a major one.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Its place on the axis.
    pub value: f64,
    /// Its label; empty for a minor tick.
    pub label: String,
}

impl Axis {
    /// An axis over `from..=to`. The range is widened if both ends are nearly equal, and replaced
    /// if they are not usable.
    ///
    /// A linear axis with both ends closer than 1e-9 to zero counts as an axis of zeros.
    pub fn new(scale: Scale, from: f64, to: f64) -> Self {
        let usable = from.is_finite() && to.is_finite() && from <= to;
        let (from, to) = match scale {
            _ if usable => (from, to),
            Scale::Linear => (0.0, 1.0),
            Scale::Log => (1.0, 10.0),
        };
        let size = from.abs().max(to.abs());
        let (from, to) = match scale {
            Scale::Log => {
                let from = from.max(f64::MIN_POSITIVE);
                let to = to.max(from);
                if to / from < 1.5 { (from / 2.0, to * 2.0) } else { (from, to) }
            }
            Scale::Linear if size < NOTHING => (0.0, 1.0),
            Scale::Linear if to - from > size * 1e-9 => (from, to),
            Scale::Linear => (from - 0.05 * size, to + 0.05 * size),
        };
        Self { scale, from, to, counts: false }
    }

    /// A linear axis over `from..=to`, widened so that it begins and ends at a tick.
    pub fn rounded(from: f64, to: f64) -> Self {
        let exact = Self::new(Scale::Linear, from, to);
        let step = exact.step();
        Self {
            scale: Scale::Linear,
            from: libm::floor(exact.from / step + 1e-9) * step,
            to: libm::ceil(exact.to / step - 1e-9) * step,
            counts: false,
        }
    }

    /// The axis of counts, if these are counts: all its ticks are whole numbers.
    pub(crate) fn of_counts(self, counts: bool) -> Self {
        Self { counts, ..self }
    }

    /// The axis of these values on the other scale; `None` if they look alike there.
    pub(crate) fn on_other_scale(&self, values: impl Iterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let other = match self.scale {
            Scale::Log => (lowest <= highest).then(|| Self::rounded(lowest.min(0.0), highest)),
            Scale::Linear => {
                let positive = values.iter().copied().filter(|value| *value > NOTHING);
                let least = positive.fold(f64::INFINITY, f64::min);
                let is_wide = self.to / least >= WORTH_A_LOGARITHM;
                (lowest >= -NOTHING && is_wide).then(|| Self::new(Scale::Log, least, self.to))
            }
        };
        other.map(|axis| axis.of_counts(self.counts))
    }

    /// The place of a value along the axis: 0 at its start, 1 at its end.
    pub fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.from) / (self.to - self.from),
            Scale::Log => {
                libm::log(value.max(f64::MIN_POSITIVE) / self.from) / libm::log(self.to / self.from)
            }
        }
    }

    /// The ticks, with as many labels of this `size` as fit into the axis of this `length`. The end
    /// of an axis of counts has its label in place of those that it would touch.
    pub(crate) fn ticks_within(&self, length: f64, size: impl Fn(&str) -> f64) -> Vec<Tick> {
        let widest = |ticks: &[Tick]| ticks.iter().map(|tick| size(&tick.label)).fold(0.0, f64::max);
        let room = |size: f64| (length / size.max(1.0)).to_usize().unwrap_or(0).max(1);
        let mut ticks = self.ticks(room(LABEL_DISTANCE));
        match self.scale {
            Scale::Log => {
                // Fewer labels may be longer ones, so not more than a few tries.
                let fits = |ticks: &[Tick]| {
                    let n_labels = ticks.iter().filter(|tick| !tick.label.is_empty()).count();
                    n_labels <= room(widest(ticks))
                };
                for fewer in (1..room(LABEL_DISTANCE)).rev() {
                    if fits(&ticks) {
                        break;
                    }
                    ticks = self.ticks(fewer);
                }
            }
            Scale::Linear => {
                // Zero keeps its label.
                let every = ticks.len().div_ceil(room(widest(&ticks)).max(2)).max(1) as f64;
                let step = self.step();
                for tick in &mut ticks {
                    if libm::round(tick.value / step) % every != 0.0 {
                        tick.label = String::new();
                    }
                }
            }
        }
        if let Some(end) = self.end() {
            ticks.retain(|tick| tick.value != end.value);
            let middle = |tick: &Tick| self.place(tick.value) * length;
            for tick in &mut ticks {
                if middle(&end) - middle(tick) < f64::midpoint(size(&end.label), size(&tick.label)) {
                    tick.label = String::new();
                }
            }
            ticks.push(end);
        }
        ticks
    }

    /// The tick at the end of an axis of counts.
    pub(crate) fn end(&self) -> Option<Tick> {
        let is_count = self.counts && self.to == libm::round(self.to);
        is_count.then(|| Tick { value: self.to, label: number::fixed(self.to, 0) })
    }

    /// The ticks in increasing order. On a logarithmic axis about `labels` of them have labels.
    pub fn ticks(&self, labels: usize) -> Vec<Tick> {
        let mut ticks = match self.scale {
            Scale::Linear => self.linear_ticks(),
            Scale::Log => self.log_ticks(labels.max(1)),
        };
        ticks.retain(|tick| !self.counts || tick.value == libm::round(tick.value));
        ticks
    }

    /// The distance of ticks: 1, 2 or 5 times a power of ten, for four to nine ticks.
    fn step(&self) -> f64 {
        let raw = (self.to - self.from) / 5.0;
        let power = libm::pow(10.0, libm::floor(libm::log10(raw)));
        let lead = raw / power;
        let factor = if lead < 1.5 {
            1.0
        } else if lead < 3.5 {
            2.0
        } else if lead < 7.5 {
            5.0
        } else {
            10.0
        };
        if self.counts { (factor * power).max(1.0) } else { factor * power }
    }

    fn linear_ticks(&self) -> Vec<Tick> {
        let step = self.step();
        let decimals = (-libm::floor(libm::log10(step) + 1e-9)).clamp(0.0, 12.0).to_usize().unwrap_or(0);
        let first = libm::ceil(self.from / step - 1e-9);
        (0..=20)
            .map(|index| (first + f64::from(index)) * step)
            .take_while(|value| *value <= self.to + 1e-9 * step)
            .map(|value| Tick { value, label: number::fixed(value, decimals) })
            .collect()
    }

    fn log_ticks(&self, labels: usize) -> Vec<Tick> {
        let inside = |value: f64| value >= self.from * (1.0 - 1e-9) && value <= self.to * (1.0 + 1e-9);
        // The decimal exponent of a positive f64 is within ±324.
        let exponent = |exponent: f64| exponent.to_i32().unwrap_or(0);
        let (lowest, highest) =
            (exponent(libm::floor(libm::log10(self.from))), exponent(libm::ceil(libm::log10(self.to))));
        let value_of = |digit: u32, exponent: i32| f64::from(digit) * libm::pow(10.0, f64::from(exponent));
        let decades = (lowest..=highest).filter(|&exponent| inside(value_of(1, exponent))).count();
        let inside_of = |digits: &[u32]| -> usize {
            let all = (lowest..=highest)
                .flat_map(|exponent| digits.iter().map(move |&digit| value_of(digit, exponent)));
            all.filter(|&value| inside(value)).count()
        };
        let round = inside_of(&[1, 2, 5]);
        let all_round = round <= labels;
        // A single label does not define a scale, so every digit gets one if there is room.
        let all = round < 2 && inside_of(&[1, 2, 3, 4, 5, 6, 7, 8, 9]) <= labels;
        let every = decades.div_ceil(labels).max(1);
        let mut ticks = Vec::new();
        for exponent in lowest..=highest {
            for digit in 1..10 {
                let value = value_of(digit, exponent);
                if !inside(value) {
                    continue;
                }
                let labelled = if all {
                    true
                } else if all_round || decades == 0 {
                    matches!(digit, 1 | 2 | 5)
                } else {
                    digit == 1 && usize::try_from(exponent - lowest).is_ok_and(|n| n.is_multiple_of(every))
                };
                let decimals = usize::try_from(-exponent).unwrap_or(0);
                let label = if labelled { number::fixed(value, decimals) } else { String::new() };
                ticks.push(Tick { value, label });
            }
        }
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, room: usize) -> Vec<String> {
        axis.ticks(room).into_iter().map(|tick| tick.label).filter(|label| !label.is_empty()).collect()
    }

    #[test]
    fn labels_of_a_logarithmic_axis_are_decades_if_they_fill_it_and_finer_otherwise() {
        let log = |from, to, room| labels(&Axis::new(Scale::Log, from, to), room);
        assert_eq!(log(1.0, 100_000.0, 8), ["1", "10", "100", "1,000", "10,000", "100,000"]);
        assert_eq!(log(0.29, 0.85, 8), ["0.3", "0.4", "0.5", "0.6", "0.7", "0.8"]);
        assert_eq!(log(1.0, 1e9, 5), ["1", "100", "10,000", "1,000,000", "100,000,000"]);
        assert_eq!(log(500.0, 3000.0, 8), ["500", "1,000", "2,000"]);
        assert_eq!(log(500.0, 20_000.0, 8), ["500", "1,000", "2,000", "5,000", "10,000", "20,000"]);
        assert_eq!(log(500.0, 20_000.0, 4), ["1,000", "10,000"]);
        assert_eq!(log(3.5, 4.5, 4), ["2", "5"]);
        let axis = Axis::new(Scale::Log, 1.0, 100_000.0);
        assert!(axis.place(1.0) == 0.0 && (axis.place(1000.0) - 0.6).abs() < 1e-12);
    }

    #[test]
    fn labels_that_do_not_fit_are_left_out() {
        let size = |label: &str| 10.0 * label.len() as f64;
        let shown = |axis: &Axis, length: f64| -> Vec<String> {
            axis.ticks_within(length, size).into_iter().map(|tick| tick.label).collect()
        };
        let axis = Axis::new(Scale::Linear, 0.0, 100_000.0);
        assert_eq!(shown(&axis, 600.0), ["0", "20,000", "40,000", "60,000", "80,000", "100,000"]);
        assert_eq!(shown(&axis, 280.0), ["0", "", "40,000", "", "80,000", ""]);
        let log = Axis::new(Scale::Log, 1.0, 1e6);
        for length in [200.0, 300.0, 600.0] {
            let labels: Vec<String> =
                shown(&log, length).into_iter().filter(|label| !label.is_empty()).collect();
            let room = length / labels.iter().map(|label| size(label)).fold(0.0, f64::max);
            assert!(!labels.is_empty() && labels.len() as f64 <= room, "{length}: {labels:?}");
        }
        assert_eq!(shown(&log, 10.0).len(), 55);
    }

    #[test]
    fn rounds_end_with_a_label_that_touches_no_other() {
        let size = |label: &str| 10.0 * label.len() as f64;
        let shown = |scale, to, length| -> Vec<String> {
            let axis = Axis::new(scale, 1.0, to).of_counts(true);
            let labels = axis.ticks_within(length, size).into_iter().map(|tick| tick.label);
            labels.filter(|label| !label.is_empty()).collect()
        };
        assert_eq!(shown(Scale::Log, 2500.0, 480.0), ["1", "10", "100", "1,000", "2,500"]);
        assert_eq!(shown(Scale::Log, 1100.0, 480.0), ["1", "10", "100", "1,100"]);
        assert_eq!(shown(Scale::Log, 1000.0, 480.0), ["1", "10", "100", "1,000"]);
        // 3,500 would touch the end.
        let rounds = ["500", "1,000", "1,500", "2,000", "2,500", "3,000", "3,700"];
        assert_eq!(shown(Scale::Linear, 3700.0, 480.0), rounds);
        // Where half of the labels would do, the end would be left out.
        assert_eq!(shown(Scale::Linear, 100_000.0, 280.0), ["40,000", "100,000"]);
    }

    #[test]
    fn values_have_an_axis_on_the_other_scale_if_it_shows_more() {
        let linear = Axis::rounded(0.0, 1000.0);
        let log = linear.on_other_scale([0.0, 2.0, 900.0].into_iter()).unwrap();
        assert_eq!((log.scale, log.from, log.to), (Scale::Log, 2.0, 1000.0));
        assert_eq!(linear.on_other_scale([500.0, 900.0].into_iter()), None);
        assert_eq!(linear.on_other_scale([-5.0, 2.0, 900.0].into_iter()), None);
        assert_eq!(linear.on_other_scale(std::iter::empty()), None);
        let back = log.on_other_scale([2.0, 900.0, f64::NAN].into_iter()).unwrap();
        assert_eq!(back, Axis::rounded(0.0, 900.0));
        assert_eq!(log.on_other_scale([f64::NAN].into_iter()), None);
    }

    #[test]
    fn one_value_still_spans_a_range() {
        for (scale, value) in
            [(Scale::Log, 1.0), (Scale::Linear, 0.0), (Scale::Linear, 7.0), (Scale::Log, 0.0)]
        {
            let axis = Axis::new(scale, value, value);
            assert!(axis.to > axis.from, "{scale:?} {value}");
            assert!(axis.place(value).is_finite());
            assert!(axis.ticks(8).iter().all(|tick| tick.value.is_finite()));
        }
        assert_eq!(labels(&Axis::new(Scale::Log, 1.0, 1.0), 8), ["0.5", "1", "2"]);
    }

    #[test]
    fn ends_that_are_not_finite_or_reversed_give_a_default_axis() {
        for (from, to) in
            [(f64::NAN, 1.0), (0.0, f64::INFINITY), (f64::INFINITY, f64::NEG_INFINITY), (2.0, 1.0)]
        {
            assert_eq!(Axis::new(Scale::Linear, from, to), Axis::new(Scale::Linear, 0.0, 1.0));
            let log = Axis::new(Scale::Log, from, to);
            assert_eq!(labels(&log, 8), ["1", "2", "5", "10"]);
            assert!(log.ticks(8).len() == 10);
        }
    }

    #[test]
    fn rounding_errors_around_zero_count_as_zero() {
        for (from, to) in [(-2e-12, 2e-12), (0.0, 1e-10), (-9e-10, 0.0)] {
            assert_eq!(Axis::rounded(from, to), Axis::rounded(0.0, 1.0));
        }
        assert_eq!(Axis::rounded(-2e-12, 437.0), Axis::rounded(0.0, 437.0));
        assert_eq!(labels(&Axis::rounded(-3.0, 8.0), 9), ["−4", "−2", "0", "2", "4", "6", "8"]);
    }

    #[test]
    fn ticks_of_counts_are_whole_numbers() {
        let counts = |scale, from, to| labels(&Axis::new(scale, from, to).of_counts(true), 8);
        for most in [1.0, 2.0, 3.0, 4.0, 7.0, 30.0] {
            for scale in [Scale::Linear, Scale::Log] {
                let found = counts(scale, 1.0, most);
                assert!(!found.is_empty() && found.iter().all(|label| !label.contains('.')), "{found:?}");
            }
        }
        assert_eq!(counts(Scale::Linear, 1.0, 4.0), ["1", "2", "3", "4"]);
        assert_eq!(counts(Scale::Linear, 0.0, 0.9), ["0"]);
        // On the other scale too.
        let other = Axis::new(Scale::Log, 1.0, 3.0).of_counts(true).on_other_scale([1.0, 3.0].into_iter());
        assert_eq!(labels(&other.unwrap(), 8), ["0", "1", "2", "3"]);
        // Shares have ticks between.
        assert_eq!(
            labels(&Axis::new(Scale::Linear, 0.0, 1.0), 8),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
    }

    #[test]
    fn linear_ticks_are_round_and_cover_the_range() {
        let axis = Axis::rounded(0.0, 437.0);
        assert_eq!(labels(&axis, 9), ["0", "100", "200", "300", "400", "500"]);
        let axis = Axis::rounded(0.0613, 0.0742);
        assert_eq!(
            labels(&axis, 9),
            ["0.060", "0.062", "0.064", "0.066", "0.068", "0.070", "0.072", "0.074", "0.076"]
        );
        let axis = Axis::rounded(0.0, 1e17);
        assert!(labels(&axis, 9).len() >= 4);
    }
}
