//! Ops with attributes, a file for each family.
pub(crate) mod control;
pub(crate) mod movement;
pub(crate) mod reduce;
