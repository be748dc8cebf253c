//! The logs of a group: promises beside the truth, and how often intervals hold it.

use crate::Error;
use crate::log::{GeneratedLog, Size, Span, list};
use crate::policy::{Part, PolicyTruth};
use crate::promised::{Answered, HORIZON, Interval, Promised, answer};
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
    /// Whether policies are played.
    pub policies: bool,
    /// Whether the answer has the true model alone, with a slope of 1.
    pub true_model: bool,
}

/// The truth about a promise, in clicks per 1,000 lists.
#[derive(Debug, Serialize)]
struct Truth {
    today: f64,
    loss: f64,
    /// The gain of all recommended lists together.
    gain: f64,
    /// Gain of each recommended list.
    recommended: Vec<f64>,
    /// The gain of the answer's policy, if it was played.
    policy: Option<PolicyTruth>,
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

    /// The log of a seed.
    pub(crate) fn generate(self, seed: u64) -> Result<GeneratedLog, Error> {
        GeneratedLog::new(self.kind, self.size, self.noise, &mut Streams::new(seed).instance(0))
    }

    fn judge_one(self, seed: u64) -> Result<JudgedLog, Error> {
        let Self { kind, size, noise, policies, true_model } = self;
        let log = self.generate(seed)?;
        let true_model = true_model.then(|| kind.model()).transpose()?;
        let answered = answer(&log.text, seed, size.n_queries, true_model)?;
        let truth = |span| {
            let truth = |answered| Truth::new(&log, answered, span, policies.then_some(seed));
            answered.as_ref().map(truth).transpose()
        };
        Ok(JudgedLog {
            kind: kind.name,
            size: size.name,
            noise,
            seed,
            truth: truth(Span::WholeLog)?,
            truth_of_last_half: if kind.change == Change::Nothing { None } else { truth(Span::LastHalf)? },
            promised: answered.map(|answered| answered.promised),
        })
    }
}

impl Truth {
    /// `seed`: of the runs of the policy, if it is to be played.
    fn new(log: &GeneratedLog, answered: &Answered, span: Span, seed: Option<u64>) -> Result<Self, Error> {
        let Answered { promised, examination } = answered;
        let mut truth = Self { today: 0.0, loss: 0.0, gain: 0.0, recommended: Vec::new(), policy: None };
        let query = |name: &str| log.query(name).ok_or_else(|| format!("no query `{name}`"));
        for (name, share) in &promised.queries {
            let query = query(name)?;
            let today = query.today(span);
            truth.today += 1000.0 * share * today;
            truth.loss += 1000.0 * share * (query.best(span) - today).max(0.0);
            for recommended in promised.recommended.iter().filter(|recommended| recommended.query == *name) {
                let gain = 1000.0 * (query.expects(&list(&recommended.items)?, span) - today);
                truth.gain += share * gain;
                truth.recommended.push(gain);
            }
        }
        let mut parts = Vec::new();
        for ((name, share), examination) in promised.played.iter().zip(examination) {
            parts.push(Part { query: query(name)?, share: *share, examination });
        }
        let play = |seed| PolicyTruth::new(&promised.policy, &parts, span, HORIZON, seed);
        truth.policy = seed.filter(|_| promised.policy_gain.is_some()).map(play).transpose()?;
        Ok(truth)
    }
}

pub(crate) const HEADER: &str = "\
    n/N: intervals hold the truth in n of N logs or lists, expected in `bar` % (passed: 85). p/t/w: \
    promised, true, width of the interval, in clicks per 1,000 lists; of passed, medians in lists. \
    gain>loss: answers that promise more than the loss. worse: recommended lists below today's.\n\
    kind         size    noise span bar   today    loss   lists   total  policy  passed | \
    loss p/t/w        total p/t/w       policy p/t/w      passed p/t   gain>loss worse    \
    verdicts | CPU s/log";

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
        if self.holds.of == 0 {
            return "-".to_owned();
        }
        let n = self.holds.of as f64;
        format!("{:.0}/{:.0}/{:.0}", self.promised / n, self.truth / n, self.width / n)
    }
}

/// When policies pass today's ranking.
#[derive(Default)]
struct Passing {
    holds: Share,
    promised: Vec<u64>,
    truth: Vec<u64>,
}

impl Passing {
    fn add(&mut self, promised: &Promised, truth: Option<u64>) {
        let truth = truth.unwrap_or(u64::MAX);
        if let Some([lower, upper]) = promised.passed_within {
            self.holds.add((lower..=upper).contains(&truth));
        }
        self.promised.push(promised.passed.unwrap_or(u64::MAX));
        self.truth.push(truth);
    }

    fn text(&self) -> String {
        if self.truth.is_empty() {
            return "-".to_owned();
        }
        let median = |lists: &[u64]| {
            let mut sorted = lists.to_vec();
            sorted.sort_unstable();
            let middle = sorted[sorted.len() / 2];
            if middle > HORIZON { "never".to_owned() } else { middle.to_string() }
        };
        format!("{}/{}", median(&self.promised), median(&self.truth))
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
        let (mut policy, mut passing) = (Means::default(), Passing::default());
        for log in &self.logs {
            let (Some(promised), Some(truth)) = (&log.promised, truth(log)) else { continue };
            today.add(promised.today, truth.today);
            loss.add(promised.loss, truth.loss);
            gain.add(promised.gain, truth.gain);
            for (recommended, &truth) in promised.recommended.iter().zip(&truth.recommended) {
                lists.add(recommended.gain, truth);
                // Lists of items that are all alike differ by rounding.
                worse.add(truth < -1e-6);
            }
            if let (Some(truth), Some(gain)) = (truth.policy, promised.policy_gain) {
                policy.add(gain, truth.gain);
                passing.add(promised, truth.passed);
            }
            above_loss.add(
                promised.gain.mean.max(promised.policy_gain.map_or(0.0, |gain| gain.mean))
                    > promised.loss.mean,
            );
            if let Some(verdict) = &promised.verdict {
                *verdicts.entry(verdict).or_default() += 1;
            }
        }
        let Group { kind, size, noise, .. } = self.group;
        let bar = if kind.has_model { 90 } else { 80 };
        let verdicts: Vec<String> = verdicts.iter().map(|(name, times)| format!("{name} {times}")).collect();
        let counts =
            [&today, &loss, &lists, &gain, &policy].map(|means| format!("{:>7}", means.holds.text()));
        println!(
            "{:<12} {:<7} {noise:<5} {span:<4} {bar}  {} {:>7} | {:<17} {:<17} {:<17} {:<12} {:<9} {:<8} {} | {:.1}",
            kind.name,
            size.name,
            counts.join(" "),
            passing.holds.text(),
            loss.text(),
            gain.text(),
            policy.text(),
            passing.text(),
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
