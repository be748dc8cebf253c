//! Sessions keep the order of the log: that of files and lines.

use super::without_one_in;
use click_logs::fit::{FitError, Model, Options, compare, fit};
use click_logs::settings::{FitSettings, HoldOut};
use click_logs::study::{HeldOut, Settings, StudyError, study};
use flate2::{Compression, write::GzEncoder};
use log_reader::{Filter, Format, Input, Log, Reader, Sessions};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::num::NonZeroUsize;

/// Query, items from the top, and whether each was clicked.
type Shown = (u64, Vec<u64>, Vec<bool>);

/// Sessions in an order that no sorting gives: 3 queries, 7 lists of 2 to 10 items, many clicks.
fn shown(n: u64) -> Vec<Shown> {
    let session = |number: u64| {
        let bits = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let (query, first, length) = (bits >> 60 & 3, bits >> 50 & 7, 2 + (bits >> 40) % 9);
        let items = (0..length).map(|place| query * 100 + (first + place * 3) % 31).collect();
        (query, items, (0..length).map(|place| bits >> (20 + place) & 1 == 1).collect())
    };
    (0..n).map(session).collect()
}

fn as_sessions(sessions: &[Shown]) -> String {
    let mut log = "query\turls\tclicked_mask\n".to_owned();
    for (query, items, clicks) in sessions {
        let items: Vec<String> = items.iter().map(u64::to_string).collect();
        let marks: String = clicks.iter().map(|&click| if click { '1' } else { '0' }).collect();
        writeln!(log, "{query}\t{}\t{marks}", items.join(",")).unwrap();
    }
    log
}

/// Two lists in each session of the log, the clicks on both at its end.
fn as_yandex(sessions: &[Shown]) -> String {
    let mut log = String::new();
    for (number, lists) in sessions.chunks(2).enumerate() {
        for (query, items, _) in lists {
            let items: Vec<String> = items.iter().map(u64::to_string).collect();
            writeln!(log, "{number}\t0\tQ\t{query}\t0\t{}", items.join("\t")).unwrap();
        }
        for (_, items, clicks) in lists {
            for (item, _) in items.iter().zip(clicks).filter(|(_, click)| **click) {
                writeln!(log, "{number}\t1\tC\t{item}").unwrap();
            }
        }
    }
    log
}

/// The lines of 5 sessions each are mixed: the first line of each in the order of the sessions,
/// then the others, those of the last session first. `first` is the number of the first session.
fn as_lines(sessions: &[Shown], first: usize) -> String {
    let mut log = "q,s,i,p,c\n".to_owned();
    for (group, of_group) in sessions.chunks(5).enumerate() {
        let mut line = |place: usize, position: usize| {
            let (query, items, clicks) = &of_group[place];
            let (number, click) = (first + group * 5 + place, u8::from(clicks[position]));
            writeln!(log, "{query},{number},{},{},{click}", items[position], position + 1).unwrap();
        };
        // Not always the line of the first position.
        let start = |place: usize| place % of_group[place].1.len();
        (0..of_group.len()).for_each(|place| line(place, start(place)));
        for place in (0..of_group.len()).rev() {
            let others = (0..of_group[place].1.len()).filter(|&position| position != start(place));
            others.for_each(|position| line(place, position));
        }
    }
    log
}

fn format_of_lines() -> Format {
    Format::delimited("query=q,item=i,position=p,click=c,session=s").unwrap()
}

/// The sessions with their places, in the order of places.
fn in_order(sessions: &Sessions) -> Vec<(u32, Shown)> {
    let names = sessions.names();
    let number = |id| names.name(id).trim_end_matches("/0").parse().unwrap();
    let mut all = Vec::new();
    for query in sessions.queries() {
        let lists: Vec<_> = query.lists().collect();
        let of_query: Vec<_> = query.in_order().collect();
        assert_eq!(of_query.len() as u64, query.n_sessions());
        assert!(of_query.is_sorted_by_key(|session| session.place));
        for session in of_query {
            let items: Vec<u64> = lists[session.list].items.iter().map(|&item| number(item)).collect();
            let clicks = (0..items.len()).map(|place| session.clicks.get(place)).collect();
            all.push((session.place, (number(query.id()), items, clicks)));
        }
    }
    all.sort_unstable();
    all
}

fn numbered(sessions: &[Shown]) -> Vec<(u32, Shown)> {
    (0..).zip(sessions.iter().cloned()).collect()
}

/// Files in each format: the second is compressed.
fn files(sessions: &[Shown]) -> [(Format, Vec<Vec<u8>>); 3] {
    let cuts = [0, 500, 507, 1200, sessions.len()];
    let parts = || cuts.windows(2).map(|cut| (cut[0], &sessions[cut[0]..cut[1]]));
    let packed = |texts: Vec<String>| {
        let pack = |(number, text): (usize, String)| {
            if number != 1 {
                return text.into_bytes();
            }
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(text.as_bytes()).unwrap();
            packed.finish().unwrap()
        };
        texts.into_iter().enumerate().map(pack).collect()
    };
    [
        (Format::Sessions, packed(parts().map(|(_, part)| as_sessions(part)).collect())),
        (Format::Yandex, packed(parts().map(|(_, part)| as_yandex(part)).collect())),
        (format_of_lines(), packed(parts().map(|(first, part)| as_lines(part, first)).collect())),
    ]
}

fn read(reader: &Reader, files: &[Vec<u8>]) -> Log {
    reader.read_inputs(files.iter().map(|file| Input::stream("log", file.as_slice())).collect()).unwrap()
}

/// Whatever the threads and the blocks.
#[test]
fn files_and_lines_are_in_order() {
    let short = shown(2000);
    let of_ten = |(query, _, clicks): Shown| {
        let first = clicks.len() as u64;
        let clicks = (0..10).map(|place| clicks[place % clicks.len()]).collect();
        (query, (0..10).map(|place| query * 100 + (first + place * 3) % 31).collect(), clicks)
    };
    let long: Vec<Shown> = short.iter().cloned().map(of_ten).collect();
    for (sessions, which) in [(&short, [0, 2].as_slice()), (&long, &[0, 1, 2])] {
        let expected = numbered(sessions);
        let files = files(sessions);
        for (format, files) in which.iter().map(|&number| &files[number]) {
            for (threads, block) in [(1, 1 << 18), (3, 300), (2, 1000), (5, 1)] {
                let [threads, block] = [threads, block].map(|n| NonZeroUsize::new(n).unwrap());
                let reader = Reader::new(format.clone()).keep_sessions().threads(threads).block_bytes(block);
                let log = read(&reader, files);
                assert!(in_order(&log.sessions) == expected, "{}, {threads} threads", format.name());
                // Parts have the places of the whole log.
                let (rest, held_out) = without_one_in(&log, 3, 7);
                let mut both = in_order(&held_out.sessions);
                assert!((500..1500).contains(&both.len()));
                both.extend(in_order(&rest.sessions));
                both.sort_unstable();
                assert!(both == expected, "{}", format.name());
            }
            // In another order of files the sessions have another order.
            let mut others = files.clone();
            others.swap(0, 3);
            let log = read(&Reader::new(format.clone()).keep_sessions(), &others);
            assert!(in_order(&log.sessions) != expected);
        }
    }
}

#[test]
fn a_filtered_log_and_halves_keep_their_places() {
    let shown = shown(1001);
    let reader = Reader::new(Format::Sessions).keep_sessions();
    let log = reader.read("log", as_sessions(&shown).as_bytes()).unwrap();
    assert!(log.sessions.counts() == log.counts);
    // The queries with the most impressions, in the order of the log.
    let filter = Filter { top_queries: Some(2), ..Filter::default() };
    let counts = log.counts.filtered(&filter);
    let kept = log.sessions.restricted(&|query| counts.query(query).is_some());
    let passing: BTreeSet<u64> =
        counts.queries().map(|query| counts.names().name(query.id()).parse().unwrap()).collect();
    let mut expected = numbered(&shown);
    expected.retain(|(_, session)| passing.contains(&session.0));
    assert!(passing.len() == 2 && in_order(&kept) == expected);
    assert!(kept.counts() == counts);

    for (sessions, expected) in [(&log.sessions, numbered(&shown)), (&kept, expected)] {
        let halves = sessions.halves().unwrap();
        let (first, second) = expected.split_at(expected.len().div_ceil(2));
        assert!(in_order(&halves[0].sessions) == first && in_order(&halves[1].sessions) == second);
        assert!(sessions.counts().without(&halves[0].counts) == halves[1].counts);
        let clicked = second.iter().flat_map(|(_, session)| &session.2).filter(|click| **click);
        assert_eq!(halves[1].counts.clicks(), clicked.count() as u64);
    }
    // Every list, with all of its sessions, in one part.
    let [a, b] = log.sessions.split(|_, session| session.list % 2 == 0).unwrap();
    let lists = |sessions: &Sessions| sessions.queries().map(|query| query.lists().len()).sum::<usize>();
    assert_eq!(lists(&a) + lists(&b), lists(&log.sessions));
    assert!(in_order(&a).len() > 300 && in_order(&b).len() > 300);
}

/// Nobody sorts sessions of which it is unknown which came first.
#[test]
fn counts_and_too_many_files_have_no_order() {
    let (header, line) = ("query\turls\tclicked_mask\n", "5\t8,9\t10\n");
    let reader = Reader::new(Format::Sessions).keep_sessions();
    let with_files = |n: usize| {
        let file = format!("{header}{line}");
        read(&reader, &vec![file.into_bytes(); n]).sessions
    };
    let (some, many) = (with_files(1 << 16), with_files((1 << 16) + 1));
    assert!(some.has_order() && some.halves().is_some());
    assert_eq!((many.n_sessions(), many.has_order(), many.halves().is_none()), (65_537, false, true));
    assert_eq!(many.queries().map(|query| query.in_order().len()).sum::<usize>(), 0);
    // Counts have no sessions.
    let counts = Reader::new(Format::Sessions).read("log", format!("{header}{line}").as_bytes()).unwrap();
    assert!(counts.sessions.is_empty());
}

#[test]
fn models_are_compared_on_the_last_half() {
    let log = as_sessions(&shown(1001));
    let kept = Reader::new(Format::Sessions).keep_sessions();
    let settings = Settings {
        models: vec![Model::Cascade, Model::Pbm],
        fit: FitSettings { held_out: HoldOut(Some(HeldOut::Last)), ..FitSettings::default() },
        ..Settings::default()
    };
    let of = |reader: &Reader| {
        let read = || reader.read("log", log.as_bytes());
        study(&settings, read, |_| Ok(()))
    };
    let comparison = of(&kept).unwrap().comparison.unwrap();
    let [first, second] = kept.read("log", log.as_bytes()).unwrap().sessions.halves().unwrap();
    assert_ne!(first.counts.impressions(), second.counts.impressions());
    for model in settings.models.iter().copied() {
        let of_first = fit(model, &first.counts, &first.sessions, &Options::default()).unwrap();
        let score = comparison.scores.iter().find(|score| score.model == model).unwrap();
        assert_eq!(*score, compare(&of_first, &second).unwrap());
    }
    // Counts have no order.
    let error = of(&Reader::new(Format::Sessions)).unwrap_err();
    assert!(matches!(error, StudyError::HoldOut(FitError::NoOrder)), "{error}");
}

/// Parts are dealt by content: a shuffled log, of sessions or of rows without them, gives the same
/// numbers to the last digit.
#[test]
fn the_order_of_rows_changes_no_number() {
    // Three copies of each session: equal ones are dealt, too. The first half has fewer clicks.
    let mut in_order: Vec<Shown> = (0..3).flat_map(|_| shown(600)).collect();
    in_order[..900].iter_mut().for_each(|(.., clicks)| clicks[0] = false);
    // 757 and 1,800 have no divisor in common.
    let shuffled: Vec<Shown> = (0..1800).map(|place| in_order[place * 757 % 1800].clone()).collect();
    let reader = Reader::new(Format::Sessions).keep_sessions();
    let [a, b] = [&in_order, &shuffled].map(|log| {
        let log = as_sessions(log);
        let settings = Settings { models: vec![Model::Pbm, Model::Dcm], ..Settings::default() };
        study(&settings, || reader.read("log", log.as_bytes()), |_| Ok(())).unwrap()
    });
    assert_eq!(a.comparison.as_ref().unwrap().scores, b.comparison.as_ref().unwrap().scores);
    assert_eq!(a.transfer, b.transfer);
    let halves = [&a, &b].map(|study| study.log.sessions.dealt().unwrap().map(|half| half.counts()));
    assert!(halves[0] == halves[1]);
    let n = halves[0].each_ref().map(log_reader::Counts::impressions);
    assert!(n[0].abs_diff(n[1]) * 20 < n[0] && halves[0][0] != halves[0][1], "{n:?}");
    let rows = |log: &[Shown]| {
        let settings = Settings { models: vec![Model::Pbm], transfer: false, ..Settings::default() };
        let log = as_sessions(log);
        let read = || Reader::new(Format::Sessions).read("log", log.as_bytes());
        study(&settings, read, |_| Ok(())).unwrap().comparison.unwrap().scores
    };
    assert_eq!(rows(&in_order), rows(&shuffled));
}
