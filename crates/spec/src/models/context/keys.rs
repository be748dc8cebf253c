//! The keys of `context`, and those of its distribution.

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
        random: RandomUsers,
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

/// The value of `context` in a TOML file.
pub(super) fn random_to_toml(random: &RandomUsers) -> String {
    let RandomUsers { users, items, share, segments, user_features, item_features, .. } = random;
    let RandomUsers { mean, main, interaction, item, item_slope, segment, .. } = random;
    format!(
        "{{ random = {{ users = {users}, items = {items}, segments = {segments}, user-features = {user_features}, \
         item-features = {item_features}, mean = {mean:?}, main = {main:?}, interaction = {interaction:?}, item = {item:?}, \
         item-slope = {item_slope:?}, segment = {segment:?}, share = {share} }} }}"
    )
}
