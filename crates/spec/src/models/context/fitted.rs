//! Users as uncertain as a log leaves them: `context = { posterior = "context.json" }`.
//!
//! Every run draws the coefficients. Contexts are those of the file's lists, with features on the
//! scale of the log, so that policies without a prior need no other one.

use click_models::{Error as ModelError, LogOdds, Personal, WithAttraction};
use documents::InputFile;
use documents::toml_reader::Error;
use live::ContextFit;
use policies::FeatureScale;

/// The caution beside results on such users.
const CAUTION: &str = "every run draws its users from what hybrid-ts learned from a log; the deviations are not those \
    of the exact posterior: on the log of a bandit, another order of its lists moves the coefficients of the items \
    that were shown most by several of them";

/// The file of a log's fit with contexts.
#[derive(Debug, Clone)]
pub struct FittedContexts {
    pub(super) file: InputFile,
    /// The fit.
    pub fit: ContextFit,
}

/// Equal files have equal fits.
impl PartialEq for FittedContexts {
    fn eq(&self, other: &Self) -> bool {
        self.file == other.file
    }
}

impl FittedContexts {
    /// Takes the content of a file.
    ///
    /// # Errors
    ///
    /// As [`ContextFit::read`].
    pub fn new(file: InputFile) -> Result<Self, Error> {
        let path = file.name.clone();
        Self::parse(file, &path)
    }

    pub(super) fn parse(file: InputFile, path: &str) -> Result<Self, Error> {
        let fit = ContextFit::read(path, &file.content)?;
        Ok(Self { file, fit })
    }

    /// The scale on which users are told.
    pub(super) fn scale(&self) -> &FeatureScale {
        self.fit.prior.scale()
    }

    pub(super) fn doubt(&self) -> String {
        format!("{}: {CAUTION}", self.file.file_name())
    }

    /// Numbers of users, segments, features of a user, and features of an item.
    pub(super) fn sizes(&self) -> [usize; 4] {
        let known = self.fit.prior.known();
        let n_segments = known.n_segments() as usize;
        [self.fit.users.len(), n_segments, known.n_user_features(), known.n_item_features()]
    }

    /// Users with these coefficients, who differ from `model` in their attraction.
    pub(super) fn users<M: WithAttraction>(
        &self,
        model: &M,
        coefficients: &LogOdds,
    ) -> Result<Personal<M>, ModelError> {
        let (prior, known) = (&self.fit.prior, self.fit.prior.known());
        let contexts = self.fit.users.iter().map(|user| prior.standardised(user)).collect();
        coefficients.users(model, contexts, known.n_segments(), known.item_features().to_vec())
    }
}
