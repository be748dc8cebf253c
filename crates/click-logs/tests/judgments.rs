//! Clicks over expected clicks on a generated log, beside their definition.

use crate::log_generator::{Traffic, kdd2012};
use click_logs::judgments::{Judgment, JudgmentForm, Scale, over_expected, write};
use click_models::PositionBased;
use log_reader::{Format, Reader};

/// Items are shown everywhere alike, so that the rate of a position is its examination times the
/// mean attraction, and the rating of an item its attraction by that mean.
#[test]
fn ratings_are_clicks_over_those_at_the_rate_of_each_position() {
    const EXAMINATION: [f64; 2] = [1.0, 0.6];
    let attraction = [vec![0.5, 0.2], vec![0.1, 0.4, 0.3]];
    let mean = f64::midpoint(0.7 / 2.0, 0.8 / 3.0);
    let traffic = |(query, attraction): (u64, &Vec<f64>)| Traffic {
        query,
        items: (0..attraction.len() as u64).map(|item| 10 * query + item).collect(),
        weight: 1.0,
        users: PositionBased::from_values(attraction, &EXAMINATION).unwrap(),
    };
    let traffic: Vec<_> = (1..).zip(&attraction).map(traffic).collect();
    let mut log = Vec::new();
    kdd2012(&traffic, 400_000, 7, &mut log).unwrap();
    let counts = Reader::new(Format::Kdd2012).read("generated", log.as_slice()).unwrap().counts;
    let (ratings, without) = over_expected(&counts, 1);
    assert_eq!((ratings.len(), without), (5, 0));
    let cells: Vec<_> = counts.queries().flat_map(|query| query.cells()).collect();
    let rate = |position: usize| {
        let here = || cells.iter().filter(move |cell| cell.position == position);
        here().map(|cell| cell.clicks).sum::<u64>() as f64
            / here().map(|cell| cell.impressions).sum::<u64>() as f64
    };
    for rating in &ratings {
        let of_item = || cells.iter().filter(|cell| counts.names().name(cell.item) == rating.item);
        let expected: f64 = of_item().map(|cell| cell.impressions as f64 * rate(cell.position)).sum();
        assert!((rating.rating - rating.clicks as f64 / expected).abs() < 1e-12, "{rating:?}");
        // The rate of the lowest position an item was shown at is that of few of its impressions.
        let lowest = of_item().map(|cell| cell.position).max().unwrap();
        let at_lowest = rating.clicks as f64 / (rating.impressions as f64 * rate(lowest));
        assert!(at_lowest > 1.2 * rating.rating, "{rating:?}, {at_lowest}");
        let [query, place] =
            [&rating.query, &rating.item[1..]].map(|number| number.parse::<usize>().unwrap());
        let truth = attraction[query - 1][place] / mean;
        assert!((rating.rating - truth).abs() < 0.03, "{rating:?}: expected {truth}");
        let (low, high) = rating.interval.unwrap();
        assert!(low < rating.rating && rating.rating < high, "{rating:?}");
    }
}

/// An interval has the scale of its rating. Ratings of a query without clicks are those of the
/// prior.
#[test]
fn intervals_are_scaled_and_queries_without_clicks_counted() {
    let row = |query: &str, rating, clicks| Judgment {
        query: query.to_owned(),
        item: format!("i{rating}"),
        rating,
        interval: Some((rating / 2.0, rating * 2.0)),
        clicks,
        impressions: 100,
    };
    let rows = [row("q", 0.5, 50), row("q", 0.25, 0), row("r", 0.125, 0), row("r", 0.0625, 0)];
    for (scale, expected) in [
        (Scale::Plain, "0.5,0.25,1 0.25,0.125,0.5 0.125,0.0625,0.25 0.0625,0.03125,0.125"),
        (Scale::ToOne, "1,0.5,2 0.5,0.25,1 1,0.5,2 0.5,0.25,1"),
        (Scale::Grades, "3,2,6 2,1,3 3,2,6 2,1,3"),
    ] {
        let written = write(&rows, JudgmentForm::Csv, scale, "name", false).unwrap();
        let fields = |line: &str| line.split(',').skip(2).take(3).collect::<Vec<_>>().join(",");
        let found: Vec<String> = written.text.lines().skip(1).map(fields).collect();
        assert_eq!(found.join(" "), expected);
        assert_eq!(written.without_clicks, 1);
    }
}
