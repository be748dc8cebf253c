//! A study of a log: fits of models to the whole log, their comparison on a part that is held out,
//! their transfer to lists that they have not seen, and the choice of users to simulate.
//!
//! The log is read once, and a part is held out by content: the order of its rows changes nothing.
//! Sessions are held out whole; without them, impressions of each cell.
//!
//! The models are fitted to the whole log. For the comparison they are fitted again, to the log
//! without the held-out part, and compared on that part together with simple [`baselines`].
//!
//! The users to simulate have lists chosen for them, so they are those of a model that predicts the
//! differences between lists best ([`Transfers`]). Likelihood decides among the models that this
//! does not tell apart.
//!
//! The caller reads the log, so it can be files or a table in memory.
//!
//! # Examples
//!
//! ```
//! use click_logs::fit::Model;
//! use click_logs::study::{Settings, study};
//! use log_reader::{Format, Reader};
//!
//! let log: String = (0..1000).map(|n| format!("{},{},{}\n", n % 3, n % 2 + 1, u8::from(n % 7 == 0))).collect();
//! let log = format!("item,position,click\n{log}");
//! let reader = Reader::new(Format::delimited("item=item,position=position,click=click")?);
//! let settings = Settings { models: vec![Model::Pbm], ..Settings::default() };
//! let study = study(
//!     &settings,
//!     || reader.read("log.csv", log.as_bytes()),
//!     |_| Ok(()),
//! )?;
//! assert_eq!(study.simulated().unwrap().model(), Model::Pbm);
//! assert_eq!(study.comparison.unwrap().scores.len(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alarm;
mod apart;
mod checks;
mod misnamed;
mod only_clicked;

pub use self::alarm::{BelowStatistic, ListsAlone, Within};
pub use self::apart::are_kept_apart;
pub use self::checks::{Again, Checks, ManyClicks, Repeats, SecondHalf};
pub use self::misnamed::misnamed;
pub use self::only_clicked::{ONLY_CLICKED, are_all_clicked, is_only_clicked};

use crate::fit::models::row;
use crate::fit::{
    Choice, Comparison, Fit, FitError, Model, Purpose, Transfers, fit, fit_checked, fit_values,
};
use crate::settings::{FitSettings, LastPart};
use log_reader::{Counts, Id, Log, Part, ReadReport, Sessions};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Every model with users: what is fitted if no model is named, as far as the log supports it.
pub fn with_users() -> impl Iterator<Item = Model> {
    Model::ALL.into_iter().filter(|&model| row(model).users.is_some())
}

/// Models without users, which are compared with every fitted model: the yardstick of models that
/// need sessions, and simple ones.
pub fn baselines() -> impl Iterator<Item = Model> {
    Model::ALL.into_iter().filter(|&model| row(model).users.is_none())
}

/// The models to fit to a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelsToFit {
    /// At least one, each once, in the order in which they were named.
    pub models: Vec<Model>,
    /// Models of [`with_users`] that the log does not support.
    pub left_out: Vec<Model>,
}

impl ModelsToFit {
    /// The named models; `None` among the names is for [`with_users`]. `whole_sessions`: whether
    /// the log has whole sessions with their lists in order.
    ///
    /// # Errors
    ///
    /// A named model that needs whole sessions, if the log has none.
    pub fn new(named: impl IntoIterator<Item = Option<Model>>, whole_sessions: bool) -> Result<Self, Model> {
        let mut to_fit = Self { models: Vec::new(), left_out: Vec::new() };
        for name in named {
            for model in name.map_or_else(|| with_users().collect(), |model| vec![model]) {
                let supported = whole_sessions || !model.needs_sessions();
                let list = match (supported, name) {
                    (true, _) => &mut to_fit.models,
                    (false, None) => &mut to_fit.left_out,
                    (false, Some(_)) => return Err(model),
                };
                if !list.contains(&model) {
                    list.push(model);
                }
            }
        }
        Ok(to_fit)
    }
}

/// The part of a log that models are compared on; they are fitted to the rest for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldOut {
    /// One session in this number, at random; one impression if the log has no sessions.
    OneIn(u64),
    /// The second half of the sessions, in the order of the log: whether a fit holds later.
    Last,
}

impl HeldOut {
    /// The name of the last half among numbers.
    pub const LAST: &str = "last";
}

impl fmt::Display for HeldOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OneIn(n) => write!(f, "one in {n}"),
            Self::Last => f.write_str("the last half of the log"),
        }
    }
}

/// Models to fit, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The models to fit.
    pub models: Vec<Model>,
    /// How they are fitted. Options of reading are the caller's.
    pub fit: FitSettings,
    /// Whether the transfer of the models is estimated if the log has sessions.
    pub transfer: bool,
}

impl Default for Settings {
    /// The position-based model of all queries and items, with its transfer; one in ten held out.
    fn default() -> Self {
        Self { models: vec![Model::Pbm], fit: FitSettings::default(), transfer: true }
    }
}

/// The whole log after the filter.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct FilteredLog {
    /// Counts of what was read and skipped.
    pub report: ReadReport,
    /// Number of queries of the log, before the filter.
    pub n_queries: usize,
    /// The cells that pass the filter.
    pub counts: Counts,
    /// The sessions of the queries that pass, if the reader keeps sessions.
    pub sessions: Sessions,
}

/// The fits of a log.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Study {
    /// The data of the fits.
    pub log: FilteredLog,
    /// A fit of each model, in the order of the settings.
    pub fits: Vec<Fit>,
    /// `None` if nothing was held out: it was not wanted, or the log is too short.
    pub comparison: Option<Comparison>,
    /// `None` if it was not wanted, or cannot be computed ([`Transfers::new`]).
    pub transfer: Option<Transfers>,
    /// The choice among the models whose users can be simulated and whose transfer is not told
    /// apart from the best; `None` without a comparison or such a model.
    pub choice: Option<Choice>,
    /// The number of queries without [`users`](Fit::users) of their positions, of each fit; 0
    /// unless users need a search for the best list, such as those of user browsing. The searches
    /// for all queries take some seconds at most: those that are left after that count here.
    pub without_users: Vec<usize>,
    /// That of the settings.
    pub today: Option<LastPart>,
}

/// The next step of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Reads the log.
    Read,
    /// Fits a model.
    Fit(Model),
    /// Fits to the rest, and compares on what is held out.
    Compare,
    /// Fits to four fifths of the lists in turn, and predicts the others.
    Transfer,
}

/// Why a log cannot be studied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "described where the messages do not say all")]
pub enum StudyError<E> {
    /// The caller's: of reading, or before a step.
    #[error("{0}")]
    Caller(E),
    #[error("nothing to fit: the log has no impressions: {0}")]
    NoImpressions(Box<ReadReport>),
    #[error("nothing to fit: none of {n_queries} queries passes the filter")]
    NothingPasses { n_queries: usize, n_positions: usize },
    #[error("fitting {0}: {1}")]
    Fit(Model, FitError),
    /// The order of the sessions is not known.
    #[error("{0}")]
    HoldOut(FitError),
    #[error("comparing the models: {0}")]
    Compare(FitError),
    #[error("predicting lists that are left out: {0}")]
    Transfer(FitError),
}

/// Studies a log. `read` is called once, and reads the whole log. `before` is called before every
/// step, and ends the study with an error.
///
/// # Errors
///
/// [`StudyError`].
pub fn study<E>(
    settings: &Settings,
    read: impl FnOnce() -> Result<Log, E>,
    mut before: impl FnMut(Step) -> Result<(), E>,
) -> Result<Study, StudyError<E>> {
    let mut before = |step| before(step).map_err(StudyError::Caller);
    before(Step::Read)?;
    let log = read().map_err(StudyError::Caller)?;
    let (log, parts) = FilteredLog::new(log, &settings.fit)?;
    let options = settings.fit.options();
    let mut fits = Vec::with_capacity(settings.models.len());
    for &model in &settings.models {
        before(Step::Fit(model))?;
        let (counts, sessions) = (&log.counts, &log.sessions);
        let of_model = if settings.fit.intervals {
            fit(model, counts, sessions, &options)
        } else {
            fit_values(model, None, counts, sessions, &options)
        };
        fits.push(of_model.map_err(|error| StudyError::Fit(model, error))?);
    }
    if settings.fit.held_out.0.is_some() {
        before(Step::Compare)?;
    }
    let parts = parts.filter(|parts| parts.iter().all(|part| part.counts.n_cells() > 0));
    let compared = parts.map(|parts| compared(settings, &parts)).transpose();
    let comparison = compared.map_err(StudyError::Compare)?;
    let without_users = fits.iter().map(|fit| fit.n_not_found(&log.counts)).collect();
    let transfer = if settings.transfer && !log.sessions.is_empty() {
        before(Step::Transfer)?;
        Transfers::new(&settings.models, &fits, &log.sessions, &options).map_err(StudyError::Transfer)?
    } else {
        None
    };
    let today = settings.fit.today;
    let mut study = Study { log, fits, comparison, transfer, choice: None, without_users, today };
    let has_users = |model| study.fits.iter().any(|fit| fit.model() == model && study.has_users(fit));
    study.choice = study.choose(&has_users);
    Ok(study)
}

/// Fits each model to the rest of the log, and compares their predictions of the held-out part. The
/// fits are those of the rest alone: nothing of the held-out part is in them, not even where a
/// search starts.
fn compared(settings: &Settings, [rest, held_out]: &[Part; 2]) -> Result<Comparison, FitError> {
    let has_sessions = settings.models.iter().any(|model| model.needs_sessions());
    let baselines = baselines().filter(|model| has_sessions || !model.needs_sessions());
    let models = settings.models.iter().copied().chain(baselines);
    let options = settings.fit.options().without_errors();
    let shown: Vec<Id> = held_out.counts.queries().map(|query| query.id()).collect();
    let purpose = Purpose { predicted: Some(&shown), ..Purpose::default() };
    let fits = models.map(|model| fit_checked(model, &rest.counts, &rest.sessions, &options, purpose));
    Comparison::new(held_out, fits)
}

impl FilteredLog {
    /// Filters the whole log, and its two parts: one for fits, and the one to compare them on.
    fn new<E>(log: Log, settings: &FitSettings) -> Result<(Self, Option<[Part; 2]>), StudyError<E>> {
        let Log { counts, sessions, report } = log;
        let n_queries = counts.n_queries();
        if n_queries == 0 {
            return Err(StudyError::NoImpressions(Box::new(report)));
        }
        let n_positions = counts.n_positions();
        let counts = counts.filtered(&settings.filter());
        if counts.n_queries() == 0 {
            return Err(StudyError::NothingPasses { n_queries, n_positions });
        }
        let sessions = if counts.n_queries() == n_queries {
            sessions
        } else {
            sessions.restricted(&|query| counts.query(query).is_some())
        };
        let filtered = Self { report, n_queries, counts, sessions };
        let Some(wanted) = settings.held_out.0 else { return Ok((filtered, None)) };
        let sessions = &filtered.sessions;
        let unordered = || StudyError::HoldOut(FitError::NoOrder);
        let parts = match wanted {
            HeldOut::Last if sessions.is_empty() => return Err(unordered()),
            HeldOut::Last => sessions.halves().ok_or_else(unordered)?,
            HeldOut::OneIn(one_in) if sessions.is_empty() => {
                let parts = filtered.counts.split(one_in, settings.seed);
                parts.map(|counts| Part { counts, sessions: Sessions::default() })
            }
            // Whole sessions, including items that do not pass the filter; then all models are
            // fitted to all items of the queries that pass.
            HeldOut::OneIn(one_in) => {
                sessions.without_one_in(one_in, settings.seed).ok_or_else(unordered)?.map(Part::from)
            }
        };
        Ok((filtered, Some(parts)))
    }
}

impl Study {
    /// Whether every query has [`users`](Fit::users) of a fit of this study. Click-through rates
    /// have none; user browsing has them if the search for the best list of each query ends soon
    /// enough.
    pub fn has_users(&self, fit: &Fit) -> bool {
        let mut fits = self.fits.iter().zip(&self.without_users);
        row(fit.model()).users.is_some()
            && fits.all(|(other, without)| other.model() != fit.model() || *without == 0)
    }

    /// The choice among the models for which `passes` is true: likelihood decides among those whose
    /// transfer is not told apart from the best. `None` without a comparison or such a model.
    pub fn choose(&self, passes: &dyn Fn(Model) -> bool) -> Option<Choice> {
        let alike = self.transfer.as_ref().map(|transfer| transfer.alike(passes));
        let is_alike = |model| alike.as_ref().map_or_else(|| passes(model), |alike| alike.contains(&model));
        self.comparison.as_ref()?.choice(&is_alike)
    }

    /// The fit whose users are simulated: of the chosen model; without a choice the first with
    /// users.
    pub fn simulated(&self) -> Option<&Fit> {
        let mut with_users = self.fits.iter().filter(|fit| self.has_users(fit));
        match &self.choice {
            Some(choice) => with_users.find(|fit| fit.model() == choice.model),
            None => with_users.next(),
        }
    }
}
