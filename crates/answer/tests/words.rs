//! Sentences of an answer.

use answer::{Answer, Finding, Interval, QueryFinding, Recommendation, Strata, Today, TransferSlope};
use click_logs::fit::Verdict;
use click_logs::study::ListsAlone;

fn interval(mean: f64) -> Interval {
    Interval { mean, lower: mean - 10.0, upper: mean + 10.0 }
}

fn answer(sessions: u64, lists: u64, queries: u64) -> Answer {
    let model = TransferSlope {
        model: "pbm",
        slope: None,
        verdict: Verdict::CannotTest,
        needed: Some(3.125),
        queries,
        lists,
        sessions,
    };
    let all = Finding { today: interval(300.0), observed: 300.0, loss: interval(20.0), gain: interval(10.0) };
    Answer {
        version: 2,
        remarks: Vec::new(),
        models: vec![model],
        lists_alone: None,
        today: Today {
            share: 1.0,
            days: None,
            since: None,
            is_asked: false,
            lists: 1000,
            times_apart: None,
            queries_by_all: 0,
        },
        lists_of_log: 1000,
        queries_of_log: 10,
        are_strata: false,
        lists: 1000,
        left_out: 0,
        kept_apart: 0,
        fitted_clicks: 300.0,
        all,
        policy: String::new(),
        played: None,
        queries: Vec::new(),
        strata: Vec::new(),
        without: Vec::new(),
    }
}

/// Numbers above 999 have separators, and two digits that count as well.
#[test]
fn what_would_be_needed_has_two_digits_that_count() {
    for (numbers, would) in [
        ((213_094, 68_190, 100), "About 670,000 sessions of 220,000 lists in 320 queries would."),
        ((3_000_000, 320, 2), "About 9,400,000 sessions of 1,000 lists in 7 queries would."),
        ((30, 20, 1), "About 94 sessions of 63 lists in 4 queries would."),
    ] {
        let said = answer(numbers.0, numbers.1, numbers.2).sentences().join(" ");
        assert!(said.contains(would), "{said}");
    }
}

/// Where more than the list decides, no gain is promised, whichever sign shows it; where that
/// cannot be tested, the answer says so.
#[test]
fn an_alarm_promises_nothing() {
    let tested = |p| Some(ListsAlone { p, clicks: 5000.0, statistics: Vec::new() });
    let of = |verdict, lists_alone| {
        let mut answer = answer(1000, 100, 10);
        answer.models[0].verdict = verdict;
        answer.models[0].slope = Some(Interval { mean: 2.0, lower: 1.5, upper: 2.5 });
        answer.lists_alone = lists_alone;
        answer
    };
    for (verdict, p, seen) in [
        (Verdict::Supported, 0.001, "Clicks at the first two places depend on what stands below"),
        (Verdict::Exceeded, 0.5, "That is surely more than pbm predicts"),
    ] {
        let answer = of(verdict, tested(p));
        assert!(answer.is_alarmed() && !answer.promises());
        let said = answer.sentences().join(" ");
        assert!(said.contains(seen) && said.contains("no gain is promised"), "{said}");
        assert!(said.contains("fit --context") && !said.contains("the answer takes"), "{said}");
        assert!(!said.contains("would get") && !said.contains("No list was found"), "{said}");
    }
    let untold = of(Verdict::Exceeded, None).sentences().join(" ");
    assert!(untold.contains("no gain is promised") && !untold.contains("cannot be tested"), "{untold}");
    for few in [None, Some(ListsAlone { p: 1.0, clicks: 400.0, statistics: Vec::new() })] {
        let mut untested = of(Verdict::Supported, few);
        untested.models[0].slope = None;
        assert!(untested.promises());
        assert!(untested.sentences().join(" ").contains("cannot be tested"));
    }
    for (slope, p, is_in_doubt) in [(1.3, 0.06, false), (1.3, 0.04, true), (1.4, 0.06, true)] {
        let mut promised = of(Verdict::Supported, tested(p));
        promised.models[0].slope = Some(interval(slope));
        let said = promised.sentences().join(" ");
        assert!(promised.promises() && said.contains("decide") == is_in_doubt, "{said}");
    }
}

/// A list that is better, and not recommended since it puts together what today's lists keep apart,
/// does not mean that the log cannot tell.
#[test]
fn lists_with_items_kept_apart_say_what_would_decide() {
    for (kept_apart, cannot_tell) in [(0, true), (3, false)] {
        let said = Answer { kept_apart, ..answer(1000, 100, 10) }.sentences().join(" ");
        assert_eq!(said.contains("cannot tell which list is better"), cannot_tell, "{said}");
        assert_eq!(said.contains("better by the model: 3 lists"), !cannot_tell, "{said}");
        assert_eq!(said.contains("`evaluate --ranking learned` decides"), !cannot_tell, "{said}");
        assert_eq!(said.contains("stratum=COLUMN"), !cannot_tell, "{said}");
    }
}

#[test]
fn the_answer_says_what_today_is() {
    let mut answer = answer(30, 20, 1);
    let said = answer.sentences().join(" ");
    assert!(said.contains("that of the whole log, which has no times"), "{said}");
    answer.today = Today {
        share: 0.1,
        days: Some(2.0),
        since: Some("2026-03-02".to_owned()),
        is_asked: false,
        lists: 100,
        times_apart: Some(3),
        queries_by_all: 0,
    };
    let said = answer.sentences().join(" ");
    assert!(said.contains("the last 10 % of the log's time, since 2026-03-02 (100 lists)"), "{said}");
    assert!(said.contains("Times of 3 sessions are farther from all others"), "{said}");
    assert!(
        said.contains("(300 were observed in the whole log)") && !said.contains("stand for today"),
        "{said}"
    );
    answer.today.queries_by_all = 2;
    let said = answer.sentences().join(" ");
    assert!(
        said.contains("In 2 queries most lists of this part are left out")
            && said.contains("stand for today"),
        "{said}"
    );
}

#[test]
fn strata_say_whether_one_list_for_all_loses() {
    let strata = |gain: Option<f64>| {
        let gain_of_each = gain.map(interval);
        Strata {
            query: "hats".to_owned(),
            strata: vec![0, 1],
            in_log: 2,
            list_for_all: Vec::new(),
            gain_of_each,
        }
    };
    for (gain, said) in [
        (Some(30.0), "hats in 2 strata: one list for all loses; a list for each stratum gains 30 [20, 40]"),
        (Some(5.0), "hats in 2 strata: the log does not show that one list for all loses"),
        (None, "hats in 2 strata: no list has only items that every stratum saw"),
    ] {
        assert!(strata(gain).sentence().starts_with(said), "{}", strata(gain).sentence());
    }
    let sampled = Strata { in_log: 7, ..strata(None) };
    assert!(
        sampled.sentence().starts_with("hats in 2 of 7 strata in the sample: "),
        "{}",
        sampled.sentence()
    );
    let mut answer = answer(30, 20, 1);
    assert!(answer.scope().starts_with("the 10 queries of the log"), "{}", answer.scope());
    answer.are_strata = true;
    assert!(answer.scope().starts_with("the 10 query-strata of the log"), "{}", answer.scope());
}

/// One list is spoken of as one, and a doubt names the sign that was seen.
#[test]
fn one_list_and_one_sign_are_spoken_of_as_one() {
    let list = |is_guess| Recommendation {
        items: vec!["a".to_owned()],
        predicted: 1.0,
        gain: interval(30.0),
        beyond: interval(0.0),
        known_share: if is_guess { 0.5 } else { 1.0 },
        gone: if is_guess { vec!["a".to_owned()] } else { Vec::new() },
        is_guess,
    };
    let query = |is_guess| QueryFinding {
        query: "q".to_owned(),
        lists: 10,
        lists_today: 10,
        share: 1.0,
        deviation: 1.0,
        finding: answer(1, 1, 1).all,
        recommended: Some(list(is_guess)),
        played: None,
    };
    let said = |guesses: &[bool], p: f64, slope: f64| {
        let mut answer = answer(1000, 100, 10);
        answer.models[0].slope = Some(Interval { mean: slope, ..interval(1.0) });
        answer.lists_alone = Some(ListsAlone { p, clicks: 5000.0, statistics: Vec::new() });
        answer.queries = guesses.iter().map(|is_guess| query(*is_guess)).collect();
        answer.sentences().join(" ")
    };
    let (below, differ) =
        ("first two places seem to depend on what stands below", "lists differ more than predicted");
    for (guesses, p, slope, expected) in [
        (
            &[false][..],
            0.5,
            1.0,
            "Showing it gains 10 [0, 20] clicks per 1,000 lists of all queries. It stays near",
        ),
        (&[true], 0.5, 1.0, "It lies far beyond what the log shows: a guess to be tested first."),
        (&[true], 0.03, 1.0, "It is a guess, to be tested first."),
        (
            &[true, false],
            0.5,
            1.0,
            "Showing them gains 10 [0, 20] clicks per 1,000 lists of all queries. 1 of them lies far",
        ),
        (
            &[true, true],
            0.5,
            1.0,
            "All of them lie far beyond what the log shows: guesses to be tested first.",
        ),
        (&[true, true], 0.03, 1.0, "All of them are guesses, to be tested first."),
    ] {
        let said = said(guesses, p, slope);
        assert!(said.contains(expected), "{said}");
        assert_eq!(said.contains(below), p < 0.05, "{said}");
        assert_eq!(said.contains("no longer shown"), guesses.contains(&true), "{said}");
    }
    let both = said(&[], 0.03, 9.0);
    assert!(both.contains(&format!("{below}, and {differ}. ")), "{both}");
    let differs = said(&[], 0.5, 9.0);
    assert!(differs.contains(&format!("is in doubt: {differ}. ")) && !differs.contains(below), "{differs}");
}
