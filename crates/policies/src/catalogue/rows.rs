//! The table: a row a policy.
//!
//! Papers: PBM paper: Lagrée, Vernade, Cappé, *Multiple-play bandits in the position-based model*, 2016. RSF paper: Vahabi, Lagrée, Vernade, Cappé,
//! *Sequential ranking under random semi-bandit feedback*, 2016.

use super::define::{arm, builders, catalogue, with_family};
use super::parameters::{
    Level, Parameter, ParameterValue, PbmPieLevel, PbmPiePosition, radius_as_printed, rucb_alpha,
    rucb_unseen, strong_transitivity, take,
};
use super::row::{Answers, CELLS, Family, ITEMS, Limit, ParameterRow, Row};
use super::visit::{
    PairKnown, WithAnyList, WithBudgeted, WithCells, WithPairs, WithPositionBased, WithPrefix, WithStopping,
};
use crate::{
    BatchRank, BcMpTs, BeatTheMean, CascadeBai, CascadeKl, CascadeKlOrder, CascadeKlTest, CellKlUcb,
    CondorcetSavage, Delta, DoubleTs, EpsilonGreedy, InterleavedFilter, KlLucb, MeanRadius, MergeDts, PbmPie,
    PbmTs, PbmUcb, Pie, PrefixKlUcb, PrefixKnown, PrefixTs, PrefixUcb, PrefixUcbV, Pulls, Rank1Elim,
    Rank1Gibbs, RbaKlUcb, Rmed1, Rucb, ShowOrder, SuccessiveRejects, TopRank, TsCascade, Ucb1, Ucb1Elim,
    Uniform, UniformCell, UniformPair, Uts,
};
use click_models::{ListShape, PbmKnown, TableShape};
use confidence::{NonNegative, Probability, Rate};
use serde::Serialize;

catalogue! {
    /// PBM-UCB with level `(1 + epsilon) ln t`.
    PbmUcb = "pbm-ucb" {
        /// Added share of `ln t`.
        epsilon: NonNegative = NonNegative::default(),
    }
    plays {
        PositionBased(known, _horizon => PbmUcb::new(known, Rate::scaled_log(epsilon)))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "K multiply-adds",
    guarantee: "O(log T)",
    source: "PBM paper, section 4, Proposition 8, Theorem 9";

    /// PBM-PIE with level `(1 + epsilon) ln t` or `(1 + epsilon) ln T`.
    PbmPie = "pbm-pie" {
        /// Added share of the logarithm.
        epsilon: NonNegative = NonNegative::default(),
        /// Which logarithm.
        level: PbmPieLevel = PbmPieLevel::default(),
        /// Position at which it explores.
        position: PbmPiePosition = PbmPiePosition::default(),
    }
    plays {
        PositionBased(known, horizon => match position {
            PbmPiePosition::Last => PbmPie::new(known, level.rate(epsilon, horizon)),
        })
    }
    horizon: matches!(level, PbmPieLevel::LogHorizon), answers: Late, limit: Limit::None,
    cost: "K L multiply-adds in half of the rounds",
    guarantee: "optimal as T grows, if the last position is the cheapest to explore in",
    source: "PBM paper, Algorithm 1, eq. (7), Theorem 11";

    /// PBM-TS, the exact posterior.
    PbmTs = "pbm-ts" {}
    plays {
        PositionBased(known, _horizon => PbmTs::new(known))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "K exact posterior draws",
    guarantee: "conjectured optimal; with PBM-PIE the least regret in the paper's experiments",
    source: "PBM paper, section 4, PBM-TS";

    /// BC-MP-TS, the bias-corrected Beta posterior.
    BcMpTs = "bc-mp-ts" {}
    plays {
        PositionBased(known, _horizon => BcMpTs::new(known))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "K Beta draws",
    guarantee: "none here; explores too little where attraction is near 1",
    source: "Komiyama et al. 2015, supplement";

    /// Ranked bandits with a KL-UCB bandit at every position.
    RbaKlUcb = "rba-kl-ucb" {}
    plays {
        AnyList(shape, _horizon => RbaKlUcb::new(shape))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "K L multiply-adds",
    guarantee: "none with KL-UCB bandits (with adversarial ones, against a greedy list, for any users)",
    source: "Radlinski et al. 2008";

    /// RSF-UCB.
    RsfUcb = "rsf-ucb" {}
    plays {
        Prefix(known, _horizon => PrefixUcb::rsf(known))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "K multiply-adds",
    guarantee: "none in its paper; the simplest",
    source: "RSF paper, section 5";

    /// RSF-KL-UCB.
    RsfKlUcb = "rsf-kl-ucb" {
        /// Exploration rate.
        level: Level = Level::default(),
    }
    plays {
        Prefix(known, _horizon => PrefixKlUcb::new(known, level.into()))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "K multiply-adds, a few solved indices; far less on average with thousands of items",
    guarantee: "none in its paper",
    source: "RSF paper, section 5";

    /// RSF-TS.
    RsfTs = "rsf-ts" {}
    plays {
        Prefix(known, _horizon => PrefixTs::new(known))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "K Beta draws",
    guarantee: "none; the least regret in the RSF paper's experiments",
    source: "RSF paper, Algorithm 1";

    /// KL-UCB on an observed prefix, the rule of RSF-KL-UCB, or over the cells of a table.
    KlUcb = "kl-ucb" {
        /// Exploration rate.
        level: Level = Level::default(),
    }
    plays {
        Prefix(known, _horizon => PrefixKlUcb::new(known, level.into()))
        Cells(shape, _horizon => CellKlUcb::new(shape, level.into()))
    }
    horizon: false, answers: Late, limit: CELLS,
    cost: "K multiply-adds, a few solved indices; far less on average with thousands of items; of cells a few indices",
    guarantee: "O(K L log T) where every cell is an arm",
    source: "Garivier, Cappé 2011";

    /// `CascadeUCB1`.
    CascadeUcb1 = "cascade-ucb1" {}
    plays {
        Prefix(known, _horizon => PrefixUcb::cascade(known))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "K multiply-adds",
    guarantee: "O(log T) on cascades",
    source: "Kveton et al. 2015";

    /// CascadeKL-UCB.
    CascadeKlUcb = "cascade-kl-ucb" {
        /// Exploration rate.
        level: Level = Level::log_t_plus_3_log_log_t(),
    }
    plays {
        Prefix(known, _horizon => PrefixKlUcb::new(known, level.into()))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "K multiply-adds, a few solved indices; far less on average with thousands of items",
    guarantee: "O(log T) on cascades",
    source: "Kveton et al. 2015";

    /// `CascadeTS` with Beta posteriors, the rule of RSF-TS.
    CascadeTs = "cascade-ts" {}
    plays {
        Prefix(known, _horizon => PrefixTs::new(known))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "K Beta draws",
    guarantee: "none here",
    source: "the rule of RSF-TS";

    /// TS-Cascade, one normal draw for all items.
    TsCascade = "ts-cascade" {}
    plays {
        Prefix(known, _horizon => TsCascade::new(known))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "one normal draw, 2 K multiply-adds",
    guarantee: "root of K L T on cascades, up to logarithms",
    source: "Zhong et al. 2021";

    /// CascadeUCB-V.
    CascadeUcbV = "cascade-ucb-v" {
        /// Factor of the exploration `ln t`.
        zeta: NonNegative = PrefixUcbV::default_zeta(),
    }
    plays {
        Prefix(known, _horizon => PrefixUcbV::new(known).with_zeta(zeta))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "2 K multiply-adds",
    guarantee: "root of K T on cascades, up to logarithms, by its paper for its constants; here `zeta = 1`",
    source: "Vial et al. 2022, not compared with its text";

    /// dcmKL-UCB.
    DcmKlUcb = "dcm-kl-ucb" {
        /// Exploration rate.
        level: Level = Level::log_t_plus_3_log_log_t(),
    }
    plays {
        Prefix(known, _horizon => PrefixKlUcb::new(known, level.into()))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "K multiply-adds, a few solved indices; far less on average with thousands of items",
    guarantee: "O(log T) on dependent clicks, by its paper**",
    source: "Katariya et al. 2016";

    /// Thompson sampling for the dependent click model, the rule of RSF-TS.
    DcmTs = "dcm-ts" {}
    plays {
        Prefix(known, _horizon => PrefixTs::new(known))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "K Beta draws",
    guarantee: "none",
    source: "the rule of RSF-TS";

    /// PIE(l).
    Pie = "pie" {
        /// 0-based position at which it explores; where the last leader stands when absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        position: Option<usize> = None,
        /// Exploration rate.
        level: Level = Level::default(),
    }
    plays {
        Prefix(known, _horizon => match position {
            None => Pie::last(known, level.into()),
            Some(position) => Pie::at(known, position, level.into())?,
        })
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "K multiply-adds",
    guarantee: "optimal as T grows, in its own paper's models",
    source: "Combes et al. 2015";

    /// `TopRank`, which takes the horizon from the experiment.
    TopRank = "top-rank" {}
    plays {
        AnyList(shape, horizon => TopRank::new(shape, horizon))
    }
    horizon: true, answers: IndependentOfClicks, limit: ITEMS,
    cost: "L draws, and one addition an item for a click",
    guarantee: "O(log T) whatever makes people click, if they click most at the top",
    source: "Lattimore et al. 2018, Algorithm 1";

    /// `BatchRank`, which takes the horizon from the experiment.
    BatchRank = "batch-rank" {}
    plays {
        AnyList(shape, horizon => BatchRank::new(shape, horizon))
    }
    horizon: true, answers: IndependentOfClicks, limit: Limit::None,
    cost: "L draws",
    guarantee: "O(log T) on position-based users and cascades; large constants",
    source: "Zoghi et al. 2017, Algorithms 1 to 4";

    /// Epsilon-greedy on clicks by displays.
    EpsilonGreedy = "epsilon-greedy" {
        /// Probability of a random list.
        epsilon: Probability = EpsilonGreedy::default_epsilon(),
    }
    plays {
        AnyList(shape, _horizon => EpsilonGreedy::new(shape, epsilon))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "K divisions",
    guarantee: "none: regret grows by `epsilon` times that of a random list",
    source: "Sutton, Barto 2018, section 2.2";

    /// `Rank1ElimKL`, which takes the horizon from the experiment.
    Rank1ElimKl = "rank1-elim-kl" {}
    plays {
        Cells(shape, horizon => Rank1Elim::kl(shape, horizon))
    }
    horizon: true, answers: IndependentOfClicks, limit: Limit::None,
    cost: "a few operations; K + L indices a stage",
    guarantee: "O((K + L) log T / (mu gamma gap)); large constants",
    source: "Katariya et al. 2017, Algorithm 1";

    /// `Rank1Elim`, which takes the horizon from the experiment.
    Rank1Elim = "rank1-elim" {}
    plays {
        Cells(shape, horizon => Rank1Elim::hoeffding(shape, horizon))
    }
    horizon: true, answers: IndependentOfClicks, limit: Limit::None,
    cost: "a few operations; K + L indices a stage",
    guarantee: "the same with mu^2 for mu gamma",
    source: "Katariya et al., AISTATS 2017";

    /// `UCB1Elim` over all cells, which takes the horizon from the experiment.
    Ucb1Elim = "ucb1-elim" {}
    plays {
        Cells(shape, horizon => Ucb1Elim::new(shape, horizon))
    }
    horizon: true, answers: IndependentOfClicks, limit: CELLS,
    cost: "a few operations",
    guarantee: "O(K L log T): every cell is an arm",
    source: "Auer, Ortner 2010";

    /// UCB1 over all cells.
    Ucb1 = "ucb1" {}
    plays {
        Cells(shape, _horizon => Ucb1::new(shape))
    }
    horizon: false, answers: Late, limit: CELLS,
    cost: "a few indices",
    guarantee: "O(K L log T): every cell is an arm",
    source: "Auer et al. 2002";

    /// Unimodal Thompson sampling.
    Uts = "uts" {}
    plays {
        Cells(shape, _horizon => Uts::new(shape))
    }
    horizon: false, answers: Late, limit: CELLS,
    cost: "K + L Beta draws, in every other round",
    guarantee: "optimal as T grows",
    source: "Trinh et al. 2020, Algorithm 1";

    /// Thompson sampling that pools rows and columns.
    Rank1Gibbs = "rank1-gibbs" {}
    plays {
        Cells(shape, _horizon => Rank1Gibbs::new(shape))
    }
    horizon: false, answers: Late, limit: CELLS,
    cost: "K + L Gamma draws, K L multiply-adds",
    guarantee: "none",
    source: "ours";

    /// `CascadeBAI`.
    CascadeBai = "cascade-bai" {
        /// Probability with which its answer may be wrong.
        delta: Delta = Delta::default(),
        /// How much less attractive than the last of the best an item of the answer may be.
        epsilon: NonNegative = NonNegative::default(),
        /// Factor before the root of the radius.
        radius_scale: NonNegative = radius_as_printed(),
        /// What is shown first.
        order: ShowOrder = ShowOrder::default(),
    }
    plays {
        Stopping(shape within epsilon => {
            let policy = CascadeBai::new(shape, delta).with_epsilon(epsilon);
            policy.with_radius_scale(radius_scale).with_order(order)
        })
    }
    horizon: false, answers: IndependentOfClicks, limit: Limit::None,
    cost: "a few operations",
    guarantee: "stops with the best items, wrong with probability `delta` at most***; a bound for the number of rounds",
    source: "Zhong et al. 2020, Algorithm 1";

    /// `BatRac`, which sees every item that it pulls.
    Batrac = "batrac" {
        /// Probability with which its answer may be wrong.
        delta: Delta = Delta::default(),
        /// How much less attractive than the last of the best an item of the answer may be.
        epsilon: NonNegative = NonNegative::default(),
        /// Factor before the root of the radius.
        radius_scale: NonNegative = radius_as_printed(),
        /// What is pulled first.
        order: ShowOrder = ShowOrder::default(),
        /// How many items a step pulls.
        pulls: Pulls = Pulls::default(),
    }
    plays {
        FullFeedback(shape within epsilon => {
            let policy = CascadeBai::bat_rac(shape, pulls, delta).with_epsilon(epsilon);
            policy.with_radius_scale(radius_scale).with_order(order)
        })
    }
    horizon: false, answers: IndependentOfClicks, limit: Limit::None,
    cost: "a few operations",
    guarantee: "stops with the best items",
    source: "Zhong et al. 2020, section 5";

    /// `cascade-kl`.
    CascadeKl = "cascade-kl" {
        /// Probability with which its answer may be wrong.
        delta: Delta = Delta::default(),
        /// How much less attractive than the last of the best an item of the answer may be.
        epsilon: NonNegative = NonNegative::default(),
        /// How it finds out who is better.
        test: CascadeKlTest = CascadeKlTest::default(),
        /// Who is shown, and in which order.
        order: CascadeKlOrder = CascadeKlOrder::default(),
    }
    plays {
        Stopping(shape within epsilon => {
            let policy = CascadeKl::new(shape, delta).with_epsilon(epsilon);
            policy.with_test(test).with_order(order)
        })
    }
    horizon: false, answers: IndependentOfClicks, limit: Limit::None,
    cost: "L multiply-adds and a choice among them",
    guarantee: "stops with the best items, wrong with probability `delta` at most***",
    source: "ours";

    /// KL-LUCB.
    KlLucb = "kl-lucb" {
        /// Probability with which its answer may be wrong.
        delta: Delta = Delta::default(),
        /// How much less attractive than the last of the best an item of the answer may be.
        epsilon: NonNegative = NonNegative::default(),
    }
    plays {
        Stopping(shape within epsilon => KlLucb::new(shape, delta).with_epsilon(epsilon))
    }
    horizon: false, answers: IndependentOfClicks, limit: Limit::None,
    cost: "L comparisons, a few indices",
    guarantee: "stops with the best items",
    source: "Kaufmann, Kalyanakrishnan 2013";

    /// Successive accepts and rejects, which takes the budget from the experiment.
    SuccessiveRejects = "successive-rejects" {}
    plays {
        Budgeted(shape, horizon => SuccessiveRejects::new(shape, horizon))
    }
    horizon: true, answers: IndependentOfClicks, limit: Limit::None,
    cost: "a few operations",
    guarantee: "names the best items after a fixed number of rounds; none",
    source: "ours";

    /// RUCB.
    Rucb = "rucb" {
        /// Factor of `ln t / n` under the root.
        alpha: NonNegative = rucb_alpha(),
        /// The upper bound of a pair never compared.
        unseen: NonNegative = rucb_unseen(),
    }
    plays {
        Pairs(known, _horizon => Rucb::new(known.shape, alpha).with_unseen(unseen))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "K multiply-adds, far less in the end",
    guarantee: "O(log T) if one item beats all others; large constants",
    source: "Zoghi et al. 2014, Algorithm 1";

    /// Beat the Mean, which takes the horizon from the experiment.
    BeatTheMean = "beat-the-mean" {
        /// The constant of relaxed stochastic transitivity.
        gamma: NonNegative = strong_transitivity(),
        /// As printed, or without its factor 3 and without meetings of an item with itself.
        radius: MeanRadius = MeanRadius::default(),
    }
    plays {
        Pairs(known, horizon => {
            BeatTheMean::with_radius(known.shape, horizon, known.gamma.unwrap_or(gamma), radius)
        })
    }
    horizon: true, answers: IndependentOfClicks, limit: Limit::None,
    cost: "K comparisons",
    guarantee: "O(log T) under relaxed transitivity; gamma^7; none with the tight radius of public programs, which loses a fraction",
    source: "Yue, Joachims 2011, Algorithm 1";

    /// Condorcet SAVAGE, which takes the horizon from the experiment.
    CondorcetSavage = "condorcet-savage" {}
    plays {
        Pairs(known, horizon => CondorcetSavage::new(known.shape, horizon))
    }
    horizon: true, answers: IndependentOfClicks, limit: Limit::None,
    cost: "a few operations",
    guarantee: "O(log T) if one item beats all others; large constants",
    source: "Urvoy et al. 2013";

    /// Interleaved Filter with pruning, which takes the horizon from the experiment.
    InterleavedFilter = "interleaved-filter" {}
    plays {
        Pairs(known, horizon => InterleavedFilter::new(known.shape, horizon))
    }
    horizon: true, answers: IndependentOfClicks, limit: Limit::None,
    cost: "a few operations",
    guarantee: "O(log T) under strong transitivity only",
    source: "Yue et al. 2012, Algorithm 2";

    /// RMED1.
    Rmed1 = "rmed1" {}
    plays {
        Pairs(known, _horizon => Rmed1::new(known.shape))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "K comparisons, far less in the end",
    guarantee: "optimal as T grows among those that compare with the best only, up to a constant",
    source: "Komiyama et al. 2015, Algorithms 1 and 2";

    /// Double Thompson sampling.
    DoubleTs = "double-ts" {}
    plays {
        Pairs(known, _horizon => DoubleTs::new(known.shape))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "about 2 K coins, K (K - 1) / 2 at the beginning",
    guarantee: "O(K^2 log T) against Copeland winners; O(K log T + K^2 log log T) if one item beats all others",
    source: "Wu, Liu 2016, Algorithm 1";

    /// `MergeDTS`.
    MergeDts = "merge-dts" {}
    plays {
        Pairs(known, _horizon => MergeDts::new(known.shape))
    }
    horizon: false, answers: IndependentOfClicks, limit: Limit::None,
    cost: "120 coins and 15 Beta draws, whatever K",
    guarantee: "none with the experiments' parameters",
    source: "Li et al. 2020, not compared with its text";

    /// A uniformly random list, cell or pair.
    Uniform = "uniform" {}
    plays {
        AnyList(shape, _horizon => Uniform::new(shape))
        Cells(shape, _horizon => UniformCell::new(shape))
        Pairs(known, _horizon => UniformPair::new(known.shape))
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "L draws",
    guarantee: "learns nothing: the floor of every table",
    source: "";

    /// The best list, cell or pair, which only the experimenter knows.
    Oracle = "oracle" {}
    plays {
        Reference()
    }
    horizon: false, answers: Late, limit: Limit::None,
    cost: "a copy",
    guarantee: "regret 0: the other end",
    source: "";
}

/// Every policy of the catalogue, in the order of its tables.
pub fn rows() -> &'static [Row] {
    ROWS
}
