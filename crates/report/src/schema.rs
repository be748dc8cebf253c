//! JSON Schema of the files of a paper's experiment, `experiment.toml` and `claims.toml`, for
//! editors. The kinds of figures and of tests come from their tables, the keys of a simulation from
//! `spec::schema`.

mod claims;
mod experiment;

pub use self::claims::claims;
pub(crate) use self::experiment::changes_of_quick;
pub use self::experiment::experiment;

#[cfg(test)]
pub(crate) mod tests;
