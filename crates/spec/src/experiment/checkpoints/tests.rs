use super::*;

fn log(count: u64) -> Schedule {
    Schedule::Log { count, also: Vec::new() }
}

#[test]
fn a_log_schedule_is_geometric() {
    assert_eq!(log(6).checkpoints(100_000), [1, 10, 100, 1000, 10_000, 100_000]);
    assert_eq!(log(1).checkpoints(7), [7]);
    assert_eq!(log(2).checkpoints(7), [1, 7]);
    assert_eq!(log(200).checkpoints(1), [1]);
    assert_eq!(log(200).checkpoints(5), [1, 2, 3, 4, 5]);
}

#[test]
fn additional_rounds_are_merged_into_a_log_schedule() {
    let schedule = Schedule::Log { count: 3, also: vec![10, 50, 5000] };
    assert_eq!(schedule.checkpoints(10_000), [1, 10, 50, 100, 5000, 10_000]);
    // A shorter run has the rounds that it reaches.
    assert_eq!(schedule.checkpoints(400), [1, 10, 20, 50, 400]);
    assert_eq!(schedule.listed(50).collect::<Vec<_>>(), [10]);
}

#[test]
fn every_schedule_increases_strictly_to_the_horizon() {
    let lists = [vec![1, 5, 7], vec![1_000_000]];
    let added = Schedule::Log { count: 20, also: vec![1, 3, 1_000_000] };
    let schedules = [1, 2, 3, 50, 200, 10_000].map(log).into_iter().chain(lists.map(Schedule::List));
    for schedule in schedules.chain([added]) {
        for horizon in [1, 2, 3, 7, 100, 12_345, 1 << 40, 1 << 53] {
            let rounds = schedule.checkpoints(horizon);
            assert!(rounds.windows(2).all(|pair| pair[0] < pair[1]), "{schedule:?} {horizon}");
            assert_eq!(rounds.last(), Some(&horizon));
            assert!(rounds[0] >= 1);
        }
    }
}
