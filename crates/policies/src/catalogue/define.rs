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

/// Generates the constructors, family by family: what its visitors take, and what they are told.
/// Beside the type is where the abilities of its policies come from.
macro_rules! builders {
    ($rows:tt) => {
        impl PolicySpec {
            with_family!(with_position_based WithPositionBased PositionBased, live PositionBasedPolicy, PbmKnown<'_>, $rows);
            with_family!(with_unknown_examination WithUnknownExamination UnknownExamination, live UnknownExaminationPolicy, PrefixKnown<'_>, $rows);
            with_family!(with_prefix WithPrefix Prefix, live PrefixPolicy, PrefixKnown<'_>, $rows);
            with_family!(with_any_list WithAnyList AnyList, live AnyListPolicy, ListShape, $rows);
            with_family!(with_stopping WithStopping Stopping, answer StoppingPolicy, ListShape, $rows);
            with_family!(with_full_feedback WithStopping FullFeedback, answer StoppingPolicy, ListShape, $rows);
            with_family!(with_budgeted WithBudgeted Budgeted, list BudgetedPolicy, ListShape, $rows);
            with_family!(with_cells WithCells Cells, none CellsPolicy, TableShape, $rows);
            with_family!(with_pairs WithPairs Pairs, item PairsPolicy, PairKnown, $rows);
            with_family!(with_position_contexts WithPositionContexts PositionContexts, users PositionContextsPolicy, (PbmKnown<'_>, ContextKnown<'_>), $rows);
            with_family!(with_prefix_contexts WithPrefixContexts PrefixContexts, users PrefixContextsPolicy, (PrefixKnown<'_>, ContextKnown<'_>), $rows);
        }
    };
}
pub(super) use builders;

/// Generates a function that passes a policy's constructor to a visitor of its family.
macro_rules! with_family {
    ($function:ident $Visitor:ident $Family:ident, $able:ident $Policy:ident, $Known:ty,
        {$(($Variant:ident $live:ident { $($field:ident: $type:ty),* } $($plays:tt)+))*}) => {
        #[doc = concat!("Passes the constructor of this policy to `visitor`, if the policy belongs to [`Family::", stringify!($Family), "`].")]
        #[allow(unused_variables, reason = "not every family uses every parameter")]
        pub fn $function<V: $Visitor>(&self, visitor: V) -> Option<V::Output> {
            match *self {
                $(Self::$Variant { $($field),* } => {
                    arm!($Family (visitor [$($field: $type),*] $able $live [$Policy] $Known); $($plays)+)
                })*
            }
        }
    };
}
pub(super) use with_family;

/// Passes the constructor of one family of a row to the visitor.
macro_rules! arm {
    (PositionBased ($($given:tt)*); PositionBased $play:tt $($rest:tt)*) => { pass!($($given)*, $play) };
    (UnknownExamination ($($given:tt)*); UnknownExamination $play:tt $($rest:tt)*) => { pass!($($given)*, $play) };
    (Prefix ($($given:tt)*); Prefix $play:tt $($rest:tt)*) => { pass!($($given)*, $play) };
    (AnyList ($($given:tt)*); AnyList $play:tt $($rest:tt)*) => { pass!($($given)*, $play) };
    (Stopping ($($given:tt)*); Stopping $play:tt $($rest:tt)*) => { pass!($($given)*, $play) };
    (FullFeedback ($($given:tt)*); FullFeedback $play:tt $($rest:tt)*) => { pass!($($given)*, $play) };
    (Budgeted ($($given:tt)*); Budgeted $play:tt $($rest:tt)*) => { pass!($($given)*, $play) };
    (Cells ($($given:tt)*); Cells $play:tt $($rest:tt)*) => { pass!($($given)*, $play) };
    (Pairs ($($given:tt)*); Pairs $play:tt $($rest:tt)*) => { pass!($($given)*, $play) };
    (PositionContexts ($($given:tt)*); PositionContexts $play:tt $($rest:tt)*) => { pass!($($given)*, $play) };
    (PrefixContexts ($($given:tt)*); PrefixContexts $play:tt $($rest:tt)*) => { pass!($($given)*, $play) };
    ($Family:ident $given:tt; $Other:ident $play:tt $($rest:tt)*) => { arm!($Family $given; $($rest)*) };
    ($Family:ident $given:tt;) => { None };
}
pub(super) use arm;

/// Passes a constructor to the visitor, and what the policy can do: a function of
/// [`Abilities`](super::erased::Abilities), and the bounds that it needs. The constructor is a
/// function of its own, which is compiled once; as a closure it would be compiled for every
/// visitor.
macro_rules! pass {
    ($visitor:ident $fields:tt live Table [$Policy:ident] $($build:tt)*) => {
        pass!($visitor $fields table _ [$Policy + crate::live::OnAnyTable + crate::SelectAmong<click_models::Ranking, Note = ()>] $($build)*)
    };
    ($visitor:ident $fields:tt users Whole [$Policy:ident] $($build:tt)*) => {
        pass!($visitor $fields items _ [$Policy + crate::FeaturedItems + crate::SelectAmongFor<click_models::Ranking, Note = click_models::Context>] $($build)*)
    };
    ($visitor:ident $fields:tt live Whole [$Policy:ident] $($build:tt)*) => {
        pass!($visitor $fields coefficients _ [$Policy + crate::Coefficients] $($build)*)
    };
    ($visitor:ident $fields:tt users $live:ident $Policy:tt $($build:tt)*) => {
        pass!($visitor $fields coefficients _ $Policy $($build)*)
    };
    ($visitor:ident $fields:tt live $live:ident $Policy:tt $($build:tt)*) => {
        pass!($visitor $fields none _ $Policy $($build)*)
    };
    ($visitor:ident [$($field:ident: $type:ty),*] $abilities:ident $live:tt [$Policy:ident $(+ $Able:path)*] $Known:ty, ($known:tt, $horizon:ident $(within $tolerance:ident)? => $build:expr)) => {{
        #[inline(never)]
        fn build($known: $Known, $horizon: u64, ($($field,)*): ($($type,)*)) -> Result<impl visit::$Policy $(+ $Able)* + use<>, crate::Error> {
            Ok($build)
        }
        let build = move |known: $Known, horizon: u64| build(known, horizon, ($($field,)*));
        Some($visitor.with_abilities(build, Abilities::$abilities() $(, $tolerance)?))
    }};
}
pub(super) use pass;
