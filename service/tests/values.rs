//! Values of items, orders that come later, groups and pins.
#![expect(clippy::float_cmp, reason = "values and counts are kept as they are")]

use crate::engine::{Served, body, exported, name, pbm_fit, template};
use crate::kills::environment;
use crate::server::{Server, one_item_config};
use click_bandits_service::api::{DecideBody, Outcome, Receipt, Refusal};
use click_bandits_service::config::{Config, Limits, Template};
use click_bandits_service::engine::{Deferred, Engine, ItemRow};
use click_bandits_service::event::{Change, Event, Name, Worth};
use click_bandits_service::export::Form;
use click_bandits_service::fitted::FirstEvents;
use click_bandits_service::store::StoreError;
use policies::PolicySpec;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::process::Command;
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
    served.commit(|engine, _, events| engine.set_worth(&name(item), query, &worth, events).unwrap())
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
        assert_eq!(twin.totals, served.engine.totals);
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
        // Lists between two prices are repeated with the price of then.
        if n % 37 == 0 {
            tell(&mut served, "a", None, f64::from(n), "red");
        }
    }
    is_repeated(&mut served, &["q", "other"]);
    assert_eq!(served.engine.totals.differing, 0);
    let found = rows(&mut served.twin(), "q");
    let of = |item: &str| found.iter().find(|row| &*row.item == item).unwrap();
    assert_eq!((of("a").value, of("a").group.as_deref()), (296.0, Some("red")));
    assert_eq!((of("b").value, of("b").group.as_deref()), (1.0, None));
    assert_eq!((of("c").value, of("f").value), (0.0, 3.0));
    // Items of new queries have the values of all.
    decide(&mut served, json!({ "id": "new", "query": "new" })).unwrap();
    let of_new = rows(&mut served.engine, "new");
    assert_eq!(of_new.iter().find(|row| &*row.item == "a").unwrap().value, 296.0);
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
            let mean = all.1 / all.0 as f64;
            let value = (5.0 * mean + sum) / (5.0 + n as f64);
            // The mean of all has eight binary digits.
            let rounded = 5.0 / (5.0 + n as f64) * mean / 256.0 + 1e-9;
            assert!((row.value - value.min(40.0)).abs() < rounded, "{} {value}", row.value);
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
        let (found, _) = engine.launch.as_ref().unwrap().launch.guard(0);
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

/// An update tells the value of an item that is known, and adds none.
#[test]
fn an_update_adds_no_item() {
    let server = Server::start("");
    let update = |path: &str| server.send("PATCH", path, "", b"");
    assert_eq!(update("/v1/items/a?value=40").1["outcome"], "counted");
    assert_eq!(update("/v1/items/a?value=39.9").1["outcome"], "counted");
    let many = json!([{ "item": "a", "change": "update", "value": 39.9 }, { "item": "phantom", "change": "update", "value": 2 }]);
    let (_, answers) = server.post("/v1/items/batch", &many);
    assert_eq!(
        (&answers[0]["outcome"], &answers[1]["error"]["code"]),
        (&json!("repeated"), &json!("unknown_item"))
    );
    assert_eq!(server.send("PUT", "/v1/items/own?query=shoes", "", b"").0, 200);
    assert_eq!(update("/v1/items/own?query=shoes&value=3").1["outcome"], "counted");
    let before = server.get("/v1/log").1;
    for (path, status, at) in [
        ("/v1/items/phantom?value=2", 404, "item"),
        ("/v1/items/own?value=2", 404, "item"),
        ("/v1/items/phantom?value=2&query=shoes", 404, "item"),
        ("/v1/items/phantom?query=shoes", 404, "item"),
        ("/v1/items/phantom", 404, "item"),
        ("/v1/items/a?value=2&query=phantoms", 404, "query"),
        ("/v1/items/a?value=-2", 400, "value"),
        ("/v1/items/a?value=2&features=1", 409, "features"),
        ("/v1/items/a?value=2&forget=true", 400, "forget"),
    ] {
        let (found, answer) = update(path);
        assert_eq!((found, &answer["error"]["at"]), (status, &json!(at)), "{path} {answer}");
    }
    assert_eq!(update("/v1/items/a").1["outcome"], "repeated");
    assert_eq!(server.get("/v1/log").1, before);
}

#[test]
fn bad_values_groups_and_pins_are_named_and_change_nothing() {
    let server = Server::start("");
    let put = |path: &str| server.send("PUT", path, "", b"");
    assert_eq!(put("/v1/items/a?value=39.9&group=red").1["outcome"], "counted");
    assert_eq!(put("/v1/items/a?value=39.9&group=red").1["outcome"], "repeated");
    assert_eq!(server.post("/v1/decide", &json!({ "id": "1" })).0, 200);
    assert_eq!(server.post("/v1/clicks", &json!({ "id": "1", "clicks": [1] })).0, 200);
    assert_eq!(server.post("/v1/decide", &json!({ "id": "revised" })).0, 200);
    let revised = json!({ "id": "revised", "clicks": [1], "value": 5, "revision": 1 });
    assert_eq!(server.post("/v1/clicks", &revised).0, 200);
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
    let of_revised = |more: Value| {
        let mut told = ask(more);
        told["id"] = json!("revised");
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
        ("/v1/clicks", of_revised(json!({ "clicks": [2], "values": { "1": 0 } })), 409, "values.1"),
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

/// A refused request makes no query and no event, also where the query lags behind the items of
/// all.
#[test]
fn a_refused_request_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), &template(""));
    decide(&mut served, json!({ "id": "1", "query": "old" })).unwrap();
    answer(&mut served, json!({ "id": "1", "clicks": [1] })).unwrap();
    for item in ["late", "later"] {
        served.commit(|engine, _, events| {
            engine.change_item(&name(item), None, Change::Add, &[], events).unwrap();
        });
        let state = |engine: &Engine| {
            let queries: Vec<_> = engine.usage(None).map(|(query, usage)| (query.clone(), usage)).collect();
            (engine.next, engine.totals, engine.n_in_memory(), queries)
        };
        let before = state(&served.engine);
        for query in ["old", "new"] {
            let of_query = name(query);
            for terms in
                [json!({ "pins": { "1": "nope" } }), json!({ "pins": { "9": "a" } }), json!({ "most": 1 })]
            {
                let mut ask = json!({ "id": "2", "query": query });
                ask.as_object_mut().unwrap().extend(terms.as_object().unwrap().clone());
                decide(&mut served, ask).unwrap_err();
            }
            for items in [json!(["nope"]), json!(["a", "a"])] {
                let shown = json!({ "id": "2", "query": query, "items": items });
                served.commit(|engine, time, events| engine.show(body(shown), time, events).unwrap_err());
            }
            served.commit(|engine, _, events| {
                let told = Worth { value: Some(2.0), group: None };
                engine.set_worth(&name("nope"), Some(&of_query), &told, events).unwrap_err();
                engine.change_item(&name("nope"), Some(&of_query), Change::Retire, &[], events).unwrap_err();
            });
        }
        answer(&mut served, json!({ "id": "1", "values": { "2": 5 } })).unwrap_err();
        assert_eq!(state(&served.engine), before);
        let list = decide(&mut served, json!({ "id": item, "query": "old", "pins": { "1": item } })).unwrap();
        assert_eq!(list[0], item);
        is_repeated(&mut served, &["old"]);
    }
}

/// In a launch a pin may be an item of today's list that the query does not know yet.
#[test]
fn a_refused_request_of_a_launch_adds_no_items() {
    let directory = tempfile::tempdir().unwrap();
    let launch = "[launch]\nname = 'autumn'\nsteps = [0.5]\nfirst = 0";
    let mut served = served(directory.path(), &template(launch));
    let ask = |pins: Value| json!({ "id": "1", "user": "u", "baseline": ["ad", "b"], "pins": pins });
    let before = served.engine.next;
    decide(&mut served, ask(json!({ "1": "ad", "9": "b" }))).unwrap_err();
    assert_eq!((served.engine.next, served.engine.totals.queries), (before, 0));
    decide(&mut served, ask(json!({ "1": "ad" }))).unwrap();
    is_repeated(&mut served, &["default"]);
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
    assert_eq!(served_again.next, served.engine.next);
    served.twin().save(&*served.store).unwrap();
    served.engine = served.twin();
    let refused = change(&mut served).unwrap_err();
    assert!(
        matches!(&refused, Refusal::Store(StoreError::Settings(what)) if what.contains("items have values")),
        "{refused:?}"
    );
}

/// A list of the engine while the store is away, with the values of its clicks.
#[test]
fn values_of_clicks_wait_for_the_store_like_clicks() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), &template("values = 'answers'"));
    let known = decide(&mut served, json!({ "id": "known" })).unwrap();
    answer(&mut served, json!({ "id": "known", "clicks": [2], "value": 4, "revision": 2 })).unwrap();
    let mut deferred = Deferred::default();
    let list = served.engine.decide_deferred(body(json!({ "id": "x" })), &mut deferred).unwrap();
    let mut tell = |told: Value| served.engine.answer_deferred(body(told), &mut deferred);
    tell(json!({ "id": "x", "clicks": [1] })).unwrap();
    tell(json!({ "id": "x", "values": { "1": 30 } })).unwrap();
    tell(json!({ "id": "x", "clicks": [3], "value": 8 })).unwrap();
    tell(json!({ "id": "known", "values": { "2": 0 }, "revision": 3, "close": true })).unwrap();
    for (told, at) in [
        (json!({ "id": "x", "values": { "2": 5 } }), "values.2"),
        (json!({ "id": "x", "values": { "4": 5 } }), "values.4"),
        (json!({ "id": "known", "values": { "1": 5 } }), "values.1"),
        (json!({ "id": "known", "values": { "2": 5 } }), "values.2"),
    ] {
        let found = tell(told.clone()).unwrap_err().to_json();
        assert_eq!(found["error"]["at"], at, "{told} {found}");
    }
    served.commit(|engine, time, events| engine.record(&mut deferred, time, 100, events).unwrap());
    assert_eq!((deferred.conflicting, served.engine.totals.clicks), (0, 3));
    let found = rows(&mut served.twin(), "default");
    let sum = |item: &str| found.iter().find(|row| &*row.item == item).unwrap().orders;
    let mut expected = BTreeMap::from([(known[1].clone(), (1, 0.0))]);
    for (place, value) in [(0, 30.0), (2, 8.0)] {
        let of = expected.entry(list.items[place].item.to_string()).or_insert((0, 0.0));
        *of = (of.0 + 1, of.1 + value);
    }
    for (item, orders) in expected {
        assert_eq!(sum(&item), orders, "{item}");
    }
    is_repeated(&mut served, &["default"]);
}

/// An item that is not shown has a price all the same, and keeps it.
#[test]
fn a_retired_item_is_priced_and_stays_retired() {
    let server = Server::start("");
    let send = |method: &str, path: &str| server.send(method, path, "", b"");
    // A query knows items that were retired after its first list.
    assert_eq!(server.post("/v1/decide", &json!({ "id": "1" })).0, 200);
    assert_eq!(send("DELETE", "/v1/items/a").1["outcome"], "counted");
    assert_eq!(send("DELETE", "/v1/items/a?value=7&group=red").1["outcome"], "counted");
    assert_eq!(send("DELETE", "/v1/items/a?value=7&group=red").1["outcome"], "repeated");
    let batch = json!([{ "item": "a", "change": "retire", "value": 9 }]);
    assert_eq!(server.post("/v1/items/batch", &batch).0, 200);
    let (status, answer) = send("DELETE", "/v1/items/a?value=7&forget=true");
    assert_eq!((status, &answer["error"]["at"]), (409, &json!("change")));
    let row = server.get("/v1/items/a").1;
    assert_eq!((&row["state"], &row["value"]["present"]), (&json!("retired"), &json!(9.0)), "{row}");
    assert_eq!(send("PUT", "/v1/items/a").1["outcome"], "counted");
    let row = server.get("/v1/items/a").1;
    assert_eq!((&row["group"], &row["value"]["present"]), (&json!("red"), &json!(9.0)), "{row}");
}

/// The file's values hold once they are applied, also of items that are there.
#[test]
fn applied_values_are_those_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), &template(""));
    decide(&mut served, json!({ "id": "0" })).unwrap();
    tell(&mut served, "a", None, 5.0, "red");
    let items = "items = [{ item = 'a', value = 3 }, { item = 'b', value = 2, group = 'red' }, 'c']";
    let config = one_item_config("").replace("items = ['a', 'b', 'c', 'd', 'e']", items);
    let config = Config::parse(&config).unwrap();
    let apply = |served: &mut Served| {
        let (store, template) = (served.store.clone(), Template::clone(&served.engine.template));
        served.commit(|engine, time, events| {
            let differences = engine.differences(&*store, &template, &config.items).unwrap();
            let lines: Vec<String> = differences.lines.iter().map(|[line, _]| line.clone()).collect();
            engine.change_settings(&differences, time, events).unwrap();
            lines
        })
    };
    // Two have other values, and three are gone.
    assert_eq!(apply(&mut served).len(), 5);
    tell(&mut served, "a", None, 8.0, "red");
    served.commit(|engine, _, events| {
        engine.change_item(&name("b"), None, Change::Retire, &[], events).unwrap();
    });
    tell(&mut served, "b", None, 1.0, "blue");
    let lines = apply(&mut served);
    assert_eq!(lines, ["items: `a` is of another value or group", "items: `b` is of another value or group"]);
    assert_eq!(apply(&mut served), Vec::<String>::new());
    decide(&mut served, json!({ "id": "1" })).unwrap();
    let found = rows(&mut served.engine, "default");
    let of = |item: &str| found.iter().find(|row| &*row.item == item).unwrap();
    assert_eq!((of("a").value, of("a").group.as_deref()), (3.0, Some("red")));
    assert_eq!((of("b").value, of("b").is_present, of("b").group.as_deref()), (2.0, false, Some("red")));
    is_repeated(&mut served, &["default"]);
}

/// After values of answers nobody knows those that were told before, whenever a query is used.
#[test]
fn values_begin_anew_when_they_are_told_again() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), &template(""));
    for query in ["early", "late"] {
        decide(&mut served, json!({ "id": query, "query": query })).unwrap();
    }
    tell(&mut served, "a", None, 5.0, "red");
    decide(&mut served, json!({ "id": "1", "query": "early" })).unwrap();
    let config = one_item_config("").replace("'e']", "'e', 'f']");
    let items = Config::parse(&config).unwrap().items;
    for values in ["values = 'answers'", ""] {
        let (store, template) = (served.store.clone(), template(values));
        served.commit(|engine, time, events| {
            let differences = engine.differences(&*store, &template, &items).unwrap();
            engine.change_settings(&differences, time, events).unwrap();
        });
        let clicked = json!({ "id": values, "query": "early" });
        if !values.is_empty() {
            decide(&mut served, clicked).unwrap();
            answer(&mut served, json!({ "id": values, "clicks": [1], "value": 60 })).unwrap();
        }
    }
    tell(&mut served, "b", None, 2.0, "red");
    for query in ["early", "late", "new"] {
        decide(&mut served, json!({ "id": format!("{query}-2"), "query": query })).unwrap();
        for row in rows(&mut served.engine, query) {
            let expected = if &*row.item == "b" { 2.0 } else { 1.0 };
            assert_eq!(row.value, expected, "{query}: {row:?}");
        }
    }
    is_repeated(&mut served, &["early", "late", "new"]);
}

/// The launch cannot watch what a policy never learns.
#[test]
fn a_guard_of_values_needs_a_policy_that_has_them() {
    let guarded = |policy: &str| {
        let launch = "[launch]\nname = 'x'\nsteps = [0.1]\nguards = [{ metric = 'value', worse = 'down', most = 0.1 }]\n";
        Config::parse(&(one_item_config("").replace("'cascade-ts'", policy) + launch))
    };
    guarded("'cascade-ts'").unwrap();
    for policy in ["'cascade-kl-ucb'", "'hybrid-ts'\nsegments = ['x', 'y']"] {
        let error = guarded(policy).unwrap_err().to_string();
        assert!(error.contains("launch.guards: `value`: the policy has no values of items"), "{error}");
    }
    // Whose examination comes from a fit.
    let by_position = one_item_config("").replace("'cascade'", "'pbm'").replace("'cascade-ts'", "'pbm-ts'");
    let items = by_position.replace("['a', 'b'", "[{ item = 'a', value = 3 }, 'b'");
    let launch =
        "[launch]\nname = 'x'\nsteps = [0.1]\nguards = [{ metric = 'value', worse = 'down', most = 0.1 }]\n";
    Config::parse(&(items + launch)).unwrap();
}

/// A refund counts, also if this process has not seen the order.
#[test]
fn a_refund_of_an_earlier_process_is_measured() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("config.toml"), one_item_config("")).unwrap();
    for (value, expected) in [(12.5, "gained_total 12.5\n"), (2.0, "lost_total 10.5\n")] {
        let server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
        server.post("/v1/decide", &json!({ "id": "1" }));
        assert_eq!(server.post("/v1/clicks", &json!({ "id": "1", "clicks": [1], "value": value })).0, 200);
        let metrics = server.get("/metrics").1.as_str().unwrap().to_owned();
        assert!(metrics.contains(&format!("\nclickbandits_value_{expected}")), "{metrics}");
        assert!(server.stop("-TERM"));
    }
}

/// The page and the metrics tell values of a service that has some, and only then.
#[test]
fn values_are_shown_and_measured() {
    let words = ["value_gained_total", "<th>the same, times", "interval, times the item"];
    let server = Server::start("");
    let texts = |server: &Server| {
        ["/metrics", "/"].map(|path| server.get(path).1.as_str().unwrap().to_owned()).concat()
    };
    let answer = |server: &Server, id: &str| {
        server.post("/v1/decide", &json!({ "id": id }));
        assert_eq!(server.post("/v1/clicks", &json!({ "id": id, "clicks": [1], "close": true })).0, 200);
    };
    answer(&server, "1");
    let plain = texts(&server);
    assert!(words.iter().all(|word| !plain.contains(word)), "{plain}");
    // A service without a snapshot has no time of one.
    assert!(!plain.contains("snapshot_time_seconds") && plain.contains("clickbandits_snapshot_event 0"));
    for item in ["a", "b", "c", "d", "e"] {
        assert_eq!(server.send("PUT", &format!("/v1/items/{item}?value=8"), "", b"").0, 200);
    }
    answer(&server, "2");
    for value in [12.5, 2.0] {
        assert_eq!(server.post("/v1/clicks", &json!({ "id": "2", "values": { "1": value } })).0, 200);
    }
    let told = texts(&server);
    assert!(words.iter().all(|word| told.contains(word)), "{told}");
    assert!(told.contains("\nclickbandits_value_gained_total 12.5\n"), "{told}");
    assert!(told.contains("\nclickbandits_value_lost_total 10.5\n"), "{told}");
    // The interval of the value is that of the clicks times 8.
    let row = told.split("<h2>Items of query").nth(1).unwrap().split("<tr><td>").nth(1).unwrap();
    let intervals: Vec<Vec<f64>> = row
        .split("<td class=i>")
        .skip(1)
        .map(|text| {
            let text = text.split('<').next().unwrap();
            text.split(" to ").map(|number| number.parse().unwrap()).collect()
        })
        .collect();
    assert!((intervals[1][1] - 8.0 * intervals[0][1]).abs() < 0.01 * intervals[1][1], "{row}");
}

/// A wrong type is told with its key, in words of JSON.
#[test]
fn a_wrong_type_is_told_in_plain_words() {
    let server = Server::start("");
    server.post("/v1/decide", &json!({ "id": "1" }));
    for (path, body, expected) in [
        ("/v1/clicks", json!({ "id": "1", "value": "12" }), "value: expected a number, got a text at line"),
        ("/v1/clicks", json!({ "id": "1", "clicks": 1 }), "clicks: expected an array, got a number at line"),
        ("/v1/clicks", json!({ "id": "1", "values": [] }), "values: expected an object, got an array at"),
        ("/v1/decide", json!({ "id": "2", "positions": [3] }), "positions: expected a number, got an array"),
        ("/v1/decide", json!({ "id": "2", "only": {} }), "only: expected an array, got an object at line"),
        (
            "/v1/items/batch",
            json!([{ "item": "a", "value": "x" }]),
            "[0].value: expected a number, got a text",
        ),
    ] {
        let (status, refused) = server.post(path, &body);
        let message = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(status == 400 && message.starts_with(expected), "{path} {body}: {refused}");
    }
}

/// The export has a column of values, which `evaluate` reads.
#[test]
fn values_are_exported() {
    let directory = tempfile::tempdir().unwrap();
    let mut served = served(directory.path(), &template(""));
    for n in 0..3 {
        decide(&mut served, json!({ "id": n.to_string() })).unwrap();
        let told = match n {
            0 => json!({ "id": "0", "clicks": [1], "value": 12.5, "close": true }),
            _ => json!({ "id": n.to_string(), "clicks": [2], "close": true }),
        };
        answer(&mut served, told).unwrap();
    }
    answer(&mut served, json!({ "id": "0", "values": { "1": 2 } })).unwrap();
    let (store, out) = (directory.path().to_owned(), directory.path().join("out"));
    drop(served);
    exported(&store, &[], &out, Form::Csv);
    let text = std::fs::read_to_string(out.join("decisions.csv")).unwrap();
    let values: Vec<&str> = text.lines().map(|line| line.rsplit(',').next().unwrap()).collect();
    assert_eq!(values, ["value", "2", "", "", "", "0", "", "", "0", ""]);
}

/// `dcm-ts` goes on after a click as the fit of a log tells, also after a restart without it.
#[test]
fn dcm_ts_takes_the_continuation_of_a_fit() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let positions =
        json!([{ "position": 1, "value": 0.3, "se": 0.1 }, { "position": 2, "value": 0.5, "se": 0.2 }]);
    let mut fit = pbm_fit();
    fit["models"][0]["model"] = json!("dcm");
    fit["models"][0]["site"]["positions"] = positions;
    std::fs::create_dir(at("fit")).unwrap();
    std::fs::write(at("fit/parameters.json"), fit.to_string()).unwrap();
    let config = one_item_config("").replace("'cascade'", "'dcm'").replace("cascade-ts", "dcm-ts");
    let config = config.replace("['a'", "[{ item = 'a', value = 9 }");
    std::fs::write(at("config.toml"), &config).unwrap();
    let start = |from: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_click-bandits-serve"));
        command
            .arg(at("config.toml"))
            .args(["--listen", "127.0.0.1:0"])
            .args(from)
            .current_dir(directory.path());
        Server::run(command)
    };
    assert!(start(&[]).err().unwrap().contains("no values of items"));
    for from in [&["--from", "fit"][..], &[]] {
        let server = start(from).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(server.send("PUT", "/v1/items/b?value=7", "", b"").0, 200);
        assert_eq!(server.get("/v1/items/a").1["value"]["present"], 9.0);
        assert!(!server.log().contains("settings-differ"), "{}", server.log());
        let page = server.get("/").1;
        assert!(
            page.as_str().unwrap().contains("<tr><th>prior of the fit (clicks, no clicks), for queries"),
            "{page}"
        );
        assert!(server.stop("-TERM"));
    }
    let mut template = Config::parse(&config).unwrap().policy;
    FirstEvents::read(&at("fit"), &mut template).unwrap();
    // 0.7 and 0.5, whose weights are 100 and 25.
    let PolicySpec::DcmTs { continuation: Some(found) } = template.policy.0 else { panic!("none") };
    assert!((found.get() - 0.66).abs() < 1e-12);
}

/// Orders that were acknowledged are there after kills, once each, whatever was sent again.
#[test]
fn values_that_were_acknowledged_are_there_after_kills() {
    let directory = tempfile::tempdir().unwrap();
    let config = one_item_config("").replace("positions = 3", "positions = 3\nvalues = 'answers'");
    std::fs::write(directory.path().join("config.toml"), config).unwrap();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut n = 0_u64;
    // The order of each decision: item, value, revision.
    let mut holds: BTreeMap<u64, (String, f64, u64)> = BTreeMap::new();
    for turn in 0..environment("KILLS", 6) {
        let mut server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
        // An acknowledged answer changes nothing when it is sent again.
        for (id, (_, value, revision)) in holds.iter().rev().take(50) {
            let told = json!({ "id": id.to_string(), "clicks": [1], "value": value, "revision": revision });
            assert_eq!(server.post("/v1/clicks", &told).1["outcome"], "repeated");
        }
        let found: BTreeMap<String, Value> = (server.get("/v1/items").1["items"].as_array().unwrap().iter())
            .map(|row| (row["item"].as_str().unwrap().to_owned(), row["value"].clone()))
            .collect();
        for item in ["a", "b", "c", "d", "e"] {
            let of_item: Vec<f64> = holds.values().filter(|of| of.0 == item).map(|of| of.1).collect();
            let orders = found[item]["orders"].as_u64().unwrap_or(0);
            let sum = found[item]["sum"].as_f64().unwrap_or(0.0);
            assert_eq!((orders, sum), (of_item.len() as u64, of_item.iter().sum()), "{turn}: {item}");
        }
        let killed = std::time::Instant::now() + std::time::Duration::from_millis(rng.random_range(50..400));
        std::thread::scope(|scope| {
            let address = server.address.clone();
            let (holds, rng, n) = (&mut holds, &mut rng, &mut n);
            let client = scope.spawn(move || {
                let post = |path: &str, body: &Value| try_post(&address, path, body);
                // It ends with the server; an answer without acknowledgement is sent again to the
                // next one.
                loop {
                    let id = n.to_string();
                    let Some(list) = post("/v1/decide", &json!({ "id": id })) else { return };
                    let item = list["items"][0]["item"].as_str().unwrap().to_owned();
                    for revision in [rng.random_range(0..3), 5] {
                        let value = f64::from(rng.random_range(0..100));
                        // It may be kept without being acknowledged: sent again, the larger one
                        // holds.
                        let value = if revision == 5 { (*n % 50) as f64 } else { value };
                        let told = json!({ "id": id, "clicks": [1], "value": value, "revision": revision });
                        if post("/v1/clicks", &told).is_none() {
                            // It is sent again as the last word.
                            holds.insert(*n, (item, (*n % 50) as f64, 5));
                            return;
                        }
                        holds.insert(*n, (item.clone(), value, revision));
                    }
                    *n += 1;
                }
            });
            std::thread::sleep(killed.saturating_duration_since(std::time::Instant::now()));
            server.process.kill().unwrap();
            server.process.wait().unwrap();
            client.join().unwrap();
        });
        let server = Server::start_in(directory.path(), "127.0.0.1:0").unwrap();
        if let Some((_, value, revision)) = holds.get(&n) {
            let told = json!({ "id": n.to_string(), "clicks": [1], "value": value, "revision": revision });
            assert_eq!(server.post("/v1/clicks", &told).0, 200);
            n += 1;
        }
    }
    assert!(holds.len() > 20, "{}", holds.len());
}

/// The answer, unless the server is gone.
fn try_post(address: &str, path: &str, body: &Value) -> Option<Value> {
    let body = body.to_string();
    let mut stream = std::net::TcpStream::connect(address).ok()?;
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    assert!(head.contains(" 200 "), "{answer}");
    serde_json::from_str(body).ok()
}
