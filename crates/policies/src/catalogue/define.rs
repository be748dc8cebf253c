//! Macros that derive [`PolicySpec`](super::PolicySpec) and its constructors from the table.

/// Generates everything that differs from policy to policy from the rows of the table.
macro_rules! catalogue {
    ($(
        $(#[doc = $sentence:literal])+
        $Variant:ident = $name:literal {
            $($(#[doc = $meaning:literal])+ $(#[serde($($serde:tt)*)])? $field:ident: $type:ty = $default:expr,)*
        }
        plays { $($family:ident($($play:tt)*))+ }
        horizon: $horizon:expr, answers: $answers:ident, live: $live:ident, limit: $limit:expr,
        cost: $cost:literal,
        guarantee: $guarantee:literal,
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
                parameter_names: &[$(stringify!($field)),*],
                families: &[$(Family::$family),+],
                answers: Answers::$answers,
                live: Live::$live,
                limit: $limit,
                cost: $cost,
                guarantee: $guarantee,
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
                &ROWS[self.index()]
            }

            fn index(&self) -> usize {
                let mut names = ROWS.iter().map(|row| row.name);
                // Every variant has a row.
                names.position(|name| name == self.name()).unwrap_or(0)
            }

            /// Whether the policy needs the number of rounds.
            #[allow(unused_variables, reason = "most parameters do not matter here")]
            pub fn needs_horizon(&self) -> bool {
                match *self {
                    $(Self::$Variant { $($field),* } => $horizon,)*
                }
            }
        }

        builders!({$(($Variant { $($field),* } $($family($($play)*))+))*});
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
        {$(($Variant:ident { $($field:ident),* } $($plays:tt)+))*}) => {
        #[doc = concat!("Passes the constructor of this policy to `visitor`, if the policy belongs to [`Family::", stringify!($Family), "`].")]
        #[allow(unused_variables, reason = "not every family uses every parameter")]
        pub fn $function<V: $Visitor>(&self, visitor: V) -> Option<V::Output> {
            match *self {
                $(Self::$Variant { $($field),* } => arm!($Family visitor; $($plays)+),)*
            }
        }
    };
}
pub(super) use with_family;

/// Passes the constructor of one family of a row to the visitor.
macro_rules! arm {
    (PositionBased $visitor:ident; PositionBased($known:ident, $horizon:ident => $build:expr) $($rest:tt)*) => {
        Some($visitor.with(move |$known: PbmKnown<'_>, $horizon: u64| Ok($build)))
    };
    (UnknownExamination $visitor:ident; UnknownExamination($known:ident, $horizon:ident => $build:expr) $($rest:tt)*) => {
        Some($visitor.with(move |$known: PrefixKnown<'_>, $horizon: u64| Ok($build)))
    };
    (Prefix $visitor:ident; Prefix($known:ident, $horizon:ident => $build:expr) $($rest:tt)*) => {
        Some($visitor.with(move |$known: PrefixKnown<'_>, $horizon: u64| Ok($build)))
    };
    (AnyList $visitor:ident; AnyList($known:ident, $horizon:ident => $build:expr) $($rest:tt)*) => {
        Some($visitor.with(move |$known: ListShape, $horizon: u64| Ok($build)))
    };
    (Stopping $visitor:ident; Stopping($known:ident within $tolerance:ident => $build:expr) $($rest:tt)*) => {
        Some($visitor.with(move |$known: ListShape, _: u64| Ok($build), $tolerance))
    };
    (FullFeedback $visitor:ident; FullFeedback($known:ident within $tolerance:ident => $build:expr) $($rest:tt)*) => {
        Some($visitor.with(move |$known: ListShape, _: u64| Ok($build), $tolerance))
    };
    (Budgeted $visitor:ident; Budgeted($known:ident, $horizon:ident => $build:expr) $($rest:tt)*) => {
        Some($visitor.with(move |$known: ListShape, $horizon: u64| Ok($build)))
    };
    (Cells $visitor:ident; Cells($known:ident, $horizon:ident => $build:expr) $($rest:tt)*) => {
        Some($visitor.with(move |$known: TableShape, $horizon: u64| Ok($build)))
    };
    (Pairs $visitor:ident; Pairs($known:ident, $horizon:ident => $build:expr) $($rest:tt)*) => {
        Some($visitor.with(move |$known: PairKnown, $horizon: u64| Ok($build)))
    };
    (PositionContexts $visitor:ident; PositionContexts($known:ident, $context:ident, $horizon:ident => $build:expr) $($rest:tt)*) => {
        Some($visitor.with(move |($known, $context): (PbmKnown<'_>, ContextKnown<'_>), $horizon: u64| Ok($build)))
    };
    (PrefixContexts $visitor:ident; PrefixContexts($known:ident, $context:ident, $horizon:ident => $build:expr) $($rest:tt)*) => {
        Some($visitor.with(move |($known, $context): (PrefixKnown<'_>, ContextKnown<'_>), $horizon: u64| Ok($build)))
    };
    ($Family:ident $visitor:ident; $Other:ident($($play:tt)*) $($rest:tt)*) => {
        arm!($Family $visitor; $($rest)*)
    };
    ($Family:ident $visitor:ident;) => {
        None
    };
}
pub(super) use arm;
