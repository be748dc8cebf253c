//! The estimates of each level and each model, and when one may not answer.
//!
//! The weakest assumption with enough data answers, never the narrowest interval.

use crate::assumptions::Assumptions;
use crate::jackknife::{Estimate, FEWEST_GROUPS};
use crate::level::Level;
use crate::levels::{LevelEstimate, Levels};
use crate::models::{ModelEstimate, Models};
use click_logs::fit::{Model, Verdict};
use documents::number::fixed;
use documents::remark;
use documents::remark::Remark;

/// With fewer effective lists there is no interval, and with fewer than the second no answer.
const FEWEST: f64 = 30.0;
const ENOUGH: f64 = 100.0;
/// Standard errors of a mean weight from 1 that refuse a level, and that warn.
const WRONG: f64 = 5.0;
const DOUBTFUL: f64 = 3.0;
/// Standard errors of a difference between two estimates that contradict each other.
const CONTRADICTION: f64 = 3.0;
/// A larger share of a single list warns.
const LARGE_SHARE: f64 = 0.1;
/// A model that values a smaller share of the lists does not answer.
const SMALLEST_SHARE: f64 = 0.3;

/// The source of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// Weights of a level.
    Level(Level),
    /// A fitted click model.
    Model(Model),
}

impl Basis {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Level(level) => level.name(),
            Self::Model(model) => model.name(),
        }
    }

    /// The assumption, besides those of every number.
    pub fn assumption(self) -> String {
        match self {
            Self::Level(level) => level.assumption().to_owned(),
            Self::Model(model) => {
                let about = model.about();
                let rest = about.split_once(": ").map_or(about, |(_, rest)| rest);
                format!("users click as the model `{model}` describes ({})", rest.to_lowercase())
            }
        }
    }
}

/// The estimates of a level or a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Their source.
    pub basis: Basis,
    /// The clicks that the new ranking earns for each list, in their values.
    pub value: Option<Estimate>,
    /// Their difference to those of the lists that were shown.
    pub difference: Option<Estimate>,
    /// The interval of the difference at 95 %: of a model that answers over those of the models
    /// that predict as well. `None` if there are too few data for one.
    pub interval: Option<(f64, f64)>,
    /// The share of the lists that they are about.
    pub share: f64,
    /// The number of lists with equal weights that would be as certain; `None` of models.
    pub effective_lists: Option<f64>,
    /// Why it does not answer.
    pub refused: Option<Remark>,
    /// Doubts about them.
    pub warnings: Vec<Remark>,
}

/// All findings, in the order of their assumptions, and which of them answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Findings {
    /// Levels, then models from the best on held-out users on.
    pub all: Vec<Finding>,
    /// The one that answers.
    pub answer: Option<usize>,
    /// The tests of the levels and models; `None` if the log was read without whole lists.
    pub assumptions: Option<Assumptions>,
}

impl Findings {
    /// `has_lists`: the log has whole lists of clicks, so that it could be told whether `position`
    /// holds.
    pub(crate) fn new(
        levels: Option<&Levels>,
        models: Option<&Models>,
        assumptions: Option<Assumptions>,
        has_lists: bool,
    ) -> Self {
        let of_levels = levels
            .into_iter()
            .flat_map(|levels| levels.levels.iter().map(|level| Finding::of_level(level, levels)));
        let of_models = models
            .into_iter()
            .flat_map(|models| models.best_first().map(|model| Finding::of_model(model, models)));
        let mut all: Vec<Finding> = of_levels.chain(of_models).collect();
        if let Some(levels) = levels.filter(|levels| levels.are_as_shown()) {
            for finding in &mut all {
                finding.is_as_shown(&levels.today);
            }
            return Self { all, answer: None, assumptions };
        }
        for finding in &mut all {
            if let Some(failed) = assumptions.as_ref().and_then(|all| all.failed(finding.basis)) {
                finding.refuse(failed.refusal());
            }
        }
        if let Some(position) = all.iter_mut().find(|finding| finding.basis == Basis::Level(Level::Position))
        {
            if let Some(models) = models.filter(|models| !models.position_based_holds()) {
                let best = models.choice.best;
                position.refuse(remark!("other-model-better", best, " than the position-based one"));
            } else if models.is_none() && has_lists {
                position.refuse(remark!("models-untested"));
            }
        }
        contradictions(&mut all);
        let is_level = |finding: &Finding| matches!(finding.basis, Basis::Level(_));
        let answers = |finding: &Finding| finding.refused.is_none() && finding.interval.is_some();
        let enough = |finding: &Finding| finding.effective_lists.is_some_and(|lists| lists >= ENOUGH);
        let level = all.iter().position(|finding| is_level(finding) && answers(finding) && enough(finding));
        let answer = level.or_else(|| all.iter().position(|finding| !is_level(finding) && answers(finding)));
        if let Some(place) = answer.filter(|&place| !is_level(&all[place])) {
            let others = all.iter().filter(|finding| !is_level(finding) && finding.refused.is_none());
            let widest = others.filter_map(|finding| finding.interval);
            all[place].interval = widest.reduce(|all, of| (all.0.min(of.0), all.1.max(of.1)));
        }
        Self { all, answer, assumptions }
    }

    /// The finding that answers.
    pub fn answer(&self) -> Option<&Finding> {
        self.answer.map(|place| &self.all[place])
    }
}

impl Finding {
    fn refuse(&mut self, why: Remark) {
        self.refused.get_or_insert(Remark { of: Some(self.basis.name()), ..why });
    }

    fn warn(&mut self, why: Remark) {
        self.warnings.push(Remark { of: Some(self.basis.name()), ..why });
    }

    fn of_level(of: &LevelEstimate, levels: &Levels) -> Self {
        let never =
            levels.never_shown.as_ref().map(|never| format!("{} %", fixed(100.0 * never.of(of.level), 1)));
        let never = format!("{} of the new ranking is never shown", never.as_deref().unwrap_or("a part"));
        let mut finding = Self {
            basis: Basis::Level(of.level),
            value: of.value.clone(),
            difference: of.difference.clone(),
            interval: of.difference.as_ref().and_then(Estimate::interval),
            share: 1.0,
            effective_lists: Some(of.effective_lists),
            refused: None,
            warnings: Vec::new(),
        };
        if !of.has_propensities {
            finding.refuse(remark!("no-propensities", of.level.column()));
            return finding;
        }
        if of.value.is_none() {
            finding.refuse(remark!("never-shown", never));
        }
        let beyond = |errors| (1..).zip(&of.mean_weights).find(|(_, mean)| mean.is_beyond(1.0, errors));
        let weight = |(position, mean): (usize, &Estimate)| {
            let mean = fixed(mean.value, 3);
            format!("the mean weight at position {position} is {mean} in place of 1")
        };
        if let Some(wrong) = beyond(WRONG) {
            finding.refuse(remark!("wrong-mean-weight", weight(wrong), never));
        } else if let Some(doubtful) = beyond(DOUBTFUL) {
            finding.warn(remark!("doubtful-mean-weight", weight(doubtful)));
        }
        let lists = effective(of.effective_lists);
        if of.effective_lists < FEWEST {
            finding.interval = None;
            finding.refuse(remark!("too-few-effective-lists", lists, FEWEST));
        } else if of.effective_lists < ENOUGH {
            finding.warn(remark!("few-effective-lists", lists, ENOUGH));
        }
        if of.largest_share > LARGE_SHARE {
            let share = fixed(100.0 * of.largest_share, 0);
            finding.warn(remark!("heavy-list", share));
        }
        finding.needs_interval(levels.groups);
        finding
    }

    /// The new ranking earns what was shown, whatever is assumed.
    fn is_as_shown(&mut self, today: &Estimate) {
        self.value = Some(today.clone());
        self.difference = Some(today.minus(today));
        self.interval = None;
        self.warnings.clear();
        self.refused = None;
        self.refuse(remark!("as-shown"));
    }

    fn needs_interval(&mut self, groups: usize) {
        if groups < FEWEST_GROUPS {
            self.refuse(remark!("too-few-groups", groups, FEWEST_GROUPS));
        } else if self.difference.as_ref().is_some_and(|of| of.groups() > 0 && of.known_error().is_none()) {
            self.refuse(remark!("groups-agree"));
        } else if self.interval.is_none() {
            self.refuse(remark!("group-without-value"));
        }
    }

    fn of_model(of: &ModelEstimate, models: &Models) -> Self {
        let valued = of.valued.as_ref();
        let difference = valued.and_then(|valued| valued.difference.clone());
        let mut finding = Self {
            basis: Basis::Model(of.model),
            value: valued.and_then(|valued| valued.value.clone()),
            interval: difference.as_ref().and_then(Estimate::interval),
            difference,
            share: valued.map_or(0.0, |valued| valued.share),
            effective_lists: None,
            refused: None,
            warnings: Vec::new(),
        };
        if !models.choice.alike.contains(&of.model) {
            finding.refuse(remark!("other-model-better", models.choice.best, ""));
        }
        if let Some(why) = models.not_valued.clone() {
            finding.refuse(why);
        }
        let share = fixed(100.0 * finding.share, 0);
        if finding.share < SMALLEST_SHARE {
            let least = fixed(100.0 * SMALLEST_SHARE, 0);
            finding.refuse(remark!("unknown-items", share, least));
        }
        let transfer = models.transfers.as_ref().and_then(|transfers| transfers.of(of.model));
        if transfer.is_some_and(|transfer| transfer.verdict() == Verdict::Contradicted) {
            finding.refuse(remark!("transfer-contradicted"));
        }
        let groups = finding.difference.as_ref().map_or(0, Estimate::groups);
        finding.needs_interval(groups);
        finding
    }

    /// Whether it has a value for all lists and enough data to contradict another.
    fn is_told(&self) -> bool {
        self.interval.is_some() && self.share > 0.999
    }
}

fn effective(lists: f64) -> String {
    let lists = fixed(lists, 0);
    format!("{lists} effective {}", if lists == "1" { "list" } else { "lists" })
}

/// Of two findings that contradict each other, that of the stronger assumption is refused.
fn contradictions(all: &mut [Finding]) {
    for stronger in 1..all.len() {
        for weaker in 0..stronger {
            let [a, b] = [&all[weaker], &all[stronger]];
            let are_models = matches!((a.basis, b.basis), (Basis::Model(_), Basis::Model(_)));
            let can = !are_models && a.refused.is_none() && a.is_told() && b.is_told();
            let (Some(first), Some(second), true) = (&a.value, &b.value, can) else { continue };
            if second.minus(first).is_beyond(0.0, CONTRADICTION) {
                let why = remark!("contradicted", a.basis.name());
                all[stronger].refuse(why);
            }
        }
    }
}
