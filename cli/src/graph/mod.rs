//! Graphs: the dataflow of a module, and the communication between its devices.
mod category;
pub(crate) mod devices;
pub(crate) mod dot;
pub(crate) mod explorer;
mod fold;
mod layout;
pub(crate) mod measure;
pub(crate) mod model;
pub(crate) mod page;
pub(crate) mod svg;
mod text;
