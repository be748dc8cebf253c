//! The keys of `context`, and those of its distribution.

use crate::fields::LONGEST_LIST;
use crate::key::{Key, KeyKind};
use click_models::RandomUsers;
use documents::toml_reader::{Error, Field, Table};

/// The key `context`; the keys that it replaces depend on the model.
pub(in super::super) const CONTEXT: Key = Key::optional(
    "context",
    KeyKind::Table(&OF_CONTEXT),
    "In the place of the attraction: users who differ, from files, or drawn in every run.",
    "{ random = { users = 100, items = 20, user-features = 2, item-features = 2, interaction = 0.6 } }",
);

const OF_CONTEXT: [Key; 5] = [
    Key::required(
        "users",
        KeyKind::File,
        "A CSV file with a row for each user: `user`, `segment` if there are several, and features.",
        "\"users.csv\"",
    ),
    Key::required(
        "items",
        KeyKind::File,
        "A CSV file with a row for each item: `item`, and features.",
        "\"items.csv\"",
    ),
    Key::required(
        "coefficients",
        KeyKind::File,
        "A JSON file with the coefficients of the log-odds of attraction, or with the attraction of every user and item.",
        "\"coefficients.json\"",
    ),
    Key::optional(
        "posterior",
        KeyKind::File,
        "In the place of the files: `context.json` of `fit --context`; every run draws its users as uncertain as the log leaves them.",
        "\"context.json\"",
    )
    .in_place_of(&["users", "items", "coefficients"]),
    Key::optional(
        "random",
        KeyKind::Table(&OF_RANDOM),
        "In the place of the files: a distribution from which every run draws its users and items.",
        "{ users = 100, items = 20, user-features = 2, item-features = 2, interaction = 0.6 }",
    )
    .in_place_of(&["users", "items", "coefficients"]),
];

const SIZE: KeyKind = KeyKind::Count { least: 1, most: LONGEST_LIST };
const FEATURES: KeyKind = KeyKind::Count { least: 0, most: 2047 };
const DEVIATION: KeyKind = KeyKind::Number { least: 0, most: 100 };

const OF_RANDOM: [Key; 12] = [
    Key::required("users", SIZE, "The number of users.", "100"),
    Key::required("items", SIZE, "The number of items.", "20"),
    Key::optional(
        "segments",
        SIZE,
        "The number of segments; 1 without it. Clusters take segments in turn.",
        "10",
    ),
    Key::optional(
        "user-features",
        FEATURES,
        "The number of features of a user; none without it. x is that of the cluster, of variance .7, plus a deviation of variance .3.",
        "2",
    ),
    Key::optional(
        "item-features",
        FEATURES,
        "The number of features of an item, of variance 1; none without it.",
        "2",
    ),
    Key::optional(
        "mean",
        KeyKind::Defined { definition: "log-odds", words: "a number from -30 to 30" },
        "The mean log-odds; -3 without it.",
        "-2.0",
    ),
    Key::optional(
        "main",
        DEVIATION,
        "The standard deviation of w'z, the effect of item features on all users; 0 without it.",
        "0.6",
    ),
    Key::optional(
        "interaction",
        DEVIATION,
        "The standard deviation of x'Bz, the effect of item features that depends on the user; 0 without it.",
        "0.6",
    ),
    Key::optional(
        "item",
        DEVIATION,
        "The standard deviation of d_i, the effect of an item on all users; 0 without it.",
        "0.5",
    ),
    Key::optional(
        "item-slope",
        DEVIATION,
        "The standard deviation of s_i'x, the effect of an item that depends on the user; 0 without it.",
        "0.4",
    ),
    Key::optional(
        "segment",
        DEVIATION,
        "The standard deviation of e_gi, the effect of an item on a segment; 0 without it.",
        "0.5",
    ),
    Key::optional("share", SIZE, "The number of users in a cluster; 1 without it.", "10"),
];

/// Reads a distribution, and the number of items.
pub(super) fn read_random(field: &Field<'_>) -> Result<(RandomUsers, usize), Error> {
    let table: Table<'_> = field.get()?;
    let key = |name: &str| OF_RANDOM.iter().find(|key| key.name == name).expect("a row");
    let count = |name: &str| -> Result<Option<usize>, Error> {
        let count = table.field(name).map(|field| field.integer_in(&key(name).range())).transpose()?;
        Ok(count.map(|count| usize::try_from(count).unwrap_or(usize::MAX)))
    };
    let number = |name: &str, least: f64, most: f64| -> Result<Option<f64>, Error> {
        let Some(field) = table.field(name) else { return Ok(None) };
        let number: f64 = field.get()?;
        if (least..=most).contains(&number) {
            Ok(Some(number))
        } else {
            Err(field.error(format!("{number} found: expected {}", key(name).kind)))
        }
    };
    let deviation = |name: &str| number(name, 0.0, 100.0).map(Option::unwrap_or_default);
    let required = |name: &str| count(name)?.ok_or_else(|| table.missing(name, &key(name).kind.to_string()));
    let usual = RandomUsers::default();
    let users = RandomUsers {
        users: required("users")?,
        share: count("share")?.unwrap_or(usual.share),
        segments: count("segments")?.map_or(usual.segments, |n| u32::try_from(n).unwrap_or(u32::MAX)),
        user_features: count("user-features")?.unwrap_or(0),
        item_features: count("item-features")?.unwrap_or(0),
        mean: number("mean", -30.0, 30.0)?.unwrap_or(usual.mean),
        main: deviation("main")?,
        interaction: deviation("interaction")?,
        item: deviation("item")?,
        item_slope: deviation("item-slope")?,
        segment: deviation("segment")?,
    };
    let items = required("items")?;
    table.finish()?;
    Ok((users, items))
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
