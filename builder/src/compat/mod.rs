//! Operators under the rules of other systems: their broadcasting, their promotion, their names.
//!
//! | module | system | what it has |
//! |---|---|---|
//! | [`max_graph`] | MAX Graph | elementwise functions with promotion and broadcasting |
//! | [`onnx`] | ONNX | the operators that broadcast, multidirectionally or unidirectionally |
//! | [`pytensor`] | PyTensor | `Elemwise`, `DimShuffle` and `CAReduce` of `pytensor.tensor.elemwise` |
//! | `torch` | PyTorch | [`Value::torch_gather`](crate::Value::torch_gather), `torch_scatter_dense`, `torch_index_select` |
//!
//! An operator follows the rules of the function it was called as; the methods of [`Value`](crate::Value) follow XLA's.
//! `docs/broadcasting.md` compares the rules side by side.
pub(crate) mod align;
pub mod max_graph;
pub mod onnx;
pub mod pytensor;
mod torch;
