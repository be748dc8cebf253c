//! Whatever comes back, policies go on: no panic, no hang, and always a list of distinct items of the right length.

use crate::support::{
    Visitor, generator, items, position_based_policies, prefix_policies, stopping_policies,
};
use click_models::{
    CascadeModel, ClickModel, Clicks, DcmReward, DependentClick, Feedback, Interaction, ItemId, ListProtocol,
    ListShape, PbmFeedback, PositionBased, RandomSemiBandit, Ranking, RenderedPbmFeedback,
};
use confidence::Rate;
use policies::{BcMpTs, Decision, PbmPie, PbmTs, PbmUcb, Select, Uniform, Update};
use quickcheck::{Arbitrary, Gen, QuickCheck};
use rand::{Rng, SeedableRng, rngs::ChaCha8Rng};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// What happens to a policy.
#[derive(Debug, Clone)]
enum Event {
    /// It decides a round.
    Select,
    /// The answer to one of the decisions so far arrives, for the first time or again.
    Answer { decision: u8, clicks: Clicks },
    /// An answer arrives to a list that it never showed, of items that may not exist.
    Strange { list: Vec<u8>, far: bool, clicks: Clicks },
}

fn any_clicks(g: &mut Gen) -> Clicks {
    let len = usize::from(u8::arbitrary(g)) % 65;
    let bits = u64::arbitrary(g);
    Clicks::from_bits(if len == 64 { bits } else { bits & ((1 << len) - 1) }, len).expect("below the length")
}

impl Arbitrary for Event {
    fn arbitrary(g: &mut Gen) -> Self {
        match u8::arbitrary(g) % 8 {
            0..4 => Self::Select,
            4..7 => Self::Answer { decision: u8::arbitrary(g), clicks: any_clicks(g) },
            _ => Self::Strange { list: Vec::arbitrary(g), far: bool::arbitrary(g), clicks: any_clicks(g) },
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
            seed: u64::arbitrary(g),
        }
    }
}

/// Lets a story happen.
struct Tell<'a> {
    story: &'a Story,
    shape: ListShape,
}

impl<M> Visitor<M> for Tell<'_>
where
    M: ClickModel,
    M::Interaction: ListProtocol,
{
    fn visit<P>(&mut self, name: &str, _: &M, mut policy: P)
    where
        P: Update<Ranking, Feedback<M>> + Serialize + DeserializeOwned + Clone + Debug + Send + Sync,
    {
        let mut rng = generator(self.story.seed);
        let mut decisions: Vec<Decision<Ranking, P::Note>> = vec![];
        for event in &self.story.events {
            match event {
                Event::Select => {
                    // A used buffer of any length, or a fresh one.
                    let mut decision = decisions.last().cloned().unwrap_or_default();
                    policy.select(&mut rng, &mut decision);
                    assert!(decision.action.fits(self.shape), "{name} shows {:?}", decision.action);
                    decisions.push(decision);
                }
                Event::Answer { decision, clicks } => {
                    if let Some(decision) = decisions.get(usize::from(*decision) % decisions.len().max(1)) {
                        policy.update(decision, &M::Interaction::read(*clicks, clicks.len()));
                    }
                }
                Event::Strange { list, far, clicks } => {
                    let name =
                        |&item: &u8| ItemId::new(if *far { u32::MAX - u32::from(item) } else { item.into() });
                    let action = list.iter().map(name).collect();
                    // With a note that fits, or with none.
                    let note = decisions.last().map(|decision| decision.note.clone()).unwrap_or_default();
                    let decision = Decision { action, note };
                    policy.update(&decision, &M::Interaction::read(*clicks, clicks.len()));
                }
            }
        }
    }
}

#[test]
fn any_story_ends_well() {
    #[expect(clippy::needless_pass_by_value, reason = "the form that quickcheck asks for")]
    fn ends_well(story: Story) -> bool {
        let model = PositionBased::from_values(&story.attraction, &story.examination).expect("valid");
        position_based_policies(&model, &mut Tell { story: &story, shape: model.shape() });
        let mut tell = Tell { story: &story, shape: model.shape() };
        let mut examination = story.examination.clone();
        examination.sort_by(|a, b| b.total_cmp(a));
        let model = RandomSemiBandit::from_values(&story.attraction, &examination).expect("valid");
        prefix_policies(&model, model.shape().into(), &mut tell);
        let model = CascadeModel::from_values(&story.attraction, examination.len()).expect("valid");
        prefix_policies(&model, model.shape().into(), &mut tell);
        stopping_policies(&model, &mut tell);
        let model =
            DependentClick::from_values(&story.attraction, &story.examination, DcmReward::Satisfaction)
                .expect("valid");
        prefix_policies(&model, model.known().into(), &mut tell);
        true
    }
    QuickCheck::new().tests(2000).quickcheck(ends_well as fn(Story) -> bool);
}

/// The largest problem there is, in positions: all 64 items shown.
#[test]
fn the_longest_list_is_no_special_case() {
    let attraction: Vec<f64> = (0..64).map(|item| f64::from(item) / 64.0).collect();
    let examination: Vec<f64> = (0..64).map(|position| 1.0 - f64::from(position) / 64.0).collect();
    let story = Story {
        attraction: attraction.clone(),
        examination: examination.clone(),
        events: (0..100)
            .flat_map(|number| {
                let clicks = Clicks::from_bits(0x1234_5678_9abc_def0 << (number % 16), 64).expect("64 bits");
                [Event::Select, Event::Answer { decision: number, clicks }]
            })
            .collect(),
        seed: 1,
    };
    let model = PositionBased::from_values(&attraction, &examination).expect("a valid instance");
    position_based_policies(&model, &mut Tell { story: &story, shape: model.shape() });
    let model = RandomSemiBandit::from_values(&attraction, &examination).expect("a valid instance");
    prefix_policies(&model, model.shape().into(), &mut Tell { story: &story, shape: model.shape() });
}

/// Plays 300 rounds and writes down what was shown.
struct Record<'a> {
    model: &'a PositionBased,
    shown: Vec<(String, Vec<Ranking>)>,
}

impl Visitor<PositionBased> for Record<'_> {
    fn visit<P>(&mut self, name: &str, _: &PositionBased, mut policy: P)
    where
        P: Update<Ranking, PbmFeedback> + Serialize + DeserializeOwned + Clone + Debug + Send + Sync,
    {
        let (mut rng, mut users) = (generator(1), generator(2));
        let mut decision = Decision::default();
        let rounds = (0..300).map(|_| {
            policy.select(&mut rng, &mut decision);
            policy.update(&decision, &self.model.respond(&decision.action, &mut users));
            decision.action.clone()
        });
        let shown = rounds.collect();
        self.shown.push((name.to_owned(), shown));
    }
}

/// A position that is examined once in the lifetime of the universe is one that is never examined: no reciprocal overflows, no
/// sampler waits for a draw that does not come.
#[test]
fn hardly_any_examination_is_none() {
    let shown = |lower: f64| {
        let model = PositionBased::from_values(&[0.5, 0.3, 0.2], &[0.5, lower]).expect("a valid instance");
        let mut record = Record { model: &model, shown: vec![] };
        position_based_policies(&model, &mut record);
        record.shown
    };
    let never = shown(0.0);
    for lower in [5e-324, 1e-310, 1e-308, 1e-300, 1e-101] {
        assert_eq!(shown(lower), never, "examination {lower}");
    }
    // Just above the limit it counts, and everything still ends.
    assert_eq!(shown(1e-99).len(), never.len());
}

/// 24,000 lists of two of four items.
const LISTS: u64 = 24_000;

/// Counts of the twelve ordered lists of two of four items. Each has mean 2,000 and standard deviation 42.8 if all are equally
/// likely, and is off by 300, seven of them, with probability 3e-12; a list that is half as often again as it should be is
/// caught with the same certainty.
fn is_uniform(lists: impl Iterator<Item = Vec<usize>>) -> bool {
    let mut counts = BTreeMap::new();
    for list in lists {
        *counts.entry(list).or_insert(0_u64) += 1;
    }
    counts.len() == 12 && counts.values().all(|count| count.abs_diff(LISTS / 12) < 300)
}

fn four_choose_two() -> PositionBased {
    PositionBased::from_values(&[0.5; 4], &[0.9, 0.4]).expect("a valid instance")
}

#[test]
fn uniform_is_uniform() {
    let mut policy = Uniform::new(four_choose_two().shape());
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut decision = Decision::<Ranking>::default();
    let lists = (0..LISTS).map(|_| {
        policy.select(&mut rng, &mut decision);
        items(&decision.action)
    });
    assert!(is_uniform(lists));
    // Ties to the lowest item, and a uniform first item followed by the next one.
    assert!(!is_uniform((0..LISTS).map(|_| vec![0, 1])));
    let lists = (0..LISTS).map(|_| {
        let first = usize::try_from(rng.next_u64() % 4).expect("small");
        vec![first, (first + 1) % 4]
    });
    assert!(!is_uniform(lists));
}

/// Fresh policies: the first list.
struct First;

impl<M> Visitor<M> for First
where
    M: ClickModel,
    M::Interaction: Interaction<Action = Ranking>,
{
    fn visit<P>(&mut self, name: &str, _: &M, policy: P)
    where
        P: Update<Ranking, Feedback<M>> + Serialize + DeserializeOwned + Clone + Debug + Send + Sync,
    {
        // These two begin with lists that are given.
        if name == "Fixed" || name.starts_with("PbmPie") {
            return;
        }
        let mut rng = ChaCha8Rng::seed_from_u64(2);
        let mut decision = Decision::default();
        let lists = (0..LISTS).map(|_| {
            policy.clone().select(&mut rng, &mut decision);
            items(&decision.action)
        });
        assert!(is_uniform(lists), "{name}: ties at the start are not uniform");
    }
}

#[test]
fn the_first_list_is_uniform() {
    position_based_policies(&four_choose_two(), &mut First);
    let model = RandomSemiBandit::from_values(&[0.5; 4], &[0.9, 0.4]).expect("a valid instance");
    prefix_policies(&model, model.shape().into(), &mut First);
    let model = CascadeModel::from_values(&[0.5; 4], 2).expect("a valid instance");
    prefix_policies(&model, model.shape().into(), &mut First);
    stopping_policies(&model, &mut First);
    let model = DependentClick::from_values(&[0.5; 4], &[0.2, 0.8], DcmReward::Satisfaction)
        .expect("a valid instance");
    prefix_policies(&model, model.known().into(), &mut First);
}

/// PBM-PIE shows every item at every position first. When nothing has come back by then, all items tie and all are candidates.
#[test]
fn pbm_pie_begins_with_every_item_everywhere_and_then_ties() {
    let model = four_choose_two();
    let mut policy = PbmPie::new(model.known(), Rate::LOG);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let mut decision = Decision::<Ranking>::default();
    let mut seen = vec![];
    for _ in 0..4 {
        policy.select(&mut rng, &mut decision);
        seen.push(items(&decision.action));
    }
    assert_eq!(seen, [[0, 1], [1, 2], [2, 3], [3, 0]]);
    let lists = (0..LISTS).map(|_| {
        policy.clone().select(&mut rng, &mut decision);
        items(&decision.action)
    });
    assert!(is_uniform(lists));
}

/// Clicks on items that do not exist and positions beyond the list teach nothing.
#[test]
fn unknown_items_are_ignored() {
    let model = four_choose_two();
    let fresh = PbmPie::new(model.known(), Rate::LOG);
    let mut policy = fresh.clone();
    let action: Ranking = [4, 5, 0].map(ItemId::new).into_iter().collect();
    let clicks = Clicks::from_bits(0b111, 3).expect("three bits");
    policy.update(&Decision { action, note: () }, &PbmFeedback { clicks });
    assert_eq!(serde_json::to_string(&policy).expect("saved"), serde_json::to_string(&fresh).expect("saved"));
}

/// Of a list of which three positions were rendered nothing is counted below; one that was rendered to the end is an ordinary one.
fn counts_what_was_rendered<P>(name: &str, model: &PositionBased, fresh: &P)
where
    P: Update<Ranking, PbmFeedback> + Update<Ranking, RenderedPbmFeedback> + Serialize + Clone,
{
    let saved = |policy: &P| serde_json::to_value(policy).expect("saved");
    let [mut partly, mut fully, mut ordinary] = [(); 3].map(|()| fresh.clone());
    let (mut rng, mut users) = (generator(1), generator(2));
    let mut decision = Decision::default();
    for _ in 0..200 {
        partly.select(&mut rng, &mut decision);
        let seen = model.respond(&decision.action, &mut users);
        let clicks = Clicks::from_bits(seen.clicks.bits() & 0b111, 3).expect("three bits");
        partly.update(&decision, &RenderedPbmFeedback { clicks });
        fully.update(&decision, &RenderedPbmFeedback { clicks: seen.clicks });
        ordinary.update(&decision, &seen);
    }
    assert_eq!(saved(&fully), saved(&ordinary), "{name}");
    for table in ["shows", "clicks"] {
        let saved = saved(&partly);
        let items = saved["counts"][table].as_array().expect("a table").chunks(model.examination().len());
        let count = |places: &[Value]| places.iter().filter_map(Value::as_u64).sum::<u64>();
        let (rendered, below) = items.fold((0, 0), |(rendered, below), item| {
            (rendered + count(&item[..3]), below + count(&item[3..]))
        });
        assert!(rendered > 0 && below == 0, "{name}: {rendered} {below}");
    }
}

#[test]
fn what_was_not_rendered_is_not_counted() {
    let model = PositionBased::from_values(&[0.5, 0.4, 0.3, 0.2, 0.1, 0.05], &[0.9, 0.8, 0.6, 0.4, 0.2])
        .expect("a valid instance");
    counts_what_was_rendered("PBM-UCB", &model, &PbmUcb::new(model.known(), Rate::LOG));
    counts_what_was_rendered("PBM-TS", &model, &PbmTs::new(model.known()));
    counts_what_was_rendered("PBM-PIE", &model, &PbmPie::new(model.known(), Rate::LOG));
    counts_what_was_rendered("BC-MP-TS", &model, &BcMpTs::new(model.known()));
}
