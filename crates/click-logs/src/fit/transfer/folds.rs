//! Predictions of lists by fits that have not seen them.

use super::groups::{PARTS, SessionGroups};
use crate::fit::{Fit, FitError, Model, Options, Prediction, Purpose, fit_checked};
use click_models::Clicks;
use log_reader::{Counts, Id, Sessions};

/// The predicted clicks of a session by model, query and list, for the queries that differ.
/// `queries` are all queries of the sessions. `None` without an order of the log, or if the lists
/// are too few to leave some out.
pub(super) fn predicted(
    models: &[Model],
    whole: &[Fit],
    sessions: &Sessions,
    queries: &[SessionGroups],
    options: &Options,
) -> Result<Option<Vec<Vec<Vec<f64>>>>, FitError> {
    let unknown =
        || SessionGroups::differing(queries).map(|query| vec![f64::NAN; query.parts.len()]).collect();
    let mut predicted: Vec<Vec<Vec<f64>>> = models.iter().map(|_| unknown()).collect();
    let mut prediction = Prediction::default();
    for part in 0..PARTS {
        let mut rest_of_queries = queries.iter().peekable();
        let rest = sessions.split(|id, session| {
            while rest_of_queries.next_if(|query| query.query != id).is_some() {}
            rest_of_queries.peek().is_some_and(|query| query.parts[session.list] != part)
        });
        let Some([rest, _]) = rest.filter(|[rest, _]| !rest.is_empty()) else { return Ok(None) };
        // Models of sessions do not use counts, which take a sort.
        let counts =
            if models.iter().all(|model| model.needs_sessions()) { Counts::default() } else { rest.counts() };
        let shown = SessionGroups::differing(queries).filter(|query| query.parts.contains(&part));
        let shown: Vec<Id> = shown.map(|query| query.query).collect();
        for (&model, predicted) in models.iter().zip(&mut predicted) {
            let near = whole.iter().find(|fit| fit.model() == model);
            let fit = fit_checked(model, &counts, &rest, options, Purpose { near, predicted: Some(&shown) })?;
            for (query, predicted) in SessionGroups::differing(queries).zip(predicted) {
                let lists = sessions.query(query.query).into_iter().flat_map(|query| query.lists());
                for (place, list) in lists.enumerate().filter(|(place, _)| query.parts[*place] == part) {
                    let (items, positions) = (list.items, list.positions);
                    let clicks = Clicks::new(items.len());
                    fit.predict_at(query.query, items, positions, clicks, &mut prediction);
                    predicted[place] = prediction.marginal.iter().sum();
                }
            }
        }
    }
    Ok(Some(predicted))
}
