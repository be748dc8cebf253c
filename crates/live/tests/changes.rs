//! Settings and policies that change while answers come.

use click_models::{Cascade, Context, ListShape, Pbm, PbmKnown};
use confidence::Probability;
use live::{Among, Error, Handle, Live, Settings, Taken};
use policies::{Drawing, PbmTs, PrefixTs, Tally};
use rand::{RngExt as _, SeedableRng, rngs::ChaCha8Rng};

fn pbm(positions: usize, examined: f64) -> PbmTs {
    let examination = vec![Probability::new(examined).unwrap(); positions];
    let shape = ListShape::new(5, positions).unwrap();
    PbmTs::new(PbmKnown::new(shape, &examination).unwrap())
}

fn windowed(window: Option<usize>) -> Settings {
    Settings { window, ..Settings::default() }
}

/// One item, shown alone: what counts of it is easily told.
struct Shown {
    live: Live<Cascade, PrefixTs>,
    item: Handle,
}

impl Shown {
    fn new(settings: Settings) -> Self {
        let live = Live::new(PrefixTs::new(ListShape::new(2, 1).unwrap()), settings).unwrap();
        let item = live.items().next().unwrap();
        Self { live, item }
    }

    fn show(&mut self, id: u64) {
        assert_eq!(self.live.show(&id, &Context::default(), &[self.item]), Ok(Taken::Counted));
        assert_eq!(self.live.close(&id, None), Taken::Counted);
    }

    fn counts(&self) -> [u64; 2] {
        let Tally { shows, clicks } = self.live.tally(self.item, 0);
        [shows, clicks]
    }
}

#[test]
fn a_new_window_counts_beside_what_counts_already() {
    let mut shown = Shown::new(windowed(None));
    (0..3).for_each(|id| shown.show(id));
    shown.live.set_settings(windowed(Some(2))).unwrap();
    (3..9).for_each(|id| shown.show(id));
    assert_eq!(shown.counts(), [5, 0]);
    // Late clicks: on one before the window, on one that has left it, and on one in it.
    assert_eq!(shown.live.click(&1, 0), Taken::Counted);
    assert_eq!(shown.counts(), [5, 1]);
    assert_eq!(shown.live.click(&3, 0), Taken::Counted);
    assert_eq!(shown.counts(), [5, 1]);
    assert_eq!(shown.live.click(&8, 0), Taken::Counted);
    assert_eq!(shown.counts(), [5, 2]);
}

#[test]
fn a_smaller_window_lets_the_oldest_go_and_none_keeps_what_is_there() {
    let mut shown = Shown::new(windowed(Some(4)));
    (0..6).for_each(|id| shown.show(id));
    assert_eq!(shown.live.click(&3, 0), Taken::Counted);
    assert_eq!(shown.counts(), [4, 1]);
    shown.live.set_settings(windowed(Some(2))).unwrap();
    assert_eq!(shown.counts(), [2, 0]);
    shown.live.set_settings(windowed(Some(3))).unwrap();
    shown.show(6);
    assert_eq!(shown.counts(), [3, 0]);
    shown.live.set_settings(windowed(None)).unwrap();
    shown.show(7);
    assert_eq!(shown.counts(), [4, 0]);
    // One that counted when the window went, and one that had left: its answer counts again.
    assert_eq!(shown.live.click(&5, 0), Taken::Counted);
    assert_eq!(shown.counts(), [4, 1]);
    assert_eq!(shown.live.click(&0, 0), Taken::Counted);
    assert_eq!(shown.counts(), [5, 2]);
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let mut live = Live::<Pbm, _>::new(pbm(3, 0.5), windowed(Some(3))).unwrap();
    assert_eq!(live.set_settings(windowed(Some(0))), Err(Error::EmptyWindow));
    assert_eq!(live.settings(), windowed(Some(3)));
    // A policy of one position counts no positions apart.
    assert_eq!(live.set_policy(pbm(1, 0.5)), Err(Error::OtherCounts));
    assert_eq!(live.entries(live.items().next().unwrap()).count(), 3);
    let fewer = Settings { keep_open: 1, keep_retired: 1, ..Settings::default() };
    for id in 0..3 {
        live.decide(&id, Among::All, &mut ChaCha8Rng::seed_from_u64(id));
    }
    let items: Vec<Handle> = live.items().collect();
    assert!(items[..3].iter().all(|&item| live.retire(item)));
    live.set_settings(fewer).unwrap();
    assert_eq!([live.click(&1, 0), live.click(&2, 0)], [Taken::Unknown, Taken::Counted]);
    assert_eq!(items.iter().filter(|&&item| live.is_known(item)).count(), 3);
}

/// Propensities of a list are those of its own draws.
#[test]
fn lists_have_propensities_as_long_as_they_are_asked_for() {
    let drawing = Some(Drawing::new(5, Probability::new(0.1).unwrap()).unwrap());
    let asked = Settings { propensities: drawing, ..Settings::default() };
    let mut live = Live::<Pbm, _>::new(pbm(3, 0.5), Settings::default()).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(1);
    for (id, (settings, n)) in (0..).zip([(asked, 3), (Settings::default(), 0), (asked, 3)]) {
        live.set_settings(settings).unwrap();
        live.decide(&id, Among::All, rng);
        assert_eq!(live.propensities(&id).unwrap().len(), n);
    }
}

/// Whatever changes when, the table never contradicts the windows and the open decisions, which a
/// saved state is checked for; and without windows it is that of a policy that never changed.
#[test]
fn changes_at_random_keep_the_table_sound() {
    for seed in 0..40 {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let has_windows = seed % 2 == 0;
        let mut live = Live::<Pbm, _>::new(pbm(4, 0.5), Settings::default()).unwrap();
        let mut plain = Live::<Pbm, _>::new(pbm(5, 0.5), Settings::default()).unwrap();
        for step in 0..400_u64 {
            let back = step.saturating_sub(rng.random_range(0..40));
            let position = rng.random_range(0..5);
            match rng.random_range(0..10) {
                0..4 => {
                    let list = live.decide(&step, Among::All, rng).to_vec();
                    assert_eq!(plain.show(&step, &Context::default(), &list), Ok(Taken::Counted));
                }
                4..7 => assert_eq!(live.click(&back, position), plain.click(&back, position)),
                7..9 => assert_eq!(live.close(&back, None), plain.close(&back, None)),
                _ if has_windows => {
                    let window = [None, Some(1), Some(3), Some(20)][rng.random_range(0..4)];
                    live.set_settings(windowed(window)).unwrap();
                    live.set_policy(pbm(rng.random_range(2..6), 0.7)).unwrap();
                }
                _ => live.set_policy(pbm(4, rng.random_range(0.1..1.0))).unwrap(),
            }
            let saved = serde_json::to_string(&live).unwrap();
            live = serde_json::from_str(&saved).unwrap();
            assert_eq!(serde_json::to_string(&live).unwrap(), saved);
        }
        let shows = |live: &Live<Pbm, PbmTs>| live.table().map(|entry| entry.tally.shows).sum::<u64>();
        assert!(shows(&live) > 0);
        for entry in plain.table().filter(|entry| !has_windows && entry.kind < 4) {
            assert_eq!(live.tally(entry.item, entry.kind), entry.tally);
        }
    }
}

/// A policy with more positions than there are items has places for others.
#[test]
fn a_policy_of_more_positions_has_free_places() {
    let mut live =
        Live::<Cascade, _>::empty(PrefixTs::new(ListShape::new(2, 2).unwrap()), windowed(Some(5))).unwrap();
    let first = live.add_item();
    live.set_policy(PrefixTs::new(ListShape::new(4, 4).unwrap())).unwrap();
    let others = [(); 4].map(|()| live.add_item());
    let mut places: Vec<_> = others.iter().chain([&first]).map(|item| item.slot.index()).collect();
    places.sort_unstable();
    assert_eq!(places, [0, 1, 2, 3, 4]);
    let list = live.decide(&1, Among::All, &mut ChaCha8Rng::seed_from_u64(1));
    assert_eq!(list.len(), 4);
    assert_eq!(live.close(&1, None), Taken::Counted);
    assert_eq!(live.table().map(|entry| entry.tally.shows).sum::<u64>(), 4);
}
