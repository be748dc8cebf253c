//! The report of a launch: as JSON, as a sentence, and as a part of the page.

use crate::archive::DAY;
use crate::engine::LaunchState;
use crate::export::timestamp;
use crate::http::charts::{HEIGHT, WIDTH, bar, figure};
use documents::number::{counted, fixed, significant};
use interleaving::launch::{
    Change, Guard, Launch, SURELY_BROKEN, Settings, Since, WEEK_Z, Week, Why, days_of_brake, days_of_step,
};
use interleaving::split::Difference;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The report of a launch at a time, in milliseconds since 1970.
pub fn report(state: &LaunchState, time: u64) -> Value {
    let LaunchState { launch, decisions, without_user, first, agreement, .. } = state;
    let since = launch.clicks_since();
    let [gained, reach] = launch.gained();
    let [today, policy] = launch.total;
    let guards = guards(launch).map(|(guard, found, is_watched)| {
        json!({
            "metric": guard.metric, "worse": guard.worse, "most": guard.most,
            "values": found.sessions, "means": found.rates, "is_watched": is_watched,
        })
    });
    let [same, both, items] = agreement.map(|sum| sum as f64);
    let clicks_since = json!({
        "sessions": since.clicks.sessions, "clicks_a_list": since.clicks.rates,
        "difference": since.clicks.difference, "reach": since.reach,
        "share_of_lists": since.clicks.sessions[1] / since.clicks.sessions.iter().sum::<f64>(),
        "is_early": since.is_early, "groups_left_out": since.clicks.n_left_out,
    });
    let path = history(launch).map(|(change, is_other)| {
        let why = if is_other { json!("settings") } else { json!(change.why) };
        json!({ "time": change.time, "share": change.share, "why": why })
    });
    json!({
        "name": launch.settings.name,
        "share": launch.share,
        "since": (launch.since > 0).then_some(launch.since),
        "sentence": sentence(state, time),
        "is_shadow": launch.settings.steps.is_empty(),
        "is_stopped": launch.is_stopped(),
        "is_held": launch.is_held(time),
        "has_changed": launch.has_changed(),
        "next": launch.next_share().map(|share| json!({ "share": share, "days": launch.days_to_next(time) })),
        "since_change": clicks_since,
        "week": launch.last_week().map(week),
        "total": {
            "lists": [today[0], policy[0]], "clicks": [today[1], policy[1]],
            "gained": gained, "reach": reach,
        },
        "guards": guards.collect::<Vec<_>>(),
        "agreement": { "positions": same / items, "items": both / items },
        "decisions": decisions,
        "without_user": without_user,
        "first": first,
        "path": path.collect::<Vec<_>>(),
        "weeks": launch.weeks.iter().map(week).collect::<Vec<_>>(),
    })
}

/// Each guard, its metric, and whether there are enough values.
fn guards(launch: &Launch) -> impl Iterator<Item = (&Guard, Difference, bool)> {
    launch.settings.guards.iter().enumerate().map(|(place, guard)| {
        let (found, surely) = launch.guard(place);
        (guard, found, surely.is_some())
    })
}

/// The changes of a launch that has begun, and whether they are those of its settings.
fn history(launch: &Launch) -> impl DoubleEndedIterator<Item = (&Change, bool)> {
    let all = launch.path.iter().enumerate().filter(|(_, change)| change.time > 0);
    all.map(|(place, change)| (change, place > 0 && change.why == Why::Began))
}

fn week(of: &Week) -> Value {
    json!({
        "end": of.end, "share": of.share, "clicks_a_list": of.clicks.rates,
        "difference": of.clicks.difference, "error": of.clicks.standard_error,
        "is_better": of.verdict(),
    })
}

fn day(time: u64) -> String {
    timestamp(time)[..10].to_owned()
}

fn percent(share: f64) -> String {
    let text = format!("{:.*}", if share.abs() < 0.01 { 3 } else { 1 }, 100.0 * share);
    text.trim_end_matches('0').trim_end_matches('.').to_owned() + " %"
}

/// The full days between two times, in words.
fn days(from: u64, to: u64) -> String {
    let days = to.saturating_sub(from) / DAY;
    if days == 0 { "less than a day".into() } else { counted(days, "day") }
}

/// A relative difference with its interval.
fn difference(of: f64, reach: f64, today: f64) -> String {
    let [middle, low, high] = [of, of - reach, of + reach].map(|clicks| 100.0 * clicks / today);
    if ![middle, low, high].iter().all(|percent| percent.is_finite()) {
        return "too seldom to tell".to_owned();
    }
    // Nobody loses more than all.
    let said = |of: f64| format!("{:.1} % {}", of.max(-100.0).abs(), if of < 0.0 { "less" } else { "more" });
    format!("{} ({} to {})", said(middle), said(low), said(high))
}

fn difference_of_week(Week { clicks, .. }: &Week) -> String {
    difference(clicks.difference, WEEK_Z * clicks.standard_error, clicks.rates[0])
}

/// The lists of a side, and how often they were clicked.
fn lists(number: f64, rate: f64, of: &str) -> String {
    if number == 0.0 {
        return format!("no list of {of} yet");
    }
    format!("{} lists of {of} with {} clicks each", fixed(number, 0), significant(rate, 3))
}

/// The difference since the share's last change, and what it rests on.
fn difference_since(Since { clicks, reach, is_early }: &Since) -> String {
    let found = if *is_early {
        "too early to tell, fewer than 100 clicks are expected of the smaller side".to_owned()
    } else {
        let found = difference(clicks.difference, *reach, clicks.rates[0]);
        format!("the policy's side clicked {found}")
    };
    let [today, policy] = [0, 1].map(|side| (clicks.sessions[side], clicks.rates[side]));
    if today.0 + policy.0 == 0.0 {
        return "no list yet".into();
    }
    format!("{found}; {}, {}", lists(policy.0, policy.1, "the policy"), lists(today.0, today.1, "today"))
}

/// The state in words: the last week, the time since the change, what comes next, and what is not
/// compared.
pub fn sentence(state: &LaunchState, time: u64) -> String {
    let LaunchState { launch, decisions, without_user, first, .. } = state;
    let mut text = match launch.share {
        share if launch.since == 0 => {
            let at = if share > 0.0 { format!("at {}", percent(share)) } else { "as a shadow".into() };
            format!("No list was asked for yet. The launch begins with the first one, {at}.")
        }
        _ if launch.settings.steps.is_empty() => of_shadow(state, time),
        _ if launch.is_stopped() => of_stop(launch),
        share if share >= 1.0 => format!(
            "Since {} everybody sees the policy's lists. There is nothing to compare with, and nothing stops \
             it: POST /v1/launch with a share below 1 compares again.",
            day(launch.since)
        ),
        _ => of_comparison(launch, time),
    };
    for (number, why) in [(first, "their query is new"), (without_user, "they have no user")] {
        if *number > 0 {
            let share = percent(*number as f64 / *decisions as f64);
            _ = write!(text, " Not compared: {share} of all lists, since {why}.");
        }
    }
    text
}

fn of_shadow(LaunchState { launch, agreement, .. }: &LaunchState, time: u64) -> String {
    let since = launch.stop().map_or(launch.since, |change| change.time);
    let [today, policy] = launch.total;
    let seen = |[number, clicks]: [f64; 2], of| lists(number, clicks / number, of);
    let mut text = format!(
        "A shadow since {}, {}: everybody sees today's lists. Counted: {}",
        day(since),
        days(since, time),
        seen(today, "today")
    );
    if policy[0] > 0.0 {
        _ = write!(text, ", and before the shadow {}", seen(policy, "the policy"));
    }
    let [same, both, items] = agreement.map(|sum| sum as f64);
    if items > 0.0 {
        let [same, both] = [same, both].map(|sum| percent(sum / items));
        _ = write!(
            text,
            ". Agreement by position is {same} (the policy would show the same item there), by item {both} \
             (it would show the item at some position)"
        );
    }
    text + ". Next: `steps` in [launch], with --apply, best after 14 days."
}

fn of_stop(launch: &Launch) -> String {
    let at = percent(launch.compared_share());
    let Some(stop) = launch.stop() else { return String::new() };
    let mut text = format!("Stopped on {} at {at}: {}", day(stop.time), reason(launch, stop));
    let since = launch.clicks_since();
    if since.clicks.sessions[1] > 0.0 {
        _ = write!(text, ". Until then: {}", difference_since(&since));
    }
    for (guard, found, _) in guards(launch) {
        if found.rates.iter().all(|mean| mean.is_finite()) {
            let [today, policy] = found.rates.map(|mean| significant(mean, 3));
            let most = percent(guard.most);
            _ = write!(
                text,
                ". The mean of `{}` was {policy} on the policy's side and {today} on today's: it may be at most \
                 {most} worse",
                guard.metric
            );
        }
    }
    let first = launch.next_share().map_or(String::new(), percent);
    text + ". Everybody sees today's lists until POST /v1/launch has {\"resume\": true}, which begins again at "
        + &first
        + "."
}

fn of_comparison(launch: &Launch, time: u64) -> String {
    let (since, share) = (launch.clicks_since(), percent(launch.share));
    let (began, mut text) = (launch.since, String::new());
    if let Some(week) = launch.last_week() {
        let (end, what) = (day(week.end), difference_of_week(week));
        _ = write!(text, "In the week to {end}, users on the policy's side ({share}) clicked {what}. ");
    }
    let found = difference_since(&since);
    let (date, age) = (day(began), days(began, time));
    _ = write!(text, "Since {date}, {age}, {share} of users see the policy's lists: {found}. ");
    if launch.has_changed() {
        text.push_str("The week and the time since then contradict each other: something has changed. ");
    }
    for (guard, ..) in guards(launch).filter(|(.., is_watched)| !is_watched) {
        _ = write!(text, "The metric `{}` has too few values, and stops nothing. ", guard.metric);
    }
    match launch.next_share() {
        None => {
            let brake = percent((launch.settings.risk / launch.share).min(SURELY_BROKEN));
            let back = launch
                .step_below()
                .map(|back| format!(", and after a worse week it goes on at {}", percent(back)));
            _ = write!(
                text,
                "{share} is the last step, so nothing is left to decide. It is watched: a loss of surely more \
                 than {brake} stops it{}. POST /v1/launch with {{\"share\": 1}} shows the policy to everybody.",
                back.unwrap_or_default()
            );
        }
        Some(_) if launch.is_held(time) => match launch.held_until() {
            Some(until) => {
                _ = write!(text, "After a worse week the share does not rise before {}.", day(until));
            }
            None => text.push_str("The share is held until POST /v1/launch has {\"hold\": false}."),
        },
        Some(next) => {
            let loss = percent((launch.settings.risk / next).min(1.0));
            let next = percent(next);
            _ = write!(
                text,
                "The next step, {next}, comes once the policy's side surely loses less than {loss} of its clicks"
            );
            let most = since.loss()[1];
            if !since.is_early && most > 0.0 {
                _ = write!(text, "; it may lose {} now", percent(most.min(1.0)));
            }
            let passed = time.saturating_sub(began) as f64 / 8.64e7;
            match launch.days_to_next(time).map(|days| (days - passed).ceil()) {
                Some(1.0) => text.push_str(": in a day if both are alike."),
                Some(days) if days > 0.0 => _ = write!(text, ": in {days:.0} days if both are alike."),
                None if since.clicks.standard_error.is_finite() => {
                    text.push_str(": more than a thousand days at this traffic, so begin higher.");
                }
                _ => text.push('.'),
            }
        }
    }
    text
}

/// Why the share changed, in words.
fn reason(launch: &Launch, Change { why, .. }: &Change) -> String {
    let risk = percent(launch.settings.risk);
    match why {
        Why::Began => "the launch began".into(),
        Why::Rose => format!("the next step loses at most {risk}"),
        Why::Braked => format!("more than {risk} of all clicks were lost"),
        Why::Broken => "the policy's side clicked surely a quarter less".into(),
        Why::Guard(metric) => format!("the metric `{metric}` was worse than its guard allows"),
        Why::WorseWeek => "a full week was worse".into(),
        Why::Week => "a week ended".into(),
        Why::ByHand => "by request".into(),
    }
}

/// The variance of users' click rates by the square of their mean, for a plan: about that of the
/// simulated sites in docs/launch.md.
const USERS_DIFFER: f64 = 0.75;
/// Days within which a plan names the smallest risk that reaches a step.
const SOON: f64 = 60.0;

/// The days that each step takes if both sides are alike, at these numbers of lists a day and of
/// clicks a list, and at the last one those until a policy that halves the clicks is stopped.
pub fn plan(settings: &Settings, lists_a_day: f64, clicks_a_list: f64) -> Vec<String> {
    let variance = 1.0 / clicks_a_list + USERS_DIFFER;
    let days = |share: f64, risk: f64| {
        let error = (variance / lists_a_day * (1.0 / share + 1.0 / (1.0 - share))).sqrt();
        match settings.steps.iter().find(|step| **step > share) {
            Some(next) => days_of_step(error, *next, risk),
            None => days_of_brake(error, share, risk),
        }
    };
    let is_soon = |days: Option<f64>| days.is_some_and(|days| days <= SOON);
    let line = |(place, &share): (usize, &f64)| {
        let found = days(share, settings.risk);
        let number = found.map_or("more than 1,000".to_owned(), |days| days.to_string());
        let at = percent(share);
        let mut line = match settings.steps.get(place + 1) {
            Some(next) => {
                let soon =
                    (1..1_000).map(|risk| f64::from(risk) / 1_000.0).find(|risk| is_soon(days(share, *risk)));
                let soon = soon.map_or("at no risk".into(), |risk| format!("at risk = {risk}"));
                format!(
                    "{at} to {} in {number} days if both sides are alike; in {SOON} {soon}",
                    percent(*next)
                )
            }
            None => {
                format!("{at}, the last step: a policy that halves the clicks is stopped in {number} days")
            }
        };
        if place == 0 && !is_soon(found) {
            let larger = (1..=50).map(|share| f64::from(share) / 100.0).filter(|larger| *larger > share);
            let first = larger.into_iter().find(|share| is_soon(days(*share, settings.risk)));
            line += &first.map_or("; no share is enough for this site".into(), |share| {
                format!("; the site is too small for that: begin at {}", percent(share))
            });
        }
        format!("launch: {line}")
    };
    if settings.steps.is_empty() {
        return vec!["launch: a shadow, without steps".to_owned()];
    }
    settings.steps.iter().enumerate().map(line).collect()
}

/// The part of the page, in HTML: the sentence, the share's path and the weeks.
pub fn section(state: &LaunchState, time: u64, escaped: impl Fn(&str) -> String) -> String {
    let launch = &state.launch;
    let name = escaped(&launch.settings.name);
    let mut html = format!("<h2>Launch: {name}</h2><p>{}</p>", escaped(&sentence(state, time)));
    let (path, weeks) = (&launch.path, &launch.weeks);
    if launch.since == 0 {
        return html;
    }
    html.push_str("<div class=figures>");
    figure_of_path(&mut html, path, time);
    if !weeks.is_empty() {
        figure_of_weeks(&mut html, weeks);
    }
    html.push_str("</div><table><tr><th>day<th>share<th>why");
    for (change, is_other) in history(launch).rev().take(10) {
        let why = if is_other { "other settings".into() } else { escaped(&reason(launch, change)) };
        _ = write!(html, "<tr><td class=i>{}<td>{}<td>{why}", day(change.time), percent(change.share));
    }
    html.push_str("</table>");
    if !weeks.is_empty() {
        html.push_str("<table><tr><th>week to<th>share<th>clicks on the policy's side");
        for week in weeks.iter().rev().take(10) {
            let what = difference_of_week(week);
            _ = write!(html, "<tr><td class=i>{}<td>{}<td>{what}", day(week.end), percent(week.share));
        }
        html.push_str("</table>");
    }
    html
}

fn figure_of_path(html: &mut String, path: &[Change], time: u64) {
    let start = path.first().map_or(time, |first| first.time);
    let x = |at: u64| WIDTH * at.saturating_sub(start) as f64 / time.saturating_sub(start).max(1) as f64;
    let mut line = "<polyline fill=none stroke=currentColor points=\"".to_owned();
    let ends = path.iter().skip(1).map(|next| next.time).chain([time]);
    for (Change { time: from, share, .. }, to) in path.iter().zip(ends) {
        let y = HEIGHT - 1.0 - (HEIGHT - 2.0) * share;
        _ = write!(line, "{:.1},{y:.1} {:.1},{y:.1} ", x(*from), x(to));
    }
    line.push_str("\"/>");
    let now = path.last().map_or(String::new(), |last| format!("now {}", percent(last.share)));
    figure(html, ["Share of users", &now], &line, [&day(start), &day(time)]);
}

/// A bar for the interval of each week, and a wider one in its middle; the line is no difference.
fn figure_of_weeks(html: &mut String, weeks: &[Week]) {
    let relative = |Week { clicks, .. }: &Week| {
        let [middle, reach] = [clicks.difference, WEEK_Z * clicks.standard_error]
            .map(|clicks_a_list| clicks_a_list / clicks.rates[0]);
        (middle.is_finite() && reach.is_finite()).then_some([middle, reach])
    };
    let most = weeks.iter().filter_map(relative).map(|[middle, reach]| middle.abs() + reach);
    let most = most.fold(0.01, f64::max);
    let (middle_of_all, width) = (HEIGHT / 2.0, (WIDTH / weeks.len() as f64).min(24.0));
    let mut bars = format!("<path d=\"M0 {middle_of_all}H{WIDTH}\"/>");
    for (place, week) in weeks.iter().enumerate() {
        let Some([middle, reach]) = relative(week) else { continue };
        let title = format!("week to {}: {}", day(week.end), difference_of_week(week));
        let (x, y) = (place as f64 * width, |share: f64| middle_of_all * (1.0 - share / most));
        let top = y(middle + reach);
        bar(&mut bars, [x + width / 2.0 - 2.0, top, 4.0, y(middle - reach) - top], &title);
        bar(&mut bars, [x + 1.0, y(middle) - 3.0, width - 2.0, 6.0], &title);
    }
    let note = format!("up to {} more or less", percent(most));
    let [first, last] =
        [weeks.first(), weeks.last()].map(|week| week.map_or(String::new(), |of| day(of.end)));
    figure(html, ["Clicks on the policy's side by week", &note], &bars, [&first, &last]);
}
