//! Runs an experiment and writes its results.

use crate::canonical::Canonical;
use crate::manifest::{Manifest, Moment, Program};
use crate::models::{OWN, OwnContender, PlayRequest};
use crate::names::title_fault;
use crate::observer::{Observer, Silent};
use crate::output::{OutputDir, RUNS};
use crate::run_error::RunError;
use crate::spec::Experiment;
use crate::sum_up::SumUp;
use crate::{Measured, tables};
use click_models::ClickModel;
use sim::{Contender, Task};
use std::fmt::Write as _;
use std::path::Path;

/// The file with the experiment as it was run.
pub const SPEC: &str = "spec.toml";

/// Runs an experiment: policies of the catalogue, and contenders of the caller.
///
/// # Examples
///
/// ```
/// use click_models::{CascadeModel, ItemId, ListShape, Ranking};
/// use experiment::{Experiment, Instances, Runner};
/// use policies::Fixed;
/// use sim::{Entry, Schedule};
///
/// let users = CascadeModel::from_values(&[0.4, 0.2, 0.1], 2)?;
/// let experiment = Experiment::builder("first-steps", Instances::of([users]))
///     .horizon(100)
///     .runs(3)
///     .policy("cascade-ts")
///     .build()?;
/// // A policy of one's own: always the same list.
/// let list = || [2, 1].map(ItemId::new).into_iter().collect::<Ranking>();
/// let own = Entry::new("fixed", move |_: ListShape| Fixed::new(list()));
/// let measured = Runner::new(&experiment).with_contender::<CascadeModel, Schedule>(own).run()?;
/// let regret = |label| measured.result.at_the_end(label, experiment::result::EndValue::Regret).unwrap().0;
/// assert!(regret("cascade-ts") < regret("fixed"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Runner<'a> {
    experiment: &'a Experiment,
    own: Vec<OwnContender>,
    threads: Option<usize>,
    observer: &'a dyn Observer,
}

impl<'a> Runner<'a> {
    /// Runs an experiment on all cores.
    pub fn new(experiment: &'a Experiment) -> Self {
        Self { experiment, own: Vec::new(), threads: None, observer: &Silent }
    }

    /// Adds a contender of the caller to the policies of the experiment.
    ///
    /// `M` is the type of the experiment's users. `T` is [`sim::Schedule`] for task `regret`, [`sim::UntilStopped`] for `identify` and
    /// [`sim::WithBudget`] for `budget`.
    ///
    /// The label is part of the experiment's identity, the policy behind it is not. So use one label for one policy.
    #[must_use]
    pub fn with_contender<M: ClickModel + 'static, T: Task + 'static>(
        mut self,
        contender: impl Contender<M, T> + 'static,
    ) -> Self {
        self.own.push(OwnContender::new(contender));
        self
    }

    /// Sets the number of threads, 0 for one per core. Results do not depend on it.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// Sets the observer, which is told of every run that ends.
    #[must_use]
    pub fn observer(self, observer: &'a dyn Observer) -> Self {
        Self { observer, ..self }
    }

    /// The experiment to run.
    pub fn experiment(&self) -> &'a Experiment {
        self.experiment
    }

    /// The labels of all contenders, in the order of the result.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        let policies = self.experiment.policies.iter().map(|entry| entry.label.as_str());
        policies.chain(self.own.iter().map(|own| own.label.as_str()))
    }

    /// The catalogue names of all contenders, in the same order.
    fn names(&self) -> impl Iterator<Item = &str> {
        let policies = self.experiment.policies.iter().map(|entry| entry.name.as_str());
        policies.chain(self.own.iter().map(|_| OWN))
    }

    /// The canonical form of the experiment with its contenders: everything that the result depends on.
    pub fn canonical(&self) -> Canonical {
        Canonical::of(self.experiment, self.own.iter().map(|own| own.label.as_str()))
    }

    /// Plays all runs of all contenders.
    ///
    /// # Errors
    ///
    /// A contender for another type of users; a label that is invalid or taken; runs that do not fit into memory; threads that cannot be
    /// started.
    ///
    /// # Panics
    ///
    /// A contender of the caller plays an action that the users do not have, or records another number of checkpoints.
    pub fn run(&self) -> Result<Measured, RunError> {
        let labels: Vec<&str> = self.labels().collect();
        for (index, label) in labels.iter().enumerate() {
            if let Some(fault) = title_fault(label) {
                return Err(RunError::NotALabel { label: (*label).to_owned(), fault });
            }
            if labels[..index].contains(label) {
                return Err(RunError::LabelTaken((*label).to_owned()));
            }
        }
        if labels.is_empty() {
            return Err(RunError::NoPolicies);
        }
        let experiment = self.experiment;
        if let Some(fault) = experiment.too_large_with(labels.len(), false) {
            return Err(RunError::TooLarge(fault));
        }
        let played = experiment.instances.users().play(&PlayRequest {
            task: experiment.task,
            horizon: experiment.horizon,
            checkpoints: &experiment.checkpoints,
            runs: experiment.runs,
            assignment: experiment.assignment,
            seed: experiment.seed,
            policies: &experiment.policies,
            own: &self.own,
            threads: self.threads,
            observer: self.observer,
        })?;
        let names = labels.into_iter().zip(self.names()).collect();
        Ok(SumUp { experiment, names }.measured(played))
    }

    /// Plays all runs and writes `result.json`, `curves.csv`, `timing.json`, `manifest.json` and `spec.toml` to `dir`.
    ///
    /// # Errors
    ///
    /// The errors of [`Runner::run`]. Before the first run: the directory belongs to another experiment, or cannot be written.
    pub fn run_into(&self, dir: &Path) -> Result<Measured, RunError> {
        let files = ResultDir::claim(self, dir, &[], false)?;
        let measured = self.run()?;
        files.write(&measured, Vec::new(), Program::library())?;
        Ok(measured)
    }
}

/// The directory for the files of an experiment.
#[derive(Debug)]
pub struct ResultDir {
    output: OutputDir,
    canonical: Canonical,
    spec: String,
    /// Copies of the files that the experiment names, so that the directory is complete.
    inputs: Vec<(String, Vec<u8>)>,
    extra: Vec<String>,
    started: Moment,
    keep_runs: bool,
}

impl ResultDir {
    /// Claims `dir` for the result of an experiment, and changes nothing. `extra` are the names of files that will be written besides the
    /// usual ones. `keep_runs` adds `runs.csv`.
    ///
    /// # Errors
    ///
    /// The directory belongs to another experiment, or cannot be written; the table of all runs does not fit into memory.
    pub fn claim(
        runner: &Runner<'_>,
        dir: &Path,
        extra: &[String],
        keep_runs: bool,
    ) -> Result<Self, RunError> {
        let n_contenders = runner.labels().count();
        if keep_runs && let Some(fault) = runner.experiment.too_large_with(n_contenders, true) {
            return Err(RunError::TooLarge(fault));
        }
        for (index, name) in extra.iter().enumerate() {
            let is_plain = Path::new(name).file_name().is_some_and(|file| file == name.as_str());
            let is_own = [SPEC, RUNS].contains(&name.as_str()) || OutputDir::is_usual(name);
            if !is_plain || is_own || extra[..index].contains(name) {
                return Err(RunError::FileName(name.clone()));
            }
        }
        let canonical = runner.canonical();
        let inputs = runner.experiment.inputs();
        for (index, (name, content)) in inputs.iter().enumerate() {
            let is_taken = name.is_empty() || *name == SPEC || *name == RUNS || OutputDir::is_usual(name);
            let is_other = |(other, its): &(&str, &[u8])| other == name && its != content;
            if is_taken || extra.iter().any(|other| other == name) || inputs[..index].iter().any(is_other) {
                return Err(RunError::FileName((*name).to_owned()));
            }
        }
        let mut names: Vec<&str> = extra.iter().map(String::as_str).collect();
        names.extend(inputs.iter().map(|(name, _)| *name));
        names.push(SPEC);
        names.extend(keep_runs.then_some(RUNS));
        let output = OutputDir::claim(dir, canonical.identity(), &runner.experiment.name, &names)?;
        let mut spec = runner.experiment.to_toml();
        for own in &runner.own {
            // A comment only: a file cannot describe a policy that is Rust code.
            let _ = write!(spec, "\n# [[policies]]\n# label = {:?}, of the program that ran it\n", own.label);
        }
        let inputs = inputs.into_iter().map(|(name, content)| (name.to_owned(), content.to_vec())).collect();
        let extra = extra.to_vec();
        Ok(Self { output, canonical, spec, inputs, extra, started: Moment::now(), keep_runs })
    }

    /// Writes the results and the extra files (name and content), all files or none. Returns the manifest.
    ///
    /// # Errors
    ///
    /// An extra file that was not claimed; a file that cannot be written.
    pub fn write(
        self,
        measured: &Measured,
        extra: Vec<(String, Vec<u8>)>,
        program: Program,
    ) -> Result<Manifest, RunError> {
        if let Some((name, _)) = extra.iter().find(|(name, _)| !self.extra.contains(name)) {
            return Err(RunError::FileName(name.clone()));
        }
        let mut files = vec![
            ("result.json".to_owned(), measured.result.to_json()),
            ("curves.csv".to_owned(), tables::curves(measured)?),
            ("timing.json".to_owned(), measured.timing.to_json()),
            (SPEC.to_owned(), self.spec.into_bytes()),
        ];
        files.extend(self.inputs);
        files.extend(extra);
        if self.keep_runs {
            files.push((RUNS.to_owned(), tables::runs(measured)?));
        }
        let files: Vec<(&str, &[u8])> =
            files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
        let threads = measured.timing.threads;
        let manifest = Manifest::of(&self.canonical, self.started, threads, &files, program);
        self.output.write_all(&manifest.to_json(), &files)?;
        Ok(manifest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Instances, Runs};
    use click_models::{CascadeModel, ItemId, ListShape, PositionBased, Ranking};
    use policies::Fixed;
    use sim::{Entry, Schedule};
    use std::sync::Mutex;

    fn experiment() -> Experiment {
        let users = CascadeModel::from_values(&[0.5, 0.4, 0.2], 2).unwrap();
        Experiment::builder("small", Instances::of([users]))
            .horizon(50)
            .runs(4)
            .policy("cascade-ts")
            .build()
            .unwrap()
    }

    fn fixed(label: &str) -> Entry<impl Fn(ListShape) -> Fixed<Ranking> + Send + Sync + use<>> {
        Entry::new(label, |_: ListShape| Fixed::new([2, 1].map(ItemId::new).into_iter().collect()))
    }

    #[test]
    fn a_contender_of_the_caller_takes_part_and_does_not_change_the_others() {
        let experiment = experiment();
        let alone = Runner::new(&experiment).run().unwrap();
        let runner =
            Runner::new(&experiment).with_contender::<CascadeModel, Schedule>(fixed("mine")).threads(1);
        let both = runner.run().unwrap();
        assert_eq!(both.result.policies[0], alone.result.policies[0]);
        let mine = &both.result.policies[1];
        assert_eq!((mine.label.as_str(), mine.policy.as_str()), ("mine", "own"));
        // Expected clicks a round: 1 - .6 .8 = .52 with the shown list, 1 - .5 .6 = .7 with the best one.
        assert!((mine.curves().unwrap().regret.mean.last().unwrap() - 50.0 * 0.18).abs() < 1e-9);
        assert_eq!(both.result.paired.len(), 1);
        assert_ne!(runner.canonical().identity(), experiment.identity());
        let Runs::Curves { outcome, .. } = &both.runs else { panic!("regret was measured") };
        assert_eq!((outcome.records.len(), outcome.records[1].len()), (2, 4));
    }

    #[test]
    fn errors_name_the_contender_that_cannot_be_run() {
        let experiment = experiment();
        let users = Experiment::builder(
            "other",
            Instances::of([PositionBased::from_values(&[0.5, 0.4, 0.2], &[0.9, 0.5]).unwrap()]),
        );
        let other = users.build().unwrap();
        let error = |runner: Runner<'_>| runner.run().unwrap_err().to_string();
        assert_eq!(error(Runner::new(&other)), "no policies: expected at least one");
        let runner = Runner::new(&other).with_contender::<CascadeModel, Schedule>(fixed("mine"));
        let message = error(runner);
        assert!(
            message.starts_with("contender \"mine\" plays ") && message.contains("PositionBased"),
            "{message}"
        );
        let runner = Runner::new(&experiment).with_contender::<CascadeModel, Schedule>(fixed("cascade-ts"));
        assert!(error(runner).starts_with("label \"cascade-ts\" is already used"));
        for label in ["", " x", "a\nb", "\u{202e}"] {
            let runner = Runner::new(&experiment).with_contender::<CascadeModel, Schedule>(fixed(label));
            assert!(error(runner).starts_with(&format!("label {label:?}: the text ")));
        }
    }

    #[derive(Debug, Default)]
    struct Count(Mutex<Vec<usize>>);

    impl Observer for Count {
        fn run_done(&self, policy: usize) {
            self.0.lock().unwrap().push(policy);
        }
    }

    #[test]
    fn an_observer_is_told_of_every_run() {
        let (experiment, count) = (experiment(), Count::default());
        let runner = Runner::new(&experiment).with_contender::<CascadeModel, Schedule>(fixed("mine"));
        runner.observer(&count).run().unwrap();
        let mut told = count.0.into_inner().unwrap();
        told.sort_unstable();
        assert_eq!(told, [0, 0, 0, 0, 1, 1, 1, 1]);
    }

    /// A contender of the caller changes the identity of the experiment.
    #[test]
    fn a_directory_of_other_contenders_is_refused() {
        let (experiment, dir) = (experiment(), tempfile::tempdir().unwrap());
        Runner::new(&experiment).run_into(dir.path()).unwrap();
        let runner = Runner::new(&experiment).with_contender::<CascadeModel, Schedule>(fixed("mine"));
        let error = runner.run_into(dir.path()).unwrap_err().to_string();
        assert!(error.contains("belongs to another experiment"), "{error}");
        let again = Runner::new(&experiment).run_into(dir.path()).unwrap();
        let read = crate::ResultFile::read(&dir.path().join("result.json")).unwrap();
        assert_eq!(read.to_json(), again.result.to_json());
    }
}
