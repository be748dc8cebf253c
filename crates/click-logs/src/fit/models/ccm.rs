//! `ccm`, click chain: users scan from the top, and continue with a probability that depends on
//! whether they clicked, and on what.

use super::{Predicts, Row};
use crate::fit::predict::value_at;
use crate::fit::users::{Users, attraction, continuation};
use crate::fit::{Model, chain};
use click_models::ClickChain;

pub(super) const ROW: Row = Row {
    model: Model::Ccm,
    fit: |_, sessions, options, purpose| chain::ccm(sessions, options, purpose),
    predicts: Predicts::Lists(|list, out| {
        let [skip, bad, good] = [0, 1, 2].map(|outcome| value_at(list.continuation(), outcome));
        list.scan(out, |_, attraction, _| [skip, bad * (1.0 - attraction) + good * attraction]);
    }),
    users: Some(|fit, query, n_positions| {
        let continuation = continuation(fit, query);
        let users = ClickChain::from_values(&attraction(query, 1.0), continuation, n_positions);
        users.map(Users::new).ok()
    }),
};
