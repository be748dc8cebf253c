//! `context.json`: what the log of users who differ tells, as `fit --context` writes it. A policy
//! in live use begins with it. In experiments it is the prior of `hybrid-ts` (`prior_file`), and
//! users as uncertain as the log leaves them (`context = { posterior = "context.json" }`).

use click_models::Context;
use documents::parameters::IdType;
use documents::read_json;
use documents::toml_reader::Error;
use policies::catalogue::{ContextKnowledge, Knowledge, Protocol};
use policies::{AnyPolicy, BuildError, HybridPrior, PolicySpec};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// The largest number, so that products of several stay finite.
const LARGEST: f64 = 1e30;
/// The smallest precision. Fits only add to those of their prior, which are above 0.09.
const LEAST_PRECISION: f64 = 1e-6;

/// A fit to the log of users who differ.
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
    /// Their type in the log.
    #[serde(default, skip_serializing_if = "IdType::is_text")]
    pub item_type: IdType,
    /// The names of the features of users.
    pub user_features: Vec<String>,
    /// The names of the features of items.
    pub item_features: Vec<String>,
    /// The least and the largest value of each feature of users in the log; see
    /// [`ContextFit::ranges`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<[f64; 2]>,
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
    /// By how many clicks personal lists exceed one list for all, on users that took no part in
    /// either; `None` if the log does not tell, or the file is older.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub personal_gain: Option<Gain>,
}

/// A difference of log-losses or clicks of a list, with an interval of 95 % over users or sessions.
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

impl Gain {
    /// Whether the interval lies above 0.
    pub fn is_surely_above_zero(self) -> bool {
        self.lower > 0.0
    }
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
    /// The clicks of the best list for each user.
    pub personal: f64,
}

/// The number of a segment that the log did not have: its users have no effect of a segment.
pub const NO_SEGMENT: u32 = u32::MAX;

/// Moves the features of a user into the ranges of the log, and returns how many lay outside: the
/// log tells nothing of them, and one answer with a feature of 1e300 would outweigh the whole log.
/// A feature without a range stays as it is.
pub fn clip(ranges: &[[f64; 2]], features: &mut [f64]) -> usize {
    let outside = |(&[least, largest], feature): (&[f64; 2], &mut f64)| {
        let clipped = feature.max(least).min(largest);
        usize::from(clipped != std::mem::replace(feature, clipped))
    };
    ranges.iter().zip(features).map(outside).sum()
}

impl ContextFit {
    /// The version of new files.
    pub const VERSION: u64 = 1;

    /// Reads the content of a file.
    ///
    /// # Errors
    ///
    /// It is no such file, of another version, damaged, or its parts do not belong together.
    pub fn read(path: &str, content: &[u8]) -> Result<Self, Error> {
        const EXPECTED: &str = "the context.json of a fit with --context";
        #[derive(Deserialize)]
        struct Head {
            version: u64,
        }
        let whole = |fault: String| Error::whole_file(path, fault);
        let Head { version } = read_json(path, content, EXPECTED)?;
        if version != Self::VERSION {
            return Err(whole(format!("version: {version} found: expected {}", Self::VERSION)));
        }
        let found: Value = read_json(path, content, EXPECTED)?;
        too_large(&found, "").map_or(Ok(()), |fault| Err(whole(fault)))?;
        let fit: Self = read_json(path, content, EXPECTED)?;
        fit.fault().map_or(Ok(()), |fault| Err(whole(fault)))?;
        Ok(fit)
    }

    /// The features of the items as they are in the log, item by item, with 12 digits:
    /// standardising them has rounded off the last ones.
    pub fn item_features(&self) -> Vec<f64> {
        let of_items = self.prior.scale().item();
        let feature = |(place, value): (usize, &f64)| match of_items.get(place % of_items.len().max(1)) {
            Some([mean, deviation]) => {
                let value = mean + deviation * value;
                format!("{value:.11e}").parse().unwrap_or(value)
            }
            None => *value,
        };
        self.prior.known().item_features().iter().enumerate().map(feature).collect()
    }

    /// The least and the largest value of each feature of users in the log, for [`clip`]; those of
    /// [`users`](Self::users), a sample, in a file that was written before it had ranges.
    pub fn ranges(&self) -> Vec<[f64; 2]> {
        if !self.ranges.is_empty() {
            return self.ranges.clone();
        }
        let of_feature = |place: usize| {
            let features = self.users.iter().filter_map(|user| user.features.get(place).copied());
            features.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, largest], feature| {
                [feature.min(least), feature.max(largest)]
            })
        };
        (0..self.user_features.len()).map(of_feature).collect()
    }

    /// A policy that begins where the log ends: its items are those of the fit, by number. It
    /// standardises features by the numbers of the fit. `knowledge` has the sizes, and what the
    /// policy may know of the positions.
    ///
    /// # Errors
    ///
    /// As [`AnyPolicy::build`], and [`AnyPolicy::begin_with`].
    ///
    /// # Examples
    ///
    /// ```
    /// use click_models::{Cascade, Context, ListShape};
    /// use live::{Ask, ByName, ContextFit, Settings};
    /// use policies::catalogue::{CatalogueProtocol, Protocol};
    /// use rand::{SeedableRng, rngs::ChaCha8Rng};
    ///
    /// # fn begin(content: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
    /// let fit = ContextFit::read("fitted/context.json", content)?;
    /// let shape = ListShape::new(fit.items.len(), fit.positions)?;
    /// let known = Cascade::knowledge(&shape.into());
    /// let policy = fit.policy("hybrid-ts".parse()?, Protocol::Cascade, known)?;
    /// let mut live = <dyn ByName<u64>>::new(policy, Settings::default())?;
    /// // Features as they are in the log, and the number of a segment's name in `fit.segments`.
    /// let user = Context { segment: 0, features: vec![31.0, 4.0] };
    /// let ask = Ask { user: &user, ..Ask::default() };
    /// let list = live.decide(&1, ask, &mut ChaCha8Rng::seed_from_u64(1));
    /// let names: Vec<&String> = list.iter().map(|item| &fit.items[item.slot.index()]).collect();
    /// # Ok(())
    /// # }
    /// ```
    pub fn policy(
        &self,
        spec: PolicySpec,
        protocol: Protocol,
        knowledge: Knowledge,
    ) -> Result<AnyPolicy, BuildError> {
        let known = self.prior.known();
        let context = ContextKnowledge {
            segments: known.n_segments(),
            user_features: known.n_user_features(),
            item_features: self.item_features(),
        };
        let knowledge = Knowledge { context: Some(context), ..knowledge };
        let mut policy = AnyPolicy::build(spec, protocol, knowledge)?;
        let parameters = |error| BuildError::Parameters { policy: spec.name(), error };
        policy.begin_with(&self.prior).map_err(parameters)?;
        Ok(policy)
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
            ("ranges", self.ranges().len(), known.n_user_features()),
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
        let least = self.prior.least_precision();
        if least < LEAST_PRECISION {
            return Some(format!("prior: a precision of {least} found: expected at least {LEAST_PRECISION}"));
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

/// The first number that is too large to calculate with, and where it is.
fn too_large(value: &Value, at: &str) -> Option<String> {
    match value {
        Value::Number(number) => {
            let is_large = number.as_f64().is_none_or(|number| number.abs() > LARGEST);
            is_large.then(|| format!("{at}: {number} found: expected at most {LARGEST:e} in size"))
        }
        Value::Array(values) => {
            values.iter().enumerate().find_map(|(place, value)| too_large(value, &format!("{at}[{place}]")))
        }
        Value::Object(values) => values.iter().find_map(|(key, value)| {
            too_large(value, &if at.is_empty() { key.clone() } else { format!("{at}.{key}") })
        }),
        _ => None,
    }
}
