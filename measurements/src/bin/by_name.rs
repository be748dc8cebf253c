//! Time of a choice by name against that of the policy's own type: `select` of every policy of the
//! catalogue, for 5 items and lists of 3, 5 x 3 cells, pairs of 5 items.
//!
//! ```text
//! cargo run --release -p measurements --bin by_name [-- POLICY...]
//! ```
//!
//! Both learn from the same 2,000 answers first. Medians of blocks that take turns, in nanoseconds
//! of the CPU. The choices of both are the same to the last item; the program checks that.

use click_models::{
    Cascade, Clicks, Context, ContextKnown, DuelShape, Dueling, ListShape, Pbm, PbmKnown, RankOne, Ranking,
    SemiBandit, TableShape,
};
use confidence::{NonNegative, Probability};
use policies::catalogue::{
    AsList, Ask, CatalogueProtocol, Knowledge, Note, PairKnown, WithAnyList, WithBudgeted, WithCells,
    WithPairs, WithPositionBased, WithPositionContexts, WithPrefix, WithPrefixContexts, WithStopping,
    WithUnknownExamination, rows,
};
use policies::{AnyPolicy, Decision, Error, PolicyFor, PolicySpec, PrefixKnown};
use rand::{Rng, RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::time::{ClockId, clock_gettime};

const N_ITEMS: usize = 5;
const N_POSITIONS: usize = 3;
const N_LEARNED: usize = 2_000;
const N_BLOCKS: usize = 41;
const HORIZON: u64 = 1_000_000;
const EXAMINATION: [f64; N_POSITIONS] = [0.9, 0.6, 0.3];
const ATTRACTION: [f64; N_ITEMS] = [0.5, 0.4, 0.3, 0.2, 0.1];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names: Vec<String> = std::env::args().skip(1).collect();
    println!("| policy | users | own type, ns | by name, ns | ratio |\n|---|---|---|---|---|");
    for row in rows().iter().filter(|row| names.is_empty() || names.iter().any(|name| name == row.name)) {
        let spec = row.spec();
        let examination: Vec<Probability> =
            EXAMINATION.iter().map(|&examined| Probability::new(examined)).collect::<Result<_, _>>()?;
        let shape = ListShape::new(N_ITEMS, N_POSITIONS)?;
        let known = PbmKnown::new(shape, &examination)?;
        let context = ContextKnown::new(N_ITEMS, &ATTRACTION)?.with_user_features(1).with_segments(2);
        let all = All { spec, known, context };
        let _ = spec.with_position_based(&all);
        let _ = spec.with_unknown_examination(&all);
        let _ = spec.with_prefix(&all);
        let _ = spec.with_any_list(&all);
        let _ = spec.with_stopping(&all);
        let _ = spec.with_full_feedback(&all);
        let _ = spec.with_budgeted(&all);
        let _ = spec.with_cells(&all);
        let _ = spec.with_pairs(&all);
        let _ = spec.with_position_contexts(&all);
        let _ = spec.with_prefix_contexts(&all);
    }
    Ok(())
}

/// Measures a policy of any family.
struct All<'a> {
    spec: PolicySpec,
    known: PbmKnown<'a>,
    context: ContextKnown<'a>,
}

/// Implements the visits: the users, and the knowledge of them.
macro_rules! visits {
    ($($Visitor:ident of $Users:ident: |$all:ident| -> $Known:ty $known:block, $knowledge:expr $(, $tolerance:ident)?;)*) => {$(
        impl $Visitor for &All<'_> {
            type Output = ();

            fn with<P, F>(self, build: F $(, $tolerance: NonNegative)?)
            where
                P: PolicyFor<$Users>,
                F: Fn($Known, u64) -> Result<P, Error> + Send + Sync + 'static,
            {
                let $all = self;
                let knowledge: Knowledge = $knowledge;
                let knowledge = Knowledge { horizon: Some(HORIZON), ..knowledge };
                measure::<$Users, P>(self.spec, build($known, HORIZON), knowledge);
            }
        }
    )*};
}

visits! {
    WithPositionBased of Pbm: |all| -> PbmKnown<'_> { all.known }, Pbm::knowledge(&all.known.into());
    WithUnknownExamination of Pbm: |all| -> PrefixKnown<'_> { all.known.shape().into() }, Pbm::knowledge(&all.known.shape().into());
    WithPrefix of Cascade: |all| -> PrefixKnown<'_> { all.known.shape().into() }, Cascade::knowledge(&all.known.shape().into());
    WithAnyList of Cascade: |all| -> ListShape { all.known.shape() }, Cascade::knowledge(&all.known.shape().into());
    WithStopping of Cascade: |all| -> ListShape { all.known.shape() }, Cascade::knowledge(&all.known.shape().into()), _tolerance;
    WithBudgeted of Cascade: |all| -> ListShape { all.known.shape() }, Cascade::knowledge(&all.known.shape().into());
    WithCells of RankOne: |_all| -> TableShape { table() }, RankOne::knowledge(&table());
    WithPairs of Dueling: |_all| -> PairKnown { pairs() }, Dueling::knowledge(&pairs());
    WithPositionContexts of Pbm: |all| -> (PbmKnown<'_>, ContextKnown<'_>) { (all.known, all.context) }, Knowledge { context: Some(all.context.into()), ..Pbm::knowledge(&all.known.into()) };
    WithPrefixContexts of SemiBandit: |all| -> (PrefixKnown<'_>, ContextKnown<'_>) { (all.known.shape().into(), all.context) }, Knowledge { context: Some(all.context.into()), ..SemiBandit::knowledge(&all.known.shape().into()) };
}

fn table() -> TableShape {
    TableShape::new(N_ITEMS, N_POSITIONS).expect("a table")
}

fn pairs() -> PairKnown {
    DuelShape::new(N_ITEMS).expect("some items").into()
}

/// Prints the times of a policy.
fn measure<I: CatalogueProtocol, P: PolicyFor<I>>(
    spec: PolicySpec,
    typed: Result<P, Error>,
    knowledge: Knowledge,
) {
    let mut typed = typed.expect("a policy for these sizes");
    let mut named = AnyPolicy::build(spec, I::PROTOCOL, knowledge).expect("a policy for these sizes");
    let user = Context { segment: 1, features: vec![0.5] };
    let ask = Ask { context: &user, ..Ask::default() };
    let mut rngs = [(); 2].map(|()| Xoshiro256PlusPlus::seed_from_u64(1));
    let (mut own, mut any) =
        (Decision::<I::Action, P::Note>::default(), Decision::<Ranking, Note>::default());
    let (mut list, mut users) = (Ranking::default(), Xoshiro256PlusPlus::seed_from_u64(2));
    for _ in 0..N_LEARNED {
        typed.select_for(&user, &mut rngs[0], &mut own);
        named.select(&ask, &mut rngs[1], &mut any);
        own.action.write(&mut list);
        assert_eq!(list, any.action, "{spec} by name chooses as its type does");
        let clicks = I::clicks(&I::feedback(answer(&list, &mut users)));
        typed.update_for(&own, &I::feedback(clicks));
        named.update(&any, clicks);
    }
    let mut times = [vec![], vec![]];
    let mut n_rounds = 16;
    while seconds(|| (0..n_rounds).for_each(|_| typed.select_for(&user, &mut rngs[0], &mut own))) < 2e-3 {
        n_rounds *= 2;
    }
    for _ in 0..N_BLOCKS {
        let of_own = seconds(|| (0..n_rounds).for_each(|_| typed.select_for(&user, &mut rngs[0], &mut own)));
        let of_any = seconds(|| (0..n_rounds).for_each(|_| named.select(&ask, &mut rngs[1], &mut any)));
        times[0].push(of_own / f64::from(n_rounds) * 1e9);
        times[1].push(of_any / f64::from(n_rounds) * 1e9);
    }
    let [own, any] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[N_BLOCKS / 2]
    });
    println!("| `{spec}` | {} | {own:.1} | {any:.1} | {:.2} |", I::PROTOCOL, any / own);
}

/// Clicks of users who see the whole list; of a cell or a pair, one position.
fn answer(list: &Ranking, rng: &mut impl Rng) -> Clicks {
    let n = list.len();
    list.iter().enumerate().fold(Clicks::new(n), |clicks, (position, item)| {
        let attracts = ATTRACTION.get(item.index()).copied().unwrap_or(0.0);
        if rng.random::<f64>() < attracts { clicks.with(position) } else { clicks }
    })
}

fn seconds(run: impl FnOnce()) -> f64 {
    let now = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
    };
    let begin = now();
    run();
    now() - begin
}
