//! Pictures of modules: the dataflow of their computations, and the communication between devices.
//!
//! ```text
//! Verified, its text ──> Model ──┬─> html, svg, dot, model_explorer
//! a run, findings ────> Measured ┘
//! two models, Changes ────────────> html_of_two
//! Verified, its grid ──> devices::Graph ──> devices::svg, devices::dot, html_of_devices
//! ```
//!
//! ```
//! let text = "HloModule m\nENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] tanh(x) }";
//! let verified = hlo::Module::parse(text)?.verify()?;
//! let model = graph::Model::of(&verified, text);
//! assert!(graph::svg(&model, None).contains(">tanh</text>"));
//! assert!(graph::html(&model, &graph::Measured::default()).starts_with("<!doctype html>"));
//! # Ok::<(), hlo::diag::Errors>(())
//! ```
mod arrange;
mod category;
mod changes;
pub mod devices;
mod dot;
mod explorer;
mod fold;
mod layers;
mod layout;
mod level;
mod measure;
mod model;
mod names;
mod node;
mod order;
mod page;
mod statistics;
mod svg;
mod text;

pub use changes::{Change, Changes};
pub use dot::dot;
pub use explorer::model_explorer;
pub use measure::{Mark, Measured, slices, watching};
pub use model::Model;
pub use page::{html, html_of_devices, html_of_two};
pub use statistics::{Range, Statistics};
pub use svg::svg;
