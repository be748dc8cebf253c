//! Users by the names that files give their parameters: which models there are, what an instance holds, how it is read.

use super::calibration::Calibration;
use super::duels::{Arms, Duels, MatrixFile};
use super::instance::Instance;
use super::{read_size, read_tables, read_title, unique};
use crate::toml_reader::{Error, Field, Location, Table, push_known};
use click_models::bounds::dueling_lower_bound;
use click_models::{
    CascadeModel, DcmReward, DependentClick, DuelingModel, ListShape, PositionBased, PreferenceMatrix,
    RandomSemiBandit, RankOneModel, TableShape,
};
use confidence::Probability;
use policies::catalogue::Protocol;
use serde::{Serialize, Serializer};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The users of an experiment, at least one kind, all of the same model.
#[derive(Debug, Clone)]
pub(crate) enum Instances {
    /// Position-based model.
    Pbm(Vec<Instance<PositionBased>>),
    /// Random semi-bandit feedback.
    SemiBandit(Vec<Instance<RandomSemiBandit>>),
    /// Cascade model.
    Cascade(Vec<Instance<CascadeModel>>),
    /// Dependent click model.
    Dcm(Vec<Instance<DependentClick>>),
    /// Rank-one users.
    RankOne(Vec<Instance<RankOneModel>>),
    /// Users who prefer one of two items.
    Dueling(Duels),
}

/// The parameters of one kind of user by their names in files.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameters {
    /// Name, when the file gives one.
    pub(crate) name: Option<String>,
    /// Keys and values, in the order in which they are written.
    pub(crate) values: Vec<(&'static str, Parameter)>,
}

/// What a parameter of a model is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Parameter {
    /// One number an item or a position.
    Numbers(Vec<f64>),
    /// How many.
    Count(usize),
    /// One of several names.
    Name(String),
    /// What was drawn instead of being measured.
    Calibration(Calibration),
    /// A number a pair of items.
    Matrix(Vec<Vec<f64>>),
    /// Which items of a matrix.
    Arms(Arms),
}

impl Parameter {
    fn of(list: &[Probability]) -> Self {
        Self::Numbers(list.iter().map(|probability| probability.get()).collect())
    }

    /// The numbers of a list; none of anything else.
    pub(crate) fn numbers(&self) -> &[f64] {
        match self {
            Self::Numbers(numbers) => numbers,
            Self::Count(_) | Self::Name(_) | Self::Calibration(_) | Self::Matrix(_) | Self::Arms(_) => &[],
        }
    }
}

/// A click model by the name it has in files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Model {
    /// Position-based model.
    Pbm,
    /// Random semi-bandit feedback.
    SemiBandit,
    /// Cascade model.
    Cascade,
    /// Dependent click model.
    Dcm,
    /// Rank-one users.
    RankOne,
    /// Users who prefer one of two items.
    Dueling,
}

impl Model {
    /// All of them.
    pub(super) const ALL: [Self; 6] =
        [Self::Pbm, Self::SemiBandit, Self::Cascade, Self::Dcm, Self::RankOne, Self::Dueling];

    /// The name of the model in files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Pbm => "pbm",
            Self::SemiBandit => "semi-bandit",
            Self::Cascade => "cascade",
            Self::Dcm => "dcm",
            Self::RankOne => "rank-one",
            Self::Dueling => "dueling",
        }
    }

    /// The model that a field names.
    pub(super) fn read(field: &Field<'_>) -> Result<Self, Error> {
        let name: String = field.get()?;
        Self::ALL.into_iter().find(|model| model.name() == name).ok_or_else(|| {
            let mut message = format!("unknown model {name:?}");
            push_known(&mut message, &name, &Self::ALL.map(Self::name), "model");
            field.error(message)
        })
    }

    /// The protocol that its users speak.
    pub(super) fn protocol(self) -> Protocol {
        match self {
            Self::Pbm => Protocol::PositionBased,
            Self::SemiBandit => Protocol::SemiBandit,
            Self::Cascade => Protocol::Cascade,
            Self::Dcm => Protocol::Dcm,
            Self::RankOne => Protocol::RankOne,
            Self::Dueling => Protocol::Dueling,
        }
    }

    /// Whether its users are shown lists.
    pub(super) fn has_lists(self) -> bool {
        !matches!(self, Self::RankOne | Self::Dueling)
    }

    /// The model whose users speak a protocol.
    pub(super) fn of(protocol: Protocol) -> Self {
        Self::ALL.into_iter().find(|model| model.protocol() == protocol).unwrap_or(Self::Pbm)
    }
}

impl Instances {
    /// The model that all of them have.
    pub(crate) fn model(&self) -> Model {
        match self {
            Self::Pbm(_) => Model::Pbm,
            Self::SemiBandit(_) => Model::SemiBandit,
            Self::Cascade(_) => Model::Cascade,
            Self::Dcm(_) => Model::Dcm,
            Self::RankOne(_) => Model::RankOne,
            Self::Dueling(_) => Model::Dueling,
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Pbm(list) => list.len(),
            Self::SemiBandit(list) => list.len(),
            Self::Cascade(list) => list.len(),
            Self::Dcm(list) => list.len(),
            Self::RankOne(list) => list.len(),
            Self::Dueling(duels) => duels.list().len(),
        }
    }

    /// The shape of each one's lists; none where no list is shown.
    pub(super) fn shapes(&self) -> Vec<ListShape> {
        match self {
            Self::Pbm(list) => list.iter().map(|instance| instance.model.shape()).collect(),
            Self::SemiBandit(list) => list.iter().map(|instance| instance.model.shape()).collect(),
            Self::Cascade(list) => list.iter().map(|instance| instance.model.shape()).collect(),
            Self::Dcm(list) => list.iter().map(|instance| instance.model.shape()).collect(),
            Self::RankOne(_) | Self::Dueling(_) => vec![],
        }
    }

    /// The names of the parameters that are lists: of the model's, those that some instance has. Instances that nobody has given
    /// may have any.
    pub(crate) fn lists(&self) -> Vec<&'static str> {
        let of_model = match self {
            Self::Pbm(_) | Self::SemiBandit(_) => ["theta", "kappa"],
            Self::Cascade(_) => ["attraction", "weights"],
            Self::Dcm(_) => ["attraction", "leave"],
            Self::RankOne(_) => ["rows", "columns"],
            Self::Dueling(_) => return Vec::new(),
        };
        let tables = self.tables();
        let known = |key: &&str| tables.is_empty() || tables.iter().any(|table| table.list(key).is_some());
        of_model.into_iter().filter(known).collect()
    }

    /// How many items, or rows, each has to choose from.
    fn n_items(&self) -> Vec<usize> {
        match self {
            Self::RankOne(list) => list.iter().map(|instance| instance.model.shape().n_rows()).collect(),
            Self::Dueling(duels) => duels.groups().iter().map(super::duels::Group::n_items).collect(),
            _ => self.shapes().into_iter().map(ListShape::n_items).collect(),
        }
    }

    /// Parameters of each for readers, the attractions first; of dueling users, of each matrix.
    pub(crate) fn tables(&self) -> Vec<InstanceTable> {
        let n_items = self.n_items();
        let lists = |index: usize, values: &[(&'static str, Parameter)]| match self {
            Self::RankOne(list) => sides(&list[index].model),
            _ => values.iter().filter(|(_, value)| !value.numbers().is_empty()).cloned().collect(),
        };
        let table = |(index, Parameters { name, values }): (usize, Parameters)| InstanceTable {
            name: name.unwrap_or_else(|| format!("instance {index}")),
            n_items: n_items[index],
            lists: lists(index, &values),
            parameters: self.readable(index, values),
        };
        self.parameters().into_iter().enumerate().map(table).collect()
    }

    /// Parameters under the names that readers know, a matrix summed up.
    fn readable(
        &self,
        index: usize,
        values: Vec<(&'static str, Parameter)>,
    ) -> Vec<(&'static str, Parameter)> {
        let Self::Dueling(duels) = self else {
            return values.into_iter().map(|(key, value)| (for_readers(key), value)).collect();
        };
        let group = &duels.groups()[index];
        let arms = match &group.arms {
            Arms::All => "all".to_owned(),
            Arms::Listed(items) => format!("{items:?}"),
            Arms::Random { subsets: 1, .. } => "a random subset".to_owned(),
            Arms::Random { subsets, .. } => format!("{subsets} random subsets"),
        };
        vec![("Preferences", Parameter::Name(group.source())), ("Which items", Parameter::Name(arms))]
    }

    /// The preferences of dueling users, of the first matrix if there are several.
    pub(crate) fn preferences(&self) -> Option<&PreferenceMatrix> {
        let Self::Dueling(duels) = self else { return None };
        duels.groups().first().map(|group| &*group.matrix)
    }

    /// The file that preferences were read from.
    pub(crate) fn matrix_file(&self) -> Option<&MatrixFile> {
        let Self::Dueling(duels) = self else { return None };
        duels.file()
    }

    /// Draws again what is drawn with the experiment's seed, as many subsets as before or so many.
    pub(super) fn draw(&mut self, seed: u64, subsets: Option<usize>) -> Result<(), Error> {
        let Self::Dueling(duels) = self else { return Ok(()) };
        if let Some(subsets) = subsets {
            duels.with_subsets(subsets);
        }
        duels.draw(seed)
    }

    /// Whether they are random subsets.
    pub(super) fn are_random(&self) -> bool {
        matches!(self, Self::Dueling(duels) if duels.are_random())
    }

    /// What regret is counted in.
    pub(crate) fn unit(&self) -> &'static str {
        match self {
            Self::Pbm(_) | Self::SemiBandit(_) | Self::RankOne(_) => "clicks",
            Self::Dueling(_) => "preferences",
            Self::Cascade(list) => {
                let weighted = list.iter().any(|instance| instance.model.weights().is_some());
                if weighted { "reward" } else { "clicks" }
            }
            Self::Dcm(list) => {
                let counts = |reward| list.iter().all(|instance| instance.model.reward() == reward);
                match (counts(DcmReward::Clicks), counts(DcmReward::Satisfaction)) {
                    (true, _) => "clicks",
                    (_, true) => "satisfied users",
                    _ => "reward",
                }
            }
        }
    }

    /// The bound that no good policy's regret stays below, the mean over the instances: its name, and the factor of `ln t`. None if
    /// some instance has none.
    pub(crate) fn lower_bound(&self) -> Option<(&'static str, f64)> {
        fn mean<M>(list: &[Instance<M>], bound: impl Fn(&M) -> f64) -> f64 {
            list.iter().map(|instance| bound(&instance.model)).sum::<f64>() / list.len() as f64
        }
        let (label, factor) = match self {
            Self::Pbm(list) => ("lower bound (PBM paper, Theorem 6)", mean(list, PositionBased::lower_bound)),
            Self::SemiBandit(list) => {
                ("lower bound (RSF paper, Theorem 4)", mean(list, RandomSemiBandit::lower_bound))
            }
            Self::Cascade(list) => ("lower bound (cascade model)", mean(list, CascadeModel::lower_bound)),
            Self::Dcm(list) => ("lower bound (dependent clicks)", mean(list, DependentClick::lower_bound)),
            Self::RankOne(_) => return None,
            Self::Dueling(duels) => {
                let bound = |users: &DuelingModel| dueling_lower_bound(users.preferences());
                ("lower bound (dueling bandits)", mean(duels.list(), bound))
            }
        };
        factor.is_finite().then_some((label, factor))
    }

    /// The parameters of each.
    pub(crate) fn parameters(&self) -> Vec<Parameters> {
        fn each<M>(
            list: &[Instance<M>],
            values: impl Fn(&M) -> Vec<(&'static str, Parameter)>,
        ) -> Vec<Parameters> {
            let one = |instance: &Instance<M>| Parameters {
                name: instance.name.clone(),
                values: values(&instance.model),
            };
            list.iter().map(one).collect()
        }
        let linear = |attraction: &[Probability], examination: &[Probability]| {
            vec![("theta", Parameter::of(attraction)), ("kappa", Parameter::of(examination))]
        };
        match self {
            Self::Pbm(list) => each(list, |users| linear(users.attraction(), users.examination())),
            Self::SemiBandit(list) => each(list, |users| linear(users.attraction(), users.examination())),
            Self::Cascade(list) => each(list, |users| {
                let weights = users.weights().map(|weights| {
                    ("weights", Parameter::Numbers(weights.iter().map(|weight| weight.get()).collect()))
                });
                let mut values = vec![
                    ("attraction", Parameter::of(users.attraction())),
                    ("positions", Parameter::Count(users.shape().n_positions())),
                ];
                values.extend(weights);
                values
            }),
            Self::Dcm(list) => each(list, |users| {
                vec![
                    ("attraction", Parameter::of(users.attraction())),
                    ("leave", Parameter::of(users.leave())),
                    ("reward", Parameter::Name(reward_name(users.reward()).to_owned())),
                ]
            }),
            Self::RankOne(list) => list
                .iter()
                .map(|Instance { name, model: users, calibration }| Parameters {
                    name: name.clone(),
                    values: match calibration {
                        Some(calibration) => vec![("calibrated", Parameter::Calibration(*calibration))],
                        None => sides(users),
                    },
                })
                .collect(),
            Self::Dueling(duels) => {
                let of_group = |group: &super::duels::Group| {
                    let rows = Vec::<Vec<f64>>::from(PreferenceMatrix::clone(&group.matrix));
                    let mut values = vec![("preferences", Parameter::Matrix(rows))];
                    if group.arms != Arms::All {
                        values.push(("arms", Parameter::Arms(group.arms.clone())));
                    }
                    Parameters { name: group.name.clone(), values }
                };
                duels.groups().iter().map(of_group).collect()
            }
        }
    }
}

/// Rows and columns.
fn sides(users: &RankOneModel) -> Vec<(&'static str, Parameter)> {
    vec![("rows", Parameter::of(users.rows())), ("columns", Parameter::of(users.columns()))]
}

/// The parameters of one kind of user, for readers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InstanceTable {
    /// The instance's name, or its number.
    pub(crate) name: String,
    /// How many items there are to choose from.
    pub(crate) n_items: usize,
    /// What each parameter is, and its value: the attractions first.
    pub(crate) parameters: Vec<(&'static str, Parameter)>,
    /// Those that are lists, by their names in files; also where the file gives only what they are drawn to.
    lists: Vec<(&'static str, Parameter)>,
}

impl InstanceTable {
    /// The numbers of a parameter that is a list, by its name in files.
    pub(crate) fn list(&self, key: &str) -> Option<&[f64]> {
        self.lists.iter().find(|(other, _)| *other == key).map(|(_, list)| list.numbers())
    }

    /// Whether it was drawn to a summary instead of being measured.
    pub(crate) fn is_calibrated(&self) -> bool {
        self.parameters.iter().any(|(_, parameter)| matches!(parameter, Parameter::Calibration(_)))
    }
}

/// What a parameter is called where readers see it.
pub(crate) fn for_readers(key: &'static str) -> &'static str {
    match key {
        "theta" => "Attraction theta",
        "kappa" => "Examination kappa",
        "attraction" => "Attraction",
        "positions" => "Positions",
        "weights" => "Weights",
        "leave" => "Leave after a click",
        "rows" => "Rows",
        "columns" => "Columns",
        "calibrated" => "Calibrated, not measured",
        "reward" => "Reward",
        other => other,
    }
}

/// Rewards of the dependent click model by their names in files.
const REWARDS: [(&str, DcmReward); 2] =
    [("satisfaction", DcmReward::Satisfaction), ("clicks", DcmReward::Clicks)];

fn reward_name(reward: DcmReward) -> &'static str {
    REWARDS.iter().find(|(_, other)| *other == reward).map_or("", |(name, _)| name)
}

/// Name, if there is one, and parameters of an instance, in one map.
pub(super) struct CanonicalInstance(pub(super) Parameters);

impl Serialize for CanonicalInstance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;
        let Self(Parameters { name, values }) = self;
        let mut map = serializer.serialize_map(None)?;
        if let Some(name) = name {
            map.serialize_entry("name", name)?;
        }
        for (key, value) in values {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// The users of an experiment; `common` is the model of those that name none, `seed` that of what is drawn, and `matrix` stands for every
/// matrix from a file.
pub(super) fn read_instances(
    field: &Field<'_>,
    common: Option<Model>,
    seed: u64,
    matrix: Option<&Arc<MatrixFile>>,
) -> Result<Instances, Error> {
    let tables = read_tables(field)?;
    let mut first: Option<(Model, Location)> = None;
    let mut names: Vec<(String, Location)> = Vec::new();
    for table in &tables {
        let own = table.field("model");
        let location = own.as_ref().map_or_else(|| table.location(), Field::location);
        let own = own.map(|field| Model::read(&field)).transpose()?;
        let Some(model) = own.or(common) else {
            let names = Model::ALL.map(|model| format!("{:?}", model.name())).join(", ");
            return Err(table.missing("model", &format!("one of {names}")));
        };
        if let Some(common) = common.filter(|&common| common != model) {
            let message = format!(
                "model {:?} is not the panel's, {:?}: leave it out where panels share instances",
                model.name(),
                common.name()
            );
            return Err(location.error(message));
        }
        if let Some((other, there)) = &first
            && *other != model
        {
            let message = format!(
                "model {:?} differs from {:?} in line {}: all instances of an experiment have the same model",
                model.name(),
                other.name(),
                there.line()
            );
            return Err(location.error(message));
        }
        first.get_or_insert((model, location));
        if let Some(field) = table.field("name") {
            unique(&mut names, read_title(&field)?, field.location(), "name")?;
        }
    }
    let model = first.map(|(model, _)| model);
    Ok(match model.or(common).unwrap_or(Model::Pbm) {
        Model::Pbm => Instances::Pbm(read_each(&tables, |table| read_linear(table, PositionBased::new))?),
        Model::SemiBandit => {
            Instances::SemiBandit(read_each(&tables, |table| read_linear(table, RandomSemiBandit::new))?)
        }
        Model::Cascade => Instances::Cascade(read_each(&tables, read_cascade)?),
        Model::Dcm => Instances::Dcm(read_each(&tables, read_dcm)?),
        Model::RankOne => Instances::RankOne(tables.iter().map(read_rank_one).collect::<Result<_, _>>()?),
        Model::Dueling => Instances::Dueling(Duels::read(&tables, seed, matrix)?),
    })
}

/// The instances of tables whose `model` and `name` have been checked.
fn read_each<M>(
    tables: &[Table<'_>],
    model: impl Fn(&Table<'_>) -> Result<M, Error>,
) -> Result<Vec<Instance<M>>, Error> {
    let read = |table: &Table<'_>| {
        Ok(Instance { name: table.optional("name")?, model: model(table)?, calibration: None })
    };
    tables.iter().map(read).collect()
}

/// Attraction of items and examination of positions.
fn read_linear<M>(
    table: &Table<'_>,
    build: impl Fn(Vec<Probability>, Vec<Probability>) -> Result<M, click_models::Error>,
) -> Result<M, Error> {
    let theta: Field<'_> = required_list(table, "theta", "item")?;
    let kappa: Field<'_> = required_list(table, "kappa", "position")?;
    table.finish()?;
    build(theta.get()?, kappa.get()?).map_err(|error| at_fault(&error, &theta, &kappa))
}

fn read_cascade(table: &Table<'_>) -> Result<CascadeModel, Error> {
    let two_values = table.field("two-values");
    let attraction = match &two_values {
        None => required_list(table, "attraction", "item")?,
        Some(two_values) => match table.field("attraction") {
            None => two_values.clone(),
            Some(list) => {
                return Err(list.error("`two-values` says what attracts: expected one or the other"));
            }
        },
    };
    let positions: Field<'_> = table
        .field("positions")
        .ok_or_else(|| table.missing("positions", "the number of positions of a list"))?;
    let weights = table.field("weights");
    table.finish()?;
    let n_positions =
        usize::try_from(positions.integer_in(&(0..=u64::from(u32::MAX)))?).unwrap_or(usize::MAX);
    let fault = |error: click_models::Error| at_fault(&error, &attraction, &positions);
    let probabilities = match &two_values {
        None => attraction.get()?,
        Some(two_values) => {
            let (n_items, best, others) = read_two_values(two_values)?;
            // Before so many numbers are written down.
            ListShape::new(n_items, n_positions).map_err(fault)?;
            (0..n_items).map(|item| if item < n_positions { best } else { others }).collect()
        }
    };
    let users = CascadeModel::new(probabilities, n_positions).map_err(fault)?;
    match weights {
        None => Ok(users),
        Some(weights) => {
            let numbers: Vec<f64> = weights.get()?;
            users.with_weights(&numbers).map_err(|error| at_fault(&error, &weights, &weights))
        }
    }
}

/// How many items may be given by two values: as many as a file could list one by one.
const TWO_VALUED_ITEMS: RangeInclusive<u64> = 1..=1 << 24;

/// So many items, the best ones of one probability, as many as there are positions, and the others of another: a file need not list
/// hundreds of numbers that are the same.
fn read_two_values(field: &Field<'_>) -> Result<(usize, Probability, Probability), Error> {
    let table: Table<'_> = field.get()?;
    let items = table.required::<Field<'_>>("items")?.integer_in(&TWO_VALUED_ITEMS)?;
    let (best, others) = (table.required("best")?, table.required("others")?);
    table.finish()?;
    Ok((usize::try_from(items).unwrap_or(usize::MAX), best, others))
}

fn read_dcm(table: &Table<'_>) -> Result<DependentClick, Error> {
    let attraction: Field<'_> = required_list(table, "attraction", "item")?;
    let leave: Field<'_> = required_list(table, "leave", "position")?;
    let reward = table.field("reward");
    table.finish()?;
    let reward = match reward {
        None => DcmReward::default(),
        Some(field) => {
            let name: String = field.get()?;
            let known = REWARDS.iter().find(|(other, _)| *other == name);
            known.map(|(_, reward)| *reward).ok_or_else(|| {
                let mut message = format!("unknown reward {name:?}");
                push_known(&mut message, &name, &REWARDS.map(|(name, _)| name), "reward");
                field.error(message)
            })?
        }
    };
    DependentClick::new(attraction.get()?, leave.get()?, reward)
        .map_err(|error| at_fault(&error, &attraction, &leave))
}

/// Rows and columns as they are, those of a needle in a haystack, or what they are drawn to.
fn read_rank_one(table: &Table<'_>) -> Result<Instance<RankOneModel>, Error> {
    let name = table.optional("name")?;
    let (needle, calibrated) = (table.field("needle"), table.field("calibrated"));
    let (kind, field) = match (&needle, &calibrated) {
        (Some(field), _) => ("needle", field),
        (None, Some(field)) => ("calibrated", field),
        (None, None) => return Ok(Instance { name, model: read_sides(table)?, calibration: None }),
    };
    for key in ["rows", "columns", "calibrated"] {
        if let Some(other) = table.field(key).filter(|_| key != kind) {
            let message = format!("`{kind}` says what the rows and columns are: expected one or the other");
            return Err(other.error(message));
        }
    }
    table.finish()?;
    if kind == "needle" {
        return Ok(Instance { name, model: read_needle(field)?, calibration: None });
    }
    let (calibration, model) = Calibration::read(field)?;
    Ok(Instance { name, model, calibration: Some(calibration) })
}

fn read_sides(table: &Table<'_>) -> Result<RankOneModel, Error> {
    let rows: Field<'_> = required_list(table, "rows", "row")?;
    let columns: Field<'_> = required_list(table, "columns", "column")?;
    table.finish()?;
    RankOneModel::new(rows.get()?, columns.get()?).map_err(|error| {
        let no_rows = matches!(error, click_models::Error::NoCells { n_rows: 0, .. });
        if no_rows { &rows } else { &columns }.error(error.to_string())
    })
}

/// So many rows and columns of probability `base`, the first of each larger by `gap`: a file need not list hundreds of numbers
/// that are the same.
fn read_needle(field: &Field<'_>) -> Result<RankOneModel, Error> {
    let table: Table<'_> = field.get()?;
    let shape = TableShape::new(read_size(&table, "rows")?, read_size(&table, "columns")?);
    let base = table.required::<Probability>("base")?.get();
    let gap: Field<'_> = table.required("gap")?;
    let above = gap.get::<Probability>()?.get();
    table.finish()?;
    let shape = shape.map_err(|error| field.error(error.to_string()))?;
    RankOneModel::needle(shape, (base, above), (base, above))
        .map_err(|_| gap.error(format!("{base} + {above} is not a probability: expected at most 1 together")))
}

/// An instance's error where it stands: in the parameter of the items, of the positions, or in one entry of the latter.
fn at_fault(error: &click_models::Error, items: &Field<'_>, positions: &Field<'_>) -> Error {
    use click_models::Error as Fault;
    let entry = match error {
        Fault::NoItems | Fault::TooManyItems(_) => return items.error(error.to_string()),
        Fault::ExaminationRises { position, .. } | Fault::WeightsRise { position, .. } => Some(*position),
        Fault::NotAWeight { index, .. } => Some(*index),
        _ => None,
    };
    let entries: Vec<Field<'_>> = positions.get().unwrap_or_default();
    entry.and_then(|index| entries.get(index)).unwrap_or(positions).error(error.to_string())
}

fn required_list<'doc>(table: &Table<'doc>, key: &str, each: &str) -> Result<Field<'doc>, Error> {
    table
        .field(key)
        .ok_or_else(|| table.missing(key, &format!("an array of probabilities, one for each {each}")))
}
