//! Panels of an experiment: what each simulates, once or in several variants, and what is drawn of it.

use super::{Panel, Paper, PrintedRegret, Variant, choice, one_of, tables};
use crate::config::{Data, Experiment, InstanceTable, Overrides, for_readers};
use crate::report::axis::Scale;
use crate::report::figure::{Band, Figure, Kind};
use crate::report::series::Series;
use crate::reproduce::report_dir::{CLAIMS, PAGE};
use crate::toml_reader::{Error, Field, Table};

/// The longest title of a variant in characters: it stands in legends and under axes.
const MAX_TITLE: usize = 40;

pub(super) fn read(root: &Table<'_>, papers: &[Paper], data: Data<'_>) -> Result<Vec<Panel>, Error> {
    let mut panels: Vec<Panel> = Vec::new();
    for table in tables(root, "panels")? {
        let panel = read_panel(&table, root, papers, data)?;
        if panels.iter().any(|other| other.name == panel.name) {
            let name: Field<'_> = table.required("name")?;
            return Err(
                name.error(format!("panel {} is already given: expected another name", name.describe()))
            );
        }
        panels.push(panel);
    }
    Ok(panels)
}

fn read_panel(table: &Table<'_>, root: &Table<'_>, papers: &[Paper], data: Data<'_>) -> Result<Panel, Error> {
    let variants = read_variants(table, root, data)?;
    let field: Field<'_> = table.required("name")?;
    let name: String = field.get()?;
    if [PAGE, CLAIMS].iter().any(|file| name.eq_ignore_ascii_case(file)) {
        return Err(field.error(format!(
            "{} is the name of a file of the report, and a panel has a folder beside it: expected another name",
            field.describe()
        )));
    }
    let title = table.required("title")?;
    let keys: Vec<&str> = papers.iter().map(|paper| paper.key.as_str()).collect();
    let paper = one_of(&table.required("paper")?, &keys, "paper")?;
    let paper = papers.iter().position(|other| other.key == paper).unwrap_or(0);
    let place = table.required("place")?;
    let statement = table.required("statement")?;
    let choices = table.optional("choices")?.unwrap_or_default();
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
    };
    panel.figures = match table.optional::<Vec<Table<'_>>>("figures")? {
        Some(list) => list.iter().map(|figure| read_figure(figure, &panel)).collect::<Result<_, _>>()?,
        None if panel.has_variants() => Figure::defaults_of_variants(),
        None => Figure::defaults(),
    };
    if let Some(list) = table.optional::<Vec<Table<'_>>>("printed")? {
        panel.printed = read_printed(&list, &panel)?;
    }
    table.finish()?;
    Ok(panel)
}

/// The variants of a panel; of a panel without, the panel itself.
fn read_variants(panel: &Table<'_>, root: &Table<'_>, data: Data<'_>) -> Result<Vec<Variant>, Error> {
    let Some(list) = panel.field("variants") else {
        let experiment = Experiment::from_panel(panel, root, data)?;
        let quick = read_quick(&[panel], &experiment)?;
        return Ok(vec![Variant { name: None, title: String::new(), experiment, quick }]);
    };
    let mut variants: Vec<Variant> = Vec::new();
    for table in list.get::<Vec<Table<'_>>>()? {
        let experiment = Experiment::from_variant(&table, panel, root, data)?;
        let quick = read_quick(&[&table, panel], &experiment)?;
        let field: Field<'_> = table.required("name")?;
        let name: String = field.get()?;
        // Folders that differ in case alone are the same on some systems.
        let same =
            |other: &Variant| other.name.as_ref().is_some_and(|other| other.eq_ignore_ascii_case(&name));
        if variants.iter().any(same) {
            let message = format!("variant {} is already given: expected another name", field.describe());
            return Err(field.error(message));
        }
        if name.to_ascii_lowercase().ends_with(".svg") {
            let message = format!(
                "{} is a name for a figure of the panel, and a variant has a folder beside it: expected another name",
                field.describe()
            );
            return Err(field.error(message));
        }
        let title = match table.field("title") {
            Some(field) => read_title(&field, &variants)?,
            None => name.clone(),
        };
        table.finish()?;
        variants.push(Variant { name: Some(name), title, experiment, quick });
    }
    if variants.is_empty() {
        return Err(list.error("none given: expected at least one table, [[panels.variants]]"));
    }
    Ok(variants)
}

/// What readers call a variant, in little room.
fn read_title(field: &Field<'_>, others: &[Variant]) -> Result<String, Error> {
    let title: String = field.get()?;
    if title.trim().is_empty() || title.chars().any(char::is_control) {
        return Err(field.error("the title is empty or not one line: expected a few words"));
    }
    if title.chars().count() > MAX_TITLE {
        return Err(field.error(format!(
            "the title is longer than {MAX_TITLE} characters: expected a few words, for legends and axes"
        )));
    }
    if others.iter().any(|other| other.title == title) {
        return Err(field.error(format!("{} is the title of another variant already", field.describe())));
    }
    Ok(title)
}

/// What a quick check changes: each key from the first of the tables whose `quick` has it.
fn read_quick(tables: &[&Table<'_>], experiment: &Experiment) -> Result<Overrides, Error> {
    let mut all = Overrides::default();
    for table in tables {
        if let Some(quick) = table.optional::<Table<'_>>("quick")? {
            let Overrides { seed, runs, horizon } = read_overrides(&quick, experiment)?;
            all.seed = all.seed.or(seed);
            all.runs = all.runs.or(runs);
            all.horizon = all.horizon.or(horizon);
        }
    }
    Ok(all)
}

fn read_overrides(table: &Table<'_>, experiment: &Experiment) -> Result<Overrides, Error> {
    let number = |key: &str, overrides: fn(u64) -> Overrides| -> Result<Option<u64>, Error> {
        let Some(field) = table.field(key) else { return Ok(None) };
        let value: u64 = field.get()?;
        experiment.clone().apply(overrides(value)).map_err(|error| {
            let message = error.to_string();
            field.error(message.trim_start_matches("--").trim_start_matches(key).trim_start())
        })?;
        Ok(Some(value))
    };
    let quick = Overrides {
        seed: number("seed", |seed| Overrides { seed: Some(seed), ..Overrides::default() })?,
        runs: number("runs", |runs| Overrides { runs: Some(runs), ..Overrides::default() })?,
        horizon: number("horizon", |horizon| Overrides { horizon: Some(horizon), ..Overrides::default() })?,
    };
    table.finish()?;
    Ok(quick)
}

fn read_figure(table: &Table<'_>, panel: &Panel) -> Result<Figure, Error> {
    let field: Field<'_> = table.required("kind")?;
    let kind = choice(&field, &Kind::ALL.map(|kind| (kind.name(), kind)), "kind")?;
    if kind.compares_variants() && !panel.has_variants() {
        return Err(field.error(format!(
            "{} compares variants, and the panel has none: expected \"regret\", \"click-through-rate\" or \"parameters\"",
            field.describe()
        )));
    }
    let mut figure = Figure::of(kind);
    figure.title = table.optional("title")?;
    let scales = [("log", Scale::Log), ("linear", Scale::Linear)];
    match kind {
        Kind::Regret | Kind::ClickThroughRate => {
            if let Some(field) = table.field("band") {
                figure.band = read_band(&field, kind)?;
            }
            if let Some(field) = table.field("scale") {
                figure.scale = choice(&field, &scales, "scale")?;
            }
            if let Some(field) = table.field("from") {
                figure.from = read_from(&field, panel)?;
            }
            figure.references = table.optional("references")?.unwrap_or(true);
            if let Some(field) = table.field("variant") {
                let known: Vec<&str> =
                    panel.variants.iter().filter_map(|variant| variant.name.as_deref()).collect();
                figure.variant = Some(one_of(&field, &known, "variant")?);
            }
        }
        Kind::Final => {
            if let Some(field) = table.field("scale") {
                figure.scale = choice(&field, &scales, "scale")?;
            }
            if let Some(field) = table.field("relative-to") {
                figure.relative_to = Some(read_reference(&field, panel)?);
            }
        }
        Kind::HeatMap => {
            let field = table.field("relative-to");
            let field = field.ok_or_else(|| table.missing("relative-to", "the label of a policy"))?;
            figure.relative_to = Some(read_reference(&field, panel)?);
        }
        Kind::Parameters => {
            if let Some(field) = table.field("scale") {
                figure.scale = choice(&field, &scales, "scale")?;
            }
            let key = read_parameter(table, panel)?;
            figure.parameter = for_readers(key);
            let numbers = |one: InstanceTable| one.list(key).map(|list| (one.name.clone(), list.to_vec()));
            figure.numbers = panel.instances().into_iter().filter_map(numbers).collect();
        }
    }
    table.finish()?;
    Ok(figure)
}

/// The name in files of a parameter that some instance has a list of.
fn read_parameter(table: &Table<'_>, panel: &Panel) -> Result<&'static str, Error> {
    let mut known: Vec<(&str, &'static str)> = Vec::new();
    for key in panel.variants.iter().flat_map(|variant| variant.experiment.instances.lists()) {
        if !known.contains(&(key, key)) {
            known.push((key, key));
        }
    }
    let field = table.field("parameter").ok_or_else(|| {
        let names = known.iter().map(|(name, _)| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        table.missing("parameter", &format!("one of {names}"))
    })?;
    choice(&field, &known, "parameter")
}

fn read_band(field: &Field<'_>, kind: Kind) -> Result<Band, Error> {
    let bands: &[(&str, Band)] = match kind {
        Kind::Regret => &[("none", Band::None), ("confidence", Band::Confidence), ("deciles", Band::Deciles)],
        _ => &[("none", Band::None), ("confidence", Band::Confidence)],
    };
    choice(field, bands, "band")
}

/// The first round shown, which every variant plays.
fn read_from(field: &Field<'_>, panel: &Panel) -> Result<u64, Error> {
    let from = field.integer_in(&(1..=u64::MAX))?;
    for variant in &panel.variants {
        for (experiment, name) in variant.at_both_scales(field)? {
            if from > experiment.horizon {
                return Err(field.error(format!(
                    "there is nothing to show from round {from} on: expected at most the horizon of the {name}, {}",
                    experiment.horizon
                )));
            }
        }
    }
    Ok(from)
}

/// A policy of some variant, to which the others are compared.
fn read_reference(field: &Field<'_>, panel: &Panel) -> Result<String, Error> {
    let series = panel.series();
    let mut known: Vec<&str> = Vec::new();
    for label in series.iter().map(|series| series.policy.as_str()) {
        if !known.contains(&label) {
            known.push(label);
        }
    }
    one_of(field, &known, "policy")
}

fn read_printed(list: &[Table<'_>], panel: &Panel) -> Result<Vec<PrintedRegret>, Error> {
    let mut printed: Vec<PrintedRegret> = Vec::new();
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
            return Err(field.error(format!("{series} already has a printed regret")));
        }
        let regret = table.required("regret")?;
        let se = match table.field("se") {
            Some(field) => {
                let se: f64 = field.get()?;
                if se < 0.0 {
                    return Err(field.error(format!("{se} is no standard error: expected at least 0")));
                }
                Some(se)
            }
            None => None,
        };
        table.finish()?;
        printed.push(PrintedRegret { series, regret, se });
    }
    Ok(printed)
}
