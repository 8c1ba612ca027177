//! Ops with attributes, a file for each family.
pub(crate) mod asynchronous;
pub(crate) mod collectives;
pub(crate) mod control;
pub(crate) mod custom_call;
pub(crate) mod dynamic;
pub(crate) mod exchange;
pub(crate) mod host;
pub(crate) mod movement;
pub(crate) mod reduce;
pub(crate) mod spmd;
