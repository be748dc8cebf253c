//! `context.json`: what the log of users who differ tells, as `fit --context` writes it. It is the
//! prior of `hybrid-ts` (`prior_file`), and users as uncertain as the log leaves them
//! (`context = { posterior = "context.json" }`).

use click_models::Context;
use documents::read_json;
use documents::toml_reader::Error;
use policies::HybridPrior;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// The version of the file.
const VERSION: u64 = 1;

/// What the log of users who differ tells.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextFit {
    /// The version of the file, [`ContextFit::VERSION`].
    pub version: u64,
    /// The click model: `cascade`, `dcm` or `pbm`.
    pub model: String,
    /// The query, if one was chosen.
    pub query: Option<String>,
    /// Number of lists.
    pub lists: u64,
    /// Length of the longest list.
    pub positions: usize,
    /// The names of segments, by number; none if the log has no segments.
    pub segments: Vec<String>,
    /// The names of items, by number.
    pub items: Vec<String>,
    /// The names of the features of users.
    pub user_features: Vec<String>,
    /// The names of the features of items.
    pub item_features: Vec<String>,
    /// By position: examination for `pbm`, the probability of leaving after a click for `dcm`;
    /// nothing for `cascade`.
    pub of_positions: Vec<f64>,
    /// The contexts of some lists, drawn at random, with features as they are in the log.
    pub users: Vec<Context>,
    /// How well the fit predicts, and what lists would collect.
    pub report: ContextReport,
    /// Scales, posterior and deviations.
    pub prior: HybridPrior,
}

/// How well a fit with contexts predicts, and what lists would collect by it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContextReport {
    /// One user in this number was held out; without users, one session.
    pub held_out_one_in: u64,
    /// Lists held out.
    pub lists: u64,
    /// Users, or sessions, held out.
    pub units: u64,
    /// Log-loss of a held-out list in nats, of a fit to the others; down to the first click
    /// (cascade) or the last one (dcm). `None` if nothing was held out.
    pub log_loss: Option<f64>,
    /// The same of a fit without contexts.
    pub log_loss_without: Option<f64>,
    /// By how much contexts lower it; `None` with fewer than two units.
    pub gain: Option<Gain>,
    /// By how much each column lowers it, if this was asked for.
    pub columns: Vec<ColumnGain>,
    /// Expected clicks of a list by the fit, over the contexts of [`ContextFit::users`].
    pub clicks: ClicksByList,
}

/// A difference of log-losses of a list, with an interval of 95 % over users or sessions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gain {
    /// Mean.
    pub mean: f64,
    /// Lower end.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

/// By how much a column lowers the log-loss of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnGain {
    /// `segment`, or the name of a feature.
    pub column: String,
    /// Log-loss without the column, less that with it.
    pub gain: Option<Gain>,
}

/// Expected clicks of a list.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClicksByList {
    /// Of one list for all users.
    pub best_list: f64,
    /// Of one list for each segment.
    pub best_list_of_segment: f64,
    /// Of the best list for each user.
    pub personal: f64,
}

impl ContextFit {
    /// The version of new files.
    pub const VERSION: u64 = VERSION;

    /// Reads the content of a file.
    ///
    /// # Errors
    ///
    /// It is no such file, of another version, damaged, or its parts do not belong together.
    pub fn read(path: &str, content: &[u8]) -> Result<Self, Error> {
        const EXPECTED: &str = "the file context.json of a fit with --context";
        let whole = |fault: String| Error::whole_file(path, fault);
        let found: Value = read_json(path, content, EXPECTED)?;
        match found.get("version").map(Value::as_u64) {
            Some(Some(VERSION)) => {}
            None => return Err(whole(format!("version: missing: expected {EXPECTED}"))),
            Some(other) => {
                let other = other.map_or_else(|| "no number".to_owned(), |version| version.to_string());
                return Err(whole(format!("version: {other} found: expected {VERSION}")));
            }
        }
        let fit: Self = read_json(path, content, EXPECTED)?;
        fit.fault().map_or(Ok(()), |fault| Err(whole(fault)))?;
        Ok(fit)
    }

    /// Why the parts do not belong together.
    fn fault(&self) -> Option<String> {
        let known = self.prior.known();
        let n_segments = known.n_segments() as usize;
        let sizes = [
            ("segments", self.segments.len().max(1), n_segments),
            ("items", self.items.len(), known.n_items()),
            ("user_features", self.user_features.len(), known.n_user_features()),
            ("item_features", self.item_features.len(), known.n_item_features()),
            ("scale of users", self.prior.scale().user().len(), known.n_user_features()),
            (
                "of_positions",
                self.of_positions.len(),
                if self.model == "cascade" { 0 } else { self.positions },
            ),
        ];
        if let Some((name, found, expected)) =
            sizes.into_iter().find(|(_, found, expected)| found != expected)
        {
            return Some(format!("{name}: {found} found: expected {expected}, as the prior has"));
        }
        if !["cascade", "dcm", "pbm"].contains(&self.model.as_str()) {
            return Some(format!("model: {:?} found: expected cascade, dcm or pbm", self.model));
        }
        if !(1..=known.n_items().min(64)).contains(&self.positions) {
            return Some(format!(
                "positions: {} found: expected at most 64, and one item for each",
                self.positions
            ));
        }
        if self.of_positions.iter().any(|number| !(0.0..=1.0).contains(number)) {
            return Some("of_positions: expected probabilities".to_owned());
        }
        for (name, names) in [("segments", &self.segments), ("items", &self.items)] {
            if names.iter().collect::<BTreeSet<_>>().len() < names.len() {
                return Some(format!("{name}: a name is there twice"));
            }
        }
        let is_user = |user: &Context| {
            (user.segment as usize) < n_segments
                && user.features.len() == known.n_user_features()
                && user.features.iter().all(|feature| feature.is_finite())
        };
        if self.users.is_empty() || !self.users.iter().all(is_user) {
            return Some("users: expected contexts with a known segment and finite features".to_owned());
        }
        None
    }
}
