//! The logs of a group: promises beside the truth, and how often intervals hold it.

use crate::Error;
use crate::log::{GeneratedLog, Size, Span, list};
use crate::promised::{Interval, Promised, answer};
use crate::users::{Change, Kind};
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use sim::Streams;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Kind, size and noise of logs.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a> {
    pub kind: &'a Kind,
    pub size: Size,
    pub noise: f64,
}

/// The truth about a promise, in clicks per 1,000 lists.
#[derive(Debug, Serialize)]
struct Truth {
    today: f64,
    loss: f64,
    /// Of all recommended lists together.
    gain: f64,
    /// Gain of each recommended list.
    recommended: Vec<f64>,
}

/// A log, its answer and the truth.
#[derive(Serialize)]
pub(crate) struct JudgedLog {
    kind: &'static str,
    size: &'static str,
    noise: f64,
    seed: u64,
    promised: Option<Promised>,
    /// On average over the log.
    truth: Option<Truth>,
    /// In its last half, if users or rankers change.
    truth_of_last_half: Option<Truth>,
}

/// All logs of a group.
pub(crate) struct JudgedGroup<'a> {
    group: Group<'a>,
    pub logs: Vec<JudgedLog>,
    cpu_seconds: f64,
}

impl<'a> Group<'a> {
    /// Generates the log of each seed, and answers it.
    pub(crate) fn judge(self, seeds: RangeInclusive<u64>, threads: usize) -> Result<JudgedGroup<'a>, Error> {
        let seeds: Vec<u64> = seeds.collect();
        let before = cpu_seconds();
        let next = AtomicUsize::new(0);
        let logs = Mutex::new(BTreeMap::new());
        std::thread::scope(|scope| {
            for _ in 0..threads.max(1) {
                scope.spawn(|| {
                    while let Some(&seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let judged = self.judge_one(seed);
                        if let Ok(mut logs) = logs.lock() {
                            logs.insert(seed, judged);
                        }
                    }
                });
            }
        });
        let logs = logs.into_inner().unwrap_or_default().into_values().collect::<Result<Vec<_>, _>>()?;
        Ok(JudgedGroup { group: self, logs, cpu_seconds: cpu_seconds() - before })
    }

    fn judge_one(self, seed: u64) -> Result<JudgedLog, Error> {
        let Self { kind, size, noise } = self;
        // A seed gives all noises and sizes the same users of a kind.
        let rng = &mut Streams::new(seed).instance(0);
        let log = GeneratedLog::new(kind, size, noise, rng)?;
        let promised = answer(&log.text, seed, size.n_queries)?;
        let truth = |span| promised.as_ref().map(|promised| Truth::new(&log, promised, span)).transpose();
        Ok(JudgedLog {
            kind: kind.name,
            size: size.name,
            noise,
            seed,
            truth: truth(Span::WholeLog)?,
            truth_of_last_half: if kind.change == Change::Nothing { None } else { truth(Span::LastHalf)? },
            promised,
        })
    }
}

impl Truth {
    fn new(log: &GeneratedLog, promised: &Promised, span: Span) -> Result<Self, Error> {
        let mut truth = Self { today: 0.0, loss: 0.0, gain: 0.0, recommended: Vec::new() };
        for (name, share) in &promised.queries {
            let query = log.query(name).ok_or_else(|| format!("no query `{name}`"))?;
            let today = query.today(span);
            truth.today += 1000.0 * share * today.clicks;
            truth.loss += 1000.0 * share * (today.best - today.clicks).max(0.0);
            for recommended in promised.recommended.iter().filter(|recommended| recommended.query == *name) {
                let gain = 1000.0 * (query.expects(&list(&recommended.items)?, span) - today.clicks);
                truth.gain += share * gain;
                truth.recommended.push(gain);
            }
        }
        Ok(truth)
    }
}

pub(crate) const HEADER: &str = "\
    intervals hold the truth in n of N logs or lists, expected in `bar` %; promised / true / width of \
    the interval, in clicks per 1,000 lists\n\
    kind         size    noise span  bar answers today  loss   lists    total  policy | \
    loss                gain                policy's    gain>loss worse   verdicts | CPU s/log";

/// How often something is the case.
#[derive(Default)]
struct Share {
    is: usize,
    of: usize,
}

impl Share {
    fn add(&mut self, is: bool) {
        self.is += usize::from(is);
        self.of += 1;
    }

    fn text(&self) -> String {
        if self.of == 0 { "-".to_owned() } else { format!("{}/{}", self.is, self.of) }
    }
}

/// Means of what is promised and true.
#[derive(Default)]
struct Means {
    holds: Share,
    promised: f64,
    truth: f64,
    width: f64,
}

impl Means {
    fn add(&mut self, promised: Interval, truth: f64) {
        self.holds.add(promised.holds(truth));
        self.promised += promised.mean;
        self.truth += truth;
        self.width += promised.upper - promised.lower;
    }

    fn text(&self) -> String {
        let n = self.holds.of.max(1) as f64;
        format!("{:.0}/{:.0}/{:.0}", self.promised / n, self.truth / n, self.width / n)
    }
}

impl JudgedGroup<'_> {
    /// Prints a line for the whole log, and one for its last half if that differs.
    pub(crate) fn print(&self) {
        self.print_span("log", |log| log.truth.as_ref());
        if self.group.kind.change != Change::Nothing {
            self.print_span("half", |log| log.truth_of_last_half.as_ref());
        }
    }

    fn print_span(&self, span: &str, truth: impl Fn(&JudgedLog) -> Option<&Truth>) {
        let (mut today, mut loss, mut gain, mut lists) = <(Means, Means, Means, Means)>::default();
        let (mut above_loss, mut worse) = (Share::default(), Share::default());
        let mut verdicts = BTreeMap::<&str, usize>::new();
        let (mut policy_gain, mut answers) = (0.0, 0);
        for log in &self.logs {
            let (Some(promised), Some(truth)) = (&log.promised, truth(log)) else { continue };
            answers += 1;
            today.add(promised.today, truth.today);
            loss.add(promised.loss, truth.loss);
            gain.add(promised.gain, truth.gain);
            for (recommended, &truth) in promised.recommended.iter().zip(&truth.recommended) {
                lists.add(recommended.gain, truth);
                // Lists of items that are all alike differ by rounding.
                worse.add(truth < -1e-6);
            }
            policy_gain += promised.policy_gain.mean;
            above_loss.add(promised.gain.mean.max(promised.policy_gain.mean) > promised.loss.mean);
            if let Some(verdict) = &promised.verdict {
                *verdicts.entry(verdict).or_default() += 1;
            }
        }
        let Group { kind, size, noise } = self.group;
        let bar = if kind.has_model { 90 } else { 80 };
        let verdicts: Vec<String> = verdicts.iter().map(|(name, times)| format!("{name} {times}")).collect();
        println!(
            "{:<12} {:<7} {noise:<5} {span:<5} {bar} {answers:>4} {:>9} {:>7} {:>7} {:>7} | {:<19} {:<19} {:<9.0} {:>9} {:>9} {} | {:.1}",
            kind.name,
            size.name,
            today.holds.text(),
            loss.holds.text(),
            lists.holds.text(),
            gain.holds.text(),
            loss.text(),
            gain.text(),
            policy_gain / f64::from(answers.max(1)),
            above_loss.text(),
            worse.text(),
            verdicts.join(", "),
            self.cpu_seconds / self.logs.len().max(1) as f64,
        );
    }
}

/// Processor time of the process.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
