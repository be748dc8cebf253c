//! Values of items, orders that come later, groups and pins.
#![expect(clippy::float_cmp, reason = "values and counts are kept as they are")]

use crate::engine::{Served, body, name, template};
use crate::server::{Server, one_item_config};
use click_bandits_service::api::{DecideBody, Outcome, Receipt, Refusal};
use click_bandits_service::config::{Config, Limits, Template};
use click_bandits_service::engine::{Engine, ItemRow};
use click_bandits_service::event::{Change, Event, Name, Worth};
use click_bandits_service::store::StoreError;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use std::sync::Arc;

fn served(directory: &std::path::Path, template: &Arc<Template>) -> Served {
    let mut served = Served::new(directory, template, &Limits::default());
    served.store.make_for(&template.to_text()).unwrap();
    served.commit(|engine, _, events| {
        for item in ["a", "b", "c", "d", "e", "f"] {
            engine.change_item(&name(item), None, Change::Add, &[], events).unwrap();
        }
    });
    served
}

fn tell(served: &mut Served, item: &str, query: Option<&Name>, value: f64, group: &str) -> Outcome {
    let worth = Worth { value: Some(value), group: Some(name(group)) };
    served.commit(|engine, _, events| engine.set_worth(&name(item), query, worth, events).unwrap())
}

fn decide(served: &mut Served, ask: Value) -> Result<Vec<String>, Refusal> {
    let list = served.commit(|engine, time, events| engine.decide(body(ask), time, events))?;
    Ok(list.items.iter().map(|slot| slot.item.to_string()).collect())
}

fn answer(served: &mut Served, told: Value) -> Result<Receipt, Refusal> {
    served.commit(|engine, _, events| engine.answer(body(told), events))
}

fn rows(engine: &mut Engine, query: &str) -> Vec<ItemRow> {
    engine.rows(&name(query), 0, 100).unwrap().into_iter().map(|(_, row)| row).collect()
}

/// A repetition, with and without a snapshot, has the same table and chooses the same lists.
fn is_repeated(served: &mut Served, queries: &[&str]) {
    for _ in 0..2 {
        let mut twin = served.twin();
        assert_eq!(twin.totals(), served.engine.totals());
        for query in queries {
            assert_eq!(rows(&mut twin, query), rows(&mut served.engine, query), "{query}");
        }
        served.twin().save(&*served.store).unwrap();
    }
}

#[test]
fn values_groups_and_pins_are_kept_and_repeated() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), &template(""));
    let own = name("q");
    decide(&mut served, json!({ "id": "0", "query": "q" })).unwrap();
    assert_eq!(tell(&mut served, "a", None, 50.0, "red"), Outcome::Counted);
    assert_eq!(tell(&mut served, "a", None, 50.0, "red"), Outcome::Repeated);
    tell(&mut served, "b", None, 20.0, "red");
    tell(&mut served, "c", Some(&own), 0.0, "blue");
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(3);
    for n in 1..300 {
        served.time += 1_000;
        let mut ask = json!({ "id": n.to_string(), "query": if n % 3 == 0 { "q" } else { "other" } });
        if n % 2 == 0 {
            ask["values"] = json!({ "e": f64::from(n), "f": 0.5 });
        }
        if n % 5 == 0 {
            ask["pins"] = json!({ "2": "d" });
            ask["most"] = json!(1);
        }
        let list = decide(&mut served, ask.clone()).unwrap();
        assert_eq!(decide(&mut served, ask.clone()).unwrap(), list);
        if n % 5 == 0 {
            let reds = list.iter().filter(|item| ["a", "b"].contains(&item.as_str())).count();
            assert!(list[1] == "d" && reds <= 1, "{list:?}");
            ask["most"] = json!(2);
            assert_eq!(decide(&mut served, ask).unwrap_err().code(), "other_request");
        }
        if rng.random::<f64>() < 0.5 {
            let click = json!({ "id": n.to_string(), "clicks": [1], "value": f64::from(n) / 7.0 });
            answer(&mut served, click).unwrap();
        }
        if n == 150 {
            served.commit(|engine, _, events| {
                engine.change_item(&name("b"), None, Change::Forget, &[], events).unwrap();
                engine.change_item(&name("b"), None, Change::Add, &[], events).unwrap();
            });
            tell(&mut served, "f", None, 3.0, "blue");
        }
    }
    is_repeated(&mut served, &["q", "other"]);
    assert_eq!(served.engine.totals().differing, 0);
    let found = rows(&mut served.twin(), "q");
    let of = |item: &str| found.iter().find(|row| &*row.item == item).unwrap();
    assert_eq!((of("a").value, of("a").group.as_deref()), (50.0, Some("red")));
    assert_eq!((of("b").value, of("b").group.as_deref()), (1.0, None));
    assert_eq!((of("c").value, of("f").value), (0.0, 3.0));
    // Items of new queries have the values of all.
    decide(&mut served, json!({ "id": "new", "query": "new" })).unwrap();
    let of_new = rows(&mut served.engine, "new");
    assert_eq!(of_new.iter().find(|row| &*row.item == "a").unwrap().value, 50.0);
}

/// Late, repeated and revised values give the same table in any order, by a plain reference.
#[test]
fn a_price_for_all_queries_leaves_an_item_retired_in_one() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), &template(""));
    decide(&mut served, json!({ "id": "0", "query": "q" })).unwrap();
    served.commit(|engine, _, events| {
        engine.change_item(&name("c"), Some(&name("q")), Change::Retire, &[], events).unwrap();
    });
    for value in [9.0, 8.0] {
        tell(&mut served, "c", None, value, "blue");
        served.twin().save(&*served.store).unwrap();
        let list = decide(&mut served, json!({ "id": value.to_string(), "query": "q" })).unwrap();
        assert!(!list.contains(&"c".to_owned()), "{list:?}");
        for engine in [&mut served.twin(), &mut served.engine] {
            let found = rows(engine, "q");
            let row = found.iter().find(|row| &*row.item == "c").unwrap();
            assert!(!row.is_present && row.value == value, "{row:?}");
        }
    }
}

#[test]
fn the_same_terms_in_another_order_are_the_same_request() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), &template(""));
    let mut of = |terms: &str| {
        let ask: DecideBody = serde_json::from_str(&format!(r#"{{ "id": "1", {terms} }}"#)).unwrap();
        let list = served.commit(|engine, time, events| engine.decide(ask, time, events)).unwrap();
        list.items.iter().map(|slot| slot.item.to_string()).collect::<Vec<_>>()
    };
    let list = of(r#""values": { "a": 3, "b": 4 }, "pins": { "1": "e", "2": "f" }"#);
    assert_eq!(of(r#""pins": { "2": "f", "1": "e" }, "values": { "b": 4, "a": 3 }"#), list);
}

#[test]
fn values_of_answers_in_any_order_give_the_same_table() {
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(4);
    let template = template("values = 'answers'\ncap = 40.0");
    for sequence in 0..40 {
        let directory = tempfile::tempdir().unwrap();
        let mut served = served(directory.path(), &template);
        let mut messages = vec![];
        let mut expected = std::collections::BTreeMap::<String, (u64, f64)>::new();
        for id in 0..8 {
            let list = decide(&mut served, json!({ "id": id.to_string() })).unwrap();
            answer(&mut served, json!({ "id": id.to_string(), "clicks": [1], "close": true })).unwrap();
            let revisions: Vec<u32> = (1..=rng.random_range(1..4)).collect();
            let value = |revision: u32| f64::from(revision * 10 + id);
            for &revision in &revisions {
                let message =
                    json!({ "id": id.to_string(), "values": { "1": value(revision) }, "revision": revision });
                messages.extend([message.clone(), message]);
            }
            let of = expected.entry(list[0].clone()).or_default();
            *of = (of.0 + 1, of.1 + value(*revisions.last().unwrap()));
        }
        messages.shuffle(rng);
        for message in messages {
            answer(&mut served, message).unwrap();
        }
        let all = expected.values().fold((0, 0.0), |all, of| (all.0 + of.0, all.1 + of.1));
        for row in rows(&mut served.engine, "default") {
            let (n, sum) = expected.get(&*row.item).copied().unwrap_or_default();
            assert_eq!(row.orders, (n, sum), "{sequence}: {}", &*row.item);
            let value = (5.0 * all.1 / all.0 as f64 + sum) / (5.0 + n as f64);
            assert!((row.value - value.min(40.0)).abs() < 1e-9, "{} {value}", row.value);
        }
        is_repeated(&mut served, &["default"]);
    }
}

#[test]
fn an_order_counts_for_its_side_of_a_launch_and_a_list_without_one_as_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let launch = "[launch]\nname = 'autumn'\nsteps = [0.5]\nfirst = 0\n\
                  guards = [{ metric = 'value', worse = 'down', most = 0.1 }]";
    let mut served = served(directory.path(), &template(launch));
    let mut sums = [[0.0; 2]; 2];
    for n in 0..60 {
        let ask = json!({ "id": n.to_string(), "user": format!("u{n}"), "baseline": ["a", "b"] });
        let list = served.commit(|engine, time, events| engine.decide(body(ask), time, events).unwrap());
        let side = &mut sums[usize::from(list.side == Some("policy"))];
        side[0] += 1.0;
        if n % 3 == 0 {
            answer(
                &mut served,
                json!({ "id": n.to_string(), "clicks": [1, 2], "values": { "1": 7, "2": 4 } }),
            )
            .unwrap();
            answer(&mut served, json!({ "id": n.to_string(), "values": { "1": 5 } })).unwrap();
            side[1] += 9.0;
        }
    }
    let told = answer(&mut served, json!({ "id": "0", "metrics": { "value": 99 } }));
    assert!(told.unwrap_err().to_json()["error"]["message"].as_str().unwrap().contains("values of clicks"));
    for engine in [&served.engine, &served.twin()] {
        let (found, _) = engine.launch().unwrap().launch.guard(0);
        for (side, [lists, sum]) in sums.into_iter().enumerate() {
            assert_eq!(found.sessions[side], lists);
            assert!((found.rates[side] - sum / lists).abs() < 1e-9);
        }
    }
}

#[test]
fn items_of_a_configuration_begin_with_values() {
    let directory = tempfile::tempdir().unwrap();
    let items = "items = [{ item = 'a', value = 3, group = 'red' }, 'b', { item = 'c', value = 0.5 }]";
    let config = one_item_config("").replace("items = ['a', 'b', 'c', 'd', 'e']", items);
    assert!(config.contains("group"));
    std::fs::write(directory.path().join("config.toml"), &config).unwrap();
    for _ in 0..2 {
        let server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
        let rows = server.get("/v1/items").1["items"].clone();
        assert_eq!((&rows[0]["value"]["present"], &rows[0]["group"]), (&json!(3.0), &json!("red")));
        assert_eq!((rows[1].get("value"), &rows[2]["value"]["present"]), (None, &json!(0.5)));
        assert!(!server.log().contains("settings-differ"), "{}", server.log());
        server.stop("-KILL");
    }
}

#[test]
fn bad_values_groups_and_pins_are_named_and_change_nothing() {
    let server = Server::start("");
    let put = |path: &str| server.send("PUT", path, "", b"");
    assert_eq!(put("/v1/items/a?value=39.9&group=red").1["outcome"], "counted");
    assert_eq!(put("/v1/items/a?value=39.9&group=red").1["outcome"], "repeated");
    assert_eq!(server.post("/v1/decide", &json!({ "id": "1" })).0, 200);
    assert_eq!(server.post("/v1/clicks", &json!({ "id": "1", "clicks": [1] })).0, 200);
    let before = server.get("/v1/log").1;
    for (path, status, at) in [
        ("/v1/items/a?value=39.9%20EUR", 400, "value"),
        ("/v1/items/a?value=-1", 400, "value"),
        ("/v1/items/a?value=NaN", 400, "value"),
        ("/v1/items/new?value=1e10", 400, "value"),
    ] {
        let (found, answer) = put(path);
        assert_eq!((found, &answer["error"]["at"]), (status, &json!(at)), "{path} {answer}");
    }
    let ask = |more: Value| {
        let mut ask = json!({ "id": "2" });
        ask.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ask
    };
    let tell = |more: Value| {
        let mut told = ask(more);
        told["id"] = json!("1");
        told
    };
    for (path, body, status, at) in [
        ("/v1/decide", ask(json!({ "values": { "a": -1 } })), 400, "values.a"),
        ("/v1/decide", ask(json!({ "values": { "nope": 1 } })), 404, "values.nope"),
        ("/v1/decide", ask(json!({ "values": { "a": "39 EUR" } })), 400, "values"),
        ("/v1/decide", ask(json!({ "most": 0 })), 400, "most"),
        ("/v1/decide", ask(json!({ "pins": { "4": "a" } })), 409, "pins.4"),
        ("/v1/decide", ask(json!({ "pins": { "0": "a" } })), 400, "pins"),
        ("/v1/decide", ask(json!({ "pins": { "1": "nope" } })), 404, "pins.1"),
        ("/v1/decide", ask(json!({ "except": ["a"], "pins": { "1": "a" } })), 409, "pins.1"),
        ("/v1/decide", ask(json!({ "pins": { "1": "a", "2": "a" } })), 409, "pins.2"),
        ("/v1/clicks", tell(json!({ "values": { "2": 5 } })), 409, "values.2"),
        ("/v1/clicks", tell(json!({ "values": { "1": 5, "3": 1 } })), 409, "values.3"),
        ("/v1/clicks", tell(json!({ "values": { "4": 5 } })), 404, "values.4"),
        ("/v1/clicks", tell(json!({ "clicks": [2], "values": { "1": 1e10 } })), 400, "values.1"),
        ("/v1/clicks", tell(json!({ "clicks": [1, 2], "value": 5 })), 409, "value"),
        ("/v1/clicks", tell(json!({ "clicks": [1], "value": 5, "values": { "1": 6 } })), 409, "value"),
        ("/v1/clicks", tell(json!({ "close": true, "revision": 5 })), 409, "revision"),
    ] {
        let (found, answer) = server.post(path, &body);
        let place = answer["error"]["at"].as_str().unwrap_or_default();
        assert!(found == status && place.starts_with(at), "{body} {answer}");
    }
    let twice = br#"{"id": "1", "values": {"1": 5, "1.0": 6}}"#;
    let (status, answer) = server.send("POST", "/v1/clicks", "", twice);
    assert!(
        status == 400 && answer["error"]["message"].as_str().unwrap().contains("is there twice"),
        "{answer}"
    );
    assert_eq!(server.get("/v1/log").1, before);
    // Nobody has a group.
    let plain = Server::start("");
    let (status, answer) = plain.post("/v1/decide", &ask(json!({ "most": 1 })));
    assert_eq!((status, &answer["error"]["at"]), (409, &json!("most")));
    // The policy knows no values.
    let ucb = Server::start_with(&one_item_config("").replace("cascade-ts", "cascade-kl-ucb"), &[]);
    let (status, answer) = ucb.send("PUT", "/v1/items/a?value=2", "", b"");
    let said = answer["error"]["message"].as_str().unwrap();
    assert!(status == 409 && said.contains("no values of items"), "{answer}");
    for (line, fault) in [
        ("cap = 3", "policy.cap: only for values"),
        ("values = 'answers'\ncap = 0", "policy.cap: "),
        ("values = 'sums'", "policy.values"),
    ] {
        let config = one_item_config("").replace("positions = 3", &format!("positions = 3\n{line}"));
        let error = Config::parse(&config).unwrap_err().to_string();
        assert!(error.contains(fault), "{line}: {error}");
    }
    let items = |item: &str| one_item_config("").replace("['a', 'b'", &format!("[{item}, 'b'"));
    assert!(Config::parse(&items("{ item = 'a', value = -1 }")).unwrap_err().to_string().contains("`a`"));
    let config = Config::parse(&items("{ item = 'a', value = 3, group = 'red' }")).unwrap();
    assert_eq!(config.items[0].worth, Worth { value: Some(3.0), group: Some(name("red")) });
}

/// A switch to a policy without values is refused, and nothing of a store without values changes.
#[test]
fn a_policy_without_values_cannot_take_over() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), &template(""));
    let ucb = Config::parse(&one_item_config("").replace("cascade-ts", "cascade-kl-ucb")).unwrap().policy;
    let change = |served: &mut Served| {
        let store = served.store.clone();
        served.commit(|engine, time, events| {
            let differences = engine.differences(&*store, &ucb, &[]).unwrap();
            let changed = engine.change_settings(&differences, time, events);
            changed.map(|()| events.iter().any(|event| matches!(event, Event::Settings { .. })))
        })
    };
    tell(&mut served, "a", Some(&name("far")), 2.0, "red");
    let served_again = served.twin();
    assert_eq!(served_again.next(), served.engine.next());
    served.twin().save(&*served.store).unwrap();
    served.engine = served.twin();
    let refused = change(&mut served).unwrap_err();
    assert!(
        matches!(&refused, Refusal::Store(StoreError::Settings(what)) if what.contains("items have values")),
        "{refused:?}"
    );
}
