//! The value of new lists by fitted click models: `V = (1/n) sum_i sum_k v_k q(q_i, k)`.
//!
//! Two fits of each model. Held-out users compare fits with prior, and tell which models predict as
//! well as the best; the transfer of these is also that of fits with prior. The new lists are
//! valued with fits without prior: its mean is right for a random item, and not for those that a
//! ranker chose. Examination, leaving and continuation are shared by all queries.
//!
//! An item that the log does not show for its query has no attraction, so the value is that of the
//! queries whose new lists have none, with what was shown earning on the same queries.
//!
//! Reference: `docs/evaluation.md`. Complexity: that of the fits, 21 of
//! each model that is valued.

use crate::assumptions::Assumptions;
use crate::jackknife::{Estimate, GROUPS};
use crate::learned;
use crate::new_lists::NewLists;
use click_logs::fit::{
    Choice, Comparison, EmOptions, Fit, FitError, Model, Options, Scope, Transfers, fit_values,
    identifiability,
};
use click_logs::study::with_users;
use documents::remark;
use documents::remark::Remark;
use log_reader::{Counts, Part, Session, Sessions};

/// Models that are always compared, whichever are named: `position` and `pbm` need a rival.
const RIVALS: [Model; 2] = [Model::Pbm, Model::Dcm];
/// One group of users in this number is held out.
const HELD_OUT: usize = 4;
/// Lists of a long log, of whole groups of users, on which models are compared: they tell models
/// apart whose values differ by less than their errors.
const COMPARED: u64 = 200_000;
/// Clicks with which positions are compared well enough.
const FEW: u64 = 20;
/// Clicks at each of two neighbours that tell their examination to a tenth.
const ENOUGH: f64 = 100.0;

/// The estimates of models.
#[derive(Debug)]
pub struct Models {
    /// On held-out users, the named models and their rivals.
    pub comparison: Comparison,
    /// The models that are not told apart from the best.
    pub choice: Choice,
    /// The transfer of the named models that are valued, fitted with prior; `None` if the log has
    /// too few lists.
    pub transfers: Option<Transfers>,
    /// The named models.
    pub models: Vec<ModelEstimate>,
    /// Why no model values the lists, if so.
    pub not_valued: Option<Remark>,
    /// The tests of the levels, and of the named models that are valued.
    pub assumptions: Assumptions,
}

/// The estimates of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelEstimate {
    /// The model.
    pub model: Model,
    /// `None` if it is told apart from the best, or if no model values the lists.
    pub valued: Option<ListValues>,
}

/// New lists valued with a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ListValues {
    /// The earnings of the new ranking for each list; `None` if no query has a value.
    pub value: Option<Estimate>,
    /// The earnings of what was shown on the same queries.
    pub today: Option<Estimate>,
    /// The difference.
    pub difference: Option<Estimate>,
    /// Share of the lists whose queries have a value.
    pub share: f64,
}

/// Value, what was shown earns, and share of lists.
pub(crate) type Numbers = [f64; 3];

impl ListValues {
    /// From the numbers without each group, and of all.
    pub(crate) fn new(all: Option<Numbers>, without: &[Option<Numbers>]) -> Self {
        let estimate = |of: fn(Numbers) -> f64| {
            let without: Option<Vec<f64>> = without.iter().map(|numbers| numbers.map(of)).collect();
            Some(Estimate::of(of(all?), without.unwrap_or_default()))
        };
        Self {
            value: estimate(|[value, ..]| value),
            today: estimate(|[_, today, _]| today),
            difference: estimate(|[value, today, _]| value - today),
            share: all.map_or(0.0, |[.., share]| share),
        }
    }
}

/// The options of the fits that value: without prior, with parameters that all queries share.
/// Sampling moves their values further than the tolerance does.
pub(crate) fn without_prior() -> Options {
    let em = EmOptions { tolerance: 1e-5, ..EmOptions::default() };
    Options { prior_strength: Some(0.0), em, ..with_prior() }
}

/// The options of the fits that are compared: with prior, and the same shared parameters.
pub(crate) fn with_prior() -> Options {
    Options { scope: Scope::Site, ..Options::default() }
}

/// The sessions of some groups, with their counts; `None` if there are none.
pub(crate) fn part(sessions: &Sessions, keep: &dyn Fn(usize) -> bool) -> Option<Part> {
    let sessions = sessions.of_groups(keep)?;
    (!sessions.is_empty()).then(|| Part { counts: sessions.counts(), sessions })
}

/// The group of a session's user.
pub(crate) fn group_of(session: Session) -> usize {
    usize::from(session.group)
}

/// The groups that have sessions.
pub(crate) fn groups(sessions: &Sessions) -> Vec<usize> {
    let mut has = [false; GROUPS];
    for session in sessions.queries().flat_map(|query| query.in_order()) {
        has[group_of(session)] = true;
    }
    (0..GROUPS).filter(|&group| has[group]).collect()
}

/// The new lists that models value.
#[derive(Debug)]
pub(crate) enum ValuedLists<'a> {
    /// The lists of a ranking.
    Lists(NewLists),
    /// The best ones of the model itself, with the values of clicks.
    Learned(&'a [f64]),
    /// None, since the log has values of clicks: models are compared only.
    None,
}

impl ValuedLists<'_> {
    /// The earnings of the lists with each model, without a group of users. `all` are the counts of
    /// the sessions. `whole` gets the fits to all groups; the others start there.
    fn numbers<E: From<FitError>>(
        &self,
        models: &[Model],
        sessions: &Sessions,
        all: &Counts,
        without: Option<usize>,
        whole: &mut Vec<Fit>,
        mut before: impl FnMut(Model) -> Result<(), E>,
    ) -> Result<Vec<Option<Numbers>>, E> {
        let new_lists = match self {
            Self::Learned(values) => return learned::numbers(models, sessions, values, without, before),
            Self::Lists(new_lists) if !models.is_empty() => new_lists,
            Self::Lists(_) | Self::None => return Ok(Vec::new()),
        };
        let rest = if models.iter().any(|model| model.needs_sessions()) {
            part(sessions, &|group| Some(group) != without)
        } else {
            // The group has few of the sessions that the rest would be copied from.
            let group = without.and_then(|without| part(sessions, &|group| group == without));
            let counts = group.map_or_else(|| all.clone(), |group| all.without(&group.counts));
            (counts.n_cells() > 0).then(|| Part { counts, sessions: Sessions::default() })
        };
        let Some(rest) = rest else { return Ok(vec![None; models.len()]) };
        let mut numbers = Vec::with_capacity(models.len());
        for (place, &model) in models.iter().enumerate() {
            before(model)?;
            let (counts, sessions, options) = (&rest.counts, &rest.sessions, without_prior());
            let fit = fit_values(model, whole.get(place), counts, sessions, &options)?;
            numbers.push(new_lists.valued(&fit, without));
            if without.is_none() {
                whole.push(fit);
            }
        }
        Ok(numbers)
    }
}

impl Models {
    /// Compares models, and values new lists with those that are not told apart from the best.
    /// `before` is called before every fit, and ends the work with an error.
    ///
    /// # Errors
    ///
    /// Those of `before` and of the fits; [`FitError::NothingHeldOut`] with a single group of
    /// users.
    pub(crate) fn new<E: From<FitError>>(
        named: &[Model],
        sessions: &Sessions,
        asked: &ValuedLists<'_>,
        mut before: impl FnMut(Model) -> Result<(), E>,
    ) -> Result<Self, E> {
        let groups = groups(sessions);
        let of_group = (sessions.n_sessions() / groups.len().max(1) as u64).max(1);
        let n_compared = usize::try_from(COMPARED.div_ceil(of_group)).unwrap_or(usize::MAX);
        let compared = &groups[..n_compared.clamp(2, groups.len().max(2)).min(groups.len())];
        let held_out = &compared[..compared.len().div_ceil(HELD_OUT)];
        let is_in =
            |group: usize, is_held: bool| compared.contains(&group) && held_out.contains(&group) == is_held;
        let parts = [false, true].map(|is_held| part(sessions, &|group| is_in(group, is_held)));
        let [Some(rest), Some(held)] = parts else { return Err(FitError::NothingHeldOut.into()) };
        let to_compare = with_users().filter(|model| named.contains(model) || RIVALS.contains(model));
        let mut fits = Vec::new();
        for model in to_compare {
            before(model)?;
            fits.push(fit_values(model, None, &rest.counts, &rest.sessions, &with_prior()));
        }
        let comparison = Comparison::new(&held, fits)?;
        drop((rest, held));
        let choice = comparison.choice(&|_| true).ok_or(FitError::NothingHeldOut)?;
        let counts = sessions.counts();
        let not_valued = match asked {
            ValuedLists::None => Some(remark!("values-of-clicks")),
            _ => not_identified(&counts).map(|why| remark!("not-identified", why)),
        };
        let is_alike = |model: &Model| choice.alike.contains(model);
        let mut valued: Vec<Model> = named.iter().copied().filter(is_alike).collect();
        if not_valued.is_some() {
            valued.clear();
        }
        let mut without: Vec<Vec<Option<Numbers>>> = Vec::new();
        let mut whole = Vec::new();
        for without_group in std::iter::once(None).chain(groups.iter().copied().map(Some)) {
            let numbers =
                asked.numbers(&valued, sessions, &counts, without_group, &mut whole, &mut before)?;
            without.push(numbers);
        }
        // Lists that are learned are valued with fits to half of the users.
        for &model in &valued[whole.len()..] {
            before(model)?;
            whole.push(fit_values(model, None, &counts, sessions, &without_prior())?);
        }
        let assumptions = Assumptions::new(sessions, &whole);
        drop(whole);
        let of_model = |&model: &Model| {
            let place = valued.iter().position(|&other| other == model);
            let numbers = |place: usize| without.iter().map(|numbers| numbers[place]).collect::<Vec<_>>();
            ModelEstimate {
                model,
                valued: place.map(numbers).map(|numbers| ListValues::new(numbers[0], &numbers[1..])),
            }
        };
        let models = named.iter().map(of_model).collect();
        let transfers = if valued.is_empty() {
            None
        } else {
            before(valued[0])?;
            let compared = part(sessions, &|group| compared.contains(&group));
            let compared = compared.ok_or(FitError::NothingHeldOut)?;
            Transfers::new(&valued, &[], &compared.sessions, &with_prior())?
        };
        Ok(Self { comparison, choice, transfers, models, not_valued, assumptions })
    }

    /// Whether the position-based model is not told apart from the best.
    pub fn position_based_holds(&self) -> bool {
        self.choice.alike.contains(&Model::Pbm)
    }

    /// The named models by their scores, the best first.
    pub fn best_first(&self) -> impl Iterator<Item = &ModelEstimate> {
        let of = |model| self.models.iter().find(move |estimate| estimate.model == model);
        self.comparison.scores.iter().filter_map(move |score| of(score.model))
    }
}

/// Why a log does not tell examination from attraction, and what would.
fn not_identified(counts: &Counts) -> Option<String> {
    let report = identifiability(counts, Scope::Site, FEW).into_iter().next()?;
    let n_positions = counts.n_positions();
    if report.components.len() <= 1 {
        return None;
    }
    let clicked = counts.by_position().into_iter().filter(|total| total.0 > 0);
    let rates = clicked.map(|(clicks, shown)| clicks as f64 / shown as f64);
    let least = rates.fold(1.0, f64::min);
    let lists = ENOUGH * 10.0 * n_positions.saturating_sub(1) as f64 / least;
    let n_parts = report.components.len();
    let why = if n_parts < n_positions {
        format!("the positions fall into {n_parts} parts that no item of a query connects")
    } else {
        "the log shows every item of a query at the same positions only".to_owned()
    };
    Some(format!(
        "{why}, so nothing tells how much of a click is due to the \
         position: swap two neighbours, chosen at random, in one list of ten; {} lists tell the examination of each position \
         to a tenth",
        documents::number::fixed(libm::ceil(lists / 100.0) * 100.0, 0),
    ))
}
