//! Texts that are not quite a spec.

use super::*;

/// A short spec, so that every place is mutilated often.
const SHORT: &str =
    "name = \"x\"\ntask = \"regret\"\nhorizon = 100_000\nruns = 1000\nseed = 1\ncheckpoints = [1000]\n
[[instances]]\nmodel = \"pbm\"\ntheta = [0.4, 0.1]\nkappa = [0.9]\n
[[policies]]\npolicy = \"pbm-pie\"\nlabel = \"PIE (log T)\"\nlevel = \"log-horizon\"\nepsilon = 0.1\n";

#[test]
fn mutilated_specs_are_read_or_refused_in_one_line_without_panic() {
    use rand_like::Numbers;
    // The schema is asked about few of them, since it is slow.
    let read_only = |text: &str| {
        let source = Source::from_text("spec.toml", text)?;
        Experiment::from_document(&source.parse()?)
    };
    let pieces = [
        "[", "]", "{", "}", "=", "\"", "'''", ",", ".", "\n", "-", "1e999", "nan", "_", "#", "é", "[[", "0x",
        "\u{0}", "\r",
    ];
    let mut numbers = Numbers(1);
    let mut refused = 0;
    for number in 0..10_000 {
        let spec = if number % 4 == 0 { GOOD } else { SHORT };
        let mut text: Vec<char> = spec.chars().collect();
        for _ in 0..=numbers.below(4) {
            let at = numbers.below(text.len());
            match numbers.below(4) {
                0 => drop(text.remove(at)),
                1 => drop(text.drain(at..(at + numbers.below(30)).min(text.len()))),
                2 => {
                    let from = numbers.below(text.len());
                    let copy: Vec<char> = text[from..(from + 20).min(text.len())].to_vec();
                    text.splice(at..at, copy);
                }
                _ => drop(text.splice(at..at, pieces[numbers.below(pieces.len())].chars()).count()),
            }
        }
        let text: String = text.into_iter().collect();
        match read_only(&text) {
            Ok(experiment) => {
                assert_eq!(read_only(&experiment.to_toml()).unwrap().identity(), experiment.identity());
            }
            Err(error) => {
                refused += 1;
                let message = error.to_string();
                assert!(message.starts_with("spec.toml:") && !message.contains('\n'), "{message}");
                assert!(error.line().is_some_and(|line| line <= 1 + text.matches('\n').count()), "{message}");
            }
        }
    }
    assert!(refused > 5_000, "only {refused} specs were refused");
}

/// A random generator for mutilating text.
mod rand_like {
    /// `splitmix64`.
    pub(super) struct Numbers(pub(super) u64);

    impl Numbers {
        pub(super) fn below(&mut self, n: usize) -> usize {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = self.0;
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            usize::try_from((bits ^ (bits >> 31)) % n.max(1) as u64).unwrap_or(0)
        }
    }
}
