//! The gain without what a warning about the log is about: from fits of the same models to the
//! rest.
//!
//! Where rows are written twice and which ones is not known, all rows stay, and the interval is as
//! wide as without as many: copies leave the mean as it is, and of `n` sessions `n (1 - r)` tell
//! something.

use crate::decision::{Error, Settings, SharedPart};
use crate::{Answer, Interval};
use click_logs::fit::{Model, Options};
use click_logs::settings::FitSettings;
use click_logs::study::{Checks, ListsAlone, Repeats, Settings as StudySettings, Study, study as study_of};
use documents::number::counted;
use log_reader::{Log, Sessions};
use num_traits::ToPrimitive as _;
use serde::Serialize;
use std::convert::Infallible;

/// The gain without what a warning is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Without {
    /// The words for the part that is left out.
    pub what: String,
    /// Sessions that are left out.
    pub left_out: u64,
    /// The gain of the lists that are recommended then, in clicks per 1,000 lists; `None` if none
    /// is promised.
    pub gain: Option<Interval>,
}

impl Without {
    /// The gain in words.
    pub fn sentence(&self) -> String {
        let Self { what, left_out, gain } = self;
        let what = format!("{what} ({})", counted(*left_out, "session"));
        match gain {
            None => format!("{what}, no gain is promised."),
            Some(gain) if gain.upper <= 0.0 => format!("{what}, no better list is found."),
            Some(gain) => format!("{what}, the recommended lists gain {gain} clicks per 1,000 lists."),
        }
    }
}

/// The gain without what each warning is about.
pub(crate) fn all(
    study: &Study,
    checks: &Checks,
    options: &Options,
    settings: &Settings<'_>,
    answer: &Answer,
) -> Result<Vec<Without>, Error> {
    let n = study.log.sessions.n_sessions();
    let models: Vec<Model> = answer.models.iter().filter_map(|of| Model::from_name(of.model)).collect();
    let of_rest = |(what, rest): (String, Sessions)| -> Result<Without, Error> {
        let left_out = n - rest.n_sessions();
        let log = Log { counts: rest.counts(), sessions: rest, report: study.log.report.clone() };
        let fit = FitSettings {
            prior: options.prior_strength,
            scope: options.scope,
            seed: settings.seed,
            today: study.today,
            intervals: false,
            others: *options,
            ..FitSettings::default()
        };
        let of_study = StudySettings { models: models.clone(), fit, transfer: true };
        let Ok(rest) = study_of(&of_study, || Ok::<_, Infallible>(log), |_| Ok(())) else {
            return Ok(Without { what, left_out, gain: None });
        };
        let copies = Repeats::overdispersion(Repeats::new(&rest.log.sessions).as_ref());
        let lists_alone = ListsAlone::new(&rest.log.sessions, copies);
        let gain = match SharedPart::of_study(&rest, (lists_alone.as_ref(), copies), options, settings) {
            Ok(Ok((mut deciding, users))) => deciding.gain(&users),
            Ok(Err(_)) | Err(Error::OneHalf) => Ok(None),
            Err(error) => Err(error),
        };
        let gain = if matches!(gain, Err(Error::NoUsers)) { None } else { gain? };
        Ok(Without { what, left_out, gain })
    };
    let mut all = checks.without(&study.log.sessions).map(of_rest).collect::<Result<Vec<_>, _>>()?;
    if let Some(Repeats { share, .. }) = checks.repeats.as_ref().filter(|repeats| repeats.is_excessive()) {
        let Interval { mean, lower, upper } = answer.all.gain;
        let wider = |end: f64| mean + (end - mean) / (1.0 - share).sqrt();
        let gain = Interval { mean, lower: wider(lower), upper: wider(upper) };
        let left_out = (share * n as f64).round().to_u64().unwrap_or(n);
        all.push(Without {
            what: "Without as many sessions as repeat others".to_owned(),
            left_out,
            gain: answer.promises().then_some(gain),
        });
    }
    Ok(all)
}
