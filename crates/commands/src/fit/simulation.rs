//! `spec.toml`: the users of the log as an experiment that `simulate` runs as it is, an instance a fitted query.

use super::arguments::Arguments;
use super::source::Whole;
use anyhow::{Context as _, Result};
use click_logs::fit::{Choice, Fit, Model, QueryFit, Users};
use experiment::Experiment;
use experiment::spec::{quoted, title_fault};
use experiment::toml_reader::Source;
use std::fmt::Write as _;

/// Queries that a spec has; more than a reader looks at, and as many as are read in a moment.
const QUERIES: usize = 1000;

/// A fit whose users can be simulated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Simulable<'a> {
    fit: &'a Fit,
    model: &'static str,
    /// Policies to begin with.
    policies: &'static [&'static str],
}

impl<'a> Simulable<'a> {
    /// Whether the model was fitted and its users can be simulated.
    pub(super) fn can_be(fits: &'a [Fit], model: Model) -> bool {
        fits.iter().any(|fit| fit.model() == model && Self::new(fit).is_some())
    }

    /// The fit that was chosen for its users; without a comparison the first that has some.
    pub(super) fn chosen(fits: &'a [Fit], users: Option<&Choice>) -> Option<Self> {
        let chosen = users.and_then(|users| fits.iter().find(|fit| fit.model() == users.model));
        chosen.and_then(Self::new).or_else(|| fits.iter().find_map(Self::new))
    }

    fn new(fit: &'a Fit) -> Option<Self> {
        let (model, policies): (_, &[_]) = match fit.model() {
            Model::Pbm => ("pbm", &["pbm-ts", "pbm-pie", "bc-mp-ts", "batch-rank", "uniform"]),
            Model::Cascade => ("cascade", &["cascade-kl-ucb", "cascade-ts", "batch-rank", "uniform"]),
            Model::Dcm => ("dcm", &["dcm-kl-ucb", "dcm-ts", "batch-rank", "uniform"]),
            _ => return None,
        };
        Some(Self { fit, model, policies })
    }

    pub(super) fn fit(self) -> &'a Fit {
        self.fit
    }

    /// The file's content.
    ///
    /// # Errors
    ///
    /// None, unless this program writes what it does not read.
    pub(super) fn spec(self, arguments: &Arguments, whole: &Whole) -> Result<String> {
        let mut text = String::new();
        self.write(&mut text, arguments, whole).context("writing the spec")?;
        let read = || -> Result<Experiment> {
            let source = Source::from_text(super::SPEC, text.as_str())?;
            Ok(Experiment::from_document(&source.parse()?)?)
        };
        read().context("the spec that was written does not read back")?;
        Ok(text)
    }

    fn write(self, text: &mut String, arguments: &Arguments, whole: &Whole) -> std::fmt::Result {
        let Self { fit, model, policies } = self;
        let mut queries: Vec<(u64, &QueryFit)> = fit
            .queries()
            .iter()
            .map(|query| (whole.counts.query(query.id).map_or(0, |query| query.impressions()), query))
            .collect();
        let all = queries.len();
        if all > QUERIES {
            queries.sort_by_key(|&(impressions, _)| std::cmp::Reverse(impressions));
            queries.truncate(QUERIES);
            queries.sort_by_key(|(_, query)| query.id);
        }
        writeln!(text, "# Users as fitted to {} (model {model}).", quoted(&arguments.named()))?;
        if all > QUERIES {
            writeln!(text, "# The {QUERIES} of {all} queries with the most impressions.")?;
        }
        writeln!(text, "# Policies, horizon and runs are a beginning: change them as you like.")?;
        writeln!(text, "name = \"fitted-{model}\"\ntask = \"regret\"\nhorizon = 10_000")?;
        writeln!(text, "runs = {}\nseed = {}", (queries.len() * 2).max(20), arguments.seed)?;
        for (_, query) in queries {
            self.write_instance(text, query, whole)?;
        }
        policies.iter().try_for_each(|policy| writeln!(text, "\n[[policies]]\npolicy = \"{policy}\""))
    }

    fn write_instance(self, text: &mut String, query: &QueryFit, whole: &Whole) -> std::fmt::Result {
        let names = whole.counts.names();
        writeln!(text, "\n[[instances]]\nmodel = {}", quoted(self.model))?;
        let name = names.name(query.id);
        if is_title(&name) {
            writeln!(text, "name = {}", quoted(&name))?;
        }
        let items: Vec<String> = query.items.iter().map(|item| quoted(&names.name(item.item))).collect();
        writeln!(text, "# Items: {}.", items.join(", "))?;
        // A list shows every item at most once.
        let seen = whole.counts.query(query.id).map_or(1, |query| query.n_positions());
        let n_positions = seen.min(query.items.len());
        if let Some(Users { attraction, examination, positions }) = self.fit.users(query, n_positions) {
            if !positions.is_sorted() {
                let order: Vec<String> =
                    positions.iter().map(|position| (position + 1).to_string()).collect();
                let order = order.join(", ");
                writeln!(text, "# Positions of the log, from the most to the least examined: {order}.")?;
            }
            return writeln!(text, "theta = {attraction:?}\nkappa = {examination:?}");
        }
        let inside =
            |value: f64, otherwise: f64| if value.is_nan() { otherwise } else { value.clamp(0.0, 1.0) };
        let attraction: Vec<f64> =
            query.items.iter().map(|item| inside(item.attraction.value, query.typical)).collect();
        writeln!(text, "attraction = {attraction:?}")?;
        if self.fit.model() == Model::Cascade {
            return writeln!(text, "positions = {n_positions}");
        }
        let typical = self.fit.site().typical_leave;
        let positions = self.fit.positions(query);
        let leave: Vec<f64> = (0..n_positions)
            .map(|position| positions.get(position).map_or(typical, |leave| inside(leave.value, typical)))
            .collect();
        writeln!(text, "leave = {leave:?}")
    }
}

/// Whether `simulate` takes this as an instance's name.
fn is_title(name: &str) -> bool {
    title_fault(name).is_none()
}
