//! A panel of a reproduction: simulations that are judged and shown together.

use crate::figure::{Figure, PolicyStyles};
use crate::series::{Series, reader_name};
use click_models::PreferenceMatrix;
use itertools::Itertools as _;
use spec::models::InstanceTable;
use spec::{Experiment, Task};

/// The scale at which an experiment is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The scale of the papers.
    Full,
    /// A quick check of about a minute.
    Quick,
}

/// A panel: one simulation, or several that differ in a setting, with the statement of the paper.
#[derive(Debug, Clone, Default)]
pub struct Panel {
    /// Name, valid as the name of a folder.
    pub name: String,
    /// Its simulations, at least one.
    pub variants: Vec<Variant>,
    /// Heading.
    pub title: String,
    /// Index of its paper.
    pub paper: usize,
    /// The figure or table of the paper.
    pub place: String,
    /// The statement of the paper, in our words.
    pub statement: String,
    /// The figures to draw, the paper's own figure first.
    pub figures: Vec<Figure>,
    /// Our choices of what the paper leaves open.
    pub choices: Vec<String>,
    /// Values that the paper prints, at most one for each series.
    pub printed: Vec<PrintedValue>,
    /// Whether a quick check simulates something else, not only fewer runs.
    pub differs: bool,
    /// Why a quick check leaves the panel to the full run, if it does.
    pub left: Option<String>,
}

/// One simulation of a panel.
#[derive(Debug, Clone)]
pub struct Variant {
    /// Name, valid as the name of a folder; `None` for the only simulation of a panel without
    /// variants.
    pub name: Option<String>,
    /// Name for readers; empty without a name.
    pub title: String,
    /// The number by which variants differ, for fits.
    pub size: Option<f64>,
    /// The experiment. It is named after the panel, and after the variant if that has a name.
    pub experiment: Experiment,
    /// The scale at which it is run.
    pub extent: Extent,
}

/// A value at the end of the runs, as a paper prints it.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedValue {
    /// The series that it belongs to.
    pub series: Series,
    /// The printed mean.
    pub value: f64,
    /// The printed standard error, if there is one.
    pub se: Option<f64>,
}

impl Panel {
    /// A panel with one simulation and no paper.
    pub(crate) fn of(variant: Variant, figures: Vec<Figure>) -> Self {
        let title = variant.experiment.name().to_owned();
        Self { title, variants: vec![variant], figures, ..Self::default() }
    }

    /// The task, which is the same in all variants.
    pub fn task(&self) -> Task {
        self.variants.first().map_or(Task::Regret, |variant| variant.experiment.task())
    }

    /// Returns whether it has variants. Each variant has a folder of its own within the panel's.
    pub fn has_variants(&self) -> bool {
        self.variants.iter().any(|variant| variant.name.is_some())
    }

    /// Returns whether it runs on measured queries.
    pub fn takes_data(&self) -> bool {
        self.variants.iter().any(|variant| variant.experiment.takes_data())
    }

    /// Returns whether its users compare two items.
    pub fn has_duels(&self) -> bool {
        self.variants.iter().all(|variant| variant.experiment.has_duels())
    }

    /// The preference matrix of its users, the first one if there are several.
    pub fn matrix(&self) -> Option<&PreferenceMatrix> {
        self.variants.iter().find_map(|variant| variant.experiment.instances().preferences())
    }

    /// The figures that a simulation of the panel draws itself; none if the panel has variants.
    pub fn own_figures(&self) -> &[Figure] {
        if self.has_variants() { &[] } else { &self.figures }
    }

    /// All series: every policy of every variant.
    pub fn series(&self) -> Vec<Series> {
        let policies = |variant: &'_ Variant| {
            let name = variant.name.clone();
            let series = move |label: &String| Series { variant: name.clone(), policy: label.clone() };
            variant.experiment.policies().iter().map(|policy| series(&policy.label)).collect::<Vec<_>>()
        };
        self.variants.iter().flat_map(policies).collect()
    }

    /// Its instances. If the variants have different instances, those of all variants, named after
    /// their variants.
    pub fn instances(&self) -> Vec<InstanceTable> {
        let of_variants: Vec<Vec<InstanceTable>> =
            self.variants.iter().map(|variant| variant.experiment.instances().tables()).collect();
        if of_variants.windows(2).all(|pair| pair[0] == pair[1]) {
            return of_variants.into_iter().next().unwrap_or_default();
        }
        let named = |(variant, tables): (&Variant, Vec<InstanceTable>)| {
            let (title, alone) = (variant.title.clone(), tables.len() == 1);
            tables.into_iter().map(move |mut table| {
                table.name = if alone { title.clone() } else { format!("{title}: {}", table.name) };
                table
            })
        };
        self.variants.iter().zip(of_variants).flat_map(named).collect()
    }

    pub(crate) fn variant_of(&self, series: &Series) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == series.variant)
    }

    /// The name for readers of a series.
    pub fn reader_name(&self, series: &Series, styles: &PolicyStyles) -> String {
        let one_policy = self.series().iter().map(|series| &series.policy).all_equal();
        let title = self.variant_of(series).map_or("", |variant| variant.title.as_str());
        reader_name(styles.name(&series.policy), title, one_policy)
    }
}

impl Variant {
    /// The folder of its files, relative to the report's.
    pub fn folder(&self, panel: &str) -> String {
        self.name.as_ref().map_or_else(|| panel.to_owned(), |name| format!("{panel}/{name}"))
    }

    /// Its name in messages.
    pub(crate) fn described(&self) -> String {
        let quick = if self.extent == Extent::Quick { "quick " } else { "" };
        match &self.name {
            None => format!("{quick}panel"),
            Some(name) => format!("{quick}variant {name:?}"),
        }
    }
}
