//! Types that are saved or shared between threads: serde round trips, rejection of invalid data,
//! `Send` and `Sync`.

use click_models::bounds::PbmBoundTerm;
use click_models::estimation::Pooled;
use click_models::{
    Clicks, DcmKnown, Error, Interaction, ItemId, ListShape, Pbm, PbmFeedback, PbmKnown, PositionBased,
    PrefixFeedback, RandomSemiBandit, Ranking, SemiBandit,
};
use confidence::Probability;
use rand::{RngExt as _, SeedableRng as _, seq::SliceRandom as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Serialize, de::DeserializeOwned};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> String {
    let text = serde_json::to_string(value).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value);
    text
}

/// The message that reading `text` as a `T` ends with.
fn refused<T: DeserializeOwned + Debug>(text: &str) -> String {
    serde_json::from_str::<T>(text).unwrap_err().to_string()
}

#[test]
fn saved_types_are_read_back_unchanged() {
    assert_eq!(round_trip(&ItemId::new(7)), "7");
    assert_eq!(round_trip(&Ranking::from_iter([2, 0, 1].map(ItemId::new))), "[2,0,1]");
    round_trip(&Ranking::default());
    round_trip(&ListShape::new(5, 3).unwrap());
    for clicks in [Clicks::default(), Clicks::new(3).with(1), Clicks::from_bits(u64::MAX, 64).unwrap()] {
        round_trip(&clicks);
        round_trip(&PbmFeedback { clicks });
        round_trip(&PrefixFeedback { clicks });
    }
    let text = round_trip(&PositionBased::from_values(&[0.1, 0.7], &[0.3, 1.0]).unwrap());
    assert_eq!(text, r#"{"attraction":[0.1,0.7],"examination":[0.3,1.0]}"#);
    round_trip(&RandomSemiBandit::from_values(&[0.5; 3], &[1.0, 0.0, 0.0]).unwrap());
    let text = round_trip(&RandomSemiBandit::from_values(&[0.1, 0.7], &[1.0, 0.3]).unwrap());
    assert_eq!(text, r#"{"attraction":[0.1,0.7],"examination":[1.0,0.3]}"#);
}

#[test]
fn invalid_data_is_refused_with_its_reason() {
    assert!(refused::<Clicks>(r#"{"bits":8,"len":3}"#).contains("beyond the last of 3"));
    assert!(refused::<Clicks>(r#"{"bits":0,"len":65}"#).contains("65 positions"));
    assert!(refused::<PbmFeedback>(r#"{"clicks":{"bits":1,"len":0}}"#).contains("beyond the last of 0"));
    assert!(refused::<PrefixFeedback>(r#"{"clicks":{"bits":4,"len":2}}"#).contains("beyond the last of 2"));
    assert!(
        refused::<ListShape>(r#"{"n_items":2,"n_positions":3}"#).contains("3 positions but only 2 items")
    );
    assert!(refused::<ListShape>(r#"{"n_items":0,"n_positions":0}"#).contains("no items"));
    assert!(refused::<ListShape>(r#"{"n_items":2,"n_positions":0}"#).contains("no positions"));
    assert!(refused::<ListShape>(r#"{"n_items":99,"n_positions":65}"#).contains("65 positions"));
    assert!(refused::<ItemId>("-1").contains("-1"));
    let users = |attraction: &str, examination: &str| {
        let text = format!(r#"{{"attraction":{attraction},"examination":{examination}}}"#);
        (refused::<PositionBased>(&text), refused::<RandomSemiBandit>(&text))
    };
    for (attraction, examination, reason) in [
        ("[1.5]", "[1.0]", "1.5 is not a probability"),
        ("[0.5]", "[-0.1]", "-0.1 is not a probability"),
        ("[]", "[]", "no items"),
        ("[0.5]", "[]", "no positions"),
        ("[0.5]", "[0.5,0.5]", "2 positions but only 1 item:"),
    ] {
        let (users, readers) = users(attraction, examination);
        assert!(users.contains(reason) && readers.contains(reason), "{users} / {readers}");
    }
    let rising = r#"{"attraction":[0.5,0.5],"examination":[0.5,0.6]}"#;
    assert!(refused::<RandomSemiBandit>(rising).contains("rises from 0.5 to 0.6 at position 1"));
    assert!(
        refused::<PositionBased>(r#"{"attraction":[0.5],"examination":[1.0],"kappa":[1.0]}"#)
            .contains("kappa")
    );
}

#[test]
fn construction_errors_name_the_cause() {
    let not_a_probability = |field, index, value| Error::NotAProbability { field, index, value };
    assert_eq!(
        PositionBased::from_values(&[0.1, 1.5], &[0.5]).unwrap_err(),
        not_a_probability("attraction", 1, 1.5)
    );
    assert_eq!(
        RandomSemiBandit::from_values(&[0.1], &[-0.5]).unwrap_err(),
        not_a_probability("examination", 0, -0.5)
    );
    assert!(
        PositionBased::from_values(&[f64::NAN], &[0.5])
            .unwrap_err()
            .to_string()
            .contains("attraction[0] is NaN")
    );
    assert_eq!(PositionBased::from_values(&[], &[]).unwrap_err(), Error::NoItems);
    assert_eq!(PositionBased::from_values(&[0.5], &[]).unwrap_err(), Error::NoPositions);
    assert_eq!(PositionBased::from_values(&[0.5; 65], &[0.5; 65]).unwrap_err(), Error::TooManyPositions(65));
    assert_eq!(
        RandomSemiBandit::from_values(&[0.5; 2], &[0.2, 0.4]).unwrap_err(),
        Error::ExaminationRises { position: 1, above: 0.2, below: 0.4 }
    );
    assert_eq!(Clicks::from_bits(0b100, 2).unwrap_err(), Error::ClickBeyondList { len: 2 });
}

#[test]
fn clicks_report_their_positions() {
    let clicks = Clicks::from_bits(0b101, 3).unwrap();
    assert_eq!(clicks, Clicks::new(3).with(2).with(0).with(0));
    assert_eq!((clicks.count(), clicks.bits(), clicks.len()), (2, 5, 3));
    assert_eq!(
        [0, 1, 2, 3, 64, usize::MAX].map(|position| clicks.get(position)),
        [true, false, true, false, false, false]
    );
    assert!(Clicks::new(0).is_empty() && !clicks.is_empty());
    assert!(Clicks::new(64).with(63).get(63));
}

#[test]
#[should_panic(expected = "a click beyond the list")]
fn a_click_beyond_the_list_panics() {
    let _ = Clicks::new(3).with(3);
}

fn list(items: &[u32]) -> Ranking {
    items.iter().copied().map(ItemId::new).collect()
}

#[test]
fn a_ranking_fits_a_shape_if_it_is_full_and_shows_every_item_once() {
    let shape = ListShape::new(4, 2).unwrap();
    assert!(list(&[3, 0]).fits(shape));
    for misfit in [list(&[3]), list(&[3, 3]), list(&[4, 0]), list(&[0, 1, 2])] {
        assert!(!misfit.fits(shape), "{misfit:?}");
    }
    let mut buffer = list(&[1, 2, 3]);
    buffer.positions_mut(2)[0] = ItemId::new(0);
    assert_eq!(buffer, list(&[0, 2]));
    buffer.clear();
    assert!(buffer.is_empty() && !buffer.contains(ItemId::new(0)));
}

/// Random lists, some with a repeated item or one beyond the catalogue, in catalogues on both sides
/// of the size where the check changes.
#[test]
fn a_list_fits_if_its_items_are_distinct_and_known() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(256);
    let mut n_fitting = 0;
    for case in 0..20_000 {
        let n_items = [8, 64, 255, 256, 257, 300, 1000][case % 7];
        let n_positions = rng.random_range(1..=n_items.min(20));
        let shape = ListShape::new(n_items, n_positions).unwrap();
        let mut items: Vec<usize> = (0..n_items).collect();
        items.shuffle(&mut rng);
        items.truncate(n_positions);
        if case % 3 == 0 {
            let other = rng.random_range(0..n_items + n_items / 2);
            items[rng.random_range(0..n_positions)] = other;
        }
        let expected = items.iter().collect::<BTreeSet<_>>().len() == n_positions
            && items.iter().all(|&item| item < n_items);
        n_fitting += usize::from(expected);
        let list: Ranking = items.iter().copied().map(ItemId::from_index).collect();
        assert_eq!(list.fits(shape), expected, "{items:?} of {n_items}");
    }
    assert!((15_000..19_000).contains(&n_fitting), "{n_fitting}");
}

#[test]
fn a_ranking_is_a_sequence_of_items() {
    let ranking = list(&[2, 0, 1]);
    let items: Vec<ItemId> = ranking.iter().collect();
    assert_eq!(AsRef::<[ItemId]>::as_ref(&ranking), items);
    assert_eq!((&ranking).into_iter().collect::<Ranking>(), ranking);
    assert_eq!(ranking.clone().into_iter().collect::<Vec<_>>(), items);
    assert_eq!(Ranking::from(items), ranking);
    assert_eq!(ranking.by_position().last(), Some((2, ItemId::new(1))));
    let hash = |items: &[u32]| BuildHasherDefault::<DefaultHasher>::default().hash_one(list(items));
    assert!(hash(&[0, 1]) == hash(&[0, 1]) && hash(&[0, 1]) != hash(&[1, 0]));
}

#[test]
fn what_is_known_of_users_is_checked_when_it_is_put_together() {
    let shape = ListShape::new(5, 3).unwrap();
    let examination = [1.0, 0.5, 0.25].map(|value| Probability::new(value).unwrap());
    assert_eq!(PbmKnown::new(shape, &examination).unwrap().examination(), examination);
    for wrong in [&examination[..2], &[]] {
        assert_eq!(
            PbmKnown::new(shape, wrong).unwrap_err(),
            Error::OneForEachPosition { field: "examination", found: wrong.len(), n_positions: 3 }
        );
    }
    assert_eq!(DcmKnown::new(shape, &[2, 0, 1]).unwrap().places(), [2, 0, 1]);
    for wrong in [&[0, 1][..], &[0, 1, 1], &[0, 1, 3], &[0, 1, 2, 2]] {
        let error = DcmKnown::new(shape, wrong).unwrap_err();
        assert_eq!(error, Error::NotAnOrder { n_positions: 3 });
        assert_eq!(error.to_string(), "places: expected the positions 0 to 2, each once");
    }
}

#[test]
fn all_types_are_send_and_sync() {
    fn check<T: Send + Sync + 'static>() {}
    check::<ItemId>();
    check::<Ranking>();
    check::<Clicks>();
    check::<ListShape>();
    check::<PbmFeedback>();
    check::<PrefixFeedback>();
    check::<PbmKnown<'static>>();
    check::<PositionBased>();
    check::<RandomSemiBandit>();
    check::<Pooled>();
    check::<PbmBoundTerm>();
    check::<Error>();
    check::<<Pbm as Interaction>::Feedback>();
    check::<<SemiBandit as Interaction>::Feedback>();
}
