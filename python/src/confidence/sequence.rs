//! Confidence sequences: intervals for a mean that hold simultaneously for all numbers of
//! observations.

use crate::arrays::{Columns, Domain, number, room, to_python};
use crate::elementwise::{elementwise, whole};
use crate::interrupt::check_signals;
use crate::message::value_error;
use crate::task;
use confidence::Error;
use confidence::sequence::{
    self as scalar, BetaMixture, Betting, ConfidenceSequence, EmpiricalBernstein, HedgedBetting, KlMixture,
};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;

/// Two arrays, or two floats.
type Pair<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Work between two looks at pending signals, in updates of one number.
const BETWEEN_SIGNALS: usize = 1 << 24;

/// The interval of counts; the domain of `miss` has been checked.
fn ends<S: ConfidenceSequence>(sequence: Result<S, Error>) -> [f64; 2] {
    let interval = sequence.map(|sequence| sequence.interval());
    interval.map_or([f64::NAN; 2], |interval| [interval.lower, interval.upper])
}

elementwise! {
    /// The threshold of n d(mean, q) in `beta_mixture_interval`, in nats: ln(1 / miss) - ln
    /// B(1 + ones, 1 + zeros) + ones ln(ones / n) + zeros ln(zeros / n), with n = ones + zeros and
    /// B the beta function. Grows like ln(n) / 2. Arguments as there.
    ///
    /// Examples:
    ///     >>> round(beta_mixture_level(7, 3, 0.05), 4)
    ///     4.0725
    beta_mixture_level(ones: Count, zeros: Count, miss: ErrorProbability) = |ones, zeros, miss| {
        BetaMixture::with_counts(miss, whole(ones), whole(zeros)).map_or(f64::NAN, |sequence| sequence.level())
    };

    /// The threshold of n d(mean, q) in `kl_mixture_interval`, in nats: 3 ln(1 + ln n) +
    /// `mixture_threshold`(ln(1 / miss)). n: numbers of observations, whole numbers, 0 counts as 1;
    /// miss: probabilities, above 0 and below 1; shapes broadcast.
    ///
    /// Examples:
    ///     >>> round(kl_mixture_level(10, 0.05), 4)
    ///     15.9854
    kl_mixture_level(n: Count, miss: ErrorProbability) =
        |n, miss| KlMixture::with_counts(miss, 0, whole(n)).map_or(f64::NAN, |sequence| sequence.level());

    /// The function T of Kaufmann and Koolen (JMLR 2021), Theorem 7, in nats; x is ln(1 / miss),
    /// any shape. About x + 4 ln(1 + x + sqrt(2 x)).
    ///
    /// Examples:
    ///     >>> round(mixture_threshold(3.0), 4)
    ///     12.4076
    mixture_threshold(x: NonNegative) = scalar::mixture_threshold;

    /// Robbins' beta-binomial mixture: an interval for the mean of variables from 0 to 1, such as a
    /// click-through rate, that holds for all numbers of observations simultaneously. With
    /// probability 1 - miss it never misses, however often one looks and whenever one stops.
    ///
    /// The means q with n d(mean, q) <= `beta_mixture_level`: close to the narrowest for Bernoulli
    /// variables. Robbins 1970.
    ///
    /// Args:
    ///     ones: numbers of clicks, whole numbers, any shape.
    ///     zeros: numbers of displays without a click, whole numbers.
    ///     miss: probability of ever missing the mean, above 0 and below 1; shapes broadcast.
    ///
    /// Returns:
    ///     Two float64 arrays of the common shape, or two floats: the lower and the upper ends.
    ///     From 0 to 1 without observations.
    ///
    /// Examples:
    ///     >>> [round(end, 4) for end in beta_mixture_interval(7, 3, 0.05)]
    ///     [0.2667, 0.9634]
    beta_mixture_interval(ones: Count, zeros: Count, miss: ErrorProbability) =
        |ones, zeros, miss| ends(BetaMixture::with_counts(miss, whole(ones), whole(zeros)));

    /// The confidence sequence of Kaufmann and Koolen (JMLR 2021), Theorem 7: the means q with n
    /// d(mean, q) <= `kl_mixture_level`. Wider than `beta_mixture_interval` except for
    /// astronomically many observations. Arguments and results as there.
    ///
    /// Examples:
    ///     >>> [round(end, 4) for end in kl_mixture_interval(7, 3, 0.05)]
    ///     [0.0434, 0.9994]
    kl_mixture_interval(ones: Count, zeros: Count, miss: ErrorProbability) =
        |ones, zeros, miss| ends(KlMixture::with_counts(miss, whole(ones), whole(zeros)));
}

struct Series {
    x: Vec<f64>,
    shape: Vec<usize>,
}

impl Series {
    fn read(x: &Bound<'_, PyAny>) -> PyResult<Self> {
        let Columns { shape, columns: [x] } = Columns::of(x.py(), [("x", x, Domain::Probability)])?;
        if shape.is_empty() {
            return Err(value_error("x: expected shape (..., n), got ()"));
        }
        let n = shape.iter().product();
        Ok(Self { x: x.spread(n)?, shape })
    }

    /// The state after each observation, for every series by itself. `work` is the cost of one
    /// observation.
    fn along<S: Clone + Sync, T: Send>(
        &self,
        py: Python<'_>,
        fresh: &S,
        work: usize,
        observe: impl Fn(&mut S, f64) -> T + Sync,
    ) -> PyResult<Vec<T>> {
        let n = self.shape.last().copied().unwrap_or(0).max(1);
        let mut results = room(self.x.len())?;
        let patience = BETWEEN_SIGNALS / work.max(1);
        py.detach(|| {
            for series in self.x.chunks(n) {
                let mut state = fresh.clone();
                for part in series.chunks(patience.max(1)) {
                    results.extend(part.iter().map(|&x| observe(&mut state, x)));
                    check_signals()?;
                }
            }
            Ok(results)
        })
    }
}

/// The intervals after each observation.
fn intervals<'py, S: ConfidenceSequence + Clone + Sync>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    fresh: Result<S, Error>,
    work: usize,
) -> PyResult<Pair<'py>> {
    let fresh = fresh.map_err(value_error)?;
    let series = Series::read(x)?;
    let intervals = series.along(py, &fresh, work, |sequence, x| {
        sequence.observe(x);
        sequence.interval()
    })?;
    let (mut lower, mut upper) = (room(intervals.len())?, room(intervals.len())?);
    lower.extend(intervals.iter().map(|interval| interval.lower));
    upper.extend(intervals.iter().map(|interval| interval.upper));
    Ok((to_python(py, lower, &series.shape)?, to_python(py, upper, &series.shape)?))
}

fn miss_of(miss: &Bound<'_, PyAny>) -> PyResult<f64> {
    number("miss", miss, Domain::ErrorProbability)
}

/// Makes functions of Python from confidence sequences.
macro_rules! sequences {
    ($($(#[doc = $doc:literal])+ $name:ident: $Sequence:ident;)+) => {$(
        $(#[doc = $doc])+
        #[pyfunction]
        pub(crate) fn $name<'py>(
            py: Python<'py>,
            x: &Bound<'py, PyAny>,
            miss: &Bound<'py, PyAny>,
        ) -> PyResult<Pair<'py>> {
            intervals(py, x, $Sequence::new(miss_of(miss)?), 1)
        }
    )+};
}

sequences! {
    /// `beta_mixture_interval` after each observation.
    ///
    /// Args:
    ///     x: observations from 0 to 1, shape (..., n): each row is a series, in the order of
    ///         observation.
    ///     miss: probability of ever missing the mean, a number above 0 and below 1.
    ///
    /// Returns:
    ///     Two float64 arrays of the shape of x: the lower and the upper ends after each
    ///     observation.
    ///
    /// Examples:
    ///     >>> lower, upper = beta_mixture_sequence([1, 0, 1, 1], 0.05)
    ///     >>> lower.round(4).tolist()
    ///     [0.025, 0.0084, 0.0668, 0.1429]
    beta_mixture_sequence: BetaMixture;

    /// `kl_mixture_interval` after each observation. Arguments and results as of
    /// `beta_mixture_sequence`.
    ///
    /// Examples:
    ///     >>> lower, upper = kl_mixture_sequence([1, 0, 1, 1], 0.05)
    ///     >>> lower.round(4).tolist()
    ///     [0.0, 0.0, 0.0003, 0.0032]
    kl_mixture_sequence: KlMixture;

    /// The predictable plug-in empirical Bernstein confidence sequence, for rewards of small
    /// variance: Waudby-Smith and Ramdas (JRSS-B 2024), Theorem 2, with bets truncated at 1/2.
    /// Arguments and results as of `beta_mixture_sequence`.
    ///
    /// Examples:
    ///     >>> lower, upper = empirical_bernstein_sequence([0.5] * 100, 0.05)
    ///     >>> lower[-1:].round(4).tolist(), upper[-1:].round(4).tolist()
    ///     ([0.4262], [0.5738])
    empirical_bernstein_sequence: EmpiricalBernstein;
}

/// The hedged betting confidence sequence, for rewards of small variance and few observations:
/// Waudby-Smith and Ramdas (JRSS-B 2024), Theorem 3, with bets truncated at 1/2 and intervals
/// rounded outward to a grid. A series that has excluded every mean, which happens with probability
/// at most miss, has lower ends above the upper ones.
///
/// Args:
///     x, miss: as of `beta_mixture_sequence`, as are the results.
///     cells: number of cells of the grid from 0 to 1, at most 2^24; each observation costs one
///         operation for every cell not excluded.
///
/// Examples:
///     >>> lower, upper = hedged_betting_sequence([0.5] * 100, 0.05, cells=100)
///     >>> lower[-1:].round(2).tolist(), upper[-1:].round(2).tolist()
///     ([0.46], [0.54])
#[pyfunction]
#[pyo3(signature = (x, miss, cells=None))]
pub(crate) fn hedged_betting_sequence<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    miss: &Bound<'py, PyAny>,
    cells: Option<&Bound<'py, PyAny>>,
) -> PyResult<Pair<'py>> {
    let cells = task::size("cells", cells)?.unwrap_or(1000);
    let fresh = HedgedBetting::new(miss_of(miss)?, cells);
    intervals(py, x, fresh, cells)
}

/// The test of `hedged_betting_sequence` for one mean: whether it is rejected, after each
/// observation or an earlier one. A true mean is ever rejected with probability at most miss.
/// Waudby-Smith and Ramdas (JRSS-B 2024), Theorem 3.
///
/// Args:
///     x: observations, as of `beta_mixture_sequence`.
///     candidate: the mean to test, a number from 0 to 1.
///     miss: probability of rejecting a true mean, a number above 0 and below 1.
///
/// Returns:
///     bool array of the shape of x.
///
/// Examples:
///     >>> betting_rejections([1.0] * 6, 0.2, 0.05)
///     array([False, False, False,  True,  True,  True])
#[pyfunction]
pub(crate) fn betting_rejections<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    candidate: &Bound<'py, PyAny>,
    miss: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let candidate = number("candidate", candidate, Domain::Probability)?;
    let fresh = Betting::new(candidate, miss_of(miss)?).map_err(value_error)?;
    let series = Series::read(x)?;
    let rejected = series.along(py, &fresh, 1, |betting, x| {
        betting.observe(x);
        betting.is_rejected()
    })?;
    Ok(PyArray1::from_vec(py, rejected).reshape(series.shape)?.into_any())
}
