//! Promotion of element types as other systems do it: [`max_graph`].
pub mod max_graph;
