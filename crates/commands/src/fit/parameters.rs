//! How the parameters are written: all of them to `parameters.json` and `parameters.csv`; or, if there are many, to `parameters.parquet`.
//!
//! Both JSON and CSV are texts, and JSON has the name of its field beside every number. With the Parquet table, `parameters.json` has what
//! belongs to all queries together, and the name of the table.

use super::{PARAMETERS_CSV, PARAMETERS_PARQUET, tables};
use anyhow::{Result, bail};
use clap::ValueEnum;
use click_logs::fit::Options;
use click_logs::parameters::n_parameters;
use click_logs::study::Study;

/// The most parameters, of all models together, that are written as JSON and CSV if no form is asked for.
const MOST_IN_JSON: u64 = 1_000_000;

/// A form of the parameters, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// All in parameters.json, and in parameters.csv
    Json,
    /// All in parameters.parquet; parameters.json has what belongs to all queries together
    Parquet,
}

impl Form {
    /// Refuses a form that this program cannot write.
    ///
    /// # Errors
    ///
    /// Parquet, if the program was built without it.
    pub(super) fn check(asked: Option<Self>) -> Result<()> {
        if asked == Some(Self::Parquet) && cfg!(not(feature = "parquet")) {
            bail!(
                "--parameters parquet: this program was built without Parquet: build it with the feature `parquet`, or choose json"
            );
        }
        Ok(())
    }

    /// The form of `n` parameters: what was asked for, or Parquet for more than `most`. Without Parquet it is JSON.
    fn of(asked: Option<Self>, n: u64, most: u64) -> Self {
        match asked {
            Some(form) => form,
            None if n > most && cfg!(feature = "parquet") => Self::Parquet,
            None => Self::Json,
        }
    }
}

/// The files of the parameters.
#[derive(Debug)]
pub(super) struct Parameters {
    pub(super) form: Form,
    /// Rows of the table, of all models together.
    pub(super) n: u64,
    /// `parameters.json`.
    pub(super) json: Vec<u8>,
    /// Name and content of the table: `parameters.csv` or `parameters.parquet`.
    pub(super) table: (&'static str, Vec<u8>),
}

impl Parameters {
    /// Chooses the form, and writes to memory.
    ///
    /// # Errors
    ///
    /// A count of 2^63 or more, in Parquet; otherwise none, since writing to memory does not fail.
    pub(super) fn new(asked: Option<Form>, study: &Study, options: &Options) -> Result<Self> {
        let n = n_parameters(&study.whole.counts, &study.fits);
        let form = Form::of(asked, n, MOST_IN_JSON);
        // The records of millions of items are dropped before the table is written.
        let (json, table) = match form {
            Form::Json => (study.parameters(options).to_json()?, (PARAMETERS_CSV, as_csv(study)?)),
            Form::Parquet => (
                study.parameters_with_table(PARAMETERS_PARQUET, options).to_json()?,
                (PARAMETERS_PARQUET, as_parquet(study)?),
            ),
        };
        Ok(Self { form, n, json, table })
    }
}

fn as_csv(study: &Study) -> Result<Vec<u8>> {
    tables::parameters(&study.whole.counts, &study.fits)
}

#[cfg(feature = "parquet")]
fn as_parquet(study: &Study) -> Result<Vec<u8>> {
    let mut table = Vec::new();
    click_logs::parameters::write_table(&study.whole.counts, &study.fits, &mut table)?;
    Ok(table)
}

#[cfg(not(feature = "parquet"))]
fn as_parquet(_: &Study) -> Result<Vec<u8>> {
    bail!("this program was built without Parquet")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_parameters_decides_unless_a_form_is_asked_for() {
        let by_number = if cfg!(feature = "parquet") { Form::Parquet } else { Form::Json };
        for (asked, n, expected) in [
            (None, 0, Form::Json),
            (None, 10, Form::Json),
            (None, 11, by_number),
            (Some(Form::Json), 11, Form::Json),
            (Some(Form::Parquet), 10, Form::Parquet),
        ] {
            assert_eq!(Form::of(asked, n, 10), expected, "{asked:?} {n}");
        }
        let refused = Form::check(Some(Form::Parquet)).map_err(|error| error.to_string());
        assert_eq!(refused.is_ok(), cfg!(feature = "parquet"), "{refused:?}");
        assert!(Form::check(None).is_ok() && Form::check(Some(Form::Json)).is_ok());
    }
}
