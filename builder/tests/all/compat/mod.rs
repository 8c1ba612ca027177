//! Operators under the rules of other systems.
mod broadcasting_page;
mod max_graph;
mod onnx;
mod pytensor;
