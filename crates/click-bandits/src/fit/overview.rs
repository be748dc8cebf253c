//! The overview that `fit` prints at the end.

use super::arguments::Arguments;
use super::{MAX_CLICKS, Outcome, PAGE, PARAMETERS_PARQUET, RECOMMENDED, SPEC, answer, transfer};
use crate::terminal::table;
use ::answer::{FittedUsers, PARAMETERS, Without};
use click_logs::fit::{Comparison, Difference, Fit, Model, identifiability};
use click_logs::parameters::{FEW, for_each_parameter};
use click_logs::study::{FilteredLog, Study};
use documents::number::{counted, fixed, grouped, significant};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;

pub(super) struct Overview<'a> {
    pub(super) arguments: &'a Arguments,
    pub(super) outcome: &'a Outcome<'a>,
}

/// The answer first; only it if the fit is to be quiet.
impl fmt::Display for Overview<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Study { log, fits, choice, .. } = &self.outcome.study;
        let FilteredLog { report, n_queries, counts, .. } = log;
        let out = &self.arguments.out;
        if self.arguments.quiet {
            return self.answer(f);
        }
        let mut doubts = self.outcome.checks.sentences(MAX_CLICKS);
        if self.outcome.checks.only_clicked {
            writeln!(f, "{}\n", doubts.remove(0))?;
        }
        writeln!(f, "{}: {report}\n", self.arguments.named())?;
        let without = self.outcome.answer.iter().flat_map(|answer| &answer.without);
        for sentence in doubts.into_iter().chain(without.map(Without::sentence)) {
            writeln!(f, "{sentence}\n")?;
        }
        self.answer(f)?;
        if self.outcome.answer.is_ok() {
            writeln!(f, "Page: {}", out.join(PAGE).display())?;
        }
        let prior = |fit: &Fit| format!("{} {}", fit.model(), fit.attractions.site.prior_strength);
        let priors: Vec<String> = fits.iter().map(prior).collect();
        writeln!(
            f,
            "\nFitted: {} of {}, {}, {}, {}; priors, in pseudo-impressions an item: {}\n",
            grouped(counts.n_queries() as u64),
            counted(*n_queries as u64, "query"),
            counted(counts.n_cells() as u64, "cell"),
            counted(counts.impressions(), "impression"),
            counted(counts.clicks(), "click"),
            priors.join(", "),
        )?;
        self.comparison(f)?;
        self.transfer(f)?;
        self.warnings(f)?;
        writeln!(f, "Results: {}", out.display())?;
        if let Some(n) = self.outcome.in_table {
            writeln!(
                f,
                "Parameters: {} in {PARAMETERS_PARQUET}; {PARAMETERS} has what belongs to all queries together (--parameters json \
                 writes all to it).",
                grouped(n)
            )?;
        }
        if let Some(choice) = choice.as_ref().filter(|choice| choice.model != choice.best) {
            writeln!(
                f,
                "Users are those of {}: {} predicted better, but is not told apart from it, and {} is simpler.",
                choice.model, choice.best, choice.model
            )?;
        }
        for sentence in not_simulated(&self.outcome.study) {
            writeln!(f, "{sentence}")?;
        }
        match FittedUsers::new(&self.outcome.study) {
            Some(users) => {
                let spec = for_a_shell(&out.join(SPEC).display().to_string());
                writeln!(f, "Users ({}): click-bandits simulate {spec} --out RESULTS", users.fit().model())
            }
            None => writeln!(f, "No spec.toml: no fitted model can be simulated."),
        }
    }
}

/// A sentence for every model whose users are not simulated.
pub(super) fn not_simulated(study: &Study) -> impl Iterator<Item = String> {
    study.fits.iter().zip(&study.without_users).filter(|(_, n)| **n > 0).map(|(fit, n)| {
        format!(
            "The users of {} are not simulated: the best lists of {} of {} take too long to find.",
            fit.model(),
            grouped(*n as u64),
            counted(fit.queries().len() as u64, "query"),
        )
    })
}

/// The scores of the models, the best first, with the difference from the best and its error.
pub(super) fn rows_of(comparison: &Comparison) -> impl Iterator<Item = [String; 5]> {
    comparison.scores.iter().enumerate().map(|(place, score)| {
        let Difference { mean, standard_error, .. } = comparison.difference(0, place);
        let error = standard_error.map_or("?".to_owned(), |error| match error {
            // Not as if it were known exactly.
            error if error > 0.0 && error < 5e-6 => significant(error, 2),
            error => fixed(error, 5),
        });
        [
            score.model.name().to_owned(),
            fixed(score.log_likelihood, 5),
            if place > 0 { format!("{} ({error})", fixed(mean, 5)) } else { String::new() },
            fixed(score.perplexity, 4),
            fixed(score.conditional_perplexity, 4),
        ]
    })
}

/// A word for a shell, in quotation marks if necessary.
fn for_a_shell(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+=:,@%".contains(letter);
    // Otherwise a name that begins with a hyphen would be read as an option.
    let word = if word.starts_with('-') { format!("./{word}") } else { word.to_owned() };
    if word.chars().all(plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

fn names(models: &[Model]) -> String {
    models.iter().map(|model| model.name()).collect::<Vec<_>>().join(", ")
}

/// Why there is no comparison of models.
pub(super) fn not_compared(arguments: &Arguments) -> &'static str {
    match arguments.settings.held_out.0 {
        Some(_) => "Nothing was held out to compare models on: the log is too short.",
        None => "Models are not compared: nothing was to be held out (`--held-out 0`).",
    }
}

impl Overview<'_> {
    fn answer(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let out = &self.arguments.out;
        let answer = match &self.outcome.answer {
            Ok(answer) => answer,
            Err(_) if self.arguments.quiet && self.arguments.answer == 0 => return Ok(()),
            Err(why) => return writeln!(f, "No answer on today's ranking: {why}."),
        };
        writeln!(f, "{}", answer::text(answer))?;
        if answer.recommended().next().is_some() {
            let (lists, what) =
                (out.join(RECOMMENDED), "for evaluate --ranking on a later log: this one flatters them");
            writeln!(f, "Recommended lists: {} ({what})", lists.display())?;
        }
        let Study { log, fits, .. } = &self.outcome.study;
        let is_of = |fit: &&Fit| answer.models.first().is_some_and(|of| of.model == fit.model().name());
        let users = fits.iter().find(is_of).and_then(FittedUsers::of_fit).filter(|_| answer.promises());
        match users.and_then(|users| users.of_service(&answer.policy, log.counts.n_positions(), fits)) {
            Some(settings) => {
                let from = for_a_shell(&out.display().to_string());
                let serve = format!("click-bandits serve serve.toml --from {from}");
                writeln!(f, "To serve {}: {serve}, with this line in serve.toml:\n{settings}", answer.policy)
            }
            None => Ok(()),
        }
    }

    fn comparison(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let comparison = self.outcome.study.comparison.as_ref();
        let comparison = comparison.and_then(|comparison| Some((comparison, comparison.scores.first()?)));
        let (Some((comparison, best)), Some(held_out)) = (comparison, self.arguments.settings.held_out.0)
        else {
            return writeln!(f, "{}\n", not_compared(self.arguments));
        };
        writeln!(
            f,
            "On {} held out ({}), best first; behind the best: in nats an impression, with the standard error of the \
             difference on the same {} {}:\n",
            counted(best.impressions, "impression"),
            held_out,
            grouped(comparison.n_clusters),
            if comparison.by_session { "sessions" } else { "cells" },
        )?;
        let heads = ["model", "log-likelihood", "behind the best", "perplexity", "conditional perplexity"];
        let mut rows = vec![heads.map(str::to_owned)];
        rows.extend(rows_of(comparison));
        f.write_str(&table(&rows, 1..5))?;
        let (errors, ratio) = (Difference::TOLD_APART_AT, Comparison::LEAST_RATIO);
        match comparison.choice(&|_| true) {
            Some(choice) if choice.alike.len() > 1 => writeln!(
                f,
                "\nNot told apart (the best is ahead by {errors} standard errors at most, or makes what was held \
                 out less than {ratio} times as probable): {}. The simplest of them: {}.\n",
                names(&choice.alike),
                choice.model
            ),
            _ => writeln!(
                f,
                "\n{} is ahead of every other model by more than {errors} standard errors, and makes what was \
                 held out at least {ratio} times as probable.\n",
                best.model
            ),
        }
    }

    fn transfer(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(transfers) = &self.outcome.study.transfer else { return Ok(()) };
        let mut rows = vec![transfer::HEADS.map(str::to_owned)];
        rows.extend(transfer::rows_of(transfers));
        writeln!(f, "{}\n\n{}", transfer::heading(transfers), table(&rows, 1..4))?;
        match transfers.alike(&|_| true).as_slice() {
            [best, others @ ..] if !others.is_empty() => {
                writeln!(f, "Least squared error: {}; not told apart: {}.\n", best, names(others))
            }
            _ => Ok(()),
        }
    }

    fn warnings(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Study { log, fits, .. }, source) = (&self.outcome.study, &self.outcome.source);
        let mut warn = |text: String| writeln!(f, "Note: {text}");
        if !source.left_out.is_empty() {
            let all = names(&source.left_out);
            let remedy = if self.arguments.settings.positions.is_some() {
                "They need whole sessions, which --positions cuts short."
            } else {
                "They need whole sessions, in their order."
            };
            warn(format!("not fitted: {all}. {remedy}"))?;
        }
        let of_sessions: u64 = log.sessions.counts().impressions();
        if of_sessions > log.counts.impressions() {
            warn(format!(
                "the filter dropped items or positions of these queries from the counts, so from the pbm's parameters; the other models and \
                 the comparison have all {} impressions: a session is predicted whole.",
                grouped(of_sessions)
            ))?;
        }
        let mut unknown = BTreeMap::<_, [u64; 2]>::new();
        let Ok(()) = for_each_parameter(&log.counts, fits, |row| {
            let [without, all] = unknown.entry((row.model, row.kind)).or_default();
            *without += u64::from(row.estimate.interval.is_none() && !row.estimate.value.is_nan());
            *all += 1;
            Ok::<(), Infallible>(())
        });
        for ((model, kind), [without, all]) in unknown {
            if without > 0 && kind != "attraction" {
                let few = match kind {
                    "examination" => " (fewer than 2 clicks at the position or at the first one)",
                    _ => "",
                };
                warn(format!(
                    "{model}: no interval for {} of {} parameters of {kind}, of which the log says nothing or too little{few}.",
                    grouped(without),
                    grouped(all)
                ))?;
            }
        }
        let reports = identifiability(&log.counts, self.arguments.settings.scope, FEW);
        let sum =
            |count: fn(&click_logs::fit::Identifiability) -> usize| reports.iter().map(count).sum::<usize>();
        let apart = sum(|report| usize::from(report.components.len() > 1));
        if apart > 0 {
            warn(match reports.as_slice() {
                [_] => "items and positions fall into parts that no item connects: between them only the prior compares.".into(),
                all => format!(
                    "in {apart} of {} queries items and positions fall into parts that no item connects: between them only the \
                     prior compares (--scope site shares examination).",
                    all.len()
                ),
            })?;
        }
        for (count, noun, what) in [
            (
                sum(|report| report.never_clicked.len()),
                "item",
                "never clicked: the attraction rests on the prior".to_owned(),
            ),
            (
                sum(|report| report.always_clicked.len()),
                "item",
                "clicked whenever shown: the attraction rests on the prior".to_owned(),
            ),
            (
                sum(|report| report.few_impressions.len()),
                "item",
                format!("with fewer than {FEW} impressions: see the intervals"),
            ),
            (
                sum(|report| report.few_clicks.len()),
                "position",
                format!("with fewer than {FEW} clicks: see the intervals of examination"),
            ),
            (
                sum(|report| report.few_comparisons.len()),
                "position",
                format!(
                    "compared with the first one by fewer than {FEW} clicks on items shown at both: the \
                     examination there is right only if lists are in random order"
                ),
            ),
        ] {
            if count > 0 {
                warn(format!("{} {what}.", counted(count as u64, noun)))?;
            }
        }
        Ok(())
    }
}
