//! The table of policies, one row each.
//!
//! Papers: PBM paper: Lagrée, Vernade, Cappé, *Multiple-play bandits in the position-based model*,
//! 2016. RSF paper: Vahabi, Lagrée, Vernade, Cappé, *Sequential ranking under random semi-bandit
//! feedback*, 2016.

use super::define::{arm, builders, catalogue, pass, with_family};
use super::erased::Abilities;
use super::parameters::{Level, ListPolicy, Parameter, PbmPieLevel, Scale};
use super::row::{Answers, CELLS, Family, ITEMS, Limit, Live, ParameterRow, Row};
use super::text::{SpecError, parameter};
use super::visit::{
    self, PairKnown, WithAnyList, WithBudgeted, WithCells, WithPairs, WithPositionBased,
    WithPositionContexts, WithPrefix, WithPrefixContexts, WithStopping, WithUnknownExamination,
};
use crate::{
    BatchRank, BcMpTs, BeatTheMean, CascadeBai, CascadeKl, CascadeKlOrder, CascadeKlTest, CascadeLinWidth,
    CascadeLinear, CellKlUcb, CondorcetSavage, Delta, Deviations, DoubleTs, EcwRmed, EpsilonGreedy, Grab,
    HybridSettings, HybridTs, InterleavedFilter, KlLucb, KlLucbLevels, MeanRadius, MergeDts, PbMhb, PbmGibbs,
    PbmGibbsOrder, PbmHybridTs, PbmKlUcb, PbmPie, PbmPiePosition, PbmTs, PbmUcb, Pie, PrefixKlUcb,
    PrefixKnown, PrefixTs, PrefixUcb, PrefixUcbV, Pulls, Rank1Elim, Rank1Gibbs, RbaKlUcb, Rmed1, Rucb,
    ShowOrder, SuccessiveRejects, TopRank, TsCascade, Ucb1, Ucb1Elim, Uniform, UniformCell, UniformPair, Uts,
    WithoutContext,
};
use click_models::{ContextKnown, ListShape, PbmKnown, TableShape};
use confidence::{NonNegative, Probability, Rate};
use serde::Serialize;
use serde_json::{Map, Value};
use std::num::NonZeroU32;

catalogue! {
    /// PBM-UCB: confidence bounds from clicks and examination.
    PbmUcb = "pbm-ucb" {
        /// Relative increase of `ln t`.
        epsilon: NonNegative = NonNegative::default(),
    }
    plays: PositionBased(known, _horizon => PbmUcb::new(known, Rate::scaled_log(epsilon))),
    horizon: false, answers: Late, live: Table, limit: Limit::None,
    cost: "K multiply-adds; far less on average with thousands of items",
    guarantee: "O(log T)",
    source: "PBM paper, section 4, Proposition 8, Theorem 9";

    /// PBM-PIE: the best list so far; one position explores.
    PbmPie = "pbm-pie" {
        /// Relative increase of the logarithm.
        epsilon: NonNegative = NonNegative::default(),
        /// Logarithm of the round or of the horizon.
        level: PbmPieLevel = PbmPieLevel::default(),
        /// Position at which the policy explores: the last, or the one where it costs least by the
        /// estimates.
        position: PbmPiePosition = PbmPiePosition::default(),
    }
    plays: PositionBased(known, horizon => PbmPie::new(known, level.rate(epsilon, horizon)).with_position(position)),
    horizon: matches!(level, PbmPieLevel::LogHorizon), answers: Late, live: InOrder, limit: Limit::None,
    cost: "K L multiply-adds in half of the rounds; far less on average with hundreds of items",
    guarantee: "asymptotically optimal, if exploring is cheapest at the last position; with `least-cost` always (ours)",
    source: "PBM paper, Algorithm 1, eq. (7), Theorem 11";

    /// PBM-KL-UCB: confidence bounds from the KL divergence.
    PbmKlUcb = "pbm-kl-ucb" {
        /// Relative increase of `ln t`.
        epsilon: NonNegative = NonNegative::default(),
    }
    plays: PositionBased(known, _horizon => PbmKlUcb::new(known, Rate::scaled_log(epsilon))),
    horizon: false, answers: Late, live: Table, limit: Limit::None,
    cost: "K L multiply-adds, about L solved indices",
    guarantee: "none proven",
    source: "index: PBM paper, eq. (7), Proposition 10; as a policy: ours";

    /// PBM-TS: Thompson sampling, exact posterior.
    PbmTs = "pbm-ts" {}
    plays: PositionBased(known, _horizon => PbmTs::new(known)),
    horizon: false, answers: Late, live: Table, limit: Limit::None,
    cost: "K exact posterior draws, a few if K is large",
    guarantee: "conjectured optimal; lowest regret in the paper's experiments, with PBM-PIE",
    source: "PBM paper, section 4, PBM-TS";

    /// BC-MP-TS: Thompson sampling, corrected Beta posterior.
    BcMpTs = "bc-mp-ts" {}
    plays: PositionBased(known, _horizon => BcMpTs::new(known)),
    horizon: false, answers: Late, live: Table, limit: Limit::None,
    cost: "K Beta draws, later only those that can reach the list",
    guarantee: "none here; explores too little if attraction is near 1",
    source: "Komiyama et al. 2015, supplement";

    /// Thompson sampling that also samples examination.
    PbmGibbs = "pbm-gibbs" {
        /// Whether the policy knows which positions are examined more than others.
        order: PbmGibbsOrder = PbmGibbsOrder::default(),
    }
    plays: UnknownExamination(known, _horizon => PbmGibbs::new(known, order)),
    horizon: false, answers: Late, live: Table, limit: CELLS,
    cost: "K + L Gamma draws, K L multiply-adds",
    guarantee: "none",
    source: "ours";

    /// GRAB: exchanges two items of the best list so far.
    Grab = "grab" {
        /// A list is shown in the first of every `gamma` rounds in which it leads; by default the
        /// number of items.
        #[serde(skip_serializing_if = "Option::is_none")]
        gamma: Option<NonZeroU32> = None,
    }
    plays: UnknownExamination(known, horizon => Grab::new(known.shape(), gamma, horizon)),
    horizon: true, answers: Late, live: InOrder, limit: CELLS,
    cost: "an assignment: up to K L^2 operations; K + L comparisons",
    guarantee: "O(log T), in its paper",
    dominated_by: "pbm-gibbs",
    source: "Gauthier et al. 2021, a reading of the authors' program";

    /// PB-MHB: Thompson sampling by a Metropolis-Hastings chain.
    PbMhb = "pb-mhb" {
        /// Standard deviation of a proposal, times the root of the round.
        c: NonNegative = PbMhb::default_width(),
        /// Sweeps of the chain in a round.
        m: NonZeroU32 = PbMhb::default_sweeps(),
    }
    plays: UnknownExamination(known, _horizon => PbMhb::new(known, c, m)),
    horizon: false, answers: Late, live: InOrder, limit: CELLS,
    cost: "2 m K L logarithms",
    guarantee: "none",
    source: "Gauthier et al. 2021 (IDA), a reading of the authors' program";

    /// Ranked bandits: a KL-UCB bandit at every position.
    RbaKlUcb = "rba-kl-ucb" {}
    plays: AnyList(shape, _horizon => RbaKlUcb::new(shape)),
    horizon: false, answers: Late, live: InOrder, limit: Limit::None,
    cost: "K L multiply-adds",
    guarantee: "none with KL-UCB bandits (adversarial bandits have one against the greedy list, for any users)",
    source: "Radlinski et al. 2008";

    /// RSF-UCB: confidence bounds of the form of UCB1.
    RsfUcb = "rsf-ucb" {}
    plays: Prefix(known, _horizon => PrefixUcb::rsf(known)),
    horizon: false, answers: Late, live: Table, limit: Limit::None,
    cost: "K multiply-adds; far less on average with thousands of items",
    guarantee: "none in its paper; the simplest policy",
    source: "RSF paper, section 5";

    /// RSF-KL-UCB: confidence bounds from the KL divergence.
    RsfKlUcb = "rsf-kl-ucb" {
        /// Exploration rate.
        level: Level = Level::default(),
    }
    plays: Prefix(known, _horizon => PrefixKlUcb::new(known, level.into())),
    horizon: false, answers: Late, live: Table, limit: Limit::None,
    cost: "K multiply-adds, a few solved indices; far less on average with thousands of items",
    guarantee: "none in its paper",
    source: "RSF paper, section 5";

    /// RSF-TS: Thompson sampling, Beta posteriors.
    RsfTs = "rsf-ts" {}
    plays: Prefix(known, _horizon => PrefixTs::new(known)),
    horizon: false, answers: Late, live: Table, limit: Limit::None,
    cost: "K Beta draws, later only those that can reach the list",
    guarantee: "none; lowest regret in the RSF paper's experiments",
    source: "RSF paper, Algorithm 1";

    /// KL-UCB on items, the rule of RSF-KL-UCB, or on cells.
    KlUcb = "kl-ucb" {
        /// Exploration rate.
        level: Level = Level::default(),
    }
    plays: Prefix(known, _horizon => PrefixKlUcb::new(known, level.into()))
    | Cells(shape, _horizon => CellKlUcb::new(shape, level.into())),
    horizon: false, answers: Late, live: Table, limit: CELLS,
    cost: "K multiply-adds, a few solved indices; far less on average with thousands of items; a few indices for cells",
    guarantee: "O(K L log T) for cells: every cell is an arm",
    source: "Garivier, Cappé 2011";

    /// `CascadeUCB1`: the confidence bounds of UCB1.
    CascadeUcb1 = "cascade-ucb1" {}
    plays: Prefix(known, _horizon => PrefixUcb::cascade(known)),
    horizon: false, answers: Late, live: Table, limit: Limit::None,
    cost: "K multiply-adds; far less on average with thousands of items",
    guarantee: "O(log T) on cascades",
    source: "Kveton et al. 2015";

    /// CascadeKL-UCB: confidence bounds from the KL divergence.
    CascadeKlUcb = "cascade-kl-ucb" {
        /// Exploration rate.
        level: Level = Level::LogTPlus3LogLogT,
    }
    plays: Prefix(known, _horizon => PrefixKlUcb::new(known, level.into())),
    horizon: false, answers: Late, live: Table, limit: Limit::None,
    cost: "K multiply-adds, a few solved indices; far less on average with thousands of items",
    guarantee: "O(log T) on cascades",
    source: "Kveton et al. 2015";

    /// `CascadeTS`: Thompson sampling, the rule of RSF-TS.
    CascadeTs = "cascade-ts" {}
    plays: Prefix(known, _horizon => PrefixTs::new(known)),
    horizon: false, answers: Late, live: Table, limit: Limit::None,
    cost: "K Beta draws, later only those that can reach the list",
    guarantee: "none here",
    source: "the rule of RSF-TS";

    /// TS-Cascade: Thompson sampling, one normal draw for all.
    TsCascade = "ts-cascade" {}
    plays: Prefix(known, _horizon => TsCascade::new(known)),
    horizon: false, answers: Late, live: Table, limit: Limit::None,
    cost: "one normal draw, 2 K multiply-adds; less on average with hundreds of items",
    guarantee: "O(sqrt(K L T)) on cascades, up to logarithms",
    dominated_by: "cascade-ts",
    source: "Zhong et al. 2021";

    /// CascadeUCB-V: confidence bounds from the variance.
    CascadeUcbV = "cascade-ucb-v" {
        /// Factor of the exploration `ln t`.
        zeta: NonNegative = PrefixUcbV::default_zeta(),
    }
    plays: Prefix(known, _horizon => PrefixUcbV::new(known).with_zeta(zeta)),
    horizon: false, answers: Late, live: Table, limit: Limit::None,
    cost: "2 K multiply-adds; far less on average with thousands of items",
    guarantee: "O(sqrt(K T)) on cascades, up to logarithms, proven for the constants of its paper; here `zeta = 1`",
    source: "Vial et al. 2022, not checked against the paper";

    /// dcmKL-UCB: confidence bounds from the KL divergence.
    DcmKlUcb = "dcm-kl-ucb" {
        /// Exploration rate.
        level: Level = Level::LogTPlus3LogLogT,
    }
    plays: Prefix(known, _horizon => PrefixKlUcb::new(known, level.into())),
    horizon: false, answers: Late, live: Table, limit: Limit::None,
    cost: "K multiply-adds, a few solved indices; far less on average with thousands of items",
    guarantee: "O(log T) on dependent clicks, according to its paper**",
    source: "Katariya et al. 2016";

    /// Thompson sampling, the rule of RSF-TS.
    DcmTs = "dcm-ts" {
        /// Probability that users go on after a click, if it is one for all positions: lists that
        /// earn most for the values of items need it.
        #[serde(skip_serializing_if = "Option::is_none")]
        continuation: Option<Probability> = None,
    }
    plays: Prefix(known, _horizon => PrefixTs::new(known)),
    horizon: false, answers: Late, live: Table, limit: Limit::None,
    cost: "K Beta draws, later only those that can reach the list",
    guarantee: "none",
    source: "the rule of RSF-TS";

    /// PIE(l): the best list so far; position l explores.
    Pie = "pie" {
        /// 0-based position at which it explores; by default the position of the last leader.
        #[serde(skip_serializing_if = "Option::is_none")]
        position: Option<usize> = None,
        /// Exploration rate.
        level: Level = Level::default(),
    }
    plays: Prefix(known, _horizon => match position {
        None => Pie::last(known, level.into()),
        Some(position) => Pie::at(known, position, level.into())?,
    }),
    horizon: false, answers: Late, live: InOrder, limit: Limit::None,
    cost: "K multiply-adds; far less on average with hundreds of items",
    guarantee: "asymptotically optimal in the models of its paper",
    source: "Combes et al. 2015";

    /// `TopRank`: orders the items that clicks tell apart.
    TopRank = "top-rank" {}
    plays: AnyList(shape, horizon => TopRank::new(shape, horizon)),
    horizon: true, answers: IndependentOfClicks, live: InOrder, limit: ITEMS,
    cost: "L draws, one addition per item for a click",
    guarantee: "O(log T) for any users who click most at the top",
    source: "Lattimore et al. 2018, Algorithm 1";

    /// `BatchRank`: divides batches that clicks tell apart.
    BatchRank = "batch-rank" {}
    plays: AnyList(shape, horizon => BatchRank::new(shape, horizon)),
    horizon: true, answers: IndependentOfClicks, live: InOrder, limit: Limit::None,
    cost: "L draws",
    guarantee: "O(log T) on position-based users and cascades; large constants",
    dominated_by: "top-rank",
    source: "Zoghi et al. 2017, Algorithms 1 to 4";

    /// Epsilon-greedy on clicks per display.
    EpsilonGreedy = "epsilon-greedy" {
        /// Probability of a random list.
        epsilon: Probability = EpsilonGreedy::default_epsilon(),
    }
    plays: AnyList(shape, _horizon => EpsilonGreedy::new(shape, epsilon)),
    horizon: false, answers: Late, live: Table, limit: Limit::None,
    cost: "K divisions",
    guarantee: "none: regret grows linearly, by `epsilon` times the regret of a random list",
    source: "Sutton, Barto 2018, section 2.2";

    /// `Rank1ElimKL`: eliminates rows and columns, KL bounds.
    Rank1ElimKl = "rank1-elim-kl" {}
    plays: Cells(shape, horizon => Rank1Elim::kl(shape, horizon)),
    horizon: true, answers: IndependentOfClicks, live: No, limit: Limit::None,
    cost: "a few operations; K + L indices per stage",
    guarantee: "O((K + L) log T / (mu gamma gap)); large constants",
    source: "Katariya et al. 2017, Algorithm 1";

    /// `Rank1Elim`: eliminates rows and columns, Hoeffding bounds.
    Rank1Elim = "rank1-elim" {}
    plays: Cells(shape, horizon => Rank1Elim::hoeffding(shape, horizon)),
    horizon: true, answers: IndependentOfClicks, live: No, limit: Limit::None,
    cost: "a few operations; K + L indices per stage",
    guarantee: "O((K + L) log T / (mu^2 gap)); large constants",
    source: "Katariya et al., AISTATS 2017";

    /// `UCB1Elim`: eliminates cells.
    Ucb1Elim = "ucb1-elim" {}
    plays: Cells(shape, horizon => Ucb1Elim::new(shape, horizon)),
    horizon: true, answers: IndependentOfClicks, live: No, limit: CELLS,
    cost: "a few operations",
    guarantee: "O(K L log T): every cell is an arm",
    source: "Auer, Ortner 2010";

    /// UCB1: confidence bounds of all cells.
    Ucb1 = "ucb1" {}
    plays: Cells(shape, _horizon => Ucb1::new(shape)),
    horizon: false, answers: Late, live: No, limit: CELLS,
    cost: "a few indices",
    guarantee: "O(K L log T): every cell is an arm",
    source: "Auer et al. 2002";

    /// Unimodal Thompson sampling: row and column of the leader.
    Uts = "uts" {}
    plays: Cells(shape, _horizon => Uts::new(shape)),
    horizon: false, answers: Late, live: No, limit: CELLS,
    cost: "K + L Beta draws in every other round",
    guarantee: "asymptotically optimal",
    source: "Trinh et al. 2020, Algorithm 1";

    /// Thompson sampling with a posterior of rows and columns.
    Rank1Gibbs = "rank1-gibbs" {}
    plays: Cells(shape, _horizon => Rank1Gibbs::new(shape)),
    horizon: false, answers: Late, live: No, limit: CELLS,
    cost: "K + L Gamma draws, K L multiply-adds",
    guarantee: "none",
    source: "ours";

    /// `CascadeBAI`: stops with the best items.
    CascadeBai = "cascade-bai" {
        /// Largest probability of a wrong answer.
        delta: Delta = Delta::default(),
        /// Tolerance: how much less attractive than the K-th best item an item of the answer may
        /// be.
        epsilon: NonNegative = NonNegative::default(),
        /// Factor of the confidence radius.
        radius_scale: NonNegative = NonNegative::from_count(4),
        /// Order of the items on the list.
        order: ShowOrder = ShowOrder::default(),
    }
    plays: Stopping(shape, _horizon within epsilon => {
        let policy = CascadeBai::new(shape, delta).with_epsilon(epsilon);
        policy.with_radius_scale(radius_scale).with_order(order)
    }),
    horizon: false, answers: IndependentOfClicks, live: InOrder, limit: Limit::None,
    cost: "a few operations",
    guarantee: "stops with the best items, wrong with probability at most `delta`***; bounded number of rounds",
    source: "Zhong et al. 2020, Algorithm 1";

    /// `BatRac`: stops with the best items; users examine all.
    Batrac = "batrac" {
        /// Largest probability of a wrong answer.
        delta: Delta = Delta::default(),
        /// Tolerance: how much less attractive than the K-th best item an item of the answer may
        /// be.
        epsilon: NonNegative = NonNegative::default(),
        /// Factor of the confidence radius.
        radius_scale: NonNegative = NonNegative::from_count(4),
        /// Order of the items on the list.
        order: ShowOrder = ShowOrder::default(),
        /// Number of items per step.
        pulls: Pulls = Pulls::default(),
    }
    plays: FullFeedback(shape, _horizon within epsilon => {
        let policy = CascadeBai::bat_rac(shape, pulls, delta).with_epsilon(epsilon);
        policy.with_radius_scale(radius_scale).with_order(order)
    }),
    horizon: false, answers: IndependentOfClicks, live: InOrder, limit: Limit::None,
    cost: "a few operations",
    guarantee: "stops with the best items",
    source: "Zhong et al. 2020, section 5";

    /// Stops with the best items; tests from the KL divergence.
    CascadeKl = "cascade-kl" {
        /// Largest probability of a wrong answer.
        delta: Delta = Delta::default(),
        /// Tolerance: how much less attractive than the K-th best item an item of the answer may
        /// be.
        epsilon: NonNegative = NonNegative::default(),
        /// Test that decides which of two items is better.
        test: CascadeKlTest = CascadeKlTest::default(),
        /// Rule that chooses the items and their order.
        order: CascadeKlOrder = CascadeKlOrder::default(),
    }
    plays: Stopping(shape, _horizon within epsilon => {
        let policy = CascadeKl::new(shape, delta).with_epsilon(epsilon);
        policy.with_test(test).with_order(order)
    }),
    horizon: false, answers: IndependentOfClicks, live: InOrder, limit: Limit::None,
    cost: "L multiply-adds and a selection among L items",
    guarantee: "stops with the best items, wrong with probability at most `delta`***",
    source: "ours";

    /// KL-LUCB: stops with the best items; KL confidence bounds.
    KlLucb = "kl-lucb" {
        /// Largest probability of a wrong answer.
        delta: Delta = Delta::default(),
        /// Tolerance: how much less attractive than the K-th best item an item of the answer may
        /// be.
        epsilon: NonNegative = NonNegative::default(),
        /// Confidence levels: from the number of rounds as in the paper, or from mixtures of
        /// likelihoods as in `cascade-kl`.
        levels: KlLucbLevels = KlLucbLevels::default(),
    }
    plays: Stopping(shape, _horizon within epsilon => {
        KlLucb::new(shape, delta).with_epsilon(epsilon).with_levels(levels)
    }),
    horizon: false, answers: IndependentOfClicks, live: InOrder, limit: Limit::None,
    cost: "L comparisons, a few indices",
    guarantee: "stops with the best items",
    source: "Kaufmann, Kalyanakrishnan 2013";

    /// Successive accepts and rejects: decides item by item.
    SuccessiveRejects = "successive-rejects" {}
    plays: Budgeted(shape, horizon => SuccessiveRejects::new(shape, horizon)),
    horizon: true, answers: IndependentOfClicks, live: InOrder, limit: Limit::None,
    cost: "a few operations",
    guarantee: "none; names the best items after a fixed number of rounds",
    source: "ours";

    /// RUCB: an optimistic champion and its strongest opponent.
    Rucb = "rucb" {
        /// Factor of `ln t / n` in the confidence radius.
        alpha: NonNegative = NonNegative::new(0.51).expect("not negative"),
        /// Upper bound of a pair that was never compared.
        unseen: NonNegative = NonNegative::from_count(2),
    }
    plays: Pairs(known, _horizon => Rucb::new(known.shape, alpha).with_unseen(unseen)),
    horizon: false, answers: Late, live: No, limit: Limit::None,
    cost: "K multiply-adds, far less in later rounds",
    guarantee: "O(log T) if one item beats all others; large constants",
    source: "Zoghi et al. 2014, Algorithm 1";

    /// Beat the Mean: eliminates what loses against the average.
    BeatTheMean = "beat-the-mean" {
        /// Constant of relaxed stochastic transitivity.
        gamma: NonNegative = NonNegative::from_count(1),
        /// Radius as printed, or without its factor 3 and without comparisons of an item with
        /// itself.
        radius: MeanRadius = MeanRadius::default(),
    }
    plays: Pairs(known, horizon => {
        BeatTheMean::with_radius(known.shape, horizon, known.gamma.unwrap_or(gamma), radius)
    }),
    horizon: true, answers: IndependentOfClicks, live: No, limit: Limit::None,
    cost: "K comparisons",
    guarantee: "O(gamma^7 log T) under relaxed transitivity; none with the tight radius of public programs, which has a fraction of the regret",
    source: "Yue, Joachims 2011, Algorithm 1";

    /// Condorcet SAVAGE: compares pairs until losers are certain.
    CondorcetSavage = "condorcet-savage" {}
    plays: Pairs(known, horizon => CondorcetSavage::new(known.shape, horizon)),
    horizon: true, answers: IndependentOfClicks, live: No, limit: Limit::None,
    cost: "a few operations",
    guarantee: "O(log T) if one item beats all others; large constants",
    source: "Urvoy et al. 2013";

    /// Interleaved Filter: a candidate and its rivals, pruned.
    InterleavedFilter = "interleaved-filter" {}
    plays: Pairs(known, horizon => InterleavedFilter::new(known.shape, horizon)),
    horizon: true, answers: IndependentOfClicks, live: No, limit: Limit::None,
    cost: "a few operations",
    guarantee: "O(log T) under strong transitivity only",
    source: "Yue et al. 2012, Algorithm 2";

    /// RMED1: compares what may still be best, by divergence.
    Rmed1 = "rmed1" {}
    plays: Pairs(known, _horizon => Rmed1::new(known.shape)),
    horizon: false, answers: Late, live: No, limit: Limit::None,
    cost: "K comparisons, far less in later rounds",
    guarantee: "asymptotically optimal up to a constant, among policies that compare with the best item only",
    source: "Komiyama et al. 2015, Algorithms 1 and 2";

    /// ECW-RMED: compares as often as a Copeland winner needs.
    EcwRmed = "ecw-rmed" {
        /// Factor of `sqrt(ln t)` in the least number of duels of a pair.
        alpha: NonNegative = EcwRmed::default_alpha(),
        /// Factor of `1 / ln ln t` in the distance from 1/2 below which a pair is compared.
        beta: NonNegative = EcwRmed::default_beta(),
    }
    plays: Pairs(known, _horizon => EcwRmed::with_parameters(known.shape, alpha, beta)),
    horizon: false, answers: Late, live: No, limit: ITEMS,
    cost: "K^2 log K operations a Copeland winner, far less in later rounds",
    guarantee: "asymptotically optimal against Copeland winners if there are several; O(log T)",
    source: "Komiyama et al. 2016, Algorithm 1";

    /// Double Thompson sampling: draws both items.
    DoubleTs = "double-ts" {}
    plays: Pairs(known, _horizon => DoubleTs::new(known.shape)),
    horizon: false, answers: Late, live: No, limit: Limit::None,
    cost: "about 2 K Bernoulli draws, K (K - 1) / 2 at the beginning",
    guarantee: "O(K^2 log T) against Copeland winners; O(K log T + K^2 log log T) if one item beats all others",
    source: "Wu, Liu 2016, Algorithm 1";

    /// `MergeDTS`: double Thompson sampling in merging batches.
    MergeDts = "merge-dts" {}
    plays: Pairs(known, _horizon => MergeDts::new(known.shape)),
    horizon: false, answers: IndependentOfClicks, live: No, limit: Limit::None,
    cost: "120 Bernoulli draws and 15 Beta draws, for any K",
    guarantee: "none with the parameters of the experiments",
    source: "Li et al. 2020, not checked against the paper";

    /// Hybrid Thompson sampling: segments, features, items.
    HybridTs = "hybrid-ts" {
        /// Factor of the standard deviation of draws.
        alpha: NonNegative = HybridSettings::default().alpha,
        /// Whether all items share coefficients of the products of user and item features.
        interactions: bool = true,
        /// Whether the standard deviations of items and cells are estimated from the answers.
        deviations: Deviations = Deviations::default(),
    }
    plays: PositionContexts((known, context), _horizon => {
        PbmHybridTs::new(known, context, HybridSettings { alpha, interactions, deviations })?
    })
    | PrefixContexts((known, context), _horizon => {
        HybridTs::new(known, context, HybridSettings { alpha, interactions, deviations })?
    })
    | PositionBased(known, _horizon => {
        let nothing = ContextKnown::new(known.shape().n_items(), &[])?;
        WithoutContext::new(PbmHybridTs::new(known, nothing, HybridSettings { alpha, interactions, deviations })?)
    })
    | Prefix(known, _horizon => {
        let nothing = ContextKnown::new(known.shape().n_items(), &[])?;
        WithoutContext::new(HybridTs::new(known, nothing, HybridSettings { alpha, interactions, deviations })?)
    }),
    horizon: false, answers: Late, live: Whole, limit: Limit::None,
    cost: "K normal draws; `D^2 / 2` multiply-adds for D products of features, `2 L D^2` to learn",
    guarantee: "none",
    source: "ours, of Chapelle, Li 2011; Li et al. 2010, section 3.2; Wan et al. 2023; Hong et al. 2022";

    /// A policy for each segment of users.
    Segmented = "segmented" {
        /// The policy of a segment, with its default parameters.
        of: ListPolicy = ListPolicy::named("cascade-ts").expect("a row"),
    }
    plays: Segments(),
    horizon: of.spec().needs_horizon(), answers: IndependentOfClicks, live: InOrder, limit: Limit::None,
    cost: "that of the policy of the segment",
    guarantee: "that of the policy, for each segment",
    source: "Bendada et al. 2020, ts-seg";

    /// `CascadeLinUCB`: bounds, attraction linear in features.
    CascadeLinUcb = "cascade-lin-ucb" {
        /// Radius of the bounds, in standard deviations.
        c: NonNegative = CascadeLinear::default_width(),
        /// Standard deviation of an answer.
        sigma: Scale = Scale::one(),
        /// Whether the radius is `c` or that of the paper's Theorem 1, which explores for far
        /// longer.
        width: CascadeLinWidth = CascadeLinWidth::default(),
    }
    plays: PrefixContexts((known, context), horizon => match width {
        CascadeLinWidth::C => CascadeLinear::ucb(known, context, c, sigma.get())?,
        CascadeLinWidth::Theory => CascadeLinear::ucb_of_theory(known, context, sigma.get(), horizon)?,
    }),
    horizon: matches!(width, CascadeLinWidth::Theory), answers: Late, live: InOrder, limit: Limit::None,
    cost: "`K N^2 + D^2 N / 2` multiply-adds for D products with N columns of items, `2 L D^2` to learn",
    guarantee: "O(sqrt(T)), up to logarithms, with the radius of theory on linear attraction",
    source: "Zong et al. 2016, Algorithm 1, Theorem 1, constants not checked against the paper";

    /// `CascadeLinTS`: draws, attraction linear in features.
    CascadeLinTs = "cascade-lin-ts" {
        /// Standard deviation of an answer; 1 in the paper's experiments.
        sigma: Scale = Scale::of(0.25),
    }
    plays: PrefixContexts((known, context), _horizon => CascadeLinear::ts(known, context, sigma.get())?),
    horizon: false, answers: Late, live: InOrder, limit: Limit::None,
    cost: "`K N + D^2 / 2` multiply-adds for D products with N columns of items, `2 L D^2` to learn",
    guarantee: "none",
    source: "Zong et al. 2016, Algorithm 2";

    /// C3-UCB: bounds, linear, radius from the determinant.
    C3Ucb = "c3-ucb" {
        /// Precision of the prior.
        lambda: Scale = Scale::one(),
        /// Probability that a bound fails.
        delta: Delta = Delta::default(),
        /// Scale of the noise.
        r: NonNegative = NonNegative::from_count(1),
    }
    plays: PrefixContexts((known, context), _horizon => CascadeLinear::c3(known, context, lambda.get(), delta, r)?),
    horizon: false, answers: Late, live: InOrder, limit: Limit::None,
    cost: "as `cascade-lin-ucb`",
    guarantee: "O(sqrt(T)), up to logarithms, on linear attraction",
    dominated_by: "cascade-lin-ucb",
    source: "Li et al. 2016, Algorithm 1 with discounts 1, constants not checked against the paper";

    /// A uniformly random list, cell or pair.
    Uniform = "uniform" {}
    plays: AnyList(shape, _horizon => Uniform::new(shape))
    | Cells(shape, _horizon => UniformCell::new(shape))
    | Pairs(known, _horizon => UniformPair::new(known.shape)),
    horizon: false, answers: Late, live: Table, limit: Limit::None,
    cost: "L draws",
    guarantee: "none: learns nothing; a baseline",
    source: "";

    /// The lists of a log by their frequencies: today's ranking.
    Logged = "logged" {}
    plays: Logged(),
    horizon: false, answers: Late, live: No, limit: Limit::None,
    cost: "a draw and a binary search among the lists",
    guarantee: "none: learns nothing; a baseline",
    source: "";

    /// The best list, cell or pair; only simulations know it.
    Oracle = "oracle" {}
    plays: Reference(),
    horizon: false, answers: Late, live: No, limit: Limit::None,
    cost: "a copy",
    guarantee: "regret 0; a baseline",
    source: "";
}

/// All policies of the catalogue, in the order of its tables.
pub fn rows() -> &'static [Row] {
    ROWS
}
