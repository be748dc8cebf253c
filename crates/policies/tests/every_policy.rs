//! Properties of every policy of the catalogue. Every row of the table is tested, on the users of
//! every protocol that it reads, with its defaults and with another value of every parameter.

mod allocation;
mod choices;
mod first_choice;
mod relabelling;
mod saved_state;
mod stories;
pub(crate) mod trials;
pub(crate) mod users;
