//! The report of a launch: as JSON, as a sentence, and as a part of the page.

use crate::engine::LaunchState;
use crate::http::charts::{HEIGHT, WIDTH, bar, figure};
use humantime::format_rfc3339_seconds;
use interleaving::launch::{Change, Launch, Settings, Since, WEEK_Z, Week, Why, days_of_step};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::{Duration, UNIX_EPOCH};

/// The report of a launch at a time, in milliseconds since 1970.
pub fn report(state: &LaunchState, time: u64) -> Value {
    let LaunchState { launch, decisions, without_user, first, agreement, .. } = state;
    let since = launch.clicks_since();
    let [gained, reach] = launch.gained();
    let [today, policy] = launch.total;
    let settings = &launch.settings;
    let guards = settings.guards.iter().enumerate().map(|(place, guard)| {
        let (found, surely) = launch.guard(place);
        json!({
            "metric": guard.metric, "worse": guard.worse, "most": guard.most,
            "values": found.sessions, "means": found.rates.map(finite), "is_watched": surely.is_some(),
        })
    });
    let [same, both, items] = agreement.map(|sum| sum as f64);
    let clicks_since = json!({
        "sessions": since.clicks.sessions, "clicks_a_list": since.clicks.rates.map(finite),
        "difference": finite(since.clicks.difference), "reach": finite(since.reach),
        "share_of_lists": finite(since.clicks.sessions[1] / since.clicks.sessions.iter().sum::<f64>()),
        "is_early": since.is_early, "groups_left_out": since.clicks.n_left_out,
    });
    json!({
        "name": settings.name,
        "share": launch.share,
        "since": launch.since,
        "sentence": sentence(state, time),
        "is_shadow": launch.in_shadow,
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
        "agreement": { "positions": finite(same / items), "items": finite(both / items) },
        "decisions": decisions,
        "without_user": without_user,
        "first": first,
        "path": launch.path.iter().map(step).collect::<Vec<_>>(),
        "weeks": launch.weeks.iter().map(week).collect::<Vec<_>>(),
    })
}

fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

fn step(change: &Change) -> Value {
    json!({ "time": change.time, "share": change.share, "why": change.why })
}

fn week(of: &Week) -> Value {
    json!({
        "end": of.end, "share": of.share, "clicks_a_list": of.clicks.rates.map(finite),
        "difference": finite(of.clicks.difference), "error": finite(of.clicks.standard_error),
        "is_better": of.verdict(),
    })
}

/// The day of a time.
fn day(time: u64) -> String {
    let time = UNIX_EPOCH + Duration::from_millis(time.min(253_402_300_799_999));
    format_rfc3339_seconds(time).to_string()[..10].to_owned()
}

fn percent(share: f64) -> String {
    let text = format!("{:.1}", 100.0 * share);
    text.strip_suffix(".0").unwrap_or(&text).to_owned() + " %"
}

/// A relative difference with its interval.
fn difference(of: f64, reach: f64, today: f64) -> String {
    let [middle, low, high] = [of, of - reach, of + reach].map(|clicks| 100.0 * clicks / today);
    if ![middle, low, high].iter().all(|percent| percent.is_finite()) {
        return "too seldom to tell".to_owned();
    }
    let said = |of: f64| format!("{:.1} % {}", of.abs(), if of < 0.0 { "less" } else { "more" });
    format!("{} ({} to {})", said(middle), said(low), said(high))
}

fn difference_of_week(Week { clicks, .. }: &Week) -> String {
    difference(clicks.difference, WEEK_Z * clicks.standard_error, clicks.rates[0])
}

/// The state in words: the last week, the time since the change, and what the next step needs.
pub fn sentence(state: &LaunchState, time: u64) -> String {
    let launch = &state.launch;
    let since = launch.clicks_since();
    let Since { clicks, reach, is_early } = since;
    let began = day(launch.since);
    if launch.in_shadow || launch.settings.steps.is_empty() {
        let [same, _, items] = state.agreement.map(|sum| sum as f64);
        let agreement = if items > 0.0 {
            format!("at {} of the positions the policy would show the same item", percent(same / items))
        } else {
            "no list was asked for yet".to_owned()
        };
        return format!("A shadow since {began}: everybody sees today's lists, and {agreement}.");
    }
    if launch.is_stopped() {
        let why = launch.stop().map_or(String::new(), |stop| reason(launch, stop));
        let on = launch.stop().map_or(began, |stop| day(stop.time));
        return format!(
            "Stopped on {on}: {why}. Everybody sees today's lists until POST /v1/launch has {{\"resume\": true}}."
        );
    }
    let share = percent(launch.share);
    if launch.share >= 1.0 {
        return format!("Since {began} everybody sees the policy's lists: there is nothing to compare with.");
    }
    let mut text = String::new();
    if let Some(week) = launch.last_week() {
        let (end, what) = (day(week.end), difference_of_week(week));
        _ = write!(text, "In the week to {end}, users on the policy's side ({share}) clicked {what}. ");
    }
    _ = write!(text, "Since {share} began on {began}: ");
    if is_early {
        text.push_str("too early to tell, fewer than 100 clicks are expected of the smaller side. ");
    } else {
        _ = write!(text, "{}. ", difference(clicks.difference, reach, clicks.rates[0]));
    }
    if launch.has_changed() {
        text.push_str("The week and the time since then contradict each other: something has changed. ");
    }
    let guards = launch.settings.guards.iter().enumerate();
    for (_, guard) in guards.filter(|(place, _)| launch.guard(*place).1.is_none()) {
        _ = write!(text, "The metric `{}` has too few values, and stops nothing. ", guard.metric);
    }
    match launch.next_share() {
        None => text.push_str("There is no further step."),
        Some(_) if launch.is_held(time) => match launch.held_until() {
            Some(until) => _ = write!(text, "After a worse week it does not rise before {}.", day(until)),
            None => text.push_str("It is held until POST /v1/launch has {\"hold\": false}."),
        },
        Some(next) => {
            let loss = percent((launch.settings.risk / next).min(1.0));
            _ = write!(text, "The next step, {}, comes once surely less than {loss} is lost", percent(next));
            let most = since.loss()[1];
            if !is_early && most > 0.0 {
                _ = write!(text, "; it may be {} now", percent(most));
            }
            let passed = time.saturating_sub(launch.since) as f64 / 8.64e7;
            match launch.days_to_next(time).map(|days| (days - passed).ceil()) {
                Some(1.0) => text.push_str(": in a day if both are alike."),
                Some(days) if days > 0.0 => _ = write!(text, ": in {days:.0} days if both are alike."),
                None if clicks.standard_error.is_finite() => {
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
        Why::Began => "the launch began or has other settings".into(),
        Why::Rose => format!("the next step loses at most {risk}"),
        Why::Braked => format!("more than {risk} of all clicks were lost"),
        Why::Broken => "the policy's side clicked surely a quarter less".into(),
        Why::Guard(metric) => format!("the metric `{metric}` was worse than its guard allows"),
        Why::WorseWeek => "a full week was worse".into(),
        Why::Week => "a week ended".into(),
        Why::ByHand => "by request".into(),
    }
}

/// The variance of a list's clicks by the square of their mean, for a plan: users who differ about
/// as much as those of the simulated sites in docs/launch.md.
const VARIANCE: f64 = 2.0;
/// Days within which a plan names the smallest risk that reaches a step.
const SOON: f64 = 60.0;

/// The days that each step takes if both sides are alike, at this number of lists a day.
pub fn plan(settings: &Settings, lists_a_day: f64) -> Vec<String> {
    let line = |pair: &[f64]| {
        let [share, next] = [pair[0], pair[1]];
        let error = (VARIANCE / lists_a_day * (1.0 / share + 1.0 / (1.0 - share))).sqrt();
        let days = |risk: f64| days_of_step(error, next, risk);
        let soon = (1..1_000).map(|risk| f64::from(risk) / 1_000.0);
        let soon = soon.into_iter().find(|risk| days(*risk).is_some_and(|days| days <= SOON));
        let days = days(settings.risk).map_or("more than 1,000".to_owned(), |days| days.to_string());
        let soon = soon.map_or("in 60 at no risk".into(), |risk| format!("in 60 at risk = {risk}"));
        let step = format!("{} to {}", percent(share), percent(next));
        format!("launch: {step} in {days} days if both sides are alike; {soon}")
    };
    settings.steps.windows(2).map(line).collect()
}

/// The part of the page, in HTML: the sentence, the share's path and the weeks.
pub fn section(state: &LaunchState, time: u64, escaped: impl Fn(&str) -> String) -> String {
    let launch = &state.launch;
    let name = escaped(&launch.settings.name);
    let mut html = format!("<h2>Launch {name}</h2><p>{}</p>", escaped(&sentence(state, time)));
    let (path, weeks) = (&launch.path, &launch.weeks);
    html.push_str("<div class=figures>");
    figure_of_path(&mut html, path, time);
    if !weeks.is_empty() {
        figure_of_weeks(&mut html, weeks);
    }
    html.push_str("</div><table><tr><th>day<th>share<th>why");
    for change in path.iter().rev().take(10) {
        let why = escaped(&reason(launch, change));
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
