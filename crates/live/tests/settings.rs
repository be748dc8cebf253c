//! Bad input, names of decisions, memory, and answers that are repeated or come in order.

use allocation_counter::measure;
use click_models::{Cascade, Clicks, Context, Dcm, ItemId, ListProtocol as _, ListShape, Pbm, PbmKnown};
use confidence::Probability;
use live::{Among, Ask, Entry, Error, Handle, InOrder, Live, Settings, Skips, Taken};
use policies::{Decision, Drawing, PbmTs, PrefixTs, PrefixUcb, Propensity, Select as _, Tally, Update as _};
use rand::{RngExt as _, SeedableRng, rngs::ChaCha8Rng};

fn shape() -> ListShape {
    ListShape::new(5, 3).unwrap()
}

fn live(settings: Settings) -> Result<Live<Cascade, PrefixTs>, Error> {
    Live::new(PrefixTs::new(shape()), settings)
}

#[test]
fn settings_out_of_range_are_refused() {
    let default = Settings::default();
    assert_eq!(live(Settings { window: Some(0), ..default }).unwrap_err(), Error::EmptyWindow);
    assert_eq!(live(Settings { keep_open: 0, ..default }).unwrap_err(), Error::NothingOpen);
    for explore in [-0.1, 1.1, f64::NAN] {
        let error = live(Settings { explore, ..default }).unwrap_err();
        assert!(error.to_string().contains("from 0 to 1"), "{error}");
    }
}

#[test]
fn limits_that_are_never_reached_need_no_memory() {
    let most = usize::MAX;
    let settings =
        Settings { window: Some(most), keep_open: most, keep_retired: most, ..Settings::default() };
    let mut live = live(settings).unwrap();
    let mut restored: Live<Cascade, PrefixTs> =
        serde_json::from_str(&serde_json::to_string(&live).unwrap()).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    for live in [&mut live, &mut restored] {
        let item = live.add_item();
        assert_eq!(live.decide(&1, Among::Only(&[item]), rng), [item]);
        assert_eq!((live.close(&1, None), live.tally(item, 0).shows), (Taken::Counted, 1));
        assert!(live.retire(item));
    }
}

/// The set of the items that were last asked for is kept.
#[test]
fn items_that_are_asked_for_again_are_those_that_are_present() {
    let mut live = live(Settings { keep_retired: 1, ..Settings::default() }).unwrap();
    let items: Vec<Handle> = live.items().collect();
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    let (mut id, two) = (0, [items[1], items[4]]);
    let mut shown = |live: &mut Live<Cascade, PrefixTs>, among| {
        id += 1;
        let mut list = live.decide(&id, among, rng).to_vec();
        list.sort_unstable();
        list
    };
    assert_eq!(shown(&mut live, Among::Only(&two)), two);
    assert_eq!(shown(&mut live, Among::Only(&[])), []);
    assert_eq!(shown(&mut live, Among::Only(&two)), two);
    assert_eq!(shown(&mut live, Among::Except(&two)), [items[0], items[2], items[3]]);
    assert_eq!(shown(&mut live, Among::Only(&two)), two);
    assert!(live.retire(items[4]));
    assert_eq!(shown(&mut live, Among::Only(&two)), [items[1]]);
    assert!(live.bring_back(items[4]));
    assert_eq!(shown(&mut live, Among::Only(&two)), two);
    assert!(live.retire(items[4]) && live.forget(items[4]));
    let next = live.add_item();
    assert_eq!(next.slot, items[4].slot);
    assert_eq!(shown(&mut live, Among::Only(&two)), [items[1]]);
    assert_eq!(shown(&mut live, Among::Only(&[items[1], next])), [items[1], next]);
}

#[test]
fn lists_that_cannot_have_been_shown_are_refused_and_change_nothing() {
    let mut live = live(Settings::default()).unwrap();
    let items: Vec<Handle> = live.items().collect();
    let old = Handle { generation: 7, ..items[0] };
    let unknown = Handle { slot: ItemId::new(99), generation: 0 };
    let before = serde_json::to_string(&live).unwrap();
    assert_eq!(live.show(&1, &Context::default(), &[items[0], old]), Err(Error::UnknownItem(old)));
    assert_eq!(live.show(&1, &Context::default(), &[unknown]), Err(Error::UnknownItem(unknown)));
    assert_eq!(live.show(&1, &Context::default(), &[items[2], items[2]]), Err(Error::RepeatedItem(items[2])));
    assert_eq!(live.click(&1, 0), Taken::Unknown);
    assert_eq!(live.close(&1, None), Taken::Unknown);
    assert!(
        ![old, unknown]
            .into_iter()
            .any(|item| live.retire(item) || live.bring_back(item) || live.forget(item))
    );
    assert_eq!(serde_json::to_string(&live).unwrap(), before);
    assert_eq!(live.show(&1, &Context::default(), &items[..2]), Ok(Taken::Counted));
    assert_eq!(live.show(&1, &Context::default(), &items[2..]), Ok(Taken::Repeated));
    assert_eq!((live.click(&1, 2), live.click(&1, 63), live.click(&1, 64)), {
        let none = Taken::NoSuchPosition;
        (none, none, none)
    });
    assert_eq!((live.close(&1, Some(0)), live.close(&1, Some(0))), (Taken::Counted, Taken::Repeated));
    assert_eq!((live.close(&1, Some(900)), live.close(&1, None)), (Taken::Counted, Taken::Repeated));
    assert!(items[..2].iter().all(|&item| live.tally(item, 0).shows == 1));
    // A policy that counts positions apart knows only its own.
    let examination = [1.0, 0.5, 0.2].map(|value| Probability::new(value).unwrap());
    let policy = PbmTs::new(PbmKnown::new(shape(), &examination).unwrap());
    let mut live = Live::<Pbm, _>::new(policy, Settings::default()).unwrap();
    assert_eq!(
        live.show(&1, &Context::default(), &items),
        Err(Error::TooManyPositions { positions: 5, most: 3 })
    );
}

#[test]
fn an_empty_catalogue_gives_empty_lists_and_takes_their_answers() {
    let mut live =
        Live::<Cascade, _>::empty(PrefixTs::new(shape()), Settings { explore: 1.0, ..Settings::default() })
            .unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    assert!(live.decide(&1, Among::All, rng).is_empty());
    assert_eq!((live.click(&1, 0), live.close(&1, None)), (Taken::NoSuchPosition, Taken::Counted));
    let items = [(); 7].map(|()| live.add_item());
    assert_eq!(live.decide(&2, Among::Only(&items[6..]), rng), &items[6..]);
    assert!(live.decide(&3, Among::Except(&items), rng).is_empty());
}

#[test]
fn names_of_decisions_are_the_clients_and_the_oldest_are_forgotten() {
    let settings = Settings { keep_open: 2, ..Settings::default() };
    let mut live = Live::<Cascade, _, String>::new(PrefixTs::new(shape()), settings).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    for name in ["a", "b", "c"] {
        live.decide(&name.to_owned(), Among::All, rng);
    }
    let taken = ["a", "b", "c"].map(|name| live.click(&name.to_owned(), 0));
    assert_eq!(taken, [Taken::Unknown, Taken::Counted, Taken::Counted]);
}

#[test]
fn retired_items_beyond_the_limit_are_forgotten_in_order() {
    let mut live = live(Settings { keep_retired: 2, ..Settings::default() }).unwrap();
    let items: Vec<Handle> = live.items().collect();
    for _ in 0..100 {
        assert!(live.retire(items[4]) && live.bring_back(items[4]));
    }
    for &item in &items[..4] {
        assert!(live.retire(item));
    }
    assert_eq!(live.items().collect::<Vec<_>>(), items[2..]);
    assert!(!live.bring_back(items[0]) && live.bring_back(items[3]));
}

#[test]
fn answers_that_are_sent_twice_change_no_list() {
    let play = |times: usize| -> Vec<Vec<Handle>> {
        let mut live = live(Settings { window: Some(50), ..Settings::default() }).unwrap();
        let rng = &mut ChaCha8Rng::seed_from_u64(3);
        let users = &mut ChaCha8Rng::seed_from_u64(4);
        let decide = |id: u64| {
            let list = live.decide(&id, Among::All, rng).to_vec();
            let late = id.saturating_sub(users.random_range(0..5));
            let position = users.random_range(0..3);
            for _ in 0..times {
                _ = live.click(&late, position);
                _ = live.close(&id, None);
            }
            list
        };
        (0..2_000).map(decide).collect()
    };
    assert_eq!(play(1), play(2));
}

#[test]
fn a_display_that_counts_at_once_is_corrected_by_its_answer() {
    let settings = Settings { skips: Skips::AtOnce, ..Settings::default() };
    let mut live = Live::<Dcm, _>::new(PrefixUcb::cascade(shape()), settings).unwrap();
    let list = live.decide(&1, Among::All, &mut ChaCha8Rng::seed_from_u64(1)).to_vec();
    let shows = |live: &Live<Dcm, PrefixUcb>| list.iter().map(|&item| live.tally(item, 0).shows).sum::<u64>();
    assert_eq!(shows(&live), 3);
    assert_eq!((live.click(&1, 1), shows(&live)), (Taken::Counted, 2));
    // The list was never shown.
    let list = live.decide(&2, Among::All, &mut ChaCha8Rng::seed_from_u64(1)).to_vec();
    let list: [Handle; 3] = list.try_into().unwrap();
    let counted = list.map(|item| live.tally(item, 0).shows);
    assert_eq!(live.close(&2, Some(0)), Taken::Counted);
    assert_eq!(list.map(|item| live.tally(item, 0).shows + 1), counted);
}

#[test]
fn decisions_and_answers_allocate_nothing_once_their_memory_was_used() {
    let settings = Settings { window: Some(20), keep_open: 100, explore: 0.1, ..Settings::default() };
    let mut live = live(settings).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    let except: Vec<Handle> = live.items().take(1).collect();
    let mut round = |id: u64| {
        let among = if id.is_multiple_of(2) { Among::All } else { Among::Except(&except) };
        live.decide(&id, among, rng);
        let late = id.saturating_sub(id % 7);
        _ = live.click(&late, 1);
        _ = live.click(&late, 0);
        _ = live.close(&late, Some(2));
    };
    (0..1_000).for_each(&mut round);
    let allocated = measure(|| (1_000..3_000).for_each(&mut round));
    assert_eq!(allocated.count_total, 0);
}

#[test]
fn a_policy_in_order_learns_what_it_learns_at_once() {
    let (mut direct, mut late) =
        (PrefixTs::new(shape()), InOrder::<Cascade, _>::new(PrefixTs::new(shape()), 10));
    let rng = &mut ChaCha8Rng::seed_from_u64(5);
    let mut decisions = Vec::new();
    for id in 0..10_u64 {
        let action = late.decide(&id, rng).clone();
        decisions.push(Decision { action, note: () });
    }
    // Answers from the last decision to the first; nothing is learned until the first is closed.
    for id in (0..10_u64).rev() {
        assert_eq!(late.n_waiting(), 10);
        let click = usize::try_from(id % 4).unwrap();
        assert_eq!(late.click(&id, click) == Taken::NoSuchPosition, click == 3);
        assert_eq!(late.close(&id), Taken::Counted);
    }
    assert_eq!(late.n_waiting(), 0);
    for (id, decision) in decisions.iter().enumerate() {
        let clicks = if id % 4 == 3 { Clicks::new(3) } else { Clicks::new(3).with(id % 4) };
        direct.update(decision, &Cascade::read(clicks, 3));
    }
    let mut same = late.policy().clone();
    let next = |policy: &mut PrefixTs| {
        let mut decision = Decision::default();
        policy.select(&mut ChaCha8Rng::seed_from_u64(6), &mut decision);
        decision
    };
    assert_eq!(next(&mut same), next(&mut direct));
}

#[test]
fn a_policy_in_order_waits_for_so_many_decisions_and_is_saved_whole() {
    let mut policy = InOrder::<Cascade, _>::new(PrefixTs::new(shape()), 3);
    let rng = &mut ChaCha8Rng::seed_from_u64(5);
    for id in 0..6_u64 {
        policy.decide(&id, rng);
        assert!(policy.n_waiting() <= 4);
    }
    assert_eq!((policy.click(&1, 0), policy.click(&2, 0)), (Taken::Unknown, Taken::Counted));
    let saved = serde_json::to_string(&policy).unwrap();
    let restored: InOrder<Cascade, PrefixTs> = serde_json::from_str(&saved).unwrap();
    assert_eq!(serde_json::to_string(&restored).unwrap(), saved);
    assert_eq!(restored.n_waiting(), policy.n_waiting());
}

#[test]
fn decisions_are_repeated_with_the_same_lists_and_states() {
    let settings = Settings { explore: 0.3, window: Some(20), ..Settings::default() };
    let (mut first, mut again) = (live(settings).unwrap(), live(settings).unwrap());
    let items: Vec<Handle> = first.items().collect();
    let rngs = &mut [1, 1].map(ChaCha8Rng::seed_from_u64);
    for (id, round) in (0..500).zip(0_usize..) {
        let among = if round % 3 == 0 { Among::Except(&items[..1]) } else { Among::All };
        let positions = 1 + round % 4;
        let list = first.decide(&id, Ask { among, positions, ..Ask::default() }, &mut rngs[0]).to_vec();
        assert_eq!(list.len(), positions.min(3));
        assert_eq!(
            again.decide_again(&id, Ask { among, positions, ..Ask::default() }, &list, &mut rngs[1]),
            Ok(true)
        );
        for live in [&mut first, &mut again] {
            assert_eq!(live.click(&id, positions), Taken::NoSuchPosition);
            assert_eq!(live.click(&id, round % list.len()), Taken::Counted);
            assert_eq!(live.close(&id, None), Taken::Counted);
        }
    }
    let saved = |live: &Live<Cascade, PrefixTs>| serde_json::to_string(live).unwrap();
    assert_eq!(saved(&first), saved(&again));
    // A list that would not be chosen now is taken as it was.
    let absent = [items[4], items[3]];
    assert_eq!(again.decide_again(&900, Among::Only(&items[..3]).into(), &absent, &mut rngs[1]), Ok(false));
    assert_eq!(again.decide(&900, Among::All, &mut rngs[1]), absent);
    let twice = again.decide_again(&901, Ask::default(), &[items[0]; 2], &mut rngs[1]);
    assert_eq!(twice, Err(Error::RepeatedItem(items[0])));
    assert_eq!(again.click(&901, 0), Taken::Unknown);
}

#[test]
fn decisions_are_forgotten_from_the_oldest() {
    let mut live = live(Settings { keep_open: 3, ..Settings::default() }).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    for id in 0..5 {
        live.decide(&id, Among::All, rng);
    }
    assert_eq!((live.oldest().copied(), live.forget_oldest()), (Some(2), Some(2)));
    assert_eq!(live.oldest(), Some(&3));
    assert_eq!((live.click(&2, 0), live.click(&3, 0)), (Taken::Unknown, Taken::Counted));
    live.decide(&5, Among::All, rng);
    live.decide(&6, Among::All, rng);
    assert_eq!((live.close(&3, None), live.close(&5, None)), (Taken::Unknown, Taken::Counted));
    assert!((0..3).all(|_| live.forget_oldest().is_some()) && live.forget_oldest().is_none());
}

/// Shares among draws, for the items that may be shown; kept with the decision and saved with it.
#[test]
fn open_decisions_know_their_propensities() {
    let epsilon = Probability::new(0.12).unwrap();
    let propensities = Some(Drawing::new(50, epsilon).unwrap());
    let settings = Settings { propensities, ..Settings::default() };
    let explores = live(Settings { explore: 0.1, ..settings }).unwrap_err();
    assert_eq!(explores, Error::ExploresTwice);
    assert!(explores.to_string().contains("`explore` is above 0"));
    let mut live = live(settings).unwrap();
    let items: Vec<Handle> = live.items().collect();
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    let mut weights = [0.0; 3];
    for id in 0..30_000 {
        // Four items for three positions, of which two are shown.
        let list = live
            .decide(&id, Ask { among: Among::Except(&items[4..]), positions: 2, ..Ask::default() }, rng)
            .to_vec();
        let of = live.propensities(&id).unwrap();
        assert!(of.len() == 2 && of[0].item == of[0].prefix && of[1].prefix >= 0.12 / 12.0 - 1e-12);
        let target = [items[1], items[0]];
        let holds = [list[0] == target[0], list[1] == target[1], list == target];
        for (weight, (holds, propensity)) in
            weights.iter_mut().zip(holds.into_iter().zip([of[0].item, of[1].item, of[1].prefix]))
        {
            *weight += if holds { 1.0 / propensity } else { 0.0 };
        }
        _ = live.click(&id, rng.random_range(0..6));
        _ = live.close(&id, None);
        if id % 1_000 == 0 {
            let saved = serde_json::to_string(&live).unwrap();
            let restored: Live<Cascade, PrefixTs> = serde_json::from_str(&saved).unwrap();
            assert_eq!(restored.propensities(&id), live.propensities(&id));
            live = restored;
        }
    }
    // Three standard errors, with a standard deviation of at most the root of 1 / (0.12 / 12).
    assert!(weights.iter().all(|weight| (weight / 30_000.0 - 1.0).abs() < 0.06), "{weights:?}");
    assert_eq!(live.show(&u64::MAX, &Context::default(), &items[..2]), Ok(Taken::Counted));
    assert_eq!(live.propensities(&u64::MAX), Some(&[][..]));
    assert_eq!(live.propensities(&(u64::MAX - 1)), None);
    // One item: it is shown whatever is drawn.
    live.decide(&40_000, Among::Only(&items[..1]), rng);
    assert_eq!(live.propensities(&40_000).unwrap(), [Propensity { item: 1.0, prefix: 1.0 }]);
}

#[test]
fn the_table_has_an_entry_for_each_item_with_bounds() {
    let mut live = live(Settings::default()).unwrap();
    let items: Vec<Handle> = live.items().collect();
    assert!(live.begin_with(items[1], 0, Tally { shows: 200, clicks: 20 }));
    assert!(live.retire(items[1]) && live.retire(items[2]) && live.forget(items[2]));
    let table: Vec<Entry> = live.table().collect();
    assert_eq!(
        table.iter().map(|entry| entry.item).collect::<Vec<_>>(),
        [items[0], items[1], items[3], items[4]]
    );
    assert_eq!((table[1].tally, table[1].kind), (Tally { shows: 200, clicks: 20 }, 0));
    assert_eq!(table[0].interval(), [0.0, 1.0]);
    let examination = [1.0, 0.5].map(|examined| Probability::new(examined).unwrap());
    let known = PbmKnown::new(ListShape::new(3, 2).unwrap(), &examination).unwrap();
    let by_position = Live::<Pbm, _>::new(PbmTs::new(known), Settings::default()).unwrap();
    let kinds: Vec<usize> = by_position.table().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [0, 1, 0, 1, 0, 1]);
}
