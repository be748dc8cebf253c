//! The fit of a log of users who differ.

use super::named;
use crate::config::{Template, Users};
use crate::event::{DEFAULT_QUERY, Event, Name};
use confidence::Probability;
use live::ContextFit;
use std::path::Path;

/// Reads what `click-bandits fit --context` found in the log of a query, and gives the template the
/// names that it does not have.
pub(super) fn read(
    path: &Path,
    template: &mut Template,
    left_out: &mut Vec<String>,
) -> Result<Vec<Event>, String> {
    let fault = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
    let content = std::fs::read(path).map_err(|error| fault(&error))?;
    let fit = ContextFit::read(&path.display().to_string(), &content).map_err(|error| error.to_string())?;
    complete(template, &fit).map_err(|what| fault(&what))?;
    crate::engine::check_fit(template, &fit).map_err(|what| fault(&what))?;
    for item in &fit.items {
        named("item", item, left_out);
    }
    let query = named("query", fit.query.as_deref().unwrap_or(DEFAULT_QUERY), left_out);
    Ok(query.map(|query| Event::BeganForUsers { query, fit: content }).into_iter().collect())
}

/// The number of items of such a fit that requests can name.
pub(super) fn n_items(fit: &[u8]) -> u64 {
    let fit = ContextFit::read("", fit);
    fit.map_or(0, |fit| fit.items.iter().filter(|item| Name::new(item).is_ok()).count() as u64)
}

/// Takes examination, segments and features from the fit; those that are given must be the same.
fn complete(template: &mut Template, fit: &ContextFit) -> Result<(), String> {
    let users = match template.users {
        Users::Cascade => "cascade",
        Users::Dcm => "dcm",
        Users::Pbm => "pbm",
        // Every model knows which items attract.
        Users::SemiBandit | Users::ClicksOnly => &fit.model,
    };
    if fit.model != users {
        return Err(format!("the fit is of {} users, but policy.users = \"{users}\"", fit.model));
    }
    if fit.model == "pbm" && template.examination.is_empty() && template.positions <= fit.positions {
        let of_positions = fit.of_positions.iter().take(template.positions);
        let examination =
            of_positions.map(|&value| Probability::new(value).map_err(|error| error.to_string()));
        template.examination = examination.collect::<Result<_, _>>()?;
    }
    let names = [
        ("segments", &mut template.segments, &fit.segments),
        ("features", &mut template.features, &fit.user_features),
        ("item-features", &mut template.item_features, &fit.item_features),
    ];
    for (key, given, of_fit) in names {
        if given.is_empty() {
            let name = |name: &String| Name::new(name).map_err(|what| format!("{key}: {name:?}: {what}"));
            *given = of_fit.iter().map(name).collect::<Result<_, _>>()?;
        } else if !given.iter().map(|name| &**name).eq(of_fit.iter().map(|name| &**name)) {
            return Err(format!(
                "policy.{key} are not those of the fit, in its order: leave them out, or give {of_fit:?}"
            ));
        }
    }
    template.ranges = fit.ranges();
    let fault = template.faults().into_iter().next();
    fault.map_or(Ok(()), |(key, what)| Err(format!("policy.{key}: {what}")))
}
