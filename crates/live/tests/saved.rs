//! Saved states: the same choices afterwards, and damage that is refused.

use allocation_counter::measure;
use click_models::{Cascade, Clicks, ClicksOnly, Dcm, ListProtocol, ListShape, Pbm, PbmKnown, SemiBandit};
use confidence::Probability;
use live::{Among, Handle, InOrder, Live, ObservationRule, Settings};
use policies::catalogue::{self, CatalogueProtocol, NamedLive};
use policies::{
    Decision, Drawing, Drawn, MAX_COUNT, NamedPolicy, PolicySpec, PrefixTs, Propensity, Select as _,
    Tallies as _, Tally, Update as _,
};
use rand::{RngExt as _, SeedableRng, rngs::ChaCha8Rng};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

type Cascading = Live<Cascade, PrefixTs>;

fn used() -> Cascading {
    let settings = Settings { window: Some(3), keep_open: 8, ..Settings::default() };
    let mut live = Cascading::new(PrefixTs::new(ListShape::new(5, 3).unwrap()), settings).unwrap();
    let items: Vec<Handle> = live.items().collect();
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    for id in 0..30_u64 {
        live.decide(&id, Among::All, rng);
        _ = live.click(&id, rng.random_range(0..4));
        _ = live.close(&(id / 2), None);
    }
    assert!(live.retire(items[0]) && live.retire(items[1]) && live.forget(items[0]));
    live
}

#[test]
fn a_restored_policy_makes_the_same_choices() {
    let mut live = used();
    let mut restored: Cascading = serde_json::from_slice(&serde_json::to_vec(&live).unwrap()).unwrap();
    let rngs = &mut [(); 2].map(|()| ChaCha8Rng::seed_from_u64(2));
    for id in 25..2_000_u64 {
        let [one, other] = rngs;
        let list = live.decide(&id, Among::All, one).to_vec();
        assert_eq!(list, restored.decide(&id, Among::All, other));
        let late = id - 3;
        for position in [1, 0].into_iter().take((id % 3) as usize) {
            assert_eq!(live.click(&late, position), restored.click(&late, position));
        }
        assert_eq!(live.close(&late, None), restored.close(&late, None));
        if id % 100 == 0 {
            assert_eq!(live.add_item(), restored.add_item());
            assert_eq!(live.retire(list[0]), restored.retire(list[0]));
        }
    }
}

/// Plays with a policy that begins with counts of any size, and saves and restores it. Whether
/// there is such a policy for the protocol.
fn counts_are_restored<I: ObservationRule + ListProtocol + CatalogueProtocol>(
    name: &str,
    known: I::Known<'_>,
    begin: u64,
    window: Option<usize>,
) -> bool {
    let spec: PolicySpec = name.parse().unwrap();
    let Ok(policy) = NamedLive::<I>::build(spec, known, None) else { return false };
    let settings = Settings { window, ..Settings::default() };
    let mut live = Live::<I, NamedLive<I>>::new(policy, settings).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    for item in live.items().collect::<Vec<_>>() {
        for kind in 0..live.policy().n_kinds() {
            let clicks = [0, begin, begin / 2][rng.random_range(0..3)];
            live.begin_with(item, kind, Tally { shows: begin, clicks });
        }
    }
    for id in 0..60 {
        if id % 10 == 0 {
            let bytes = postcard::to_allocvec(&live).unwrap();
            live = postcard::from_bytes(&bytes).unwrap_or_else(|error| panic!("{name}, {begin}: {error}"));
            assert_eq!(postcard::to_allocvec(&live).unwrap(), bytes, "{name}");
        }
        assert_eq!(live.decide(&id, Among::All, rng).len(), 3, "{name}");
        _ = live.click(&id, rng.random_range(0..3));
        _ = live.close(&id, None);
    }
    true
}

#[test]
fn what_was_counted_can_be_restored_whatever_its_size() {
    let shape = ListShape::new(40, 3).unwrap();
    let examination = [1.0, 0.5, 0.0].map(|value| Probability::new(value).unwrap());
    let mut played = 0;
    for row in catalogue::rows().iter().filter(|policy| policy.live == catalogue::Live::Table) {
        for (begin, window) in [(u64::MAX, None), (MAX_COUNT, None), (MAX_COUNT / 2, Some(5))] {
            let known = PbmKnown::new(shape, &examination).unwrap();
            played += u32::from(counts_are_restored::<Pbm>(row.name, known.into(), begin, window));
            played += u32::from(counts_are_restored::<Pbm>(row.name, shape.into(), begin, window));
            played += u32::from(counts_are_restored::<Cascade>(row.name, shape.into(), begin, window));
            played += u32::from(counts_are_restored::<Dcm>(row.name, shape.into(), begin, window));
            played += u32::from(counts_are_restored::<SemiBandit>(row.name, shape.into(), begin, window));
            played += u32::from(counts_are_restored::<ClicksOnly>(row.name, shape, begin, window));
        }
    }
    assert!(played > 100, "{played}");
}

/// The error of a state after a change.
fn refused(change: impl FnOnce(&mut Value)) -> String {
    let mut saved = serde_json::to_value(used()).unwrap();
    change(&mut saved);
    serde_json::from_value::<Cascading>(saved).unwrap_err().to_string()
}

#[test]
fn damaged_states_are_refused_by_the_part_at_fault() {
    let items = "the items contradict";
    assert!(refused(|saved| saved["items"]["states"][2] = json!("free")).contains(items));
    assert!(refused(|saved| saved["items"]["free"] = json!([0, 0])).contains(items));
    assert!(refused(|saved| saved["items"]["free"] = json!([4_000_000_000_u32])).contains(items));
    assert!(refused(|saved| saved["items"]["generations"] = json!([1, 2])).contains(items));
    assert!(refused(|saved| saved["items"]["retirements"] = json!(0)).contains(items));
    let window = "a window does not belong";
    assert!(refused(|saved| saved["windows"] = Value::Null).contains(window));
    assert!(refused(|saved| saved["windows"]["most"] = json!(1_u64 << 60)).contains(window));
    assert!(refused(|saved| saved["windows"]["rings"][2]["seen"] = json!([1, 1, 1, 1])).contains(window));
    assert!(refused(|saved| saved["windows"]["rings"][2]["seen"][0] = json!(255)).contains(window));
    assert!(refused(|saved| saved["windows"]["rings"][2]["standing"] = json!(90)).contains(window));
    let decision = "an open decision contradicts";
    assert!(refused(|saved| saved["open"][0][1]["counted"] = json!(1_u64 << 63)).contains(decision));
    assert!(refused(|saved| saved["open"][0][1]["as_clicks"] = json!(7)).contains(decision));
    assert!(refused(|saved| saved["open"][0][1]["end"] = json!(65)).contains(decision));
    assert!(refused(|saved| saved["open"][0][1]["numbers"] = json!([])).contains(decision));
    assert!(refused(|saved| saved["open"][0][1]["list"][0]["slot"] = json!(900)).contains(decision));
    assert!(refused(|saved| saved["open"][0][0] = saved["open"][1][0].clone()).contains(decision));
    assert!(refused(|saved| saved["settings"]["keep_open"] = json!(1)).contains(decision));
    assert!(refused(|saved| saved["settings"]["explore"] = json!(2.0)).contains("a setting is invalid"));
    let of_policy = refused(|saved| saved["policy"]["counts"]["shows"] = json!([1]));
    assert!(of_policy.contains("only 1 item"), "{of_policy}");
}

/// Reads what is saved, cut off anywhere, with bytes changed at random and with sizes and numbers
/// blown up. What is not refused is played with. The numbers of states refused and accepted.
fn damage(saved: &[u8], mut read: impl FnMut(&[u8]) -> Option<String>) -> [u32; 2] {
    let (mut counts, rng) = ([0; 2], &mut ChaCha8Rng::seed_from_u64(5));
    let mut check = |damaged: &[u8]| {
        let error = read(damaged);
        assert!(error.as_ref().is_none_or(|error| !error.is_empty()));
        counts[usize::from(error.is_none())] += 1;
    };
    (0..saved.len()).for_each(|end| check(&saved[..end]));
    for place in 0..saved.len() {
        // A number of nine bytes in binary formats, and of nineteen digits in text.
        for number in [&[0xff; 9][..], b"9999999999999999999"] {
            check(&[&saved[..place], number, &saved[place..]].concat());
            check(&[&saved[..place], number, &saved[place + 1..]].concat());
        }
    }
    for _ in 0..4_000 {
        let mut damaged = saved.to_vec();
        for _ in 0..rng.random_range(1..4) {
            let place = rng.random_range(0..damaged.len());
            damaged[place] = match rng.random_range(0..3) {
                0 => rng.random(),
                1 => damaged[place] ^ 1 << rng.random_range(0..8),
                _ => damaged[rng.random_range(0..saved.len())],
            };
        }
        check(&damaged);
    }
    counts
}

/// Damages a value in text and in bytes. Reading allocates in proportion to what there is to read.
fn damage_all<T: Serialize + DeserializeOwned>(value: &T, play: impl Fn(&mut T)) {
    let limit = |saved: &[u8]| 64 * saved.len() as u64 + 20_000;
    let read = |saved: &[u8], read: &dyn Fn(&[u8]) -> Result<T, String>| {
        let mut found = None;
        let used = measure(|| found = Some(read(saved)));
        assert!(used.bytes_max < limit(saved), "{} bytes of {}", used.bytes_max, saved.len());
        match found.expect("read") {
            Ok(mut usable) => {
                play(&mut usable);
                None
            }
            Err(error) => Some(error),
        }
    };
    let text = serde_json::to_vec(value).unwrap();
    let of_text = damage(&text, |saved| {
        read(saved, &|saved| serde_json::from_slice(saved).map_err(|error| error.to_string()))
    });
    let bytes = postcard::to_allocvec(value).unwrap();
    let of_bytes = damage(&bytes, |saved| {
        read(saved, &|saved| postcard::from_bytes(saved).map_err(|error| error.to_string()))
    });
    assert!(of_text[0] > 1_000 && of_bytes[0] > 1_000, "{of_text:?}, {of_bytes:?}");
    assert!(of_text[1] > 10 && of_bytes[1] > 10, "{of_text:?}, {of_bytes:?}");
}

fn draws() -> Drawing {
    Drawing::new(5, Probability::new(0.1).unwrap()).unwrap()
}

#[test]
fn damaged_bytes_of_live_use_are_refused_or_usable() {
    let plain = used();
    let with_propensities = Settings { propensities: Some(draws()), keep_open: 4, ..Settings::default() };
    let mut drawn = Cascading::new(PrefixTs::new(ListShape::new(4, 2).unwrap()), with_propensities).unwrap();
    (0..4).for_each(|id| _ = drawn.decide(&id, Among::All, &mut ChaCha8Rng::seed_from_u64(id)));
    for live in [plain, drawn] {
        damage_all(&live, |live| {
            let rng = &mut ChaCha8Rng::seed_from_u64(3);
            let items: Vec<Handle> = live.items().collect();
            for id in 20..40 {
                live.decide(&id, Among::All, rng);
                _ = live.click(&(id - 2), rng.random_range(0..4));
                _ = live.close(&id, None);
            }
            live.table().for_each(|entry| assert!(entry.interval()[0] <= entry.interval()[1]));
            for item in items {
                _ = live.retire(item) && live.forget(item);
            }
            live.add_item();
        });
    }
}

#[test]
fn damaged_bytes_of_answers_in_order_are_refused_or_usable() {
    let policy =
        NamedPolicy::<Cascade>::build("top-rank".parse().unwrap(), ListShape::new(4, 2).unwrap(), 500);
    let mut policy = InOrder::<Cascade, _>::new(policy.unwrap(), 5);
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    for id in 0..60 {
        policy.decide(&id, rng);
        _ = policy.click(&id, rng.random_range(0..3));
        _ = policy.close(&(id - id % 3));
    }
    assert!(policy.n_waiting() > 1);
    damage_all(&policy, |policy| {
        let rng = &mut ChaCha8Rng::seed_from_u64(3);
        for id in 50..90 {
            policy.decide(&id, rng);
            _ = policy.click(&id, rng.random_range(0..3));
            _ = policy.close(&(id - id % 3));
        }
    });
    let refused = |change: fn(&mut Value)| {
        let mut saved = serde_json::to_value(&policy).unwrap();
        change(&mut saved);
        serde_json::from_value::<InOrder<Cascade, NamedPolicy<Cascade>>>(saved).unwrap_err().to_string()
    };
    let decision = "an open decision contradicts";
    assert!(refused(|saved| saved["wait"] = json!(0)).contains(decision));
    assert!(refused(|saved| saved["waiting"][0][1]["is_closed"] = json!(true)).contains(decision));
    assert!(refused(|saved| saved["waiting"][1][0] = saved["waiting"][0][0].clone()).contains(decision));
    assert!(refused(|saved| saved["waiting"][1][1]["decision"]["action"] = json!([1])).contains(decision));
}

#[test]
fn damaged_bytes_of_drawn_lists_are_refused_or_usable() {
    for name in ["cascade-ts", "epsilon-greedy", "rba-kl-ucb", "ts-cascade"] {
        let policy = NamedPolicy::<Cascade>::build(name.parse().unwrap(), ListShape::new(4, 2).unwrap(), 500);
        let mut policy = Drawn::new(policy.unwrap(), draws());
        let play = |policy: &mut Drawn<NamedPolicy<Cascade>>| {
            let (rng, mut decision) = (&mut ChaCha8Rng::seed_from_u64(3), Decision::default());
            for round in 0..15 {
                policy.select(rng, &mut decision);
                let possible = |of: &Propensity| of.prefix > 0.0 && of.prefix <= of.item && of.item <= 1.0;
                assert!(policy.propensities().iter().all(possible), "{name}");
                policy.update(&decision, &Cascade::read(Clicks::new(2).with(round % 2), 2));
            }
        };
        play(&mut policy);
        damage_all(&policy, play);
    }
}
