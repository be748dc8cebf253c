//! A stream of requests, over HTTP and to a policy in this process: the same lists, with the same
//! propensities, also where the policy sees who asks.

use crate::server::Server;
use click_bandits_service::config::Config;
use click_bandits_service::event::Context as Told;
use live::{Ask, ByName};
use policies::AnyPolicy;
use policies::catalogue::{ContextKnowledge, Knowledge, Protocol};
use rand::{RngExt as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const POSITIONS: usize = 3;

/// A configuration with items of one feature, or of none.
fn config(policy: &str, item: &str, settings: &str) -> String {
    let items: Vec<String> = (0..8).map(|n| item.replace('N', &n.to_string())).collect();
    format!(
        "items = [{}]\n[policy]\nusers = 'cascade'\npolicy = '{policy}'\npositions = {POSITIONS}\nseed = 5\n{settings}",
        items.join(", ")
    )
}

/// Requests of 400 decisions, over HTTP and in process.
fn are_alike(config: &str, n_features: usize) {
    let (server, template) = (Server::start_with(config, &[]), Config::parse(config).unwrap().policy);
    let context = template.sees_contexts().then(|| ContextKnowledge {
        segments: u32::try_from(template.segments.len()).unwrap(),
        user_features: template.features.len(),
        item_features: vec![0.0; POSITIONS * n_features],
    });
    let known = Knowledge { context, ..Knowledge::sizes(POSITIONS, POSITIONS) };
    let policy = AnyPolicy::build(template.policy.0, Protocol::Cascade, known).unwrap();
    let mut live = <dyn ByName<u64>>::empty(policy, template.settings()).unwrap();
    let features = |n: usize| vec![n as f64 / 4.0 - 1.0; n_features];
    let handles: Vec<_> = (0..8).map(|n| live.add_item_with(&features(n)).unwrap()).collect();
    let seed = Sha256::new().chain_update(5_u64.to_le_bytes()).chain_update("default").finalize();
    let mut of_policy = Xoshiro256PlusPlus::from_seed(seed.into());
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(3);
    let (segments, mut with_propensities) = (["de", "fr", "unknown"], 0);
    for id in 0..400_u64 {
        let mut ask = json!({ "id": id.to_string() });
        let mut user = template.user(None, false).unwrap();
        if rng.random_bool(0.9) && !template.segments.is_empty() {
            let told = json!({
                "segment": segments[rng.random_range(0..3)],
                "features": [rng.random::<f64>(), rng.random_range(-2.0..2.0)],
            });
            let context: Told = serde_json::from_value(told.clone()).unwrap();
            user = template.user(Some(&context), false).unwrap();
            ask["context"] = told;
        }
        let positions = rng.random_range(1..=POSITIONS);
        ask["positions"] = positions.into();
        let (status, list) = server.post("/v1/decide", &ask);
        assert_eq!(status, 200, "{list}");
        let expected =
            live.decide(&id, Ask { user: &user, positions, ..Ask::default() }, &mut of_policy).to_vec();
        let propensities = live.propensities(&id).unwrap_or_default();
        let slots = expected.iter().enumerate().map(|(place, handle)| {
            let n = handles.iter().position(|other| other == handle).unwrap();
            let mut slot = json!({ "item": format!("item {n}"), "position": place + 1 });
            if let Some(of) = propensities.get(place) {
                slot["propensity"] = of.item.into();
                with_propensities += 1;
            }
            slot
        });
        assert_eq!(list["items"], slots.collect::<Value>(), "{id}");
        let click = rng.random_range(1..=POSITIONS);
        let down_to = rng.random_range(1..=expected.len());
        let answer = if click <= expected.len() {
            _ = live.click(&id, click - 1);
            _ = live.close(&id, None);
            json!({ "id": id.to_string(), "clicks": [click], "close": true })
        } else {
            _ = live.close(&id, Some(down_to));
            json!({ "id": id.to_string(), "seen": down_to })
        };
        assert_eq!(server.post("/v1/clicks", &answer).1["outcome"], "counted", "{id}");
    }
    assert_eq!(with_propensities > 0, template.propensities.is_some());
    let rows = server.get("/v1/items").1;
    for (n, &handle) in handles.iter().enumerate() {
        let row =
            rows["items"].as_array().unwrap().iter().find(|row| row["item"] == format!("item {n}")).unwrap();
        let tally = live.entries(handle)[0].tally;
        assert_eq!((&row["shows"], &row["clicks"]), (&json!(tally.shows), &json!(tally.clicks)));
    }
}

#[test]
fn lists_over_http_are_those_in_process() {
    let drawing = "propensities = { draws = 7, epsilon = 0.1 }";
    let users = "segments = ['de', 'fr']\nfeatures = ['age', 'visits']\n";
    let of_items = format!("{users}item-features = ['price']\n");
    for settings in ["", drawing, "explore = 0.3\nwindow = 20"] {
        are_alike(&config("cascade-ts", "'item N'", settings), 0);
    }
    // Contexts that the policy does not see.
    are_alike(&config("cascade-ts", "'item N'", &format!("{users}{drawing}")), 0);
    let item = "{ item = 'item N', features = [FN] }";
    let with_features = |settings: &str| {
        let config = config("hybrid-ts", item, &format!("{of_items}{settings}"));
        (0..8_i32).fold(config, |text, n| {
            text.replace(&format!("[F{n}]"), &format!("[{:?}]", f64::from(n) / 4.0 - 1.0))
        })
    };
    are_alike(&with_features(""), 1);
    are_alike(&with_features(drawing), 1);
}
