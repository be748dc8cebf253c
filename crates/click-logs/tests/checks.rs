//! Faults of a log are found, and honest logs have none.

use click_logs::fit::{Model, Options, fit};
use click_logs::study::{Checks, Settings, Study, is_only_clicked, study, with_users};
use click_models::{
    CascadeModel, ClickChain, ClickModel, Clicks, DbnReward, DcmReward, DependentClick, DynamicBayesian,
    Feedback, Interaction, ItemId, ListFeedback, PositionBased, Ranking, UserBrowsing,
};
use confidence::math::ln;
use log_reader::{Format, Reader};
use rand::seq::SliceRandom as _;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::fmt::Write as _;
use std::num::NonZeroUsize;

const N_ITEMS: usize = 8;
const N_POSITIONS: usize = 5;
const EXAMINATION: [f64; N_POSITIONS] = [1.0, 0.7, 0.5, 0.35, 0.25];
const LEAVE: [f64; N_POSITIONS] = [0.6, 0.5, 0.45, 0.4, 0.4];
/// Examination below a click, by the distance to it.
const AFTER_CLICK: [f64; N_POSITIONS - 1] = [0.8, 0.6, 0.45, 0.35];
/// A log has 4,000 sessions.
const N_QUERIES: usize = 4;
const N_LISTS: usize = 1000;
/// Every model with users.
const KINDS: [&str; 7] = ["pbm", "cascade", "dcm", "sdbn", "dbn", "ccm", "ubm"];
const LIMIT: &str = "--max-clicks";

type Draw<'a> = dyn Fn(&Ranking, &mut Xoshiro256PlusPlus) -> Clicks + 'a;

fn draw<M>(users: Result<M, click_models::Error>) -> Box<Draw<'static>>
where
    M: ClickModel + 'static,
    M::Interaction: Interaction<Action = Ranking>,
    Feedback<M>: ListFeedback,
{
    let users = users.unwrap();
    Box::new(move |list, rng| users.respond(list, rng).list_clicks())
}

/// Users of a model with these attractions, and this satisfaction after a click.
fn users(kind: &str, attraction: &[f64], satisfaction: &[f64]) -> Box<Draw<'static>> {
    let dbn = |continuation| {
        DynamicBayesian::from_values(attraction, satisfaction, continuation, N_POSITIONS, DbnReward::Clicks)
    };
    match kind {
        "pbm" => draw(PositionBased::from_values(attraction, &EXAMINATION)),
        "cascade" => draw(CascadeModel::from_values(attraction, N_POSITIONS)),
        "dcm" => draw(DependentClick::from_values(attraction, &LEAVE, DcmReward::Clicks)),
        "sdbn" => draw(dbn(1.0)),
        "dbn" => draw(dbn(0.9)),
        "ccm" => draw(ClickChain::from_values(attraction, [0.9, 0.8, 0.4], N_POSITIONS)),
        "ubm" => {
            let after = |position: usize| {
                let after_click = (0..position).map(|above| AFTER_CLICK[position - above - 1]);
                std::iter::once(EXAMINATION[position]).chain(after_click).collect::<Vec<_>>()
            };
            let rows: Vec<Vec<f64>> = (0..N_POSITIONS).map(after).collect();
            draw(UserBrowsing::from_values(attraction, &rows.iter().map(Vec::as_slice).collect::<Vec<_>>()))
        }
        _ => panic!("{kind}"),
    }
}

/// A session in the order of the log: query, items from the top, clicks.
type Shown = (usize, Vec<usize>, Vec<bool>);

/// Queries take turns; lists are ordered by attraction with noise. `more` times the attraction in
/// the second half.
fn sessions(kind: &str, noise: f64, more: f64, rng: &mut Xoshiro256PlusPlus) -> Vec<Shown> {
    let normal = |rng: &mut Xoshiro256PlusPlus| -> f64 { StandardNormal.sample(rng) };
    let query = |_| {
        let attraction: Vec<f64> =
            (0..N_ITEMS).map(|_| (0.18 * libm::exp(0.7 * normal(rng))).min(0.9)).collect();
        let satisfaction: Vec<f64> = (0..N_ITEMS).map(|_| rng.random_range(0.2..0.8)).collect();
        let later: Vec<f64> = attraction.iter().map(|attraction| (attraction * more).min(0.9)).collect();
        let users = [&attraction, &later].map(|attraction| users(kind, attraction, &satisfaction));
        (attraction, users)
    };
    let queries: Vec<_> = (0..N_QUERIES).map(query).collect();
    let mut shown = Vec::new();
    for number in 0..N_LISTS {
        for (query, (attraction, users)) in queries.iter().enumerate() {
            let scored = attraction.iter().map(|attraction| ln(*attraction) + noise * normal(rng));
            let mut scored: Vec<(f64, usize)> = scored.zip(0..).collect();
            scored.sort_by(|a, b| b.0.total_cmp(&a.0));
            let items: Vec<usize> = scored[..N_POSITIONS].iter().map(|scored| scored.1).collect();
            let list: Ranking = items.iter().copied().map(ItemId::from_index).collect();
            let clicks = users[2 * number / N_LISTS](&list, rng);
            shown.push((query, items, (0..N_POSITIONS).map(|at| clicks.get(at)).collect()));
        }
    }
    shown
}

fn rng(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn studied(sessions: &[Shown], reader: &Reader) -> Study {
    let keeps = !reader.read("log", text(sessions).as_bytes()).unwrap().sessions.is_empty();
    let models = with_users().filter(|model| keeps || !model.needs_sessions()).collect();
    studied_with(sessions, reader, models)
}

fn text(sessions: &[Shown]) -> String {
    let mut log = "query\turls\tclicked_mask\n".to_owned();
    for (query, items, clicks) in sessions {
        let items: Vec<String> = items.iter().map(|item| (1000 * query + item).to_string()).collect();
        let mask: String = clicks.iter().map(|&click| if click { '1' } else { '0' }).collect();
        writeln!(log, "{query}\t{}\t{mask}", items.join(",")).unwrap();
    }
    log
}

fn studied_with(sessions: &[Shown], reader: &Reader, models: Vec<Model>) -> Study {
    let log = text(sessions);
    let settings = Settings { models, transfer: false, ..Settings::default() };
    let read = || reader.read("log", log.as_bytes());
    study(&settings, read, |_| Ok(())).unwrap()
}

/// Checks with a single model: none other takes part in the search for repeats.
fn checked_for_repeats(sessions: &[Shown]) -> Checks {
    let reader = Reader::new(Format::Sessions).keep_sessions().threads(NonZeroUsize::MIN);
    Checks::new(&studied_with(sessions, &reader, vec![Model::Pbm]), &Options::default()).unwrap()
}

fn checked(sessions: &[Shown]) -> Checks {
    let reader = Reader::new(Format::Sessions).keep_sessions().threads(NonZeroUsize::MIN);
    Checks::new(&studied(sessions, &reader), &Options::default()).unwrap()
}

/// One log of each model and of each of two rankers.
#[test]
fn honest_logs_have_no_faults() {
    for (seed, kind) in (1..).zip(KINDS) {
        for noise in [0.1, 1.0] {
            let mut checks = checked(&sessions(kind, noise, 1.0, &mut rng(seed)));
            assert!(checks.in_order && checks.second_half.is_some() && checks.repeats.is_some());
            // The search for the prior may not end for models of other users, and for user browsing
            // not even on its own.
            let unfinished = &checks.not_converged;
            let is_known = |model: &Model| model.name() != kind || *model == Model::Ubm;
            assert!(unfinished.iter().all(is_known), "{kind} {noise} {unfinished:?}");
            checks.not_converged.clear();
            assert_eq!(checks.sentences(LIMIT), [""; 0], "{kind} {noise}");
        }
    }
}

#[test]
fn robots_are_found() {
    for (seed, kind) in (1..).zip(KINDS) {
        let mut rng = rng(seed);
        let honest = sessions(kind, 0.5, 1.0, &mut rng);
        let mut log = honest.clone();
        let mut n_robots = 0;
        for session in log.iter_mut().filter(|_| rng.random::<f64>() < 0.02) {
            session.2.fill(true);
            n_robots += 1;
        }
        let checks = checked(&log);
        let found = checks.many_clicks.as_ref().unwrap();
        assert!((1..N_POSITIONS).contains(&found.limit) && found.expected < 16.0, "{kind} {found:?}");
        assert!((n_robots..n_robots + 20).contains(&found.sessions), "{kind}: {n_robots}, {found:?}");
        let clicks = |log: &[Shown]| {
            let clicks = log.iter().flat_map(|session| &session.2).filter(|click| **click).count();
            1000.0 * clicks as f64 / log.len() as f64
        };
        assert!((found.clicks - clicks(&log)).abs() < 1e-9, "{found:?}");
        assert!((found.clicks_without / clicks(&honest) - 1.0).abs() < 0.03, "{kind}: {found:?}");
        let named = format!("({LIMIT} {})", found.limit);
        let sentences = checks.sentences(LIMIT);
        assert!(sentences.iter().any(|sentence| sentence.contains(&named)), "{sentences:?}");
    }
}

/// Items attract 1.3 times as many users in the second half; a mixed log shows nothing of it.
#[test]
fn a_change_is_found() {
    for (seed, kind) in (1..).zip(["pbm", "dbn", "ubm"]) {
        let mut rng = rng(seed);
        let mut log = sessions(kind, 0.5, 1.3, &mut rng);
        let half = checked(&log).second_half.unwrap();
        assert!(half.is_changed() && (0.1..0.4).contains(&half.change()), "{kind}: {half:?}");
        assert_eq!(half.sessions, 2000);
        log.shuffle(&mut rng);
        let mixed = checked(&log).second_half.unwrap();
        assert!(!mixed.is_changed(), "{kind}: {mixed:?}");
        log.sort_by_key(|session| session.0);
        assert!(checked(&log).second_half.is_none());
    }
}

/// The log with this share of its sessions written again, up to `latest` sessions later.
fn retried(log: &[Shown], share: f64, latest: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<Shown> {
    let (mut written, mut waiting): (Vec<Shown>, Vec<(usize, Shown)>) = (Vec::new(), Vec::new());
    for session in log {
        written.push(session.clone());
        if rng.random::<f64>() < share {
            waiting.push((written.len() + rng.random_range(0..latest), session.clone()));
        }
        waiting.retain(|(due, session)| {
            let waits = *due > written.len();
            written.extend((!waits).then(|| session.clone()));
            waits
        });
    }
    written
}

#[test]
fn rows_written_twice_are_found() {
    let mut rng = rng(3);
    for (noise, by_query) in [(0.1, true), (2.0, true), (0.5, false), (2.0, false)] {
        let mut log = sessions("pbm", noise, 1.0, &mut rng);
        if by_query {
            log.sort_by_key(|session| session.0);
        }
        for latest in [1, 30] {
            let written = retried(&log, 0.1, latest, &mut rng);
            let checks = checked_for_repeats(&written);
            let repeats = checks.repeats.as_ref().unwrap();
            // With lists that hardly differ, late repeats hide among equal sessions.
            assert!(repeats.is_excessive() || noise < 1.0 && latest > 1, "{noise} {latest}: {repeats:?}");
            let share = (written.len() - log.len()) as f64 / written.len() as f64;
            let error = (repeats.share - share) / repeats.standard_error;
            assert!(error.abs() < 5.0, "{noise} {latest}: {repeats:?} {share}");
            let is_said = checks.sentences(LIMIT).iter().any(|sentence| sentence.contains("written twice"));
            assert_eq!((is_said, repeats.again), (repeats.is_excessive(), None), "{noise} {latest}");
        }
    }
}

/// A whole log twice, and its last tenth once more at its end or far from it.
#[test]
fn parts_that_stand_twice_are_found() {
    for (seed, kind) in (1..).zip(KINDS) {
        let log = sessions(kind, 0.5, 1.0, &mut rng(seed));
        let tail = &log[log.len() - log.len() / 10..];
        for (more, later) in [(&log[..], log.len()), (tail, tail.len()), (&log[..tail.len()], log.len())] {
            let checks = checked_for_repeats(&[&log, more].concat());
            let again = checks.repeats.as_ref().unwrap().again.unwrap();
            assert_eq!(again.later as usize, later, "{kind}");
            assert!(again.sessions <= more.len() as u64, "{kind}");
            assert!(checks.sentences(LIMIT).iter().any(|sentence| sentence.contains("is in it twice")));
        }
    }
}

/// A ranker that changes its list now and then has equal sessions in runs, and no repeats.
#[test]
fn lists_that_change_with_time_are_no_repeats() {
    for seed in 1..6 {
        let mut rng = rng(seed);
        let mut log = sessions("pbm", 2.0, 1.0, &mut rng);
        for run in log.chunks_mut(50) {
            run.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        }
        let checks = checked_for_repeats(&log);
        assert!(!checks.sentences(LIMIT).concat().contains("twice"), "{seed}: {:?}", checks.repeats);
    }
}

#[test]
fn counts_are_not_checked() {
    let reader = Reader::new(Format::Sessions).threads(NonZeroUsize::MIN);
    let log = sessions("pbm", 0.5, 1.0, &mut rng(1));
    let checks = Checks::new(&studied(&log, &reader), &Options::default()).unwrap();
    let nothing = Checks {
        only_clicked: false,
        misnamed: None,
        not_converged: Vec::new(),
        in_order: false,
        many_clicks: None,
        second_half: None,
        repeats: None,
        lists_alone: None,
    };
    assert_eq!(checks, nothing);
    assert!(matches!(checks.sentences(LIMIT).as_slice(), [only] if only.contains("counts do not have")));
}

/// Equal sessions do not make a change sure: a half without clicks is one only if the other has
/// many.
#[test]
fn a_half_without_clicks_is_a_change_only_beside_many() {
    for (n, n_clicks, is_changed) in
        [(1, 1, false), (2, 2, false), (5, 1, false), (100, 4, false), (100, 50, true)]
    {
        let half =
            |n_clicks: usize| (0..n).map(move |at| (7, vec![1, 2, 3], vec![at < n_clicks, false, false]));
        for [first, second] in [[n_clicks, 0], [0, n_clicks]] {
            let checks = checked(&half(first).chain(half(second)).collect::<Vec<_>>());
            let found = checks.second_half.as_ref().unwrap();
            assert_eq!(found.is_changed(), is_changed, "{n}, {first}, {second}: {found:?}");
            assert!(!checks.sentences(LIMIT).concat().contains("(standard error 0.0)"));
        }
    }
    let none = checked(&(0..20).map(|_| (7, vec![1, 2], vec![false, false])).collect::<Vec<_>>());
    assert!(!none.second_half.unwrap().is_changed());
}

/// A log as rows, and as counts of cells with this many impressions: of position-based users.
fn rows_and_counts(impressions: u64, seed: u64) -> [Vec<String>; 2] {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut rows, mut counts) = (Vec::new(), Vec::new());
    for item in 0..30 {
        let attraction = 0.02 + 0.4 * rng.random::<f64>() * rng.random::<f64>();
        for (position, examination) in EXAMINATION.iter().enumerate() {
            let click = |_: u64| u64::from(rng.random::<f64>() < attraction * examination);
            let clicks: Vec<u64> = (0..impressions).map(click).collect();
            let of_cell = format!("i{item},{}", position + 1);
            rows.extend(clicks.iter().map(|click| format!("{of_cell},{click},1")));
            counts.push(format!("{of_cell},{},{impressions}", clicks.iter().sum::<u64>()));
        }
    }
    [rows, counts]
}

/// Impressions without a click are missing from tables of rows and of counts, and from no honest
/// log, however small. 400 honest logs: 1 % of false alarms would show as none once in 50.
#[test]
fn a_log_of_clicks_alone_is_told_and_no_honest_one() {
    let is_told = |lines: &[String]| {
        let table = format!("item,position,clicks,impressions\n{}\n", lines.join("\n"));
        let columns = "item=item,position=position,click=clicks,impressions=impressions";
        let reader = Reader::new(Format::delimited(columns).unwrap());
        is_only_clicked(&reader.read("log.csv", table.as_bytes()).unwrap().counts)
    };
    let clicked = |lines: &[String]| -> Vec<String> {
        let is_clicked = |line: &&String| line.split(',').nth(2) != Some("0");
        lines.iter().filter(is_clicked).cloned().collect()
    };
    let mut told = 0;
    for seed in 0..100 {
        for impressions in [1, 5, 20, 300] {
            let [rows, counts] = rows_and_counts(impressions, seed);
            assert!(!is_told(&rows) && !is_told(&counts), "{impressions} impressions, seed {seed}");
            let clicked_rows = clicked(&rows);
            assert_eq!(is_told(&clicked_rows), clicked_rows.len() >= 10, "{impressions}, seed {seed}");
        }
        let [_, counts] = rows_and_counts(20, seed);
        told += usize::from(is_told(&clicked(&counts)));
    }
    assert!(told >= 90, "{told} of 100");
}

/// Users who leave after most clicks: the search of `ubm` either ends, or says that it does not.
#[test]
fn a_fit_that_does_not_converge_says_so() {
    let browsing = |queries: usize, leave: f64| {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut log = "query\turls\tclicked_mask\n".to_owned();
        let attraction: Vec<f64> = (0..10 * queries).map(|_| 0.6 * rng.random::<f64>().powi(2)).collect();
        for session in 0..300 {
            let (query, mut items, mut left) = (session % queries, (0..10).collect::<Vec<_>>(), false);
            items.shuffle(&mut rng);
            let click = |item: &usize| {
                let click = !left && rng.random::<f64>() < attraction[10 * query + item];
                left |= click && rng.random::<f64>() < leave;
                if click { '1' } else { '0' }
            };
            let mask: String = items.iter().map(click).collect();
            let items = items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            writeln!(log, "q{query}\t{items}\t{mask}").unwrap();
        }
        let reader = Reader::new(Format::Sessions).keep_sessions();
        let read = reader.read("log.tsv", log.as_bytes()).unwrap();
        fit(Model::Ubm, &read.counts, &read.sessions, &Options::default()).unwrap()
    };
    // Random order and ranked lists by turns.
    assert!(browsing(1, 1.0).has_converged());
    assert!(!browsing(20, 1.0).has_converged());
}
