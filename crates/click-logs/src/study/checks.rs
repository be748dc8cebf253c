//! Doubts about a log: sessions with too many clicks, a change in the middle, rows that
//! were written twice. Nothing of it is certain, and no session is left out.
//!
//! Each check makes [`Checks::sentences`] only if the log is far from what it allows: of honest
//! logs fewer than five in a hundred get one.

mod many_clicks;
mod repeats;
mod second_half;

pub use self::many_clicks::ManyClicks;
pub use self::repeats::{Again, Repeats};
pub use self::second_half::SecondHalf;

use super::{ListsAlone, ONLY_CLICKED, Study, is_only_clicked, misnamed};
use crate::fit::{Fit, FitError, Model, Options};
use documents::number::{counted, fixed, grouped, significant};
use log_reader::{Session, Sessions};
use serde::Serialize;

/// Doubts about a log, from its sessions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checks {
    /// Whether what was shown and not clicked is missing: then nothing else is told.
    pub only_clicked: bool,
    /// Why columns seem to be named for each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misnamed: Option<&'static str>,
    /// The models whose fits did not converge.
    pub not_converged: Vec<Model>,
    /// Whether the log has sessions, and their order is known. Counts have neither.
    pub in_order: bool,
    /// Sessions with more clicks than any fitted model makes probable; `None` if there are none.
    pub many_clicks: Option<ManyClicks>,
    /// `None` without an order, or if no query has sessions in both halves of the log.
    pub second_half: Option<SecondHalf>,
    /// `None` without an order, or if no query has three sessions.
    pub repeats: Option<Repeats>,
    /// Whether the lists alone decide the clicks; `None` if the log cannot test it.
    pub lists_alone: Option<ListsAlone>,
}

impl Checks {
    /// Checks the log of a study.
    ///
    /// # Errors
    ///
    /// Fails as [`fit`](crate::fit::fit()) does.
    pub fn new(study: &Study, options: &Options) -> Result<Self, FitError> {
        let sessions = &study.log.sessions;
        let fits: Vec<_> = study.fits.iter().filter(|fit| study.has_users(fit)).collect();
        let whole = study.simulated().or(study.fits.first());
        let second_half = whole.map(|whole| SecondHalf::new(whole, sessions, options)).transpose()?;
        let repeats = Repeats::new(sessions);
        Ok(Self {
            only_clicked: is_only_clicked(&study.log.counts),
            misnamed: misnamed(&study.log.counts, sessions),
            not_converged: study.fits.iter().filter(|fit| !fit.has_converged()).map(Fit::model).collect(),
            in_order: !sessions.is_empty() && sessions.has_order(),
            many_clicks: ManyClicks::new(&fits, sessions),
            second_half: second_half.flatten(),
            lists_alone: ListsAlone::new(sessions, Repeats::overdispersion(repeats.as_ref())),
            repeats,
        })
    }

    /// The log without what each fault is about, if that can be told: what is left, in words, and
    /// its sessions. They are copied when they are asked for: each may be as large as the log.
    pub fn without(&self, sessions: &Sessions) -> impl Iterator<Item = (String, Sessions)> {
        let kept = move |keep: &dyn Fn(Session) -> bool| sessions.split(|_, session| keep(session));
        let many = self.many_clicks.iter().filter_map(move |&ManyClicks { limit, .. }| {
            let [rest, _] = kept(&|session| session.clicks.count() as usize <= limit)?;
            Some((format!("Without sessions of more than {}", counted(limit as u64, "click")), rest))
        });
        let changed = self.second_half.iter().filter(|half| half.is_changed());
        let second = changed.filter_map(move |_| sessions.halves());
        let second = second.map(|[_, rest]| ("Without the first half of the log".to_owned(), rest.sessions));
        let again = self.repeats.iter().filter_map(|repeats| repeats.again).filter_map(move |again| {
            let places = again.places(sessions);
            let [rest, _] = kept(&|session| !places.contains(&session.place))?;
            Some(("Without the part that stands again".to_owned(), rest))
        });
        many.chain(second).chain(again)
    }

    /// A sentence for each fault. `limit` is the name of the option that leaves out sessions with
    /// more clicks than a number.
    pub fn sentences(&self, limit: &str) -> Vec<String> {
        let whole = |number: f64| fixed(number, 0);
        let percent = |share: f64| fixed(100.0 * share, usize::from(share.abs() < 0.1));
        if self.only_clicked {
            return vec![format!("No fit to this log can be right: {ONLY_CLICKED}.")];
        }
        let mut sentences: Vec<String> = self.misnamed.iter().map(ToString::to_string).collect();
        if !self.not_converged.is_empty() {
            let models = self.not_converged.iter().map(|model| model.name()).collect::<Vec<_>>().join(", ");
            sentences.push(format!("Not converged: {models}: other parameters may be more probable."));
        }
        if !self.in_order {
            sentences.push(
                "Not checked, since it needs sessions in their order, which counts do not have: whether \
                 some sessions have too many clicks, users changed, or rows are written twice."
                    .to_owned(),
            );
        }
        if let Some(found) = &self.many_clicks {
            sentences.push(format!(
                "{} of {} have more than {}, where the fitted models expect at most {} ({}). They may be \
                 robots. Without them ({limit} {}) lists have {} clicks per 1,000 instead of {}.",
                grouped(found.sessions),
                counted(found.of_sessions, "session"),
                counted(found.limit as u64, "click"),
                fixed(found.expected, 1),
                found.model,
                found.limit,
                whole(found.clicks_without),
                whole(found.clicks),
            ));
        }
        if let Some(half) = self.second_half.as_ref().filter(|half| half.is_changed()) {
            sentences.push(format!(
                "On queries of both halves of the log, users of the second half click {} % {} (standard error {}) than a \
                 fit of {} to the first half predicts: {} clicks per 1,000 lists instead of {}. Fits to the whole log describe neither half.",
                percent(half.change().abs()),
                if half.change() > 0.0 { "more" } else { "less" },
                significant(100.0 * half.standard_error / half.predicted, 2),
                half.model,
                whole(half.observed),
                whole(half.predicted),
            ));
        }
        if let Some(repeats) = self.repeats.as_ref().filter(|repeats| repeats.is_excessive()) {
            sentences.push(format!(
                "About {} % of the sessions repeat the list and the clicks of {}, more than by chance. If rows are written \
                 twice, or users search again, intervals are too narrow.",
                percent(repeats.share),
                match repeats.within {
                    1 => "the session before them".to_owned(),
                    within => format!("one of the {within} sessions before them"),
                },
            ));
        }
        if let Some(again) = self.repeats.as_ref().and_then(|repeats| repeats.again) {
            sentences.push(format!(
                "A part of the log is in it twice: {} that are rare in it occur again exactly {} sessions later. Everything \
                 in that part is counted twice, and intervals are too narrow.",
                counted(again.sessions, "session"),
                grouped(again.later.into()),
            ));
        }
        sentences
    }
}
