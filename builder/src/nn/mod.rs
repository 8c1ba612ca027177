//! Neural networks: activations, normalizations, attention, losses; means and cumulative sums.
//!
//! A function of one operand is a method of [`Value`](crate::Value): [`relu`](crate::Value::relu),
//! [`softmax`](crate::Value::softmax), [`mean`](crate::Value::mean). What has parameters besides is
//! a function here. Everything is made of ops of the operand's own type.
//!
//! ```
//! use builder::{Builder, nn};
//! let b = Builder::new("mlp");
//! let x = b.parameter(0, "f32[8,64]", "x");
//! let (w, bias) = (b.parameter(1, "f32[64,10]", "w"), b.parameter(2, "f32[10]", "bias"));
//! let labels = b.parameter(3, "s32[8]", "labels");
//! let loss = nn::cross_entropy(nn::dense(x.relu(), w, Some(bias)), labels).mean(&[0]);
//! assert_eq!(b.build(loss)?.module().entry().program_shape().result.to_string(), "f32[]");
//! # Ok::<(), builder::Error>(())
//! ```
mod activation;
mod attention;
mod cumulative;
mod layers;
mod loss;
mod normal;
pub(crate) mod reductions;
mod softmax;

pub use attention::{Attention, attention, causal_mask};
pub use layers::{dense, dropout, dropout_mask, one_hot};
pub use loss::{cross_entropy, cross_entropy_soft, mean_squared_error};
pub use normal::{BatchNorm, batch_norm, layer_norm, rms_norm};
