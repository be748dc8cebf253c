//! The keys of `context`, and those of its distribution.

use crate::fields::LONGEST_LIST;
use crate::key::Key;
use crate::schema::file;
use click_models::RandomUsers;
use documents::toml_reader::schema;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::json;

/// The key `context`; the keys that it replaces depend on the model.
pub(in super::super) const CONTEXT: Key = Key::optional(
    "context",
    schema::<ContextKeys>,
    "In the place of the attraction: users who differ, from files, or drawn in every run.",
    "{ random = { users = 100, items = 20, user-features = 2, item-features = 2, interaction = 0.6 } }",
);

/// The value of `context`.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
pub(super) enum ContextKeys {
    Random {
        /// In the place of the files: a distribution from which every run draws its users and
        /// items.
        #[schemars(example = json!({ "users": 100, "items": 20, "user-features": 2, "item-features": 2, "interaction": 0.6 }))]
        random: Random,
    },
    Fitted {
        /// In the place of the files: `context.json` of `fit --context`; every run draws its users
        /// as uncertain as the log leaves them.
        #[schemars(schema_with = "file_name", example = &"context.json")]
        posterior: String,
    },
    Files {
        /// A CSV file with a row for each user: `user`, `segment` if there are several, and
        /// features.
        #[schemars(schema_with = "file_name", example = &"users.csv")]
        users: String,
        /// A CSV file with a row for each item: `item`, and features.
        #[schemars(schema_with = "file_name", example = &"items.csv")]
        items: String,
        /// A JSON file with the coefficients of the log-odds of attraction, or with the attraction
        /// of every user and item.
        #[schemars(schema_with = "file_name", example = &"coefficients.json")]
        coefficients: String,
    },
}

fn file_name(_: &mut SchemaGenerator) -> Schema {
    file().try_into().unwrap_or_default()
}

/// The distribution of users and items.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Random {
    /// The number of users.
    #[schemars(range(min = 1, max = LONGEST_LIST), example = 100)]
    users: usize,
    /// The number of items.
    #[schemars(range(min = 1, max = LONGEST_LIST), example = 20)]
    pub(super) items: usize,
    /// The number of segments; 1 without it. Clusters take segments in turn.
    #[schemars(range(min = 1, max = LONGEST_LIST), example = 10)]
    segments: Option<u32>,
    /// The number of features of a user; none without it. x is that of the cluster, of variance .7,
    /// plus a deviation of variance .3.
    #[serde(default)]
    #[schemars(range(max = 2047), example = 2)]
    user_features: usize,
    /// The number of features of an item, of variance 1; none without it.
    #[serde(default)]
    #[schemars(range(max = 2047), example = 2)]
    item_features: usize,
    /// The mean log-odds; -3 without it.
    #[schemars(range(min = -30, max = 30), example = -2.0)]
    mean: Option<f64>,
    /// The standard deviation of `w'z`, the effect of item features on all users; 0 without it.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100), example = 0.6)]
    main: f64,
    /// The standard deviation of `x'Bz`, the effect of item features that depends on the user; 0
    /// without it.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100), example = 0.6)]
    interaction: f64,
    /// The standard deviation of `d_i`, the effect of an item on all users; 0 without it.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100), example = 0.5)]
    item: f64,
    /// The standard deviation of `s_i'x`, the effect of an item that depends on the user; 0 without
    /// it.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100), example = 0.4)]
    item_slope: f64,
    /// The standard deviation of `e_gi`, the effect of an item on a segment; 0 without it.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100), example = 0.5)]
    segment: f64,
    /// The number of users in a cluster; 1 without it.
    #[schemars(range(min = 1, max = LONGEST_LIST), example = 10)]
    share: Option<usize>,
}

impl From<Random> for RandomUsers {
    fn from(random: Random) -> Self {
        let Random { users, user_features, item_features, main, interaction, .. } = random;
        let Random { item, item_slope, segment, .. } = random;
        let Self { mean, segments, share, .. } = Self::default();
        Self {
            users,
            share: random.share.unwrap_or(share),
            segments: random.segments.unwrap_or(segments),
            user_features,
            item_features,
            mean: random.mean.unwrap_or(mean),
            main,
            interaction,
            item,
            item_slope,
            segment,
        }
    }
}

/// The value of `context` in a TOML file.
pub(super) fn random_to_toml(random: &RandomUsers, items: usize) -> String {
    let RandomUsers { users, share, segments, user_features, item_features, .. } = random;
    let RandomUsers { mean, main, interaction, item, item_slope, segment, .. } = random;
    format!(
        "{{ random = {{ users = {users}, items = {items}, segments = {segments}, user-features = {user_features}, \
         item-features = {item_features}, mean = {mean:?}, main = {main:?}, interaction = {interaction:?}, item = {item:?}, \
         item-slope = {item_slope:?}, segment = {segment:?}, share = {share} }} }}"
    )
}
