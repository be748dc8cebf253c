//! Policies by name: what an experiment file says of a policy.
//!
//! A policy is written as its name and its parameters, every parameter optional:
//!
//! | name | parameters |
//! |---|---|
//! | `pbm-ucb` | `epsilon = 0.0` |
//! | `pbm-pie` | `epsilon = 0.0`, `level = "log-t"` or `"log-horizon"`, `position = "last"` |
//! | `pbm-ts`, `bc-mp-ts` | |
//! | `rsf-ucb`, `rsf-ts`, `cascade-ucb1`, `cascade-ts`, `ts-cascade`, `dcm-ts` | |
//! | `cascade-ucb-v` | `zeta = 1.0` |
//! | `rsf-kl-ucb`, `kl-ucb` | `level = "log-t"`, `"log-t-3-log-log-t"` or `"log-t-4-log-log-t"` |
//! | `cascade-kl-ucb`, `dcm-kl-ucb` | `level = "log-t-3-log-log-t"` or another of these |
//! | `pie` | `position` (0-based; by default where the last leader stands, the bottom of most lists), `level` as for `rsf-kl-ucb` |
//! | `rba-kl-ucb`, `top-rank`, `batch-rank` | |
//! | `rank1-elim-kl`, `rank1-elim`, `ucb1-elim`, `ucb1`, `uts`, `rank1-gibbs` | |
//! | `cascade-bai` | `delta = 0.1`, `epsilon = 0.0`, `radius_scale = 4.0`, `order = "least-observed"` or `"mean-asc"`, `"mean-desc"`, `"upper-asc"`, `"upper-desc"`, `"lower-asc"`, `"lower-desc"` |
//! | `batrac` | as `cascade-bai`, and `pulls = "list"` or `"one"` |
//! | `cascade-kl` | `delta = 0.1`, `epsilon = 0.0`, `test = "pair"` or `"item"`, `order = "need"` or `"least-observed"` |
//! | `kl-lucb` | `delta = 0.1`, `epsilon = 0.0` |
//! | `successive-rejects` | |
//! | `rucb` | `alpha = 0.51`, `unseen = 2.0` |
//! | `beat-the-mean` | `gamma = 1.0`, `radius = "paper"` or `"tight"` |
//! | `condorcet-savage`, `interleaved-filter`, `rmed1`, `double-ts`, `merge-dts` | |
//! | `uniform`, `oracle` | |
//!
//! Which models a policy can be played on says [`PolicySpec::speaks`]: the first three lines the position-based one, those
//! down to `pie` every model whose answers reveal a prefix, whatever model they have their name from, the next line every model of
//! lists, the one after it rank-one users, the five after that cascades, the next three users who compare two items, and the last line all. `kl-ucb` plays rank-one users too: every cell is an arm.
//!
//! # Examples
//!
//! ```
//! use confidence::NonNegative;
//! use policies::spec::{PbmPieLevel, PolicySpec};
//!
//! let spec: PolicySpec = serde_json::from_str(r#"{ "pbm-pie": { "level": "log-horizon" } }"#)?;
//! let PolicySpec::PbmPie { epsilon, level, .. } = spec else { panic!("another policy") };
//! assert_eq!((epsilon, level), (NonNegative::ZERO, PbmPieLevel::LogHorizon));
//! // ln 1000 at every round.
//! assert!((level.rate(epsilon, 1000).level(7) - 6.907_755_278_982_137).abs() < 1e-15);
//! // What a policy does not have is refused.
//! assert!(serde_json::from_str::<PolicySpec>(r#"{ "pbm-ts": { "epsilon": 0.1 } }"#).is_err());
//! # Ok::<(), serde_json::Error>(())
//! ```

use crate::{CascadeKlOrder, CascadeKlTest, Delta, MeanRadius, PrefixUcbV, Pulls, ShowOrder};
use confidence::{NonNegative, Rate};
use serde::{Deserialize, Serialize};

/// A policy and its parameters.
///
/// Reads and writes as `{ "pbm-ucb": { "epsilon": 0.0 } }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PolicySpec {
    /// PBM-UCB with level `(1 + epsilon) ln t`.
    PbmUcb {
        /// Added share of `ln t`.
        #[serde(default)]
        epsilon: NonNegative,
    },
    /// PBM-PIE with level `(1 + epsilon) ln t` or `(1 + epsilon) ln T`.
    PbmPie {
        /// Added share of the logarithm.
        #[serde(default)]
        epsilon: NonNegative,
        /// Which logarithm.
        #[serde(default)]
        level: PbmPieLevel,
        /// Position at which it explores.
        #[serde(default)]
        position: PbmPiePosition,
    },
    /// PBM-TS, the exact posterior.
    PbmTs {},
    /// BC-MP-TS, the bias-corrected Beta posterior.
    BcMpTs {},
    /// Ranked bandits with a KL-UCB bandit at every position.
    RbaKlUcb {},
    /// RSF-UCB.
    RsfUcb {},
    /// RSF-KL-UCB.
    RsfKlUcb {
        /// Exploration rate.
        #[serde(default)]
        level: Level,
    },
    /// RSF-TS.
    RsfTs {},
    /// KL-UCB on an observed prefix, the rule of RSF-KL-UCB, or over the cells of a table.
    KlUcb {
        /// Exploration rate.
        #[serde(default)]
        level: Level,
    },
    /// `CascadeUCB1`.
    CascadeUcb1 {},
    /// CascadeKL-UCB.
    CascadeKlUcb {
        /// Exploration rate.
        #[serde(default = "Level::log_t_plus_3_log_log_t")]
        level: Level,
    },
    /// `CascadeTS` with Beta posteriors, the rule of RSF-TS.
    CascadeTs {},
    /// TS-Cascade, one normal draw for all items.
    TsCascade {},
    /// CascadeUCB-V.
    CascadeUcbV {
        /// Factor of the exploration `ln t`.
        #[serde(default = "PrefixUcbV::default_zeta")]
        zeta: NonNegative,
    },
    /// dcmKL-UCB.
    DcmKlUcb {
        /// Exploration rate.
        #[serde(default = "Level::log_t_plus_3_log_log_t")]
        level: Level,
    },
    /// Thompson sampling for the dependent click model, the rule of RSF-TS.
    DcmTs {},
    /// PIE(l).
    Pie {
        /// 0-based position at which it explores; where the last leader stands when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position: Option<usize>,
        /// Exploration rate.
        #[serde(default)]
        level: Level,
    },
    /// `TopRank`, which takes the horizon from the experiment.
    TopRank {},
    /// `BatchRank`, which takes the horizon from the experiment.
    BatchRank {},
    /// `Rank1ElimKL`, which takes the horizon from the experiment.
    Rank1ElimKl {},
    /// `Rank1Elim`, which takes the horizon from the experiment.
    Rank1Elim {},
    /// `UCB1Elim` over all cells, which takes the horizon from the experiment.
    Ucb1Elim {},
    /// UCB1 over all cells.
    Ucb1 {},
    /// Unimodal Thompson sampling.
    Uts {},
    /// Thompson sampling that pools rows and columns.
    Rank1Gibbs {},
    /// `CascadeBAI`.
    CascadeBai {
        /// Probability with which its answer may be wrong.
        #[serde(default)]
        delta: Delta,
        /// How much less attractive than the last of the best an item of the answer may be.
        #[serde(default)]
        epsilon: NonNegative,
        /// Factor before the root of the radius.
        #[serde(default = "radius_as_printed")]
        radius_scale: NonNegative,
        /// What is shown first.
        #[serde(default)]
        order: ShowOrder,
    },
    /// `BatRac`, which sees every item that it pulls.
    Batrac {
        /// Probability with which its answer may be wrong.
        #[serde(default)]
        delta: Delta,
        /// How much less attractive than the last of the best an item of the answer may be.
        #[serde(default)]
        epsilon: NonNegative,
        /// Factor before the root of the radius.
        #[serde(default = "radius_as_printed")]
        radius_scale: NonNegative,
        /// What is pulled first.
        #[serde(default)]
        order: ShowOrder,
        /// How many items a step pulls.
        #[serde(default)]
        pulls: Pulls,
    },
    /// `cascade-kl`.
    CascadeKl {
        /// Probability with which its answer may be wrong.
        #[serde(default)]
        delta: Delta,
        /// How much less attractive than the last of the best an item of the answer may be.
        #[serde(default)]
        epsilon: NonNegative,
        /// How it finds out who is better.
        #[serde(default)]
        test: CascadeKlTest,
        /// Who is shown, and in which order.
        #[serde(default)]
        order: CascadeKlOrder,
    },
    /// KL-LUCB.
    KlLucb {
        /// Probability with which its answer may be wrong.
        #[serde(default)]
        delta: Delta,
        /// How much less attractive than the last of the best an item of the answer may be.
        #[serde(default)]
        epsilon: NonNegative,
    },
    /// Successive accepts and rejects, which takes the budget from the experiment.
    SuccessiveRejects {},
    /// RUCB.
    Rucb {
        /// Factor of `ln t / n` under the root.
        #[serde(default = "rucb_alpha")]
        alpha: NonNegative,
        /// The upper bound of a pair never compared.
        #[serde(default = "rucb_unseen")]
        unseen: NonNegative,
    },
    /// Beat the Mean, which takes the horizon from the experiment.
    BeatTheMean {
        /// The constant of relaxed stochastic transitivity.
        #[serde(default = "strong_transitivity")]
        gamma: NonNegative,
        /// As printed, or without its factor 3 and without meetings of an item with itself.
        #[serde(default)]
        radius: MeanRadius,
    },
    /// Condorcet SAVAGE, which takes the horizon from the experiment.
    CondorcetSavage {},
    /// Interleaved Filter with pruning, which takes the horizon from the experiment.
    InterleavedFilter {},
    /// RMED1.
    Rmed1 {},
    /// Double Thompson sampling.
    DoubleTs {},
    /// `MergeDTS`.
    MergeDts {},
    /// A uniformly random list, cell or pair.
    Uniform {},
    /// The best list, cell or pair, which only the experimenter knows.
    Oracle {},
}

/// The factor of `CascadeBAI`'s Algorithm 1.
fn radius_as_printed() -> NonNegative {
    NonNegative::new(4.0).expect("four is not negative")
}

/// What RUCB's experiments have.
fn rucb_alpha() -> NonNegative {
    NonNegative::new(0.51).expect("not negative")
}

/// `x/0 := 1` in both terms of RUCB's bound.
fn rucb_unseen() -> NonNegative {
    NonNegative::from_count(2)
}

fn strong_transitivity() -> NonNegative {
    NonNegative::from_count(1)
}

/// Which logarithm PBM-PIE explores with: the paper's Algorithm 1 prints `log T`, its Theorem 11 `log t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PbmPieLevel {
    /// `ln t` (Theorem 11).
    #[default]
    LogT,
    /// `ln T`, the horizon's (Algorithm 1).
    LogHorizon,
}

/// Where PBM-PIE explores.
///
/// Only the last position so far: a rule that takes the position at which exploring costs least (`"least-cost"`) is not
/// implemented yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PbmPiePosition {
    /// The last position of the list.
    #[default]
    Last,
}

/// What a policy has to know of its users and to see of their answers, by the model that offers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Known examination probabilities; the clicks of every position.
    PositionBased,
    /// The shape of the list; the clicks of the positions that the user looked at.
    SemiBandit,
    /// The shape of the list; the first click, down to which the user looked.
    Cascade,
    /// The shape of the list and where leaving is most likely; the clicks, down to the last of which the user surely looked.
    Dcm,
    /// The numbers of rows and columns; a click or none on the one cell that was chosen.
    RankOne,
    /// The number of items; which of the two that were compared was preferred.
    Dueling,
}

impl PolicySpec {
    /// Whether the policy can read what this protocol shows.
    ///
    /// ```
    /// use policies::spec::{PolicySpec, Protocol};
    ///
    /// assert!(PolicySpec::PbmTs {}.speaks(Protocol::PositionBased));
    /// assert!(!PolicySpec::PbmTs {}.speaks(Protocol::Cascade));
    /// // One rule for every answer that reveals a prefix, under three names.
    /// assert!(PolicySpec::RsfTs {}.speaks(Protocol::Cascade) && PolicySpec::CascadeTs {}.speaks(Protocol::Dcm));
    /// assert!(PolicySpec::Uts {}.speaks(Protocol::RankOne) && !PolicySpec::TopRank {}.speaks(Protocol::RankOne));
    /// assert!(PolicySpec::Rmed1 {}.speaks(Protocol::Dueling) && !PolicySpec::RsfTs {}.speaks(Protocol::Dueling));
    /// ```
    pub fn speaks(&self, protocol: Protocol) -> bool {
        match self {
            Self::PbmUcb { .. } | Self::PbmPie { .. } | Self::PbmTs {} | Self::BcMpTs {} => {
                protocol == Protocol::PositionBased
            }
            Self::RsfUcb {}
            | Self::RsfKlUcb { .. }
            | Self::RsfTs {}
            | Self::CascadeUcb1 {}
            | Self::CascadeKlUcb { .. }
            | Self::CascadeTs {}
            | Self::TsCascade {}
            | Self::CascadeUcbV { .. }
            | Self::DcmKlUcb { .. }
            | Self::DcmTs {}
            | Self::Pie { .. } => {
                matches!(protocol, Protocol::SemiBandit | Protocol::Cascade | Protocol::Dcm)
            }
            Self::KlUcb { .. } => !matches!(protocol, Protocol::PositionBased | Protocol::Dueling),
            Self::RbaKlUcb {} | Self::TopRank {} | Self::BatchRank {} => {
                !matches!(protocol, Protocol::RankOne | Protocol::Dueling)
            }
            Self::Rank1ElimKl {}
            | Self::Rank1Elim {}
            | Self::Ucb1Elim {}
            | Self::Ucb1 {}
            | Self::Uts {}
            | Self::Rank1Gibbs {} => protocol == Protocol::RankOne,
            Self::CascadeBai { .. }
            | Self::Batrac { .. }
            | Self::CascadeKl { .. }
            | Self::KlLucb { .. }
            | Self::SuccessiveRejects {} => protocol == Protocol::Cascade,
            Self::Rucb { .. }
            | Self::BeatTheMean { .. }
            | Self::CondorcetSavage {}
            | Self::InterleavedFilter {}
            | Self::Rmed1 {}
            | Self::DoubleTs {}
            | Self::MergeDts {} => protocol == Protocol::Dueling,
            Self::Uniform {} | Self::Oracle {} => true,
        }
    }

    /// Whether the policy looks for the best items and stops when it is sure of them.
    pub fn stops(&self) -> bool {
        matches!(
            self,
            Self::CascadeBai { .. } | Self::Batrac { .. } | Self::CascadeKl { .. } | Self::KlLucb { .. }
        )
    }

    /// Whether the policy can be asked at any time which items it would take for the best.
    pub fn recommends(&self) -> bool {
        self.stops() || matches!(self, Self::SuccessiveRejects {})
    }

    /// How much less attractive than the last of the best an item of its answer may be.
    pub fn epsilon_of_answer(&self) -> f64 {
        match self {
            Self::CascadeBai { epsilon, .. }
            | Self::Batrac { epsilon, .. }
            | Self::CascadeKl { epsilon, .. }
            | Self::KlLucb { epsilon, .. } => epsilon.get(),
            _ => 0.0,
        }
    }

    /// Whether the policy keeps numbers for every cell of a table of rows and columns, so that large tables are beyond it.
    pub fn keeps_cells(&self) -> bool {
        matches!(
            self,
            Self::Ucb1Elim {} | Self::Ucb1 {} | Self::KlUcb { .. } | Self::Uts {} | Self::Rank1Gibbs {}
        )
    }
}

/// An exploration rate by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// `ln t`.
    #[default]
    LogT,
    /// `ln t + 3 ln ln t`.
    #[serde(rename = "log-t-3-log-log-t")]
    LogTPlus3LogLogT,
    /// `ln t + 4 ln ln t`.
    #[serde(rename = "log-t-4-log-log-t")]
    LogTPlus4LogLogT,
}

impl Level {
    /// The rate of the analyses of KL-UCB, which the policies for the cascade and the dependent click model take from there.
    const fn log_t_plus_3_log_log_t() -> Self {
        Self::LogTPlus3LogLogT
    }
}

impl From<Level> for Rate {
    fn from(level: Level) -> Self {
        match level {
            Level::LogT => Self::LOG,
            Level::LogTPlus3LogLogT => Self::LOG_PLUS_3_LOG_LOG,
            Level::LogTPlus4LogLogT => Self::LOG_PLUS_4_LOG_LOG,
        }
    }
}

impl PbmPieLevel {
    /// The rate with this logarithm, for a run of `horizon` rounds.
    pub fn rate(self, epsilon: NonNegative, horizon: u64) -> Rate {
        let rate = Rate::scaled_log(epsilon);
        match self {
            Self::LogT => rate,
            Self::LogHorizon => rate.at_horizon(horizon),
        }
    }
}
