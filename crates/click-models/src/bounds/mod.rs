//! Regret bounds that depend on an instance.
