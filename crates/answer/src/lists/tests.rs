use super::*;

/// Over many samples, what each query stands for has its own number of lists as its mean.
#[test]
fn a_sample_stands_for_all() {
    let sizes: Vec<u64> = (1..=40).map(|n| n * n).collect();
    let mut sums = vec![0.0; sizes.len()];
    let samples = 4_000;
    for number in 0..samples {
        let drawn = sample(&sizes, 8, &mut Streams::new(3).subset(0, number));
        assert_eq!(drawn.len(), 8);
        assert!(drawn.is_sorted());
        let all: f64 = drawn.iter().map(|(_, stands_for)| stands_for).sum();
        assert!((all - sizes.iter().sum::<u64>() as f64).abs() < 1e-6);
        for (place, stands_for) in drawn {
            sums[place] += stands_for;
        }
    }
    for (sum, &size) in sums.iter().zip(&sizes) {
        let (size, mean) = (size as f64, sum / samples as f64);
        let step: f64 = sizes.iter().sum::<u64>() as f64 / 8.0;
        let error = (size * (step - size).max(0.0) / samples as f64).sqrt();
        assert!((mean - size).abs() < 5.0 * error + 1e-9, "{mean} for {size}");
    }
    assert_eq!(sample(&[3, 1], 5, &mut Streams::new(1).subset(0, 0)), [(0, 3.0), (1, 1.0)]);
}
