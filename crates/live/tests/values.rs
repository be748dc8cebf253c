//! Values of items, told and of answers; groups and pins.

use click_models::value::{BestList, GoesOn, Offer};
use click_models::{Cascade, Dcm, ItemId, ListShape, Pbm, PbmKnown};
use confidence::Probability;
use live::{Among, Ask, ByName, Error, Handle, ItemValues, Live, ObservationRule, Settings, Taken};
use policies::catalogue::{CatalogueProtocol, NamedLive};
use policies::{AnyPolicy, Drawing, PrefixTs, PrefixUcb, Tally};
use rand::{Rng, RngExt as _, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution as _, LogNormal};
use std::collections::BTreeMap;
use std::time::Instant;

type Cascading = Live<Cascade, PrefixTs>;

fn cascading(n_items: usize, n_positions: usize, settings: Settings) -> (Cascading, Vec<Handle>) {
    let policy = PrefixTs::new(ListShape::new(n_items, n_positions).unwrap());
    let live = Cascading::new(policy, settings).unwrap();
    let items = live.items().collect();
    (live, items)
}

fn of_answers(cap: Option<f64>) -> Settings {
    Settings { values: ItemValues::Answers { cap }, ..Settings::default() }
}

/// The value of a click: decision, position, value, revision.
#[derive(Debug, Clone, Copy)]
struct Message(u64, usize, f64, Option<u64>);

#[test]
fn values_in_any_order_give_the_same_table() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for sequence in 0..1_000 {
        let with_revisions = sequence % 2 == 0;
        let (mut live, items) = cascading(4, 2, of_answers(Some(40.0)));
        let mut lists = BTreeMap::new();
        for id in 0..6_u64 {
            lists.insert(id, live.decide(&id, Among::All, &mut rng).to_vec());
            _ = live.click(&id, (id % 2) as usize);
            _ = live.close(&id, None);
        }
        let mut messages: Vec<Message> = (0..20)
            .map(|_| {
                let id = rng.random_range(0..6);
                let revision = with_revisions.then(|| rng.random_range(0..4));
                Message(id, (id % 2) as usize, f64::from(rng.random_range(0..1_000)) / 9.0, revision)
            })
            .collect();
        messages.extend_from_within(..5);
        // The plain reference: in the order of arrival, or by the largest revision and value.
        let mut holds: BTreeMap<u64, (u64, f64)> = BTreeMap::new();
        let forgotten = items[sequence % 4];
        for (number, &Message(id, position, value, revision)) in messages.iter().enumerate() {
            let taken = live.earned(&id, position, value, revision).unwrap();
            let before = holds.get(&id).copied();
            let new = (revision.unwrap_or(0), value);
            let after = before.filter(|&before| revision.is_some() && before > new).unwrap_or(new);
            holds.insert(id, after);
            let expected = if before == Some(after) { Taken::Repeated } else { Taken::Counted };
            assert_eq!(taken, expected, "{sequence}, {number}");
            if sequence % 3 == 0 && number % 7 == 0 {
                live = serde_json::from_slice(&serde_json::to_vec(&live).unwrap()).unwrap();
            } else if sequence % 3 == 1 && number % 7 == 0 {
                live = postcard::from_bytes(&postcard::to_allocvec(&live).unwrap()).unwrap();
            }
            if sequence % 5 == 0 && number == 12 {
                assert!(live.retire(forgotten) && live.forget(forgotten));
            }
        }
        if with_revisions {
            let mut other: Cascading = serde_json::from_slice(&serde_json::to_vec(&live).unwrap()).unwrap();
            for &Message(id, position, value, revision) in messages.iter().rev() {
                assert_eq!(other.earned(&id, position, value, revision), Ok(Taken::Repeated));
            }
        }
        let mut of_items: BTreeMap<Handle, Vec<f64>> = BTreeMap::new();
        for (id, (_, value)) in holds {
            let item = lists[&id][(id % 2) as usize];
            if sequence % 5 != 0 || item != forgotten {
                of_items.entry(item).or_default().push(value);
            }
        }
        let all: Vec<f64> = of_items.values().flatten().copied().collect();
        let mean = if all.is_empty() { 1.0 } else { all.iter().sum::<f64>() / all.len() as f64 };
        for &item in &items {
            if !live.is_known(item) {
                continue;
            }
            let orders = of_items.get(&item).cloned().unwrap_or_default();
            let sum: f64 = orders.iter().sum();
            assert_eq!(live.orders(item).n(), orders.len() as u64);
            assert!((live.orders(item).sum() - sum).abs() < 1e-9 * (1.0 + sum));
            let value = ((5.0 * mean + sum) / (5.0 + orders.len() as f64)).min(40.0);
            let found = live.value(item);
            assert!((found - value).abs() < 1e-9, "{sequence}: {found} {value}");
        }
    }
}

/// Commit order and revisions are not mixed: which value holds would depend on the order.
#[test]
fn a_value_without_a_revision_after_one_with_is_refused() {
    let (mut live, _) = cascading(4, 2, of_answers(None));
    let item = live.decide(&1, Among::All, &mut ChaCha8Rng::seed_from_u64(1))[0];
    _ = live.click(&1, 0);
    for (value, revision, taken) in [
        (9.0, None, Ok(Taken::Counted)),
        (8.0, None, Ok(Taken::Counted)),
        (7.0, Some(0), Ok(Taken::Counted)),
        (9.0, Some(3), Ok(Taken::Counted)),
        (8.0, Some(2), Ok(Taken::Repeated)),
        (0.0, None, Err(Error::NoRevision(0))),
        (0.0, Some(4), Ok(Taken::Counted)),
    ] {
        assert_eq!(live.earned(&1, 0, value, revision), taken, "{value} {revision:?}");
    }
    assert_eq!((live.orders(item).n(), live.orders(item).sum()), (1, 0.0));
}

/// Values that were told do not come back after those of answers, and these do not stay.
#[test]
fn values_begin_anew_when_they_are_told_again() {
    let (mut live, items) = cascading(4, 2, Settings::default());
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    assert_eq!(live.set_value(items[0], 5.0), Ok(true));
    live.set_settings(of_answers(None)).unwrap();
    assert_eq!(live.value(items[0]), 1.0);
    let shown = live.decide(&1, Among::All, rng)[0];
    _ = live.click(&1, 0);
    assert_eq!(live.earned(&1, 0, 70.0, None), Ok(Taken::Counted));
    assert_eq!(live.value(shown), 70.0);
    live.set_settings(Settings::default()).unwrap();
    assert!(items.iter().all(|&item| live.value(item) == 1.0));
    assert_eq!(live.set_value(items[1], 3.0), Ok(true));
    assert_eq!((live.value(items[1]), live.value(shown)), (3.0, if shown == items[1] { 3.0 } else { 1.0 }));
    // The orders are still known.
    live.set_settings(of_answers(None)).unwrap();
    assert_eq!(live.value(shown), 70.0);
}

/// A policy of sixty items, the first of which are surely best, in this order.
fn learned<I: ObservationRule + CatalogueProtocol>(
    spec: &str,
    known: I::Known<'_>,
    settings: Settings,
) -> (Live<I, NamedLive<I>>, Vec<Handle>) {
    let policy = NamedLive::<I>::build(spec.parse().unwrap(), known, None).unwrap();
    let mut live = Live::<I, NamedLive<I>>::new(policy, settings).unwrap();
    let items: Vec<Handle> = live.items().collect();
    for (number, &item) in (0..).zip(&items) {
        for kind in 0..live.entries(item).count() {
            let clicks = (1 << 30) / (2 + number);
            live.begin_with(item, kind, Tally { shows: 1 << 31, clicks });
        }
    }
    (live, items)
}

#[test]
fn a_random_item_is_shown_at_the_last_place_that_pins_leave() {
    let settings = Settings { explore: 1.0, ..Settings::default() };
    let shape = ListShape::new(60, 5).unwrap();
    let (mut live, items) = learned::<Cascade>("cascade-ts", shape.into(), settings);
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    let all: &[&[(usize, Handle)]] = &[
        &[],
        &[(4, items[59])],
        &[(0, items[59])],
        &[(4, items[59]), (2, items[58])],
        &[(3, items[57]), (4, items[0])],
    ];
    for (number, pins) in (0..).zip(all) {
        let is_free = |place: &usize| pins.iter().all(|(at, _)| at != place);
        let last = (0..5).rev().find(is_free).unwrap();
        let best = items.iter().filter(|item| pins.iter().all(|(_, pinned)| pinned != *item));
        let best: Vec<Handle> = best.take(5 - pins.len()).copied().collect();
        let mut explored = BTreeMap::new();
        for id in 0..400_u64 {
            let list = live.decide(&(1_000 * number + id), Ask { pins, ..Ask::default() }, rng).to_vec();
            let mut others = best.iter();
            for (place, item) in list.iter().enumerate() {
                match pins.iter().find(|(at, _)| *at == place) {
                    Some((_, pinned)) => assert_eq!(item, pinned),
                    None if place == last => *explored.entry(*item).or_insert(0) += 1,
                    None => assert_eq!(Some(item), others.next(), "{list:?}"),
                }
            }
        }
        // A random item that the list has already changes nothing.
        let n_best = explored.remove(&best[4 - pins.len()]).unwrap_or(0);
        assert!((5..80).contains(&n_best) && explored.len() > 50, "{pins:?}: {n_best}, {explored:?}");
        assert!(explored.keys().all(|item| !best.contains(item)));
    }
}

/// Positions that are examined more have the better items, also of a short list.
#[test]
fn a_list_of_fewer_positions_has_the_best_items() {
    let examination = EXAMINATION.map(|examined| Probability::new(examined).unwrap());
    let known = PbmKnown::new(ListShape::new(60, 4).unwrap(), &examination).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    let mut of = |settings: Settings, ids: std::ops::Range<u64>, positions: usize, order: &[usize]| {
        let (mut live, items) = learned::<Pbm>("pbm-ts", known.into(), settings);
        for id in ids {
            let list = live.decide(&id, Ask { positions, ..Ask::default() }, rng).to_vec();
            let expected: Vec<Handle> = order.iter().map(|&rank| items[rank]).collect();
            assert_eq!(list, expected, "{positions}");
            let drawn = live.propensities(&id).map_or(0, <[_]>::len);
            assert_eq!(drawn, if settings.propensities.is_some() { positions } else { 0 });
        }
    };
    let drawn =
        Settings { propensities: Some(Drawing::new(3, Probability::ZERO).unwrap()), ..Settings::default() };
    for settings in [Settings::default(), drawn] {
        of(settings, 0..20, 4, &[2, 0, 3, 1]);
        of(settings, 0..20, 3, &[1, 0, 2]);
        of(settings, 0..20, 2, &[1, 0]);
        of(settings, 0..20, 1, &[0]);
    }
}

#[test]
fn a_restored_policy_with_values_makes_the_same_choices() {
    for settings in [Settings::default(), of_answers(None), Settings { window: Some(50), ..of_answers(None) }]
    {
        let (mut live, items) = cascading(100, 3, Settings { estimate_prior: true, ..settings });
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        for (number, &item) in items.iter().enumerate() {
            live.set_group(item, Some(["books", "games", "tools"][number % 3])).unwrap();
            if settings.values == ItemValues::Told {
                assert_eq!(live.set_value(item, 1.0 + number as f64), Ok(true));
            }
        }
        for id in 0..500_u64 {
            let ask = Ask { most: Some(1), positions: [1, 2, 3][(id % 3) as usize], ..Ask::default() };
            live.decide(&id, ask, rng);
            if id % 4 == 0 && live.click(&id, 0) == Taken::Counted && settings.values != ItemValues::Told {
                assert_eq!(live.earned(&id, 0, (id % 7) as f64, None), Ok(Taken::Counted));
            }
            _ = live.close(&id, None);
        }
        let by_text: Cascading = serde_json::from_slice(&serde_json::to_vec(&live).unwrap()).unwrap();
        let by_bytes: Cascading = postcard::from_bytes(&postcard::to_allocvec(&live).unwrap()).unwrap();
        assert_eq!(by_text.settings(), live.settings());
        let mut all = [live, by_text, by_bytes].map(|live| (live, ChaCha8Rng::seed_from_u64(2)));
        for id in 500..1_000_u64 {
            let lists = all.each_mut().map(|(live, rng)| {
                let list = live.decide(&id, Ask { most: Some(2), ..Ask::default() }, rng).to_vec();
                _ = live.click(&(id - 3), 1);
                if settings.values != ItemValues::Told {
                    _ = live.earned(&(id - 3), 1, 3.0, None);
                }
                _ = live.close(&id, None);
                list
            });
            assert!(lists[0] == lists[1] && lists[0] == lists[2], "{id}");
            let (live, _) = &all[0];
            let of = |group| lists[0].iter().filter(|&&item| live.group(item) == Some(group)).count();
            assert!(of("books") <= 2 && of("games") <= 2 && of("tools") <= 2);
        }
    }
}

#[test]
fn damaged_values_are_refused() {
    let (mut live, items) = cascading(3, 2, of_answers(Some(9.0)));
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    live.decide(&1, Among::All, rng);
    assert_eq!((live.click(&1, 0), live.earned(&1, 0, 7.5, Some(3))), (Taken::Counted, Ok(Taken::Counted)));
    live.set_group(items[0], Some("books")).unwrap();
    live.decide(&2, Among::All, rng);
    let saved = serde_json::to_value(&live).unwrap();
    let damaged = |pointer: &str, value: serde_json::Value| {
        let mut saved = saved.clone();
        *saved.pointer_mut(pointer).expect(pointer) = value;
        serde_json::from_value::<Cascading>(saved).err().map(|error| error.to_string())
    };
    assert_eq!(damaged("/estimator/worth/groups", serde_json::json!([1])), None);
    for (pointer, value) in [
        ("/estimator/worth/groups", serde_json::json!([2])),
        ("/estimator/worth/groups", serde_json::json!([1, 1, 1, 1])),
        ("/policy/live/values/orders", serde_json::json!([[1, 0, 0], [u64::MAX, 0, 0]])),
        ("/policy/live/values/orders", serde_json::json!([[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]])),
        ("/estimator/worth/open/0/0", serde_json::json!(2)),
        ("/estimator/worth/open/0/1", serde_json::json!(1)),
        ("/estimator/worth/open/0/2/value", serde_json::json!(-1.0)),
        ("/policy/live/values/cap", serde_json::json!(0.0)),
        ("/policy/live/values/of", serde_json::json!([1.0, 2.0])),
        ("/policy/live/values/of", serde_json::json!([1.0, 2.0, -1.0])),
        ("/policy/live/values/scale", serde_json::json!(-1.0)),
    ] {
        assert!(damaged(pointer, value.clone()).is_some(), "{pointer} {value}");
    }
}

#[test]
fn bad_input_is_named_and_changes_nothing() {
    let (mut live, items) = cascading(4, 3, Settings::default());
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    live.decide(&1, Among::All, rng);
    assert_eq!(live.click(&1, 1), Taken::Counted);
    let before = serde_json::to_string(&live).unwrap();
    for value in [-1.0, f64::NAN, f64::INFINITY, 1.000_001e9] {
        let is_value = |error: Error| matches!(error, Error::Value(_));
        assert!(live.set_value(items[0], value).is_err_and(is_value));
        assert!(live.earned(&1, 1, value, None).is_err_and(is_value));
        let values = [(items[0], 1.0), (items[1], value)];
        assert!(live.check(&Ask { values: &values, ..Ask::default() }).is_err_and(is_value));
    }
    assert_eq!(live.earned(&1, 0, 1.0, None), Err(Error::NoClick(0)));
    assert_eq!(live.earned(&1, 3, 1.0, None), Ok(Taken::NoSuchPosition));
    assert_eq!(live.earned(&2, 0, 1.0, None), Ok(Taken::Unknown));
    let gone = Handle { slot: ItemId::new(9), generation: 0 };
    assert_eq!(live.set_value(gone, 2.0), Ok(false));
    assert_eq!(live.set_group(gone, Some("books")), Ok(false));
    let check = |live: &mut Cascading, ask: Ask<'_>| live.check(&ask).unwrap_err();
    let twice = [(items[0], 1.0), (items[0], 2.0)];
    assert_eq!(check(&mut live, Ask { values: &twice, ..Ask::default() }), Error::RepeatedItem(items[0]));
    assert_eq!(check(&mut live, Ask { values: &[(gone, 1.0)], ..Ask::default() }), Error::UnknownItem(gone));
    assert_eq!(check(&mut live, Ask { most: Some(0), ..Ask::default() }), Error::NoneOfAGroup);
    assert_eq!(check(&mut live, Ask { most: Some(2), ..Ask::default() }), Error::NoGroups);
    let pins = [(0, items[1]), (2, items[1])];
    assert_eq!(check(&mut live, Ask { pins: &pins, ..Ask::default() }), Error::PinnedTwice(items[1]));
    let pins = [(0, items[1]), (0, items[2])];
    assert_eq!(check(&mut live, Ask { pins: &pins, ..Ask::default() }), Error::PinnedTwice(items[2]));
    let among = Among::Except(&items[..2]);
    let ask = Ask { pins: &[(0, items[1])], among, ..Ask::default() };
    assert_eq!(check(&mut live, ask), Error::PinNotAvailable(items[1]));
    assert_eq!(check(&mut live, Ask { pins: &[(0, gone)], ..Ask::default() }), Error::PinNotAvailable(gone));
    let ask = Ask { pins: &[(2, items[1])], positions: 2, ..Ask::default() };
    assert_eq!(check(&mut live, ask), Error::PinBeyondList { position: 2, positions: 2 });
    assert_eq!(serde_json::to_string(&live).unwrap(), before);

    let settings =
        Settings { propensities: Some(Drawing::new(3, Probability::ZERO).unwrap()), ..Settings::default() };
    let (mut live, items) = cascading(4, 3, settings);
    assert_eq!(
        check(&mut live, Ask { pins: &[(0, items[1])], ..Ask::default() }),
        Error::TermsAndPropensities
    );
    let (mut live, items) = cascading(4, 3, of_answers(None));
    assert_eq!(live.set_value(items[0], 2.0), Err(Error::ValuesOfAnswers));
    for cap in [0.0, -1.0, f64::NAN] {
        assert!(live.set_settings(of_answers(Some(cap))).is_err_and(|error| matches!(error, Error::Cap(_))));
    }

    let shape = ListShape::new(4, 3).unwrap();
    let mut ucb = Live::<Cascade, PrefixUcb>::new(PrefixUcb::cascade(shape), Settings::default()).unwrap();
    let items: Vec<Handle> = ucb.items().collect();
    assert_eq!(ucb.set_value(items[0], 2.0), Err(Error::NoValues));
    assert_eq!(ucb.check(&Ask { values: &[(items[0], 2.0)], ..Ask::default() }), Err(Error::NoValues));
    assert_eq!(ucb.set_settings(of_answers(None)), Err(Error::NoValues));
    let refused = Live::<Cascade, PrefixUcb>::new(PrefixUcb::cascade(shape), of_answers(None));
    assert_eq!(refused.err(), Some(Error::NoValues));
    let dcm = NamedLive::<Dcm>::build("dcm-ts".parse().unwrap(), shape, None).unwrap();
    let mut dcm = <dyn ByName<u64>>::new(AnyPolicy::from(dcm), Settings::default()).unwrap();
    assert_eq!(dcm.set_value(items[0], 2.0), Err(Error::NoValues));
}

/// A shop of six items: attraction, value, group.
fn shop(rng: &mut impl Rng) -> Vec<(f64, f64, usize)> {
    let scale = [0.1, 0.4, 0.9][rng.random_range(0..3)];
    (0..6)
        .map(|_| {
            let value = 1.0 + 6.0 * rng.random::<f64>();
            (0.01 + scale * rng.random::<f64>(), value, rng.random_range(0..4))
        })
        .collect()
}

type Earned<'a> = &'a dyn Fn(&[usize]) -> f64;

const EXAMINATION: [f64; 4] = [0.5, 0.9, 0.3, 0.6];

/// The most that an allowed list of full length earns, `earned` of a list of items; 0 if there is
/// none.
fn most(
    shop: &[(f64, f64, usize)],
    (n_positions, limit): (usize, usize),
    pins: &[(usize, usize)],
    earned: &dyn Fn(&[usize]) -> f64,
) -> f64 {
    fn extend(
        list: &mut Vec<usize>,
        n_positions: usize,
        fits: &dyn Fn(&[usize]) -> bool,
        earned: &dyn Fn(&[usize]) -> f64,
    ) -> f64 {
        let mut best = if list.len() == n_positions { earned(list) } else { 0.0 };
        for item in 0..6 {
            list.push(item);
            if list.len() <= n_positions && fits(list) {
                best = f64::max(best, extend(list, n_positions, fits, earned));
            }
            list.pop();
        }
        best
    }
    let fits = |list: &[usize]| {
        let last = list.len() - 1;
        let of_group = |&&item: &&usize| shop[item].2 == shop[list[last]].2;
        !list[..last].contains(&list[last])
            && (shop[list[last]].2 == 0 || list.iter().filter(of_group).count() <= limit)
            && pins.iter().all(|&(at, item)| (at == last) == (item == list[last]))
    };
    // Lists that groups make shorter may not reach a pinned place, and are left out.
    extend(&mut vec![], n_positions, &fits, earned)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 2^39")]
fn lists<I: ObservationRule + CatalogueProtocol>(
    spec: &str,
    known: I::Known<'_>,
    shop: &[(f64, f64, usize)],
    (limit, pins): (usize, &[(usize, usize)]),
    with_values: bool,
) -> Vec<usize> {
    let policy = NamedLive::<I>::build(spec.parse().unwrap(), known, None).unwrap();
    let mut live = Live::<I, NamedLive<I>>::new(policy, Settings::default()).unwrap();
    let items: Vec<Handle> = live.items().collect();
    for (&item, &(attraction, value, group)) in items.iter().zip(shop) {
        for (kind, examined) in EXAMINATION.into_iter().enumerate().take(live.entries(item).count()) {
            let shows = 1_u64 << 39;
            let examined = if spec.starts_with("pbm") { examined } else { 1.0 };
            live.begin_with(
                item,
                kind,
                Tally { shows, clicks: (shows as f64 * attraction * examined) as u64 },
            );
        }
        live.set_group(item, (group > 0).then(|| ["a", "b", "c"][group - 1])).unwrap();
        if with_values {
            live.set_value(item, value).unwrap();
        }
    }
    let has_groups = shop.iter().any(|&(.., group)| group > 0);
    let pins: Vec<(usize, Handle)> = pins.iter().map(|&(at, item)| (at, items[item])).collect();
    let ask = Ask { most: has_groups.then_some(limit), pins: &pins, ..Ask::default() };
    live.check(&ask).unwrap();
    let list = live.decide(&1, ask, &mut ChaCha8Rng::seed_from_u64(1)).to_vec();
    let number = |item: &Handle| items.iter().position(|other| other == item).unwrap();
    // Feedback at a pinned place is that of the pinned item, which moves up in a short list.
    for &(at, item) in &pins {
        let shown = list.iter().position(|&other| other == item).unwrap();
        assert!(shown == at || list.len() <= at);
        let kind = if live.entries(item).count() > 1 { shown } else { 0 };
        let before = live.tally(item, kind);
        assert_eq!(live.click(&1, shown), Taken::Counted);
        let after = live.tally(item, kind);
        assert_eq!((after.shows, after.clicks), (before.shows + 1, before.clicks + 1));
    }
    list.iter().map(number).collect()
}

#[test]
fn no_allowed_list_of_1163_shops_is_better() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let examination = EXAMINATION.map(|examined| Probability::new(examined).unwrap());
    for number in 0..1_163 {
        let (shop, n_positions) = (shop(&mut rng), rng.random_range(2..=4));
        let limit = rng.random_range(1..=2);
        let pins: Vec<(usize, usize)> =
            (number % 2..1).map(|_| (rng.random_range(0..n_positions), rng.random_range(0..6))).collect();
        let shape = ListShape::new(6, n_positions).unwrap();
        let known = || PbmKnown::new(shape, &examination[..n_positions]).unwrap();
        let rules = (limit, &*pins);
        let by_position = |list: &[usize], of: &dyn Fn(usize) -> f64| -> f64 {
            list.iter().zip(EXAMINATION).map(|(&item, examined)| of(item) * examined).sum()
        };
        let (clicks, value) = (|item: usize| shop[item].0, |item: usize| shop[item].0 * shop[item].1);
        let going_on = |list: &[usize], click: f64| {
            list.iter().rev().fold(0.0, |below, &item| {
                let attraction = shop[item].0;
                attraction + (1.0 - attraction + click * attraction) * below
            })
        };
        let of_clicks = |list: &[usize]| by_position(list, &clicks);
        let of_value = |list: &[usize]| by_position(list, &value);
        let of_cascade = |list: &[usize]| going_on(list, 0.0);
        let of_dcm = |list: &[usize]| going_on(list, 0.6);
        // Lists of dependent clicks are not limited in the order in which clicks are most.
        let cases: [(&str, Vec<usize>, Earned<'_>); 4] = [
            ("clicks", lists::<Pbm>("pbm-ts", known().into(), &shop, rules, false), &of_clicks),
            ("value", lists::<Pbm>("pbm-ts", known().into(), &shop, rules, true), &of_value),
            ("cascade", lists::<Cascade>("cascade-ucb1", shape.into(), &shop, rules, false), &of_cascade),
            ("dcm", lists::<Dcm>("dcm-ts", shape.into(), &shop, rules, false), &of_dcm),
        ];
        for (name, list, earned) in cases {
            let (found, best) = (earned(&list), most(&shop, (n_positions, limit), &pins, earned));
            assert!(
                found >= best * (1.0 - 1e-4),
                "{name} {number}: {found} of {best}, {list:?}, {limit}, {pins:?}, {shop:?}"
            );
        }
    }
}

/// The list of a cascade with values and groups earns nearly what the best allowed list does: the
/// mean and the worst of 400 shops at each attraction, which docs/values.md tells.
#[test]
fn groups_in_a_cascade_cost_a_part_of_its_value() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let shape = ListShape::new(6, 3).unwrap();
    let parts = [0.03, 0.1, 0.3].map(|attraction| {
        let parts: Vec<f64> = (0..400)
            .map(|_| {
                let item = |number: usize| {
                    let value = log_normal(0.8, &mut rng);
                    (attraction * (0.5 + rng.random::<f64>()), value, 1 + number % 3)
                };
                let shop: Vec<(f64, f64, usize)> = (0..6).map(item).collect();
                let of_value = |list: &[usize]| {
                    let earn = |below: f64, &item: &usize| {
                        shop[item].0 * shop[item].1 + (1.0 - shop[item].0) * below
                    };
                    list.iter().rev().fold(0.0, earn)
                };
                let list = lists::<Cascade>("cascade-ts", shape.into(), &shop, (1, &[]), true);
                of_value(&list) / most(&shop, (3, 1), &[], &of_value)
            })
            .collect();
        assert!(parts.iter().all(|part| *part < 1.0 + 1e-4));
        let mean = parts.iter().sum::<f64>() / parts.len() as f64;
        [mean, parts.into_iter().fold(1.0, f64::min)].map(|part| format!("{part:.3}"))
    });
    assert_eq!(parts, [["1.000", "0.991"], ["1.000", "0.975"], ["0.999", "0.917"]]);
}

/// Every policy with a table keeps to groups and pins, whichever items may be shown, and explores
/// within them.
#[test]
fn every_policy_keeps_to_groups_and_pins() {
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    let settings = Settings { explore: 0.3, ..Settings::default() };
    for row in policies::catalogue::rows() {
        let shape = ListShape::new(90, 5).unwrap();
        let Ok(policy) = NamedLive::<Cascade>::build(row.spec(), shape, None) else { continue };
        let mut live = Live::<Cascade, NamedLive<Cascade>>::new(policy, settings).unwrap();
        let items: Vec<Handle> = live.items().collect();
        for (number, &item) in items.iter().enumerate() {
            live.set_group(item, Some(&(number % 4).to_string())).unwrap();
        }
        for id in 0..300_u64 {
            let pinned = items[rng.random_range(0..90)];
            let at = rng.random_range(0..5);
            let among = if id % 2 == 0 { Among::All } else { Among::Only(&items) };
            let list =
                live.decide(&id, Ask { most: Some(2), pins: &[(at, pinned)], among, ..Ask::default() }, rng);
            let list = list.to_vec();
            assert!(list.len() == 5 && list[at] == pinned, "{}: {list:?}", row.name);
            for group in 0..4 {
                let of_group = list.iter().filter(|item| item.slot.index() % 4 == group);
                assert!(of_group.count() <= 2, "{}: {list:?}", row.name);
            }
            _ = live.click(&id, rng.random_range(0..9));
            _ = live.close(&id, None);
        }
        // Too few for the pinned place: it moves up.
        let ask = Ask { pins: &[(4, items[7])], among: Among::Only(&items[6..8]), ..Ask::default() };
        assert_eq!(live.decide(&1_000, ask, rng), [items[6], items[7]], "{}", row.name);
    }
}

/// An item of the table: probability of a click, of a purchase after it, and price.
type Article = (f64, f64, f64);

const VISITS: u64 = 6_000;
const SHOPS: u64 = 40;

/// A shop of thirty articles that sell at about this rate; whether clicks fall with the price.
fn articles(rate: f64, against_price: bool, rng: &mut impl Rng) -> Vec<Article> {
    let article = |_| {
        let price = log_normal(0.8, rng);
        let fall = if against_price { 1.0 / price } else { 1.0 };
        let click = (0.3 * fall * log_normal(0.4, rng)).min(0.95);
        (click, (rate / 0.3 * log_normal(0.4, rng)).min(0.95), price)
    };
    (0..30).map(article).collect()
}

/// A log-normal number of median 1.
fn log_normal(deviation: f64, rng: &mut impl Rng) -> f64 {
    LogNormal::new(0.0, deviation).unwrap().sample(rng)
}

/// How a policy is paid.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Paid {
    Clicks,
    Purchases,
    Coin,
    Answers,
    Prices,
}

/// Regret in value of all visits, as a share of the best list's; of random lists without a policy.
fn regret(articles: &[Article], paid: Option<Paid>, in_cascade: bool, seed: u64) -> f64 {
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    let (cap, mean_order) = (10.0, 1.133_148_453_066_826_3);
    let bought = |item: usize| articles[item].0 * articles[item].1;
    let worth = |item: usize| articles[item].2 * mean_order;
    let examination = [1.0, 0.7, 0.5, 0.35, 0.25];
    let earned = |list: &[usize]| -> f64 {
        if in_cascade {
            GoesOn::CASCADE.earned(list.iter().map(|&item| (bought(item), worth(item))))
        } else {
            list.iter().zip(examination).map(|(&item, examined)| examined * bought(item) * worth(item)).sum()
        }
    };
    let best: Vec<usize> = if in_cascade {
        let mut best = BestList::default();
        for item in 0..30_u32 {
            let (attraction, value) = (bought(item as usize), worth(item as usize));
            best.offer(Offer { item, attraction, value, tie: 0 });
        }
        best.find(GoesOn::CASCADE, 5).iter().map(|offer| offer.item as usize).collect()
    } else {
        let mut all: Vec<usize> = (0..30).collect();
        all.sort_by(|&one, &other| (bought(other) * worth(other)).total_cmp(&(bought(one) * worth(one))));
        all.truncate(5);
        all
    };
    let optimum = earned(&best);
    let settings = if paid == Some(Paid::Answers) { of_answers(None) } else { Settings::default() };
    let shape = ListShape::new(30, 5).unwrap();
    let mut live: Box<dyn ByName<u64>> = if in_cascade {
        let policy = NamedLive::<Cascade>::build("cascade-ts".parse().unwrap(), shape, None).unwrap();
        <dyn ByName<u64>>::new(policy.into(), settings).unwrap()
    } else {
        let examination = examination.map(|examined| Probability::new(examined).unwrap());
        let known = PbmKnown::new(shape, &examination).unwrap();
        let policy = NamedLive::<Pbm>::build("pbm-ts".parse().unwrap(), known, None).unwrap();
        <dyn ByName<u64>>::new(policy.into(), settings).unwrap()
    };
    let items = live.items();
    if paid == Some(Paid::Prices) {
        for (&item, &(.., price)) in items.iter().zip(articles) {
            live.set_value(item, price).unwrap();
        }
    }
    let mut lost = 0.0;
    for id in 0..VISITS {
        let chosen: Vec<usize> =
            live.decide(&id, Ask::default(), rng).iter().map(|item| item.slot.index()).collect();
        let list = if paid.is_none() { rand::seq::index::sample(rng, 30, 5).into_vec() } else { chosen };
        lost += optimum - earned(&list);
        for (position, &item) in list.iter().enumerate() {
            let (click, buys, price) = articles[item];
            let is_seen = in_cascade || rng.random::<f64>() < examination[position];
            let is_clicked = is_seen && rng.random::<f64>() < click;
            let order = (is_clicked && rng.random::<f64>() < buys).then(|| price * log_normal(0.5, rng));
            let reported = match paid {
                None => false,
                Some(Paid::Clicks) => is_clicked,
                Some(Paid::Coin) => order.is_some_and(|order| rng.random::<f64>() < order / cap),
                Some(_) => order.is_some(),
            };
            if reported {
                _ = live.click(&id, position);
                if let (Some(order), Some(Paid::Answers)) = (order, paid) {
                    _ = live.earned(&id, position, order, None);
                }
            }
            // A visitor buys at most one article; of clicks, the cascade reads the first.
            if in_cascade && (order.is_some() || reported) {
                break;
            }
        }
        _ = live.close(&id, None);
    }
    lost / (VISITS as f64 * optimum)
}

/// The table of docs/values.md.
#[test]
fn table() {
    let mut table = String::from(
        "| what is reported | bought about .02, independent of price | .02, against price | .1, independent | .1, against price |\n|---|---|---|---|---|\n",
    );
    for in_cascade in [true, false] {
        let users = if in_cascade { "cascade" } else { "position-based" };
        for (name, paid) in [
            ("random lists", None),
            ("clicks", Some(Paid::Clicks)),
            ("purchases", Some(Paid::Purchases)),
            ("a coin of value / 10", Some(Paid::Coin)),
            ("purchases, values of answers", Some(Paid::Answers)),
            ("purchases, known prices", Some(Paid::Prices)),
        ] {
            let mut line = format!("| {users}: {name} |");
            for (rate, against) in [(0.02, false), (0.02, true), (0.1, false), (0.1, true)] {
                let each: Vec<f64> = (0..SHOPS)
                    .map(|seed| {
                        let articles = articles(rate, against, &mut ChaCha8Rng::seed_from_u64(seed));
                        100.0 * regret(&articles, paid, in_cascade, seed)
                    })
                    .collect();
                let mean = each.iter().sum::<f64>() / SHOPS as f64;
                let variance = each.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (SHOPS - 1) as f64;
                let error = (variance / SHOPS as f64).sqrt();
                line.extend([" ", &format!("{mean:.1} +- {error:.1}"), " |"]);
            }
            table.extend([&line, "\n"]);
        }
    }
    println!("{table}");
    assert!(include_str!("../../../docs/values.md").contains(&table));
}

/// Prints the median time of a list of 10,000 items, which others on the machine hardly change.
#[test]
#[ignore = "prints times"]
#[expect(clippy::disallowed_methods, reason = "it measures")]
fn times() {
    let shape = ListShape::new(10_000, 5).unwrap();
    let examination = [1.0, 0.7, 0.5, 0.35, 0.25].map(|examined| Probability::new(examined).unwrap());
    for in_cascade in [false, true] {
        for (name, settings, n_values) in [
            ("none", Settings::default(), 0),
            ("told", Settings::default(), 10_000),
            ("answers", of_answers(None), 0),
        ] {
            let policy: AnyPolicy = if in_cascade {
                NamedLive::<Cascade>::build("cascade-ts".parse().unwrap(), shape, None).unwrap().into()
            } else {
                let known = PbmKnown::new(shape, &examination).unwrap();
                NamedLive::<Pbm>::build("pbm-ts".parse().unwrap(), known, None).unwrap().into()
            };
            let mut live = <dyn ByName<u64>>::new(policy, settings).unwrap();
            let rng = &mut ChaCha8Rng::seed_from_u64(1);
            for &item in &live.items()[..n_values] {
                live.set_value(item, log_normal(0.8, rng)).unwrap();
            }
            let (n_lists, mut all) = (if in_cascade { 2_000 } else { 20_000 }, [vec![], vec![]]);
            let mut is_earned = false;
            for id in 0..n_lists {
                let begun = Instant::now();
                let list = live.decide(&id, Ask::default(), rng).to_vec();
                all[usize::from(is_earned)].push(begun.elapsed().as_secs_f64() * 1e3);
                is_earned = false;
                let place = rng.random_range(0..5);
                if rng.random::<f64>() < 1.0 / (20.0 + (list[place].slot.index() % 97) as f64) {
                    _ = live.click(&id, place);
                    if settings.values != ItemValues::Told {
                        is_earned = live.earned(&id, place, log_normal(0.8, rng), None).is_ok();
                    }
                }
                _ = live.close(&id, None);
            }
            let users = if in_cascade { "cascade-ts" } else { "pbm-ts" };
            let median = |times: &[f64]| {
                let mut times = times.to_vec();
                times.sort_by(f64::total_cmp);
                times.get(times.len() / 2).copied().unwrap_or_default()
            };
            let [others, after] = &all;
            let ends = [others, after].map(|times| median(&times[times.len() - times.len() / 10..]));
            println!(
                "{users}, {name}: {:.3} ms a list, {:.3} after each of {} orders, at the end {ends:.3?}",
                median(others),
                median(after),
                after.len()
            );
        }
    }
}
