//! `verdict.json`: the verdict, and every number beside it.

use super::{Kind, Look, Outcome};
use serde_json::{Map, Value, json};

impl Outcome {
    /// The content of `verdict.json`. Unknown numbers are null, and an evidence beyond all numbers
    /// is left out beside its logarithm.
    pub fn to_json(&self) -> Value {
        let mut record = json!({
            "schema": 1,
            "kind": if self.settings.kind == Kind::Ab { "ab" } else { "interleaving" },
            "sentence": self.sentence(),
            "verdict": self.verdict(),
            "refused": self.refused.iter().map(|why| &why.text).collect::<Vec<_>>(),
            "remarks": self.remarks(),
            "decided_on": self.decided.and_then(|(look, _)| self.looks[look].date()),
            "changed_on": self.changed.and_then(|(_, look)| self.looks[look].date()),
            "alpha": self.settings.miss,
            "unit": self.unit(),
            "baseline": self.names[0],
            "other": self.names[1],
            "clicks": self.by_name(self.clicks.map(Value::from)),
            "heaviest_share": self.heaviest,
            "times_back": self.times_back,
            "repeated_clicks": self.repeated_clicks,
            "rows": self.report.lines,
        });
        for (key, value) in self.look(self.last()) {
            record[key] = value;
        }
        if let (Some(result), Some(split)) = (&self.arms, self.split) {
            let rate = format!("{}_per_session", self.metric());
            record["arms"] = self.by_name(result.arms.map(|arm| {
                json!({
                    "users": arm.users,
                    "sessions": arm.sessions,
                    "clicks": arm.clicks,
                    (&*rate): arm.rate,
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
        let days: Vec<Value> = self.looks.iter().filter_map(|look| self.day(look)).collect();
        record["days"] = days.into();
        record
    }

    /// A record with the two names as keys.
    fn by_name(&self, values: [Value; 2]) -> Value {
        self.names.iter().cloned().zip(values).collect::<Map<_, _>>().into()
    }

    /// A look of a log with times, and its own verdict.
    fn day(&self, look: &Look) -> Option<Value> {
        let mut record = self.look(look);
        record.insert("day".to_owned(), look.date()?.into());
        record.insert("decided".to_owned(), look.better.is_ok().into());
        record.insert("better".to_owned(), look.better.ok().map(|better| &*self.names[better]).into());
        record.insert("reason".to_owned(), json!(look.better.err()));
        Some(record.into())
    }

    fn look(&self, look: &Look) -> Map<String, Value> {
        let mut users = self.by_name(look.users.map(Value::from));
        let is_ab = self.settings.kind == Kind::Ab;
        let [estimate, evidence, decides] = if is_ab {
            ["difference", "abs_z", "boundary"]
        } else {
            users["ties"] = look.ties.into();
            ["share", "ln_evidence", "decides_at"]
        };
        let mut record = Map::from_iter([
            ("users".to_owned(), users),
            (estimate.to_owned(), look.estimate.into()),
            ("interval".to_owned(), json!(look.interval.map(|(low, high)| [low, high]))),
            (evidence.to_owned(), look.evidence.into()),
            (decides.to_owned(), look.decides.into()),
        ]);
        let number = libm::exp(look.evidence);
        if !is_ab && number.is_finite() {
            record.insert("evidence".to_owned(), number.into());
        }
        record
    }
}
