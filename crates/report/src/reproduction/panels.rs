//! Reads the panels of an experiment: their simulations and variants, figures and printed values.

use super::{Extent, Panel, Paper, PrintedValue, Variant, tables};
use crate::figure::Figure;
use crate::reading::KindReader;
use crate::report_dir::{CLAIMS, PAGE};
use crate::schema::changes_of_quick;
use crate::series::Series;
use documents::names::read_title;
use documents::toml_reader::{Error, Faults, Field, Table, all, collect, one_of};
use experiment::result::EndValue;
use spec::schema::above;
use spec::{Experiment, Overrides, SpecContext, Task};

/// The maximal number of characters of a variant's title. Legends and axes show it.
pub(crate) const MAX_TITLE: usize = 40;

pub(super) fn read(
    root: &Table<'_>,
    papers: Option<&[Paper]>,
    given: SpecContext<'_>,
    played: Option<&str>,
    extent: Extent,
) -> Result<Vec<Panel>, Error> {
    let mut names: Vec<String> = Vec::new();
    // Also if no panel can be read.
    Experiment::know(root);
    let tables = tables(root, "panels")?;
    collect(tables.iter().map(|table| {
        let is_played = played.is_none_or(|played| name_of(table).as_deref() == Some(played));
        let panel = read_panel(table, root, papers, of_played(given, is_played), extent)?;
        if names.contains(&panel.name) {
            let name: Field<'_> = table.required("name")?;
            return Err(
                name.error(format!("panel {} is already given: expected another name", name.describe()))
            );
        }
        names.push(panel.name.clone());
        Ok(panel)
    }))
}

fn read_panel(
    table: &Table<'_>,
    root: &Table<'_>,
    papers: Option<&[Paper]>,
    given: SpecContext<'_>,
    extent: Extent,
) -> Result<Panel, Error> {
    let quick = Quick::of(table, extent)?;
    let variants = read_variants(table, root, of_played(given, quick.left.is_none()), &quick);
    let own_title = table.required("title");
    let title = match &quick.table {
        Some(quick) => {
            let titles = all((own_title, quick.optional("title")));
            titles.map(|(own, quick)| quick.unwrap_or(own))
        }
        None => own_title,
    };
    let says =
        (table.required("place"), table.required("statement"), table.optional::<Vec<String>>("choices"));
    let head = all((read_name(table), title, read_paper(table, papers), all(says)));
    // Unknown keys are found even if the figures cannot be read.
    table.know(&["figures", "printed", "model"]);
    Experiment::know(table);
    table.know(&["name"]);
    let unknown = all((quick.finish(), table.finish()));
    let (variants, (name, title, paper, (place, statement, choices)), _) = all((variants, head, unknown))?;
    let Variants { run: variants, left_out, others } = variants;
    let choices = choices.unwrap_or_default();
    let mut panel = Panel {
        name,
        variants,
        title,
        paper,
        place,
        statement,
        figures: Vec::new(),
        choices,
        printed: Vec::new(),
        differs: quick.differs || !others.is_empty(),
        left: quick.left.clone(),
    };
    panel.figures = match table.optional::<Vec<Table<'_>>>("figures")? {
        Some(list) => {
            // A figure of a variant that a quick check leaves out has nothing to show.
            let shows = |figure: &Table<'_>, name: &String| {
                figure.field("variant").and_then(|field| field.get::<String>().ok()).as_ref() == Some(name)
            };
            let shown = list.iter().filter(|figure| !left_out.iter().any(|name| shows(figure, name)));
            let value = EndValue::of_task(panel.task());
            collect(shown.map(|table| {
                let (kind, panel) = (table.required("kind")?, Some(&panel));
                Figure::read(&KindReader { table, kind, claim: table, panel, printed: None, value })
            }))?
        }
        None if panel.has_variants() => Figure::defaults_of_variants(panel.task()),
        None => Figure::defaults(panel.task(), panel.has_duels()),
    };
    if quick.has_others() || !others.is_empty() {
        // The titles may describe the instances at full scale.
        panel.figures.iter_mut().for_each(|figure| figure.title = None);
    }
    if let Some(list) = table.optional::<Vec<Table<'_>>>("printed")? {
        // Printed values belong to the paper's instances, so they are left out for other instances.
        let of_others = |table: &&Table<'_>| {
            let name = table.field("variant").and_then(|field| field.get::<String>().ok());
            quick.has_others() || name.is_some_and(|name| left_out.contains(&name) || others.contains(&name))
        };
        let printed: Vec<&Table<'_>> = list.iter().filter(|table| !of_others(table)).collect();
        panel.printed = read_printed(&printed, &panel)?;
    }
    Ok(panel)
}

/// The context of a simulation: only one that is played needs to fit the given matrix.
fn of_played(given: SpecContext<'_>, is_played: bool) -> SpecContext<'_> {
    SpecContext { matrix: given.matrix.filter(|_| is_played), ..given }
}

/// The name of a panel or variant whose errors are found elsewhere.
fn name_of(table: &Table<'_>) -> Option<String> {
    table.field("name")?.get().ok()
}

/// Reads the name of a panel. The reader of its experiment has checked that it can be a folder's.
fn read_name(table: &Table<'_>) -> Result<String, Error> {
    let field: Field<'_> = table.required("name")?;
    let name: String = field.get()?;
    if [PAGE, CLAIMS].iter().any(|file| name.eq_ignore_ascii_case(file)) {
        return Err(field.error(format!(
            "{} is the name of a file of the report, and a panel has a folder beside that file: expected another name",
            field.describe()
        )));
    }
    Ok(name)
}

/// Reads the index of a panel's paper; any name is accepted if the papers have errors.
fn read_paper(table: &Table<'_>, papers: Option<&[Paper]>) -> Result<usize, Error> {
    let field: Field<'_> = table.required("paper")?;
    let Some(papers) = papers else { return Ok(0) };
    let keys: Vec<&str> = papers.iter().map(|paper| paper.key.as_str()).collect();
    let paper = one_of(&field, &keys, "paper")?;
    Ok(papers.iter().position(|other| other.key == paper).unwrap_or(0))
}

/// The variants of a panel at one extent.
#[derive(Default)]
struct Variants {
    run: Vec<Variant>,
    /// The names of the variants that are left out.
    left_out: Vec<String>,
    /// The names of the variants that have other instances or another horizon than at full extent.
    others: Vec<String>,
}

/// Reads the variants of a panel. A panel without variants counts as one variant without a name.
fn read_variants(
    panel: &Table<'_>,
    root: &Table<'_>,
    given: SpecContext<'_>,
    quick: &Quick<'_>,
) -> Result<Variants, Error> {
    let extent = quick.extent;
    let Some(list) = panel.field("variants") else {
        let over: Vec<&Table<'_>> = quick.table.iter().collect();
        let mut experiment = Experiment::from_panel(&over, panel, root, given)?;
        quick.apply(None, &mut experiment)?;
        let run = vec![Variant { name: None, title: String::new(), size: None, experiment, extent }];
        return Ok(Variants { run, ..Variants::default() });
    };
    let (mut found, mut names, mut faults) = (Variants::default(), Vec::new(), Faults::default());
    for table in list.get::<Vec<Table<'_>>>()? {
        faults.keep(read_variant(&table, panel, root, given, quick, &mut names, &mut found));
    }
    faults.end()?;
    quick.check_variants(&names)?;
    let variants = &found.run;
    if let Some(other) =
        variants.iter().find(|other| other.experiment.task() != variants[0].experiment.task())
    {
        return Err(list.error(format!(
            "variant {:?} has another task than the first: expected the same for all",
            other.title
        )));
    }
    if variants.is_empty() {
        return Err(list.error("none given: expected at least one table, [[panels.variants]]"));
    }
    Ok(found)
}

/// Reads one variant of a panel, and adds it to those before it.
fn read_variant(
    table: &Table<'_>,
    panel: &Table<'_>,
    root: &Table<'_>,
    given: SpecContext<'_>,
    quick: &Quick<'_>,
    names: &mut Vec<String>,
    found: &mut Variants,
) -> Result<(), Error> {
    let own = Quick::of(table, quick.extent)?;
    let over: Vec<&Table<'_>> = own.table.iter().chain(&quick.table).collect();
    let is_played = name_of(table).is_none_or(|name| quick.has_variant(&name));
    let mut experiment = Experiment::from_variant(&over, table, panel, root, of_played(given, is_played))?;
    quick.apply(Some(&own), &mut experiment)?;
    let field: Field<'_> = table.required("name")?;
    let name: String = field.get()?;
    // On some systems folder names that differ only in case are the same.
    if names.iter().any(|other| other.eq_ignore_ascii_case(&name)) {
        let message = format!("variant {} is already given: expected another name", field.describe());
        return Err(field.error(message));
    }
    names.push(name.clone());
    if name.to_ascii_lowercase().ends_with(".svg") {
        let message = format!(
            "{} is a name for a figure of the panel, and a variant has a folder beside that figure: expected another name",
            field.describe()
        );
        return Err(field.error(message));
    }
    let quick_title = own.table.as_ref().and_then(|quick| quick.field("title"));
    let title = match quick_title.or_else(|| table.field("title")) {
        Some(field) => read_short_title(&field, &found.run)?,
        None => name.clone(),
    };
    let quick_size = own.table.as_ref().filter(|quick| quick.field("size").is_some());
    let size = read_size(quick_size.unwrap_or(table), &found.run)?;
    table.know(&["title", "size"]);
    own.finish()?;
    table.finish()?;
    if own.has_others() {
        found.others.push(name.clone());
    }
    if quick.has_variant(&name) {
        found.run.push(Variant { name: Some(name), title, size, experiment, extent: quick.extent });
    } else {
        found.left_out.push(name);
    }
    Ok(())
}

/// Reads the title of a variant: short and unique.
fn read_short_title(field: &Field<'_>, others: &[Variant]) -> Result<String, Error> {
    let title = read_title(field)?;
    if title.chars().count() > MAX_TITLE {
        return Err(field.error(format!(
            "the title is longer than {MAX_TITLE} characters: expected a few words, for legends and axes"
        )));
    }
    if others.iter().any(|other| other.title == title) {
        return Err(field.error(format!("{} is already the title of another variant", field.describe())));
    }
    Ok(title)
}

/// Reads the number by which a variant differs from the others.
fn read_size(table: &Table<'_>, others: &[Variant]) -> Result<Option<f64>, Error> {
    let Some(field) = table.field("size") else { return Ok(None) };
    field.accept(&above(0, None))?;
    let size: f64 = field.get()?;
    if others.iter().any(|other| other.size == Some(size)) {
        return Err(field.error(format!("{} is already the size of another variant", field.describe())));
    }
    Ok(Some(size))
}

/// The changes of a quick check in a panel or variant; none at full extent.
struct Quick<'doc> {
    extent: Extent,
    /// The value of `quick`, if there is one and the extent is quick.
    field: Option<Field<'doc>>,
    table: Option<Table<'doc>>,
    /// The variants that are run; all if absent.
    variants: Option<Field<'doc>>,
    /// Why the panel is not run, if it is not.
    left: Option<String>,
    /// Whether something else is simulated, not only fewer runs.
    differs: bool,
}

impl<'doc> Quick<'doc> {
    /// The keys that change the simulation, not only the number of runs.
    const DIFFERENT: [&'static str; 5] = ["horizon", "max_steps", "instances", "policies", "variants"];

    fn of(table: &Table<'doc>, extent: Extent) -> Result<Self, Error> {
        let field = table.field("quick").filter(|_| extent == Extent::Quick);
        let table = field.as_ref().map(Field::get).transpose()?;
        let mut all = Self { extent, field, table, variants: None, left: None, differs: false };
        if let Some(table) = &all.table {
            all.variants = table.field("variants");
            all.left = table.optional("left")?;
            all.differs = Self::DIFFERENT.iter().any(|key| table.field(key).is_some());
        }
        Ok(all)
    }

    /// Applies the numbers to an experiment, after those of one that is `nearer`.
    fn apply(&self, nearer: Option<&Self>, experiment: &mut Experiment) -> Result<(), Error> {
        let all = || nearer.into_iter().chain([self]);
        all().try_for_each(Self::finish)?;
        let tables: Vec<&Table<'_>> = all().filter_map(|quick| quick.table.as_ref()).collect();
        let field = |key: &str| tables.iter().find_map(|table| table.field(key));
        let number = |key: &str| field(key).map(|field| field.get()).transpose();
        let overrides = Overrides {
            seed: number("seed")?,
            runs: number("runs")?,
            horizon: number("horizon")?,
            max_steps: number("max_steps")?,
            subsets: number("subsets")?,
            ..Overrides::default()
        };
        match (experiment.apply(overrides), tables.first()) {
            (Err(error), Some(nearest)) => Err(field(error.key).map_or_else(
                || nearest.error(error.to_string()),
                |field| field.error(format!("{}: {}", error.value, error.fault)),
            )),
            _ => Ok(()),
        }
    }

    /// Returns whether it has other instances or another horizon than at full extent.
    fn has_others(&self) -> bool {
        let has = |table: &Table<'_>| ["horizon", "instances"].iter().any(|key| table.field(key).is_some());
        self.table.as_ref().is_some_and(has)
    }

    fn has_variant(&self, name: &str) -> bool {
        let named =
            |list: &Field<'_>| list.get::<Vec<String>>().is_ok_and(|list| list.iter().any(|one| one == name));
        self.variants.as_ref().is_none_or(named)
    }

    /// Refuses variants that the panel does not have.
    fn check_variants(&self, names: &[String]) -> Result<(), Error> {
        let Some(list) = &self.variants else { return Ok(()) };
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        for field in list.get::<Vec<Field<'_>>>()? {
            one_of(&field, &known, "variant")?;
        }
        Ok(())
    }

    fn finish(&self) -> Result<(), Error> {
        self.field.as_ref().map_or(Ok(()), |field| field.accept(&changes_of_quick()))
    }
}

fn read_printed(list: &[&Table<'_>], panel: &Panel) -> Result<Vec<PrintedValue>, Error> {
    let mut printed: Vec<PrintedValue> = Vec::new();
    for table in list {
        let variant = if panel.has_variants() {
            let known: Vec<&str> =
                panel.variants.iter().filter_map(|variant| variant.name.as_deref()).collect();
            Some(one_of(&table.required("variant")?, &known, "variant")?)
        } else {
            None
        };
        let all = panel.series();
        let known: Vec<&str> = (all.iter().filter(|series| series.variant == variant))
            .map(|series| series.policy.as_str())
            .collect();
        let field: Field<'_> = table.required("policy")?;
        let series = Series { variant, policy: one_of(&field, &known, "policy")? };
        if printed.iter().any(|other| other.series == series) {
            return Err(field.error(format!("{series} already has a printed value")));
        }
        let key = match panel.variant_of(&series).map(|variant| variant.experiment.task()) {
            Some(Task::Identify) => "stopping-time",
            Some(Task::Budget) => "wrong",
            _ => "regret",
        };
        let value = table.required(key)?;
        let se: Option<f64> = table.optional("se")?;
        if let (Some(se), Some(field)) = (se.filter(|se| *se < 0.0), table.field("se")) {
            return Err(field.error(format!("{se} is not a standard error: expected at least 0")));
        }
        table.finish()?;
        printed.push(PrintedValue { series, value, se });
    }
    Ok(printed)
}
