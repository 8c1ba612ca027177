//! Operators under the rules of other systems.
mod broadcasting_page;
mod max_graph;
mod max_graph_promotion;
mod onnx;
mod pytensor;
#[path = "../../../tests/all/support/mod.rs"]
mod support;
