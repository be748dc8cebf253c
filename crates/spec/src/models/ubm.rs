//! `ubm`: users examine a position with a probability that depends on it and on their last click.

use super::context::read_attraction;
use super::fields::read_each;
use super::keys::{ALSO_THETA, ATTRACTION, THETA};
use super::posterior::{Drawn, instances};
use super::{EvidenceOf, Instance, Instances, Member, Model, Parameter, evidence};
use crate::key::Key;
use crate::posterior::{LogPart, Query, Uncertain};
use crate::schema::triangle;
use click_models::{Error as Fault, ListShape, UserBrowsing};
use documents::toml_reader::{Error, Field, Table, all};
use policies::catalogue::Protocol;

pub(super) static MODEL: Model = Model {
    name: "ubm",
    protocol: Protocol::ClicksOnly,
    sentence: "A user examines a position with a probability that depends on it and on the last click above, and clicks what attracts.",
    keys: &[ATTRACTION, ALSO_THETA, EXAMINATION],
    first_choices: &["top-rank", "rba-kl-ucb"],
    names_best_items: false,
    read: |tables, _| Ok(Instances::from_users(read_each(tables, read)?)),
    of_queries: None,
    of_posterior: Some(|file| instances(file, &DRAWN)),
};

const EXAMINATION: Key = Key::required(
    "examination",
    triangle,
    "The examination of each position: without a click above, then after a last click at each position above.",
    "[[1.0], [0.6, 0.9], [0.4, 0.5, 0.8]]",
)
.called("Examination by position and last click");

/// Users drawn from a fit.
pub(super) static DRAWN: Drawn<UserBrowsing> = Drawn {
    parameters: attraction_and_examination,
    of_items: 1,
    clicks: |lists, items, out| {
        out.clear();
        // The probability that the last click was at each position above, or that there was
        // none.
        let mut last_clicks = vec![1.0];
        for (position, &item) in items.iter().enumerate() {
            let mut clicked = 0.0;
            for (before, examined) in last_clicks.iter_mut().zip(row(&lists[1], position)) {
                let here = *before * lists[0][item] * examined;
                *before -= here;
                clicked += here;
            }
            last_clicks.push(clicked);
            out.push(clicked);
        }
    },
    build: |lists, n_positions| {
        let rows: Vec<&[f64]> = (0..n_positions).map(|position| row(&lists[1], position)).collect();
        UserBrowsing::from_values(&lists[0], &rows)
    },
};

/// The examination of a position: without a click above, then by the position of the last one.
fn row(examination: &[f64], position: usize) -> &[f64] {
    &examination[position * (position + 1) / 2..][..=position]
}

/// Attraction, and examination row by row. Examination is relative to the first position; if it
/// exceeds 1 somewhere, it is divided by its largest value, as far as the attraction of no item
/// gets larger than 1.
fn attraction_and_examination(fit: &LogPart, query: &Query, n_positions: usize) -> Vec<Vec<Uncertain>> {
    let (attraction, n) = (query.attraction(), n_positions * (n_positions + 1) / 2);
    let examination = fit.positions_of(query, n, 0.0);
    let largest = |all: &[Uncertain]| all.iter().map(|parameter| parameter.mean).fold(0.0, f64::max);
    let scale = largest(&examination).max(1.0).min(1.0 / largest(&attraction).max(f64::MIN_POSITIVE));
    vec![
        attraction.into_iter().map(|attraction| attraction.times(scale)).collect(),
        examination.into_iter().map(|examined| examined.times(1.0 / scale)).collect(),
    ]
}

impl Member for UserBrowsing {
    const MODEL: &'static Model = &MODEL;
    const SHAPE: Option<fn(&Self) -> ListShape> = Some(Self::shape);
    const EVIDENCE: Option<EvidenceOf<Self>> = Some(evidence::of_lists);

    fn parameters(instance: &Instance<Self>) -> Vec<(&'static str, Parameter)> {
        let users = &instance.model;
        let rows = users.examination().iter().map(|row| row.iter().map(|p| p.get()).collect()).collect();
        vec![ATTRACTION.with(users.attraction()), EXAMINATION.with(Parameter::Matrix(rows))]
    }
}

fn read(table: &Table<'_>) -> Result<UserBrowsing, Error> {
    let parts = (
        read_attraction(table, None, &[ATTRACTION, THETA]),
        EXAMINATION.read::<Vec<Vec<_>>>(table),
        table.finish(),
    );
    let (attraction, examination, ()) = all(parts)?;
    UserBrowsing::new(attraction.value, examination.value).map_err(|error| {
        let rows: Vec<Field<'_>> = examination.field.get().unwrap_or_default();
        let place = match &error {
            Fault::NoItems | Fault::TooManyItems(_) => &attraction.field,
            Fault::NotATriangle { position, .. } => rows.get(*position).unwrap_or(&examination.field),
            _ => &examination.field,
        };
        place.error(error.to_string())
    })
}
