//! No answer breaks a policy: late or twice, to actions that it never chose, of items that do not
//! exist.

use super::trials::{Answer, Event, Extent, Trial, trials};
use super::users::Users;
use crate::support::duelists::users;
use crate::support::generator;
use click_models::{PositionBased, RankOneModel};
use quickcheck::{Arbitrary, Gen, QuickCheck};
use rand::RngExt;

impl Arbitrary for Answer {
    fn arbitrary(g: &mut Gen) -> Self {
        Self { bits: u64::arbitrary(g), len: usize::from(u8::arbitrary(g)) % 65 }
    }
}

impl Arbitrary for Event {
    fn arbitrary(g: &mut Gen) -> Self {
        match u8::arbitrary(g) % 8 {
            0..4 => Self::Select,
            4..7 => Self::Answer { decision: u8::arbitrary(g), answer: Answer::arbitrary(g) },
            _ => {
                let is_far = bool::arbitrary(g);
                let number = |item: u8| if is_far { u32::MAX - u32::from(item) } else { u32::from(item) };
                let numbers = Vec::<u8>::arbitrary(g).into_iter().map(number).collect();
                Self::Strange { numbers, answer: Answer::arbitrary(g) }
            }
        }
    }
}

/// A problem and what happens in it.
#[derive(Debug, Clone)]
struct Story {
    attraction: Vec<f64>,
    examination: Vec<f64>,
    events: Vec<Event>,
    seed: u64,
}

impl Arbitrary for Story {
    fn arbitrary(g: &mut Gen) -> Self {
        let probability = |g: &mut Gen| match u8::arbitrary(g) % 5 {
            0 => 0.0,
            1 => 1.0,
            2 => 1e-9,
            _ => f64::from(u32::arbitrary(g)) / f64::from(u32::MAX),
        };
        let n_items = 1 + usize::from(u8::arbitrary(g) % 12);
        let n_positions = 1 + usize::from(u8::arbitrary(g)) % n_items;
        Self {
            attraction: (0..n_items).map(|_| probability(g)).collect(),
            examination: (0..n_positions).map(|_| probability(g)).collect(),
            events: (0..150).map(|_| Event::arbitrary(g)).collect(),
            seed: u64::arbitrary(g) >> 1,
        }
    }
}

impl Story {
    /// Users of every protocol: rows and columns are as attractive as items and positions.
    fn users(&self) -> Users {
        let mut rng = generator(self.seed);
        Users {
            rank_one: vec![RankOneModel::from_values(&self.attraction, &self.examination).expect("valid")],
            dueling: vec![users(self.attraction.len().max(2), |_, _| rng.random())],
            ..Users::who_like(&self.attraction, &self.examination)
        }
    }

    /// The whole story, after which the policy can still be saved.
    fn happens_to(&self, trial: &mut dyn Trial) {
        trial.reseed(self.seed);
        for event in &self.events {
            assert!(trial.happens(event), "{} after {event:?}: {:?}", trial.name(), trial.choice());
        }
        assert!(trial.restored(trial.saved()).is_ok(), "{}", trial.name());
    }
}

/// A fault that breaks a policy in one of twenty stories is seen with a probability of .99.
#[test]
fn any_story_ends_well() {
    #[expect(clippy::needless_pass_by_value, reason = "the form that quickcheck asks for")]
    fn ends_well(story: Story) -> bool {
        // Pie may explore at the second position, where there is one.
        let extent = if story.examination.len() > 1 { Extent::Variants } else { Extent::Defaults };
        for mut trial in trials(story.users(), extent, 100) {
            story.happens_to(&mut *trial);
        }
        true
    }
    QuickCheck::new().tests(90).quickcheck(ends_well as fn(Story) -> bool);
}

/// The largest problem there is, in positions: all 64 items shown.
#[test]
fn the_longest_list_is_no_special_case() {
    let clicked = |number: u8| {
        let answer = Answer { bits: 0x1234_5678_9abc_def0 << (number % 16), len: 64 };
        [Event::Select, Event::Answer { decision: number, answer }]
    };
    let story = Story {
        attraction: (0..64).map(|item| f64::from(item) / 64.0).collect(),
        examination: (0..64).map(|position| 1.0 - f64::from(position) / 64.0).collect(),
        events: (0..100).flat_map(clicked).collect(),
        seed: 1,
    };
    for mut trial in trials(story.users(), Extent::Defaults, 100) {
        story.happens_to(&mut *trial);
    }
}

/// A position that is examined once in the lifetime of the universe is one that is never examined:
/// no reciprocal overflows, no sampler waits for a draw that does not come.
#[test]
fn hardly_any_examination_is_none() {
    let shown = |lower: f64| -> Vec<Vec<Vec<usize>>> {
        let model = PositionBased::from_values(&[0.5, 0.3, 0.2], &[0.5, lower]).expect("valid");
        let play = |mut trial: Box<dyn Trial>| {
            let round = |_| {
                trial.round();
                trial.choice()
            };
            (0..300).map(round).collect()
        };
        let users = Users { position_based: vec![model], ..Users::default() };
        trials(users, Extent::Variants, 100).into_iter().map(play).collect()
    };
    let never = shown(0.0);
    for lower in [5e-324, 1e-310, 1e-308, 1e-300, 1e-101] {
        assert_eq!(shown(lower), never, "examination {lower}");
    }
    // Just above the limit it counts, and everything still ends.
    assert_eq!(shown(1e-99).len(), never.len());
}
