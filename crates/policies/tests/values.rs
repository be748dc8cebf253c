//! Lists that earn most: the policies of the catalogue with values of items.

use crate::support::generator;
use click_models::{
    Cascade, Clicks, Context, Dcm, ItemId, ItemSet, ListShape, Pbm, PbmKnown, Ranking, SemiBandit,
};
use confidence::Probability;
use policies::catalogue::{CatalogueProtocol, NamedLive, rows};
use policies::{
    BcMpTs, Decision, Error, ItemValues, PbmGibbs, PbmGibbsOrder, PbmTs, PrefixTs, Select, SelectAmong,
    SelectAmongFor as _, Tallies, Tally, Terms, Update as _, Valued,
};
use rand::RngExt as _;
use statrs::distribution::{ChiSquared, ContinuousCDF as _};
use std::ops::DerefMut as _;
use std::sync::Arc;

fn item(number: usize) -> ItemId {
    ItemId::from_index(number)
}

fn examination() -> Vec<Probability> {
    [0.9, 0.7, 0.5].map(|examined| Probability::new(examined).unwrap()).to_vec()
}

fn known(examination: &[Probability], n_items: usize) -> PbmKnown<'_> {
    PbmKnown::new(ListShape::new(n_items, examination.len()).unwrap(), examination).unwrap()
}

/// How often items were at each position, in rounds in which values also change.
fn places<P>(
    mut policy: P,
    seed: u64,
    among_some: bool,
    price: impl Fn(&mut dyn Valued, usize),
) -> Vec<[u64; 3]>
where
    P: SelectAmong<Ranking> + Tallies,
{
    let (n_items, mut rng) = (policy.n_items(), generator(seed));
    for number in 0..n_items {
        let tally = Tally { shows: 20, clicks: (number % 7) as u64 };
        policy.add(item(number), 0, tally);
    }
    let (mut places, mut decision) = (vec![[0; 3]; n_items], Decision::default());
    let mut available = ItemSet::all(n_items);
    for round in 0..40_000 {
        price(policy.valued().unwrap(), round);
        if among_some {
            available = ItemSet::none(n_items);
            (0..n_items).filter(|number| number % 11 != round % 11).for_each(|number| {
                available.insert(item(number));
            });
            policy.select_among(&available, &mut rng, &mut decision);
        } else {
            policy.select(&mut rng, &mut decision);
        }
        for (place, chosen) in decision.action.iter().enumerate() {
            places[chosen.index()][place] += 1;
        }
    }
    assert!(available.len() >= n_items - 20);
    places
}

/// Values that differ by two orders of magnitude. The last of 60 items has none.
fn value(number: usize) -> f64 {
    if number == 59 { 0.0 } else { 0.3 * f64::from(1 << (number % 8)) }
}

/// Tells values; an item is dear for a while.
fn tell(dear: f64) -> impl Fn(&mut dyn Valued, usize) {
    move |policy, round| {
        let values: Vec<(ItemId, f64)> = (0..60).map(|number| (item(number), value(number))).collect();
        match round % 500 {
            _ if round == 0 => policy.set_values(&values).unwrap(),
            0 => policy.set_values(&values[3..4]).unwrap(),
            250 => policy.set_values(&[(item(3), dear)]).unwrap(),
            _ => {}
        }
    }
}

/// Gives a third of the items an order, and another third ten; one of them is revised.
fn order(dear: f64) -> impl Fn(&mut dyn Valued, usize) {
    move |policy, round| {
        let mut earn = |number: usize, before, now| {
            policy.change_values(&mut |values, n_items| values.earn(item(number), before, now, n_items));
        };
        match round % 500 {
            _ if round == 0 => {
                (0..60).flat_map(|number| (0..[0, 1, 10][number % 3]).map(move |_| number)).for_each(
                    |number| {
                        earn(number, None, value(number));
                    },
                );
                earn(3, None, 1.0);
                let source = ItemValues::Answers { cap: Some(30.0) };
                policy.change_values(&mut |values, n_items| values.set_source(source, n_items));
            }
            0 => earn(3, Some(dear), 1.0),
            250 => earn(3, Some(1.0), dear),
            _ => {}
        }
    }
}

/// The p-value of the hypothesis that both have the same distribution at a position.
fn p_value(one: &[[u64; 3]], other: &[[u64; 3]], place: usize) -> f64 {
    let (mut sum, mut cells) = (0.0, 0);
    for (one, other) in one.iter().zip(other) {
        let (one, other) = (one[place] as f64, other[place] as f64);
        if one + other >= 20.0 {
            sum += (one - other) * (one - other) / (one + other);
            cells += 1;
        }
    }
    ChiSquared::new(f64::from(cells - 1)).unwrap().sf(sum)
}

#[test]
fn thinned_rounds_have_the_lists_of_rounds_that_draw_every_item() {
    let examination = examination();
    let known = known(&examination, 60);
    for among_some in [false, true] {
        let all = [
            places(PbmTs::new(known).drawing_all(), 1, among_some, tell(60.0)),
            places(BcMpTs::new(known).drawing_all(), 2, among_some, tell(60.0)),
            places(PbmTs::new(known).drawing_all(), 6, among_some, order(900.0)),
        ];
        let thinned = [
            places(PbmTs::new(known).thinning(), 3, among_some, tell(60.0)),
            places(BcMpTs::new(known).thinning(), 4, among_some, tell(60.0)),
            places(PbmTs::new(known).thinning(), 7, among_some, order(900.0)),
        ];
        for (all, thinned) in all.iter().zip(&thinned) {
            for place in 0..3 {
                let p_value = p_value(all, thinned, place);
                assert!(p_value > 1e-3, "position {place}, {among_some}: {p_value}");
            }
        }
        // The test tells other values apart.
        let other = places(PbmTs::new(known).thinning(), 5, among_some, tell(70.0));
        assert!(p_value(&all[0], &other, 0) < 1e-6);
        let other = places(PbmTs::new(known).thinning(), 8, among_some, order(100.0));
        assert!(p_value(&all[2], &other, 0) < 1e-6);
    }
}

/// A policy whose draws are practically the given attractions.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 2^40")]
fn settled<P: Tallies>(mut policy: P, attraction: &[f64]) -> P {
    for (number, attraction) in attraction.iter().enumerate() {
        let shows = 1 << 40;
        for kind in 0..policy.n_kinds() {
            let tally = Tally { shows, clicks: (attraction * shows as f64) as u64 };
            policy.add(item(number), kind, tally);
        }
    }
    policy
}

fn chosen<P: Select<Ranking>>(policy: &mut P) -> Vec<usize> {
    let mut decision = Decision::default();
    policy.select(&mut generator(1), &mut decision);
    decision.action.iter().map(ItemId::index).collect()
}

#[test]
fn a_list_is_the_one_that_earns_most() {
    let attraction = [0.9, 0.2, 0.8, 0.4];
    let values: Vec<(ItemId, f64)> =
        [1.0, 10.0, 2.0, 0.0].into_iter().enumerate().map(|(number, value)| (item(number), value)).collect();
    let examination = examination();
    let mut pbm = settled(PbmTs::new(known(&examination, 4)), &attraction);
    pbm.valued().unwrap().set_values(&values).unwrap();
    // .9, 2, 1.6, 0.
    assert_eq!(chosen(&mut pbm), [1, 2, 0]);
    let mut gibbs = settled(PbmGibbs::new(ListShape::new(4, 3).unwrap(), PbmGibbsOrder::Known), &attraction);
    gibbs.valued().unwrap().set_values(&values).unwrap();
    assert_eq!(chosen(&mut gibbs), [1, 2, 0]);
    let mut prefix = settled(PrefixTs::new(ListShape::new(4, 4).unwrap()), &attraction);
    prefix.valued().unwrap().set_values(&values).unwrap();
    // The item without value is last.
    assert_eq!(chosen(&mut prefix), [1, 2, 0, 3]);
    let mut dear: Vec<(ItemId, f64)> = values.clone();
    dear[3].1 = 2.1;
    prefix.valued().unwrap().set_values(&dear).unwrap();
    assert_eq!(chosen(&mut prefix), [1, 2, 0, 3]);
    // In a cascade the dearest comes first: .4 * 2.1 before .8 * 2.
    prefix.valued().unwrap().set_users(Some(click_models::value::GoesOn::CASCADE));
    assert_eq!(chosen(&mut prefix), [1, 3, 2, 0]);
    // A price of the moment, and back again.
    let available = ItemSet::all(4);
    let terms = Terms { values: vec![(item(0), 100.0)], positions: Some(2), ..Terms::default() };
    prefix.set_terms(Some(Box::new(terms)));
    let mut decision = Decision::default();
    prefix.select_among(&available, &mut generator(1), &mut decision);
    assert_eq!(decision.action.iter().map(ItemId::index).collect::<Vec<_>>(), [0, 1]);
    prefix.set_terms(None);
    assert_eq!(chosen(&mut prefix), [1, 3, 2, 0]);
}

/// In a cascade the best list is shown if it keeps to the limit, and else the items of the largest
/// attraction times value.
#[test]
fn a_limit_that_does_not_bind_changes_no_list() {
    let mut policy = settled(PrefixTs::new(ListShape::new(4, 2).unwrap()), &[0.6, 0.5, 0.1, 0.05]);
    let values: Vec<(ItemId, f64)> = (0..4).map(item).zip([1.0, 1.3, 4.0, 7.0]).collect();
    policy.valued().unwrap().set_values(&values).unwrap();
    policy.valued().unwrap().set_users(Some(click_models::value::GoesOn::CASCADE));
    for (groups, list) in [(vec![1, 1, 0, 0], [2, 1]), (vec![0, 1, 1, 0], [1, 0])] {
        let terms = Terms { most: Some(1), groups: Arc::new(groups), ..Terms::default() };
        policy.set_terms(Some(Box::new(terms)));
        assert_eq!(chosen(&mut policy), list);
    }
}

/// The lists of a policy by name over some rounds, whose values are given by round and item.
fn lists<I: CatalogueProtocol<Action = Ranking>>(
    spec: &str,
    known: I::Known<'_>,
    n_items: usize,
    value: impl Fn(usize, usize) -> Option<f64>,
) -> Vec<Vec<usize>> {
    lists_from::<I>(ItemValues::Told, spec, known, n_items, value)
}

/// Those of a policy with values of this source; each answer has one of 39.9.
fn lists_from<I: CatalogueProtocol<Action = Ranking>>(
    source: ItemValues,
    spec: &str,
    known: I::Known<'_>,
    n_items: usize,
    value: impl Fn(usize, usize) -> Option<f64>,
) -> Vec<Vec<usize>> {
    let mut policy = NamedLive::<I>::build(spec.parse().unwrap(), known, None).unwrap();
    let (mut rng, mut decision) = (generator(7), Decision::default());
    let mut lists = vec![];
    if let Some(valued) = policy.valued() {
        valued.change_values(&mut |values, n_items| values.set_source(source, n_items));
    }
    for round in 0..3_000 {
        for (number, value) in (0..n_items).filter_map(|number| Some((number, value(round, number)?))) {
            policy.valued().unwrap().set_values(&[(item(number), value)]).unwrap();
        }
        policy.select_among_for(&Context::default(), &ItemSet::all(n_items), &mut rng, &mut decision);
        let clicked = rng.random_range(0..6);
        let mut clicks = Clicks::new(3);
        if clicked < 3 {
            clicks = clicks.with(clicked);
        }
        for (place, chosen) in decision.action.iter().enumerate().take(clicked + 1) {
            if let Some(valued) = policy.valued().filter(|_| clicks.get(place)) {
                valued.change_values(&mut |values, n_items| values.earn(chosen, None, 39.9, n_items));
            }
            let kind = if policy.n_kinds() > 1 { place } else { 0 };
            policy.add(chosen, kind, Tally { shows: 1, clicks: u64::from(clicks.get(place)) });
        }
        lists.push(decision.action.iter().map(ItemId::index).collect());
    }
    lists
}

#[test]
fn equal_values_choose_as_none() {
    let (shape, examination) = (ListShape::new(70, 3).unwrap(), examination());
    // Told in another round each, but before the next choice all are equal again.
    let equal =
        |round: usize, number: usize| (round % 500 == 100).then_some(1.7 * (round + number / 99) as f64);
    let none = |_: usize, _: usize| None;
    // Means of equal orders differ by their rounding.
    let answers = ItemValues::Answers { cap: None };
    for spec in ["cascade-ts", "rsf-ts"] {
        assert_eq!(
            lists_from::<Cascade>(answers, spec, shape.into(), 70, none),
            lists::<Cascade>(spec, shape.into(), 70, none)
        );
        assert_eq!(
            lists::<Cascade>(spec, shape.into(), 70, equal),
            lists::<Cascade>(spec, shape.into(), 70, none)
        );
        assert_eq!(
            lists::<SemiBandit>(spec, shape.into(), 70, equal),
            lists::<SemiBandit>(spec, shape.into(), 70, none)
        );
    }
    assert_eq!(
        lists::<Dcm>("dcm-ts(continuation=0.3)", shape.into(), 70, equal),
        lists::<Dcm>("dcm-ts", shape.into(), 70, none)
    );
    for spec in ["pbm-ts", "bc-mp-ts", "pbm-gibbs"] {
        let known = || known(&examination, 70).into();
        assert_eq!(lists::<Pbm>(spec, known(), 70, equal), lists::<Pbm>(spec, known(), 70, none), "{spec}");
        let of_answers = lists_from::<Pbm>(answers, spec, known(), 70, none);
        assert_eq!(of_answers, lists::<Pbm>(spec, known(), 70, none), "{spec}");
    }
    let differ = |round: usize, number: usize| (round == 100 && number == 5).then_some(2.0);
    assert_ne!(
        lists::<Cascade>("cascade-ts", shape.into(), 70, differ),
        lists::<Cascade>("cascade-ts", shape.into(), 70, none)
    );
}

#[test]
fn other_policies_are_refused_by_name() {
    let shape = ListShape::new(5, 3).unwrap();
    let mut with_values = vec![];
    for row in rows() {
        let spec = row.spec();
        if let Ok(mut policy) = NamedLive::<Pbm>::build(spec, known(&examination(), 5), None) {
            match policy.deref_mut().valued() {
                Ok(_) => with_values.push(spec.name()),
                Err(error) => {
                    assert!(error.to_string().starts_with(&format!("`{}` has no values", spec.name())));
                }
            }
        }
        if let Ok(mut policy) = NamedLive::<Dcm>::build(spec, shape, None) {
            assert!(policy.deref_mut().valued().is_err(), "{}", spec.name());
        }
        if let Ok(mut policy) = NamedLive::<Cascade>::build(spec, shape, None)
            && policy.deref_mut().valued().is_ok()
        {
            with_values.push(spec.name());
        }
    }
    assert_eq!(with_values, ["pbm-ts", "bc-mp-ts", "pbm-gibbs", "rsf-ts", "cascade-ts", "dcm-ts"]);
    let mut policy = PrefixTs::new(shape);
    for value in [-0.1, f64::NAN, f64::INFINITY, 1.1e9] {
        let refused = policy.valued().unwrap().set_values(&[(item(0), 2.0), (item(1), value)]);
        assert!(matches!(refused, Err(Error::NotAValue(_))));
        assert_eq!(policy.valued().unwrap().values().value(item(0)), 1.0);
    }
}

/// A policy with values, saved and restored in both kinds of formats.
#[test]
fn values_are_saved() {
    let examination = examination();
    let mut policy = BcMpTs::new(known(&examination, 100));
    let (mut rng, mut decision) = (generator(3), Decision::default());
    let values: Vec<_> = (0..100).map(|number| (item(number), 1.0 + number as f64)).collect();
    policy.valued().unwrap().set_values(&values).unwrap();
    for _ in 0..2_000 {
        policy.select(&mut rng, &mut decision);
        policy.update(&decision, &click_models::PbmFeedback { clicks: Clicks::new(3) });
    }
    // Not used for a choice yet.
    policy.valued().unwrap().set_values(&[(item(0), 1_000.0)]).unwrap();
    let by_text: BcMpTs = serde_json::from_slice(&serde_json::to_vec(&policy).unwrap()).unwrap();
    let by_bytes: BcMpTs = postcard::from_bytes(&postcard::to_allocvec(&policy).unwrap()).unwrap();
    let mut all = [policy, by_text, by_bytes];
    for seed in 0..2_000 {
        let lists = all.each_mut().map(|policy| {
            let mut decision = Decision::default();
            policy.select(&mut generator(seed), &mut decision);
            policy.update(&decision, &click_models::PbmFeedback { clicks: Clicks::new(3) });
            decision.action
        });
        assert!(lists[0] == lists[1] && lists[0] == lists[2], "{seed}");
    }
}
