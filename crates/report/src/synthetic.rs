//! Results for tests, of runs that are given.

#[cfg(test)]
impl Measured {
    /// What runs with these regrets (policy, run, checkpoint) measure, where a best list collects ten clicks a round.
    pub fn synthetic(t: &[u64], policies: &[(&str, Vec<Vec<f64>>)]) -> Self {
        let at =
            |runs: &[Vec<f64>], index: usize| -> Vec<f64> { runs.iter().map(|run| run[index]).collect() };
        let times = |factor: f64| t.iter().map(|&t| factor * t as f64).collect::<Vec<_>>();
        let of = |(label, runs): &(&str, Vec<Vec<f64>>)| {
            let mut regret = Spread::default();
            for index in 0..t.len() {
                let summary = Summary::of(&at(runs, index)).unwrap();
                regret.mean.push(summary.mean);
                regret.se.push(summary.standard_error);
                regret.min.push(summary.min);
                regret.max.push(summary.max);
                regret.q10.push(summary.q10);
                regret.q90.push(summary.q90);
            }
            let (label, policy) = ((*label).to_owned(), (*label).to_owned());
            let clicks = MeanSe { mean: times(9.0), se: times(0.1) };
            PolicyResult { label, policy, t: t.to_vec(), regret, clicks, accuracy: Vec::new(), answers: None }
        };
        let result = ResultFile {
            schema: 1,
            name: "synthetic".to_owned(),
            unit: "clicks",
            task: "regret".to_owned(),
            runs: policies.first().map_or(1, |(_, runs)| runs.len() as u64),
            horizon: Some(t[t.len() - 1]),
            max_steps: None,
            seed: 1,
            policies: policies.iter().map(of).collect(),
            paired: Vec::new(),
            bounds: Vec::new(),
            optimum: Optimum { t: t.to_vec(), clicks: MeanSe { mean: times(10.0), se: times(0.0) } },
        };
        let regrets = policies.iter().map(|(_, runs)| runs.clone()).collect();
        Self { result, regrets, accurate: Vec::new(), answers: Vec::new() }
    }

    /// What runs that end with these answers (policy, run) measure, of at most so many rounds; `task`: `"identify"` or `"budget"`.
    pub fn of_answers(task: &str, rounds: u64, policies: &[(&str, Vec<Identification>)]) -> Self {
        let stops = task == "identify";
        let mut measured = Self::synthetic(&[rounds], &[]);
        measured.result.task = task.to_owned();
        measured.result.runs = policies[0].1.len() as u64;
        measured.result.horizon = (!stops).then_some(rounds);
        measured.result.max_steps = stops.then_some(rounds);
        measured.result.optimum = Optimum::default();
        measured.result.policies = policies
            .iter()
            .map(|(label, runs)| PolicyResult {
                label: (*label).to_owned(),
                policy: (*label).to_owned(),
                t: Vec::new(),
                regret: Spread::default(),
                clicks: MeanSe::default(),
                accuracy: Vec::new(),
                answers: Answers::of(runs, stops),
            })
            .collect();
        measured.answers = policies.iter().map(|(_, runs)| runs.clone()).collect();
        measured
    }

    /// The same with a bound that is this factor times `ln t`.
    pub fn with_bound(mut self, label: &str, factor: f64) -> Self {
        let t = self.result.optimum.t.clone();
        let value = t.iter().map(|&t| factor * confidence::math::ln(t as f64)).collect();
        self.result.bounds.push(Bound { label: label.to_owned(), t, value });
        self
    }
}
