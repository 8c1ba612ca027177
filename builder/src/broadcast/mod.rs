//! Broadcasting as other systems do it: [`onnx`], and the alignment of dimensions at their ends that several share.
pub(crate) mod align;
pub mod onnx;
