//! The whole evaluation: new lists are compared with those of a log while it is read, and models
//! are fitted to its sessions.

use crate::assumptions::Assumptions;
use crate::findings::{Basis, Findings};
use crate::learned;
use crate::levels::Levels;
use crate::models::{Models, ValuedLists};
use crate::new_lists::NewLists;
use crate::ranking::{Key, Ranking};
use crate::tally::Tally;
use crate::targets::Targets;
use click_logs::fit::{FitError, Model};
use click_logs::study::{ONLY_CLICKED, are_all_clicked};
use documents::remark;
use documents::remark::Remark;
use log_reader::{Fault, Format, Ids, Log, ReadLists, Sessions};
use std::collections::BTreeMap;

/// A question: what a ranking would have earned.
///
/// # Examples
///
/// Two items in random order; the new ranking always shows `a` first:
///
/// ```
/// use log_reader::{Error, Format, Ids, Input, Reader};
/// use evaluation::{Evaluation, Level, Question, Ranking};
///
/// let mut log = "session,item,position,click,p\n".to_owned();
/// for session in 0..400 {
///     // Item a is clicked on top.
///     let (items, clicks) = if session % 2 == 0 { (["a", "b"], [1, 0]) } else { (["b", "a"], [0, 0]) };
///     for k in 0..2 {
///         log += &format!("s{session},{},{},{},0.5\n", items[k], k + 1, clicks[k]);
///     }
/// }
/// let columns = "session=session,item=item,position=position,click=click,propensity=p";
/// let format = Format::delimited(columns)?;
/// let reader = Reader::new(format.clone()).keep_sessions();
/// let ranking = Ranking::read("new.csv", b"query,position,item\nall,1,a\nall,2,b\n")?;
///
/// let ids = Ids::new();
/// let question = Question::new(ranking, &format, None, &ids)?;
/// let inputs = |_| Ok::<_, Error>(vec![Input::stream("log.csv", log.as_bytes())]);
/// let read = reader.read_lists(ids, inputs, || question.tally())?;
/// let evaluation = Evaluation::new(&question, read, &[], |_| true)?;
/// let levels = evaluation.levels.as_ref().unwrap();
/// assert_eq!(levels.today.value, 0.5);
/// assert_eq!(levels.of(Level::Position).difference.as_ref().unwrap().value, 0.5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Question {
    /// Values of a click by position.
    values: Vec<f64>,
    targets: Targets,
}

/// The earnings that another ranking would have had on a log.
#[derive(Debug)]
pub struct Evaluation {
    /// Values of a click by position.
    pub values: Vec<f64>,
    /// Whether the log has the value of each click.
    pub has_values: bool,
    /// The levels; `None` of learned lists.
    pub levels: Option<Levels>,
    /// The models, or why there are none.
    pub models: Result<Models, Remark>,
    /// The estimates of each level and model, and which of them answers.
    pub findings: Findings,
    /// Lists by query that the answer's model learns from all users, if lists are learned.
    pub learned: BTreeMap<String, Vec<String>>,
}

/// Why a ranking cannot be evaluated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "described where the messages do not say all")]
pub enum EvaluationError {
    /// A name of the ranking cannot be one of a log.
    #[error("the ranking: {0}")]
    Name(Fault),
    #[error("the ranking has two lists for the query `{0}`, as the log spells it: keep one")]
    TwoLists(String),
    #[error("the values of clicks: expected {0} numbers of at least 0, one for each position")]
    Values(usize),
    #[error("no answer: {ONLY_CLICKED}")]
    OnlyClicked,
    /// The ranking has no query, or no session, of the log; names on both sides.
    #[error("no {0} of the ranking is in the log: {1}")]
    NoQuery(&'static str, String),
    #[error(
        "learned lists need whole lists in the log, and a model other than `ubm`, whose best lists take too long to find"
    )]
    NothingToLearn,
    #[error(
        "learned lists are the best for clicks, and the log has values of clicks: leave `value` out of the columns"
    )]
    LearnedValues,
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The caller ended it.
    #[error("stopped")]
    Stopped,
}

impl Question {
    /// `format` is that of the log, which gives queries their names. `values` are those of a click
    /// at each position, by default 1. `ids` are those of the lists that the log will show.
    ///
    /// # Errors
    ///
    /// [`EvaluationError::TwoLists`], [`EvaluationError::Values`], [`EvaluationError::Name`].
    pub fn new(
        ranking: Ranking,
        format: &Format,
        values: Option<&[f64]>,
        ids: &Ids,
    ) -> Result<Self, EvaluationError> {
        let ranking = ranking.of_log(format).map_err(EvaluationError::TwoLists)?;
        let n_positions = if ranking.is_learned() { 64 } else { ranking.n_positions() };
        let fits = |values: &&[f64]| {
            if ranking.is_learned() { values.len() <= n_positions } else { values.len() == n_positions }
        };
        let valid = |values: &&[f64]| values.iter().all(|value| *value >= 0.0 && value.is_finite());
        let given =
            |values| Some(values).filter(fits).filter(valid).ok_or(EvaluationError::Values(n_positions));
        let mut values =
            values.map_or(Ok(vec![1.0; n_positions]), |values| given(values).map(<[f64]>::to_vec))?;
        values.resize(n_positions, 0.0);
        let targets = Targets::new(ranking, ids).map_err(EvaluationError::Name)?;
        Ok(Self { values, targets })
    }

    /// The receiver of one thread that reads.
    pub fn tally(&self) -> Tally<'_> {
        Tally::new(&self.targets, &self.values)
    }

    /// The estimates of the levels from the lists of all threads, in any order; `None` if no list
    /// has a new one. `are_rows`: lists are single rows.
    pub fn levels(&self, tallies: Vec<Tally<'_>>, are_rows: bool) -> Option<Levels> {
        let all = tallies.into_iter().reduce(|mut all, tally| {
            all.merge(&tally);
            all
        })?;
        Levels::new(&all, &self.values, are_rows, self.targets.never_shown(&all.marks))
    }
}

impl Evaluation {
    /// Evaluates a ranking on a log that was read for it, and by models if it was read with
    /// sessions. `before` is called before every fit of a model, and ends the evaluation if it
    /// returns false.
    ///
    /// # Errors
    ///
    /// Only clicks or no query of the ranking in the log; nothing to learn; `before` ended it.
    pub fn new(
        question: &Question,
        read: ReadLists<Tally<'_>>,
        models: &[Model],
        before: impl Fn(Model) -> bool,
    ) -> Result<Self, EvaluationError> {
        let Question { values, targets } = question;
        let ranking = &targets.ranking;
        if are_all_clicked(read.report.clicks, read.report.impressions) {
            return Err(EvaluationError::OnlyClicked);
        }
        // Names of sessions are not kept.
        let of_log = match &read.log {
            Some(Log { counts, .. }) if ranking.key == Key::Query => {
                let names =
                    counts.queries().take(2).map(|query| counts.names().name(query.id()).into_owned());
                format!(", and the log `{}`", names.collect::<Vec<_>>().join("`, `"))
            }
            _ if read.report.strata > 0 => " (with strata a query is called `shoes / mobile`)".to_owned(),
            _ => String::new(),
        };
        let sessions = read.log.map(|log| log.sessions).filter(|sessions| !sessions.is_empty());
        let are_rows = !read.logged.session && sessions.is_none();
        let mut before = |model| before(model).then_some(()).ok_or(EvaluationError::Stopped);
        let mut of_models = |models: &[Model], sessions: &Sessions, asked: &ValuedLists<'_>| match Models::new(
            models,
            sessions,
            asked,
            &mut before,
        ) {
            Err(EvaluationError::Fit(error)) => Ok(Err(remark!("not-fitted", error))),
            other => other.map(Ok),
        };
        let (values, has_values) = (values.clone(), read.logged.value);
        if ranking.is_learned() && has_values {
            return Err(EvaluationError::LearnedValues);
        }
        if ranking.is_learned() {
            let models: Vec<Model> = models.iter().copied().filter(|model| *model != Model::Ubm).collect();
            let sessions = sessions.filter(|_| !models.is_empty()).ok_or(EvaluationError::NothingToLearn)?;
            let models = of_models(&models, &sessions, &ValuedLists::Learned(&values))?;
            let assumptions = models.as_ref().ok().map(|models| models.assumptions.clone());
            let findings = Findings::new(None, models.as_ref().ok(), assumptions, true);
            let learned = match findings.answer().map(|answer| answer.basis) {
                Some(Basis::Model(model)) => learned::of_all(model, &sessions)?,
                _ => BTreeMap::new(),
            };
            return Ok(Self { values, has_values, levels: None, models, findings, learned });
        }
        let levels = question.levels(read.receivers, are_rows).ok_or_else(|| {
            let key = if ranking.key == Key::Session { "session" } else { "query" };
            EvaluationError::NoQuery(key, format!("it has `{}`{of_log}", ranking.examples()))
        })?;
        let asked = sessions.as_ref().and_then(|sessions| NewLists::of_ranking(ranking, sessions, &values));
        let models = match (&sessions, asked) {
            _ if models.is_empty() => Err(remark!("no-model-asked")),
            _ if levels.are_as_shown() => Err(remark!("no-model-needed")),
            (None, _) => Err(remark!("no-whole-lists")),
            (_, None) => Err(remark!("personal-ranking")),
            (Some(sessions), Some(_)) if has_values => of_models(models, sessions, &ValuedLists::None)?,
            (Some(sessions), Some(lists)) => of_models(models, sessions, &ValuedLists::Lists(lists))?,
        };
        let assumptions = match (&models, &sessions) {
            (Ok(models), _) => Some(models.assumptions.clone()),
            (Err(_), Some(sessions)) => Some(Assumptions::new(sessions, &[])),
            (Err(_), None) => None,
        };
        let findings = Findings::new(Some(&levels), models.as_ref().ok(), assumptions, !are_rows);
        let learned = BTreeMap::new();
        Ok(Self { values, has_values, levels: Some(levels), models, findings, learned })
    }

    /// Whether the lists are those that the models learn.
    pub fn is_learned(&self) -> bool {
        self.levels.is_none()
    }
}
