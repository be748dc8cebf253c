//! Options of a fit, wherever they are given: on the command line, in Python, in `[log]` of an
//! experiment. A field is the option; its documentation is the option's help.

use crate::fit::{Options, Scope};
use crate::study::HeldOut;
use log_reader::{Error, Filter, Format, ReadSettings, Reader};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
#[cfg(feature = "clap")]
use {
    clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
    documents::toml_reader::option,
};

/// Settings of a fit to a log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default)]
pub struct FitSettings {
    /// Clip the clicks of a line to its impressions, and print how many clicks are dropped
    #[cfg_attr(feature = "clap", arg(long))]
    pub clip_clicks: bool,
    /// Leave out sessions with more than N clicked positions, and print how many. Only for logs
    /// with sessions
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = option::<Self, u32>("max_clicks")))]
    #[schemars(range(min = 1))]
    pub max_clicks: Option<u32>,
    /// Keep only items with at least N impressions at every position
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::default().min_impressions, value_parser = option::<Self, u64>("min_impressions")))]
    pub min_impressions: u64,
    /// Keep only items with at least N impressions in total
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::default().min_total_impressions, value_parser = option::<Self, u64>("min_total_impressions")))]
    pub min_total_impressions: u64,
    /// Keep only queries with at least N such items
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::default().min_items, value_parser = option::<Self, u32>("min_items")))]
    #[schemars(range(min = 1))]
    pub min_items: u32,
    /// Keep only the N queries with the most impressions
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = option::<Self, u32>("top_queries")))]
    #[schemars(range(min = 1))]
    pub top_queries: Option<u32>,
    /// Keep only the first N positions; those left out may be beyond the 64 that a list may have
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", value_parser = option::<Self, u8>("positions")))]
    #[schemars(range(min = 1, max = 64))]
    pub positions: Option<u8>,
    /// Whether queries have their own examination (pbm) and leaving (dcm), or all share them
    #[cfg_attr(feature = "clap", arg(long, value_parser = scopes(), default_value = "query"))]
    pub scope: Scope,
    /// Pseudo-impressions of every item's prior, which is centred at the mean of the query; 0 for
    /// none [default: estimated from the log]
    #[cfg_attr(feature = "clap", arg(long, value_name = "STRENGTH", value_parser = option::<Self, f64>("prior")))]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub prior: Option<f64>,
    /// Hold out one session in N to compare the models on (one impression if lines are not
    /// sessions), or `last`: fit them to the first half of the log for it, and compare them on the
    /// second; 0 for neither comparison nor yardsticks
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::default().held_out))]
    pub held_out: HoldOut,
    /// Seed of the choice of the held-out sessions
    #[cfg_attr(feature = "clap", arg(long, value_name = "S", default_value_t = Self::default().seed, value_parser = option::<Self, u64>("seed")))]
    pub seed: u64,
    /// Whose lists are today's ranking: `all` of the log, its last SHARE, below 1, or its last DAYS
    /// [default: if the log has times, the shortest last part with which gains are at most a
    /// quarter less sure]
    #[cfg_attr(feature = "clap", arg(long, value_name = "all|SHARE|DAYS"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub today: Option<LastPart>,
    /// Estimates have standard errors and intervals.
    #[cfg_attr(feature = "clap", arg(skip = true))]
    #[serde(skip_serializing)]
    pub intervals: bool,
    /// Options of the models that no command has, without those above.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[serde(skip)]
    pub others: Options,
}

impl Default for FitSettings {
    fn default() -> Self {
        Self {
            clip_clicks: false,
            max_clicks: None,
            min_impressions: 0,
            min_total_impressions: 0,
            min_items: 1,
            top_queries: None,
            positions: None,
            scope: Scope::Query,
            prior: None,
            held_out: HoldOut(Some(HeldOut::OneIn(10))),
            seed: 1,
            today: None,
            intervals: true,
            others: Options::default(),
        }
    }
}

impl FitSettings {
    /// The filter of queries and items.
    pub fn filter(&self) -> Filter {
        let size = |size: u32| usize::try_from(size).unwrap_or(usize::MAX);
        Filter {
            min_impressions: self.min_impressions,
            min_total_impressions: self.min_total_impressions,
            min_items: size(self.min_items),
            n_positions: self.positions.map(usize::from),
            top_queries: self.top_queries.map(size),
        }
    }

    /// The options of the models.
    pub fn options(&self) -> Options {
        Options { prior_strength: self.prior, scope: self.scope, ..self.others }
    }

    /// A reader of a log in this format, without sessions.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Settings`](log_reader::ErrorKind::Settings) for an option that the format does
    /// not have, which it names.
    pub fn reader(&self, reading: &ReadSettings, format: Format) -> Result<Reader, Error> {
        let mut reader = reading.reader(format)?;
        if self.clip_clicks {
            reader = reader.clip_clicks();
        }
        if let Some(most) = self.max_clicks {
            reader = reader.max_clicks(most)?;
        }
        if let Some(n_positions) = self.positions {
            reader = reader.positions(n_positions.into());
        }
        Ok(reader)
    }
}

#[cfg(feature = "clap")]
fn scopes() -> impl TypedValueParser<Value = Scope> {
    let values = [("query", "Every query has its own"), ("site", "All queries share the same")];
    PossibleValuesParser::new(values.map(|(name, help)| PossibleValue::new(name).help(help)))
        .map(|name| if name == "site" { Scope::Site } else { Scope::Query })
}

/// A number, or a name in its place, as it is typed.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Typed<T> {
    Number(T),
    Named(String),
}

impl<T: FromStr> From<&str> for Typed<T> {
    fn from(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Named(text.to_owned()), Self::Number)
    }
}

/// The part that is held out, as it is typed: a number, the last half, or 0 for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Typed<u64>", into = "Typed<u64>")]
#[schemars(with = "Typed<u64>")]
pub struct HoldOut(pub Option<HeldOut>);

impl TryFrom<Typed<u64>> for HoldOut {
    type Error = String;

    fn try_from(typed: Typed<u64>) -> Result<Self, String> {
        match typed {
            Typed::Number(0) => Ok(Self(None)),
            Typed::Number(number @ 2..) => Ok(Self(Some(HeldOut::OneIn(number)))),
            Typed::Named(name) if name == HeldOut::LAST => Ok(Self(Some(HeldOut::Last))),
            _ => Err(format!("expected 0, an integer of at least 2 or `{}`", HeldOut::LAST)),
        }
    }
}

impl From<HoldOut> for Typed<u64> {
    fn from(HoldOut(part): HoldOut) -> Self {
        match part {
            Some(HeldOut::OneIn(number)) => Self::Number(number),
            Some(HeldOut::Last) => Self::Named(HeldOut::LAST.to_owned()),
            None => Self::Number(0),
        }
    }
}

impl FromStr for HoldOut {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Typed::from(text).try_into()
    }
}

impl fmt::Display for HoldOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Typed::from(*self) {
            Typed::Number(number) => number.fmt(f),
            Typed::Named(name) => name.fmt(f),
        }
    }
}

/// The last part of a log, as it is typed: `all`, a share below 1, or a number of days.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Typed<f64>", into = "Typed<f64>")]
#[schemars(with = "Typed<f64>")]
pub enum LastPart {
    /// All of it.
    All,
    /// This share of its time; of its sessions if it has no times.
    Share(f64),
    /// This number of days.
    Days(f64),
}

impl TryFrom<Typed<f64>> for LastPart {
    type Error = String;

    fn try_from(typed: Typed<f64>) -> Result<Self, String> {
        match typed {
            Typed::Number(share) if share > 0.0 && share < 1.0 => Ok(Self::Share(share)),
            Typed::Number(days) if days >= 1.0 && days.is_finite() => Ok(Self::Days(days)),
            Typed::Named(name) if name == "all" => Ok(Self::All),
            _ => Err("expected `all`, a share above 0 and below 1, or a number of days from 1".to_owned()),
        }
    }
}

impl From<LastPart> for Typed<f64> {
    fn from(part: LastPart) -> Self {
        match part {
            LastPart::All => Self::Named("all".to_owned()),
            LastPart::Share(number) | LastPart::Days(number) => Self::Number(number),
        }
    }
}

impl FromStr for LastPart {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Typed::from(text).try_into()
    }
}
