//! `verdict.json`: the verdict, and every number beside it.

use super::{Kind, Look, MISS, Outcome};
use serde_json::{Map, Value, json};

impl Outcome {
    /// The content of `verdict.json`. Unknown numbers are null.
    pub fn to_json(&self) -> Value {
        let mut record = json!({
            "schema": 1,
            "kind": if self.settings.kind == Kind::Ab { "ab" } else { "interleaving" },
            "sentence": self.sentence(),
            "verdict": self.verdict(),
            "refused": self.refused,
            "decided_on": self.decided.and_then(|(look, _)| self.looks[look].date()),
            "alpha": MISS,
            "unit": self.unit(),
            "baseline": self.names[0],
            "other": self.names[1],
            "clicks": self.by_name(self.clicks.map(Value::from)),
            "heaviest_share": self.heaviest,
            "times_back": self.times_back,
            "rows": self.report.lines,
        });
        for (key, value) in self.look(self.last()) {
            record[key] = value;
        }
        if let (Some(result), Some(split)) = (&self.arms, self.split) {
            record["arms"] = self.by_name(result.arms.map(|arm| {
                json!({
                    "users": arm.users,
                    "sessions": arm.sessions,
                    "clicks": arm.clicks,
                    "clicks_per_session": arm.rate,
                    "se": (arm.standard_error > 0.0).then_some(arm.standard_error),
                })
            }));
            record["se"] = result.standard_error.into();
            record["z"] = result.z.into();
            record["split"] = json!({ "planned": self.settings.split, "p": split });
            record["users_in_both"] = result.n_in_both.into();
            record["users_left_out"] = self.by_name(result.n_left_out.map(Value::from));
            record["planned_users_per_arm"] = self.settings.planned.into();
            record["look"] = self.settings.look.map(|(look, of)| json!({ "look": look, "of": of })).into();
        }
        let days: Vec<Value> = self.looks.iter().enumerate().filter_map(|day| self.day(day)).collect();
        record["days"] = days.into();
        record
    }

    /// A record with the two names as keys.
    fn by_name(&self, values: [Value; 2]) -> Value {
        self.names.iter().cloned().zip(values).collect::<Map<_, _>>().into()
    }

    /// A look of a log with times. A decision is kept.
    fn day(&self, (place, look): (usize, &Look)) -> Option<Value> {
        let mut record = self.look(look);
        record.insert("day".to_owned(), look.date()?.into());
        let is_decided = self.decided.is_some_and(|(first, _)| first <= place);
        record.insert("decided".to_owned(), is_decided.into());
        Some(record.into())
    }

    /// The numbers of a look.
    fn look(&self, look: &Look) -> Map<String, Value> {
        let mut users = self.by_name(look.users.map(Value::from));
        let (estimate, evidence, decides) = match self.settings.kind {
            Kind::Interleaving => {
                users["ties"] = look.ties.into();
                ("share", "evidence", "decides_at")
            }
            Kind::Ab => ("difference", "abs_z", "boundary"),
        };
        Map::from_iter([
            ("users".to_owned(), users),
            (estimate.to_owned(), look.estimate.into()),
            ("interval".to_owned(), json!(look.interval.map(|(low, high)| [low, high]))),
            (evidence.to_owned(), look.evidence.into()),
            (decides.to_owned(), look.decides.into()),
        ])
    }
}
