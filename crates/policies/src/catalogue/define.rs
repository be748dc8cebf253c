//! Macros that derive [`PolicySpec`](super::PolicySpec) and its constructors from the table.

/// Generates everything that differs from policy to policy from the rows of the table.
macro_rules! catalogue {
    ($(
        $(#[doc = $sentence:literal])+
        $Variant:ident = $name:literal {
            $($(#[doc = $meaning:literal])+ $(#[serde($($serde:tt)*)])? $field:ident: $type:ty = $default:expr,)*
        }
        plays: $($family:ident($($play:tt)*))|+,
        horizon: $horizon:expr, answers: $answers:ident, live: $live:ident, limit: $limit:expr,
        cost: $cost:literal,
        guarantee: $guarantee:literal,
        $(dominated_by: $dominating:literal,)?
        source: $source:literal;
    )*) => {
        /// A policy and its parameters.
        ///
        /// Reads and writes as `{ "pbm-ucb": { "epsilon": 0.0 } }`, and as text,
        /// `pbm-ucb(epsilon=0.1)`.
        #[derive(Debug, Clone, Copy, PartialEq, Serialize)]
        #[non_exhaustive]
        pub enum PolicySpec {
            $(
                $(#[doc = $sentence])+
                #[serde(rename = $name)]
                $Variant {
                    $($(#[doc = $meaning])+ $(#[serde($($serde)*)])? $field: $type,)*
                },
            )*
        }

        static ROWS: &[Row] = &[$(
            Row {
                name: $name,
                sentence: concat!($($sentence),+).trim_ascii(),
                parameters: &[$(
                    ParameterRow {
                        name: stringify!($field),
                        kind: <$type as Parameter>::KIND,
                        meaning: concat!($($meaning),+).trim_ascii(),
                    },
                )*],
                families: &[$(Family::$family),+],
                answers: Answers::$answers,
                live: Live::$live,
                limit: $limit,
                cost: $cost,
                guarantee: $guarantee,
                dominated_by: &[$($dominating)?],
                source: $source,
            },
        )*];

        impl PolicySpec {
            /// The policy of this row with these parameters; others have their defaults.
            pub(super) fn read(row: &'static Row, parameters: &Map<String, Value>) -> Result<Self, SpecError> {
                $(if row.name == $name {
                    return Ok(Self::$Variant {
                        $($field: parameter(row, parameters, stringify!($field))?.unwrap_or_else(|| $default),)*
                    });
                })*
                Err(SpecError::unknown(row.name))
            }

            /// The policy's name in files.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$Variant { .. } => $name,)*
                }
            }
        }

        impl PolicySpec {
            /// The policy's row in the catalogue.
            pub fn row(&self) -> &'static Row {
                super::find(self.name()).expect("every variant has a row")
            }

            /// Returns whether the policy needs the number of rounds.
            #[allow(unused_variables, reason = "most parameters do not matter here")]
            pub fn needs_horizon(&self) -> bool {
                match *self {
                    $(Self::$Variant { $($field),* } => $horizon,)*
                }
            }
        }

        builders!({$(($Variant $live { $($field: $type),* } $($family($($play)*))+))*});
    };
}
pub(super) use catalogue;

/// Generates the constructors, family by family.
macro_rules! builders {
    ($rows:tt) => {
        impl PolicySpec {
            with_family!(with_position_based WithPositionBased PositionBased $rows);
            with_family!(with_unknown_examination WithUnknownExamination UnknownExamination $rows);
            with_family!(with_prefix WithPrefix Prefix $rows);
            with_family!(with_any_list WithAnyList AnyList $rows);
            with_family!(with_stopping WithStopping Stopping $rows);
            with_family!(with_full_feedback WithStopping FullFeedback $rows);
            with_family!(with_budgeted WithBudgeted Budgeted $rows);
            with_family!(with_cells WithCells Cells $rows);
            with_family!(with_pairs WithPairs Pairs $rows);
            with_family!(with_position_contexts WithPositionContexts PositionContexts $rows);
            with_family!(with_prefix_contexts WithPrefixContexts PrefixContexts $rows);
        }
    };
}
pub(super) use builders;

/// Generates a function that passes a policy's constructor to a visitor of its family.
macro_rules! with_family {
    ($function:ident $Visitor:ident $Family:ident
        {$(($Variant:ident $live:ident { $($field:ident: $type:ty),* } $($plays:tt)+))*}) => {
        #[doc = concat!("Passes the constructor of this policy to `visitor`, if the policy belongs to [`Family::", stringify!($Family), "`].")]
        #[allow(unused_variables, reason = "not every family uses every parameter")]
        pub fn $function<V: $Visitor>(&self, visitor: V) -> Option<V::Output> {
            match *self {
                $(Self::$Variant { $($field),* } => arm!($Family visitor $live [$($field: $type),*]; $($plays)+),)*
            }
        }
    };
}
pub(super) use with_family;

/// Passes the constructor of one family of a row to the visitor.
macro_rules! arm {
    (PositionBased $visitor:ident $live:ident $fields:tt; PositionBased($known:ident, $horizon:ident => $build:expr) $($rest:tt)*) => {
        pass!($visitor $fields [$live PositionBasedPolicy], $known: PbmKnown<'_>, $horizon => $build)
    };
    (UnknownExamination $visitor:ident $live:ident $fields:tt; UnknownExamination($known:ident, $horizon:ident => $build:expr) $($rest:tt)*) => {
        pass!($visitor $fields [$live UnknownExaminationPolicy], $known: PrefixKnown<'_>, $horizon => $build)
    };
    (Prefix $visitor:ident $live:ident $fields:tt; Prefix($known:ident, $horizon:ident => $build:expr) $($rest:tt)*) => {
        pass!($visitor $fields [$live PrefixPolicy], $known: PrefixKnown<'_>, $horizon => $build)
    };
    (AnyList $visitor:ident $live:ident $fields:tt; AnyList($known:ident, $horizon:ident => $build:expr) $($rest:tt)*) => {
        pass!($visitor $fields [$live AnyListPolicy], $known: ListShape, $horizon => $build)
    };
    (Stopping $visitor:ident $live:ident $fields:tt; Stopping($known:ident within $tolerance:ident => $build:expr) $($rest:tt)*) => {
        pass!($visitor $fields answer [StoppingPolicy], $known: ListShape, _ => $build, $tolerance)
    };
    (FullFeedback $visitor:ident $live:ident $fields:tt; FullFeedback($known:ident within $tolerance:ident => $build:expr) $($rest:tt)*) => {
        pass!($visitor $fields answer [StoppingPolicy], $known: ListShape, _ => $build, $tolerance)
    };
    (Budgeted $visitor:ident $live:ident $fields:tt; Budgeted($known:ident, $horizon:ident => $build:expr) $($rest:tt)*) => {
        pass!($visitor $fields list [BudgetedPolicy], $known: ListShape, $horizon => $build)
    };
    (Cells $visitor:ident $live:ident $fields:tt; Cells($known:ident, $horizon:ident => $build:expr) $($rest:tt)*) => {
        pass!($visitor $fields none [CellsPolicy], $known: TableShape, $horizon => $build)
    };
    (Pairs $visitor:ident $live:ident $fields:tt; Pairs($known:ident, $horizon:ident => $build:expr) $($rest:tt)*) => {
        pass!($visitor $fields item [PairsPolicy], $known: PairKnown, $horizon => $build)
    };
    (PositionContexts $visitor:ident $live:ident $fields:tt; PositionContexts($known:ident, $context:ident, $horizon:ident => $build:expr) $($rest:tt)*) => {
        pass!($visitor $fields [$live for users PositionContextsPolicy], ($known, $context): (PbmKnown<'_>, ContextKnown<'_>), $horizon => $build)
    };
    (PrefixContexts $visitor:ident $live:ident $fields:tt; PrefixContexts($known:ident, $context:ident, $horizon:ident => $build:expr) $($rest:tt)*) => {
        pass!($visitor $fields [$live for users PrefixContextsPolicy], ($known, $context): (PrefixKnown<'_>, ContextKnown<'_>), $horizon => $build)
    };
    ($Family:ident $visitor:ident $live:ident $fields:tt; $Other:ident($($play:tt)*) $($rest:tt)*) => {
        arm!($Family $visitor $live $fields; $($rest)*)
    };
    ($Family:ident $visitor:ident $live:ident $fields:tt;) => {
        None
    };
}
pub(super) use arm;

/// Passes a constructor to the visitor, and what the policy can do: a function of
/// [`Abilities`](super::erased::Abilities), and the bounds that it needs. The constructor is a
/// function of its own, which is compiled once; as a closure it would be compiled for every
/// visitor.
macro_rules! pass {
    ($visitor:ident $fields:tt [Table $Policy:ident], $($build:tt)*) => {
        pass!($visitor $fields table [$Policy + crate::live::OnAnyTable], $($build)*)
    };
    ($visitor:ident $fields:tt [Whole $Policy:ident], $($build:tt)*) => {
        pass!($visitor $fields coefficients [$Policy + crate::Coefficients], $($build)*)
    };
    ($visitor:ident $fields:tt [Whole for users $Policy:ident], $($build:tt)*) => {
        pass!($visitor $fields items [$Policy + crate::context::AnyFeaturedItems], $($build)*)
    };
    ($visitor:ident $fields:tt [$live:ident for users $Policy:ident], $($build:tt)*) => {
        pass!($visitor $fields coefficients [$Policy], $($build)*)
    };
    ($visitor:ident $fields:tt [$live:ident $Policy:ident], $($build:tt)*) => {
        pass!($visitor $fields none [$Policy], $($build)*)
    };
    ($visitor:ident [$($field:ident: $type:ty),*] $abilities:ident [$Policy:ident $(+ $Able:path)?], $known:tt: $Known:ty, $horizon:tt => $build:expr $(, $tolerance:ident)?) => {{
        #[inline(never)]
        fn build($known: $Known, $horizon: u64, ($($field,)*): ($($type,)*)) -> Result<impl visit::$Policy $(+ $Able)? + use<>, crate::Error> {
            Ok($build)
        }
        let build = move |known: $Known, horizon: u64| build(known, horizon, ($($field,)*));
        Some($visitor.with_abilities(build, Abilities::$abilities() $(, $tolerance)?))
    }};
}
pub(super) use pass;
