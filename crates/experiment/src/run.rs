//! Runs an experiment and writes its results.

use crate::journal::{Belongs, JOURNAL, Journal, JournalError};
use crate::manifest::{Manifest, Moment, Program};
use crate::observer::{Observer, Silent};
use crate::output::{MANIFEST, OutputDir, RUNS, SPEC, to_json};
use crate::part::{PART, PartFile, Parts};
use crate::path_error::PathError;
use crate::play::{PlayOutcome, play};
use crate::run_error::RunError;
use crate::runs::{Layout, Sequence};
use crate::shard::Shard;
use crate::sum_up::SumUp;
use crate::tournament::OwnContender;
use crate::{Measurement, tables};
use documents::names::title_fault;
use documents::{TemporaryFile, read_own, sha256, sha256_of_file};
use sim::{Contender, Objective};
use spec::Canonical;
use spec::Experiment;
use spec::models::OWN;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// Runs an experiment: policies of the catalogue, and contenders of the caller.
///
/// # Examples
///
/// ```
/// use click_models::{CascadeModel, ItemId, ListShape, Ranking};
/// use experiment::Runner;
/// use spec::{Experiment, Instances};
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
#[derive(Debug, fieldwork::Fieldwork)]
#[fieldwork(opt_in, get(doc_template = "{}"))]
pub struct Runner<'a> {
    /// The experiment to run.
    #[field]
    pub(crate) experiment: &'a Experiment,
    /// Contenders of the caller.
    pub(crate) own: Vec<OwnContender>,
    /// Number of threads; one per core if absent.
    pub(crate) threads: Option<usize>,
    pub(crate) observer: &'a dyn Observer,
    /// Whether the caller wants to stop.
    pub(crate) stop: Option<&'a AtomicBool>,
}

impl<'a> Runner<'a> {
    /// Runs an experiment on all cores.
    pub fn new(experiment: &'a Experiment) -> Self {
        Self { experiment, own: Vec::new(), threads: None, observer: &Silent, stop: None }
    }

    /// Adds a contender of the caller to the policies of the experiment.
    ///
    /// `M` is the type of the experiment's users. `T` is [`sim::Schedule`] for task `regret`,
    /// [`sim::UntilStopped`] for `identify` and [`sim::WithBudget`] for `budget`.
    ///
    /// The label is part of the experiment's identity, the policy behind it is not. So use one
    /// label for one policy.
    #[must_use]
    pub fn with_contender<M: 'static, T: Objective + 'static>(
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

    /// Sets the observer, which is called at the end of every run.
    #[must_use]
    pub fn observer(self, observer: &'a dyn Observer) -> Self {
        Self { observer, ..self }
    }

    /// Stops all runs soon after another thread sets `stop`, with an error for which
    /// [`RunError::is_stopped`] is true. A directory then has the finished runs and states of long
    /// ones, and can be continued.
    #[must_use]
    pub fn stop_when(self, stop: &'a AtomicBool) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// The labels of all contenders, in the order of the result.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        let policies = self.experiment.policies().iter().map(|entry| entry.label.as_str());
        policies.chain(self.own.iter().map(|own| own.label.as_str()))
    }

    /// The catalogue names of all contenders, in the same order.
    fn names(&self) -> impl Iterator<Item = &str> {
        let policies = self.experiment.policies().iter().map(|entry| entry.name.as_str());
        policies.chain(self.own.iter().map(|_| OWN))
    }

    /// The canonical form of the experiment with its contenders: all that the result depends on.
    pub fn canonical(&self) -> Canonical {
        Canonical::of(self.experiment, self.own.iter().map(|own| own.label.as_str()))
    }

    /// Plays all runs of all contenders, in memory.
    ///
    /// # Errors
    ///
    /// A contender for another type of users; a label that is invalid or taken; runs that do not
    /// fit into memory; threads that cannot be started.
    ///
    /// # Panics
    ///
    /// A contender of the caller plays an invalid action, or records another number of checkpoints.
    pub fn run(&self) -> Result<Measurement, RunError> {
        self.check()?;
        if let Some(fault) = self.experiment.too_large_with(self.labels().count(), true) {
            return Err(RunError::TooLarge(fault));
        }
        let played = self.play(0..self.experiment.runs(), Vec::new(), None)?;
        self.sum_up(played)
    }

    /// Plays all runs and writes `result.json`, `curves.csv`, `timing.json`, `manifest.json` and
    /// `spec.toml` to `dir`, as [`Runner::run_in`] does.
    ///
    /// # Errors
    ///
    /// The errors of [`Runner::run`]. Before the first run: the directory belongs to another
    /// experiment, or cannot be written.
    pub fn run_into(&self, dir: &Path) -> Result<Measurement, RunError> {
        let dir = ResultDir::claim(self, dir, Claim::default())?;
        let measured = self.run_in(&dir)?;
        dir.write(&measured, Vec::new())?;
        Ok(measured)
    }

    /// Plays the runs that are missing in the journal of a directory, and records them there. A
    /// process that is killed can be started again, and experiments with more runs or policies can
    /// continue where this one ended. Runs of the caller's contenders are played anew every time,
    /// since a label does not identify a contender's code.
    ///
    /// # Errors
    ///
    /// The errors of [`Runner::run`]; the journal belongs to something else, is damaged, or cannot
    /// be written.
    ///
    /// # Panics
    ///
    /// As [`Runner::run`].
    pub fn run_in(&self, dir: &ResultDir) -> Result<Measurement, RunError> {
        self.check()?;
        let runs = 0..self.experiment.runs();
        let in_parts = self.canonical_in_parts();
        let (heads, layout) = (self.belongs(&dir.claim, &in_parts).heads(), Layout::of(self.experiment));
        // Parts are complete before anything in the directory changes.
        let parts = dir.claim.parts;
        parts.map_or(Ok(()), |parts| parts.visit(&heads, layout, |_, _| Ok(())))?;
        let (journal, mut sequences) =
            self.open(dir.output.path(), &dir.claim, &dir.canonical, &runs, None)?;
        if let Some(parts) = parts {
            self.add_missing(&mut sequences, &runs);
            parts.visit(&heads, layout, |policy, content| append_new(&mut sequences[policy], content))?;
        }
        self.sum_up(self.play(runs, sequences, Some(&journal))?)
    }

    /// Plays the runs of one shard that are missing in `dir`, and records them there, also those of
    /// the caller's contenders. With these, everything is played anew. Writes `part.json` and
    /// `spec.toml`, and no result.
    ///
    /// # Errors
    ///
    /// The directory has something else; the errors of [`Runner::run_in`].
    ///
    /// # Panics
    ///
    /// As [`Runner::run`].
    pub fn run_part(&self, dir: &Path, shard: Shard, claim: &Claim<'_>) -> Result<(), RunError> {
        self.check()?;
        let claim = &Claim { fresh: claim.fresh || !self.own.is_empty(), ..claim.clone() };
        let canonical = self.canonical_in_parts();
        let part = self.part(shard, claim, &canonical);
        self.check_part(dir, shard, claim)?;
        let runs = part.first..part.end;
        let (journal, sequences) = self.open(dir, claim, &canonical, &runs, Some(shard))?;
        let mut files = vec![(PART, to_json(&part)), (SPEC, self.experiment.to_toml().into_bytes())];
        files.extend(self.experiment.inputs().into_iter().map(|(name, content)| (name, content.to_vec())));
        for (name, content) in files {
            let path = dir.join(name);
            let written = TemporaryFile::write(&path, &content).and_then(TemporaryFile::rename);
            written.map_err(JournalError::system(&path, "cannot be written"))?;
        }
        self.play(runs, sequences, Some(&journal))?;
        Ok(())
    }

    /// Checks that `dir` may hold a shard, and changes nothing.
    ///
    /// # Errors
    ///
    /// The directory has something else.
    pub fn check_part(&self, dir: &Path, shard: Shard, claim: &Claim<'_>) -> Result<(), RunError> {
        let canonical = self.canonical_in_parts();
        let part = self.part(shard, claim, &canonical);
        let inputs = self.experiment.inputs();
        let names: Vec<&str> = inputs.iter().map(|(name, _)| *name).chain([SPEC]).collect();
        part.check(dir, &names, claim.fresh)?;
        Journal::check(dir, &self.belongs(claim, &canonical), claim.fresh)?;
        Ok(())
    }

    fn part(&self, shard: Shard, claim: &Claim<'_>, canonical: &Canonical) -> PartFile {
        let runs = shard.runs(self.experiment.runs());
        PartFile {
            schema: PartFile::SCHEMA,
            name: self.experiment.name().to_owned(),
            program: claim.program.results(),
            shard: shard.to_string(),
            runs: self.experiment.runs(),
            first: runs.start,
            end: runs.end,
            identity: canonical.identity.clone(),
            base: canonical.base.clone(),
            policies: canonical
                .policies
                .iter()
                .map(|policy| (policy.label.clone(), policy.sha256.clone()))
                .collect(),
        }
    }

    fn check(&self) -> Result<(), RunError> {
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
        match self.experiment.too_large_with(labels.len(), false) {
            Some(fault) => Err(RunError::TooLarge(fault)),
            None => Ok(()),
        }
    }

    /// The canonical form by which parts record runs.
    fn canonical_in_parts(&self) -> Canonical {
        self.canonical().with_own(self.own.iter().map(|own| own.label.as_str()))
    }

    /// A contender of another caller in the result of a directory. No journal has its runs, so they
    /// would be lost.
    fn missing_contender(&self, dir: &Path) -> Option<String> {
        let manifest: Manifest = serde_json::from_slice(&read_own(&dir.join(MANIFEST)).ok()?).ok()?;
        let policies = manifest.experiment.get("policies")?.as_array()?.iter();
        let own = policies.filter(|policy| policy.get("policy").is_some_and(|name| name == OWN));
        let mut labels = own.filter_map(|policy| policy.get("label")?.as_str());
        labels.find(|label| !self.own.iter().any(|own| own.label == *label)).map(str::to_owned)
    }

    fn belongs<'b>(&'b self, claim: &Claim<'_>, canonical: &'b Canonical) -> Belongs<'b> {
        Belongs { program: claim.program.results(), name: self.experiment.name(), canonical }
    }

    /// Opens the journal of a directory.
    fn open(
        &self,
        dir: &Path,
        claim: &Claim<'_>,
        canonical: &Canonical,
        runs: &Range<u64>,
        shard: Option<Shard>,
    ) -> Result<(Journal, Vec<Sequence>), RunError> {
        let belongs = self.belongs(claim, canonical);
        let note = |sentence: &str| self.observer.note(sentence);
        Ok(Journal::open(dir, &belongs, Layout::of(self.experiment), runs, shard, claim.fresh, &note)?)
    }

    /// Plays the missing runs of these sequences; contenders without a sequence get one in memory.
    fn play(
        &self,
        runs: Range<u64>,
        mut sequences: Vec<Sequence>,
        journal: Option<&Journal>,
    ) -> Result<PlayOutcome, RunError> {
        self.add_missing(&mut sequences, &runs);
        play(self, runs, &Arc::new(sequences.into_iter().map(Mutex::new).collect()), journal)
    }

    /// Adds sequences in memory for contenders without one.
    fn add_missing(&self, sequences: &mut Vec<Sequence>, runs: &Range<u64>) {
        let n_runs = usize::try_from(runs.end - runs.start).unwrap_or(usize::MAX);
        let in_memory = || Sequence::in_memory(Layout::of(self.experiment), runs.start, n_runs);
        sequences.resize_with(self.labels().count(), in_memory);
    }

    fn sum_up(&self, played: PlayOutcome) -> Result<Measurement, RunError> {
        let names = self.labels().zip(self.names()).collect();
        Ok(SumUp { experiment: self.experiment, names }.measured(played)?)
    }
}

/// Adds the record of a part, unless its run is recorded.
fn append_new(sequence: &mut Sequence, content: &[u8]) -> Result<(), JournalError> {
    let run = Sequence::run_of(content).map_err(JournalError::Run)?;
    if sequence.has(run) { Ok(()) } else { sequence.append(content) }
}

/// How a directory is used.
#[derive(Debug, Clone)]
pub struct Claim<'a> {
    /// Names of files that will be written besides the usual ones.
    pub extra: Vec<String>,
    /// Whether to write `runs.csv`, with every run.
    pub keep_runs: bool,
    /// Whether to play everything again, even if the directory has runs of this experiment.
    pub fresh: bool,
    /// The program that runs the experiment.
    pub program: Program,
    /// Parts from which to take the runs.
    pub parts: Option<&'a Parts>,
}

impl Default for Claim<'_> {
    /// The usual files, written by this library.
    fn default() -> Self {
        Self::by(Program::library())
    }
}

impl Claim<'_> {
    /// The usual files, written by this program.
    pub fn by(program: Program) -> Self {
        Self { extra: Vec::new(), keep_runs: false, fresh: false, program, parts: None }
    }
}

/// The directory for the files of an experiment.
#[derive(Debug)]
pub struct ResultDir<'a> {
    output: OutputDir,
    canonical: Canonical,
    spec: String,
    /// Copies of the files that the experiment names, so that the directory is complete.
    inputs: Vec<(String, Vec<u8>)>,
    claim: Claim<'a>,
    started: Moment,
}

impl<'a> ResultDir<'a> {
    /// Claims `dir` for the result of an experiment, and changes nothing.
    ///
    /// # Errors
    ///
    /// The directory belongs to another experiment, holds a part, or cannot be written; it has a
    /// result without its runs, or runs of policies that the experiment does not have.
    pub fn claim(runner: &Runner<'_>, dir: &Path, claim: Claim<'a>) -> Result<Self, RunError> {
        let is_own = |name: &str| [SPEC, RUNS, PART, JOURNAL].contains(&name) || OutputDir::is_usual(name);
        for (index, name) in claim.extra.iter().enumerate() {
            let is_plain = Path::new(name).file_name().is_some_and(|file| file == name.as_str());
            if !is_plain || is_own(name) || claim.extra[..index].contains(name) {
                return Err(RunError::FileName(name.clone()));
            }
        }
        let canonical = runner.canonical();
        let inputs = runner.experiment.inputs();
        for (index, (name, content)) in inputs.iter().enumerate() {
            let is_other = |(taken, found): &(&str, &[u8])| taken == name && found != content;
            if name.is_empty()
                || is_own(name)
                || claim.extra.iter().any(|other| other == name)
                || inputs[..index].iter().any(is_other)
            {
                return Err(RunError::FileName((*name).to_owned()));
            }
        }
        let mut names: Vec<&str> = claim.extra.iter().map(String::as_str).collect();
        names.extend(inputs.iter().map(|(name, _)| *name));
        names.push(SPEC);
        names.extend(claim.keep_runs.then_some(RUNS));
        if let Some(part) = PartFile::read(dir)? {
            let (shard, name) = (part.shard, part.name);
            let remedy = "join it with `click-bandits merge`, or give another directory";
            return Err(PathError::new(dir, format!("holds shard {shard} of {name:?}: {remedy}")).into());
        }
        let output = OutputDir::claim(dir, &canonical, runner.experiment.name(), &names, &[])?;
        if let Some(parts) = claim.parts {
            parts.check(&canonical.identity, &claim.program.results())?;
            parts.refuse_as_result(dir)?;
        }
        if let Some(label) = runner.missing_contender(dir) {
            let fault = format!(
                "has a result of {label:?}, a policy of the program that wrote it, which this program cannot play: \
                 give another directory, or run that program again"
            );
            return Err(PathError::new(dir, fault).into());
        }
        Journal::check(dir, &runner.belongs(&claim, &canonical), claim.fresh)?;
        let has_policies = !canonical.policies.is_empty();
        let journal = dir.join(JOURNAL);
        if !claim.fresh && has_policies && dir.join(MANIFEST).exists() && !journal.is_dir() {
            let fault = format!(
                "has a result without its runs ({}), perhaps of an earlier version: play everything \
                 again (`--fresh`), or give another directory",
                journal.display()
            );
            return Err(PathError::new(dir, fault).into());
        }
        let mut spec = runner.experiment.to_toml();
        for own in &runner.own {
            // A comment only: a file cannot describe a policy that is Rust code.
            let _ = write!(spec, "\n# [[policies]]\n# label = {:?}, of the program that ran it\n", own.label);
        }
        let inputs = inputs.into_iter().map(|(name, content)| (name.to_owned(), content.to_vec())).collect();
        Ok(Self { output, canonical, spec, inputs, claim, started: Moment::now() })
    }

    /// Writes the results and the extra files (name and content), all files or none. If the
    /// directory has them all already, and nothing was played, its files stay as they are. Returns
    /// the manifest, and whether files were written.
    ///
    /// # Errors
    ///
    /// An extra file that was not claimed; a file that cannot be written.
    pub fn write(
        self,
        measured: &Measurement,
        extra: Vec<(String, Vec<u8>)>,
    ) -> Result<(Manifest, bool), RunError> {
        if let Some((name, _)) = extra.iter().find(|(name, _)| !self.claim.extra.contains(name)) {
            return Err(RunError::FileName(name.clone()));
        }
        let timing = ("timing.json".to_owned(), measured.timing.to_json());
        let mut files = vec![
            ("result.json".to_owned(), measured.result.to_json()),
            ("curves.csv".to_owned(), tables::curves(measured)?),
            (SPEC.to_owned(), self.spec.clone().into_bytes()),
        ];
        files.extend(self.inputs.iter().cloned());
        files.extend(extra);
        if measured.n_new_runs == 0
            && let Some(manifest) = self.unchanged(&files)
        {
            return Ok((manifest, false));
        }
        files.push(timing);
        let mut digests: BTreeMap<String, String> =
            files.iter().map(|(name, content)| (name.clone(), sha256(content))).collect();
        let mut large = Vec::new();
        if self.claim.keep_runs {
            let path = self.output.path().join(RUNS);
            let system = JournalError::system(&path, "cannot be read");
            let part = TemporaryFile::write_with(&path, |file| tables::runs(measured, file))?;
            digests.insert(RUNS.to_owned(), sha256_of_file(part.temporary_path()).map_err(system)?);
            large.push((RUNS, part));
        }
        let Self { output, canonical, started, claim, .. } = self;
        let manifest = Manifest::of(&canonical, started, measured.timing.threads, digests, claim.program);
        let files: Vec<(&str, &[u8])> =
            files.iter().map(|(name, content)| (name.as_str(), content.as_slice())).collect();
        output.write_all(&manifest.to_json(), &files, large)?;
        Ok((manifest, true))
    }

    /// The manifest of the directory, if it has these files and all others that would be written.
    fn unchanged(&self, files: &[(String, Vec<u8>)]) -> Option<Manifest> {
        let dir = self.output.path();
        let manifest: Manifest = serde_json::from_slice(&read_own(&dir.join(MANIFEST)).ok()?).ok()?;
        let has = |name: &str| {
            let listed = manifest.files.get(name)?;
            (sha256_of_file(&dir.join(name)).ok()? == *listed).then_some(listed)
        };
        let are_same = manifest.identity == self.canonical.identity
            && files.iter().all(|(name, content)| has(name) == Some(&sha256(content)))
            && has("timing.json").is_some()
            && (!self.claim.keep_runs || has(RUNS).is_some());
        are_same.then_some(manifest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Step;
    use click_models::{CascadeModel, ItemId, ListShape, PositionBased, Ranking};
    use policies::Fixed;
    use sim::{Entry, Schedule};
    use spec::Instances;
    use std::fs;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU64, Ordering};

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
        // Expected clicks a round: 1 - .6 .8 = .52 with the shown list, 1 - .5 .6 = .7 with the
        // best one.
        assert!((mine.curves().unwrap().regret.mean.last().unwrap() - 50.0 * 0.18).abs() < 1e-9);
        assert_eq!(both.result.paired.len(), 1);
        assert_ne!(runner.canonical().identity, experiment.identity());
        assert_eq!((both.runs.n_policies(), both.runs.n_runs()), (2, 4));
    }

    #[test]
    fn errors_name_the_contender_that_cannot_be_run() {
        let experiment = experiment();
        let users = Experiment::builder(
            "other",
            Instances::of([PositionBased::from_values(&[0.5, 0.4, 0.2], &[0.9, 0.5]).unwrap()]),
        );
        let other = users.build().unwrap();
        let error = |runner: Runner<'_>| format!("{:?}", runner.run().unwrap_err());
        assert_eq!(error(Runner::new(&other)), "no policies: expected at least one");
        let runner = Runner::new(&other).with_contender::<CascadeModel, Schedule>(fixed("mine"));
        let message = error(runner);
        assert!(
            message.starts_with("contender \"mine\" plays ") && message.contains("PositionBased"),
            "{message}"
        );
        // A `main` that returns the error prints it in this form.
        assert!(message.ends_with("in `with_contender`") && !message.contains("OtherUsers"), "{message}");
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
        fn step(&self, step: &Step) {
            if step.ends_run {
                self.0.lock().unwrap().push(step.policy);
            }
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

    /// Stops the runs when a number of them has ended.
    #[derive(Debug)]
    struct StopsAfter(u64, AtomicU64, AtomicBool);

    impl Observer for StopsAfter {
        fn step(&self, step: &Step) {
            let ends = u64::from(step.ends_run);
            if self.1.fetch_add(ends, Ordering::Relaxed) + ends >= self.0 {
                self.2.store(true, Ordering::Relaxed);
            }
        }
    }

    #[test]
    fn a_runner_that_is_stopped_keeps_the_finished_runs_and_can_go_on() {
        let (experiment, dir) = (experiment(), tempfile::tempdir().unwrap());
        let stops = StopsAfter(3, AtomicU64::new(0), AtomicBool::new(false));
        let runner = Runner::new(&experiment).threads(1).observer(&stops).stop_when(&stops.2);
        let error = runner.run_into(dir.path()).unwrap_err();
        assert!(error.is_stopped(), "{error}");
        assert!(!dir.path().join("result.json").exists());
        let rest = Runner::new(&experiment).run_into(dir.path()).unwrap();
        assert_eq!(rest.n_new_runs, 1);
        assert_eq!(rest.result.to_json(), Runner::new(&experiment).run().unwrap().result.to_json());
        // Without a directory nothing is kept, and the error is the same.
        assert!(Runner::new(&experiment).stop_when(&stops.2).run().unwrap_err().is_stopped());
    }

    #[test]
    fn a_long_run_stops_before_its_end() {
        let users = CascadeModel::from_values(&[0.5, 0.4, 0.2], 2).unwrap();
        let long = Experiment::builder("long", Instances::of([users])).horizon(1 << 50).runs(1);
        let (long, dir) = (long.policy("cascade-ts").build().unwrap(), tempfile::tempdir().unwrap());
        let stops = StopsAfter(0, AtomicU64::new(0), AtomicBool::new(false));
        let error = Runner::new(&long).observer(&stops).stop_when(&stops.2).run_into(dir.path()).unwrap_err();
        assert!(error.is_stopped(), "{error}");
        let mut kept = fs::read_dir(dir.path().join("journal")).unwrap();
        assert!(kept.any(|entry| entry.unwrap().path().extension().is_some_and(|end| end == "state")));
    }

    /// The runs of a contender of the caller are not taken from an earlier process.
    #[test]
    fn a_contender_of_the_caller_joins_a_finished_result_and_is_played_anew() {
        let (experiment, dir) = (experiment(), tempfile::tempdir().unwrap());
        let alone = Runner::new(&experiment).run_into(dir.path()).unwrap();
        assert_eq!(alone.n_new_runs, 4);
        let runner = || Runner::new(&experiment).with_contender::<CascadeModel, Schedule>(fixed("mine"));
        let both = runner().run_into(dir.path()).unwrap();
        assert_eq!((both.n_new_runs, &both.result.policies[0]), (4, &alone.result.policies[0]));
        assert_eq!(runner().run_into(dir.path()).unwrap().n_new_runs, 4);
        let read = crate::ResultFile::read(&dir.path().join("result.json")).unwrap();
        assert_eq!(read.to_json(), both.result.to_json());
        // Its runs are in memory, and written from there.
        let error = crate::FinishedResult::open(dir.path()).unwrap().runs().unwrap_err().to_string();
        assert!(error.ends_with("writes them with `experiment::tables::runs`"), "{error}");
        let mut table = Vec::new();
        tables::runs(&both, &mut table).unwrap();
        assert_eq!(
            String::from_utf8(table).unwrap().matches(",mine,").count(),
            4 * experiment.checkpoints().len()
        );
        // A program without it would lose it, also if it plays everything again.
        for fresh in [false, true] {
            let claim = Claim { fresh, ..Claim::default() };
            let error = ResultDir::claim(&Runner::new(&experiment), dir.path(), claim).unwrap_err();
            let fault =
                "has a result of \"mine\", a policy of the program that wrote it, which this program cannot";
            assert!(error.to_string().contains(fault), "{error}");
        }
    }

    #[test]
    fn contenders_of_the_caller_play_in_parts() {
        let (experiment, dir) = (experiment(), tempfile::tempdir().unwrap());
        let runner = || Runner::new(&experiment).with_contender::<CascadeModel, Schedule>(fixed("mine"));
        let whole = runner().run().unwrap();
        let play = |number: u64| {
            let (part, shard) = (dir.path().join(number.to_string()), Shard::new(number, 2).unwrap());
            runner().run_part(&part, shard, &Claim::default()).unwrap();
            part
        };
        // The second part is played anew.
        let parts = Parts::read(&[play(2), play(1), play(2)][..2]).unwrap();
        let (runner, out) = (runner(), dir.path().join("out"));
        let claim = Claim { parts: Some(&parts), ..Claim::default() };
        let merged = runner.run_in(&ResultDir::claim(&runner, &out, claim).unwrap()).unwrap();
        assert_eq!((merged.n_new_runs, merged.result.to_json()), (0, whole.result.to_json()));
        let error = Runner::new(&experiment).run_into(&dir.path().join("1")).unwrap_err();
        assert!(error.to_string().contains("holds shard 1/2"), "{error}");
    }
}
