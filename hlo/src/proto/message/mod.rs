//! The messages of XLA's `hlo.proto` and `xla_data.proto`, as far as HLO text can express them.
//!
//! Names and numbers of fields are XLA's. Enums are numbers here, since a reader must accept
//! numbers that it does not know. Strings that the text can escape are bytes here, since they need
//! not be UTF-8. Messages that contain many others keep them encoded (`raw`), so that one of them
//! is in memory at a time.
/// A message whose unknown fields are kept.
pub(crate) trait Known: prost::Message + Default {
    /// Numbers of the fields it has.
    const TAGS: &'static [u32];
    /// Removes messages in it that have no field.
    fn prune(&mut self);
}

/// Declares messages, one field a line: `number type name`, where the type is a scalar type of
/// protobuf, or that after one of
///
/// | word | field |
/// |---|---|
/// | `repeated` | a list of scalars |
/// | `optional` | a scalar that may be unset |
/// | `message` | a message that may be unset |
/// | `boxed` | the same, on the heap |
/// | `messages` | a list of messages |
/// | `raw` | a list of messages, which stay encoded |
/// | `map` | a map of strings |
macro_rules! messages {
    ($($(#[$meta:meta])* $name:ident { $($body:tt)* })*) => {
        $(messages! { @ [$(#[$meta])*] $name {} {} {} $($body)* })*
    };
    (@ [$($meta:tt)*] $name:ident { $($field:tt)* } { $($tag:tt)* } { $($inner:ident)* }) => {
        $($meta)*
        #[allow(clippy::struct_field_names, reason = "named as in XLA")]
        #[derive(Clone, PartialEq, prost::Message)]
        pub(crate) struct $name { $($field)* }
        impl $crate::proto::message::Known for $name {
            const TAGS: &'static [u32] = &[$($tag),*];
            fn prune(&mut self) {
                $(if let Some(inner) = &mut self.$inner {
                    inner.prune();
                    if *inner == Default::default() { self.$inner = None; }
                })*
            }
        }
    };
    (@ $m:tt $n:ident { $($f:tt)* } { $($t:tt)* } { $($i:tt)* } $tag:tt message $ty:ident $field:ident; $($rest:tt)*) => {
        messages! { @ $m $n { $($f)* #[prost(message, optional, tag = $tag)] pub(crate) $field: Option<$ty>, }
            { $($t)* $tag } { $($i)* $field } $($rest)* }
    };
    (@ $m:tt $n:ident { $($f:tt)* } { $($t:tt)* } { $($i:tt)* } $tag:tt boxed $ty:ident $field:ident; $($rest:tt)*) => {
        messages! { @ $m $n { $($f)* #[prost(message, optional, boxed, tag = $tag)] pub(crate) $field: Option<Box<$ty>>, }
            { $($t)* $tag } { $($i)* $field } $($rest)* }
    };
    (@ $m:tt $n:ident { $($f:tt)* } { $($t:tt)* } { $($i:tt)* } $tag:tt messages $ty:ident $field:ident; $($rest:tt)*) => {
        messages! { @ $m $n { $($f)* #[prost(message, repeated, tag = $tag)] pub(crate) $field: Vec<$ty>, }
            { $($t)* $tag } { $($i)* } $($rest)* }
    };
    (@ $m:tt $n:ident { $($f:tt)* } { $($t:tt)* } { $($i:tt)* } $tag:tt raw $ty:ident $field:ident; $($rest:tt)*) => {
        messages! { @ $m $n { $($f)* #[prost(bytes = "bytes", repeated, tag = $tag)] pub(crate) $field: Vec<bytes::Bytes>, }
            { $($t)* $tag } { $($i)* } $($rest)* }
    };
    (@ $m:tt $n:ident { $($f:tt)* } { $($t:tt)* } { $($i:tt)* } $tag:tt map $field:ident; $($rest:tt)*) => {
        messages! { @ $m $n { $($f)* #[prost(btree_map = "string, bytes", tag = $tag)]
            pub(crate) $field: std::collections::BTreeMap<String, Vec<u8>>, }
            { $($t)* $tag } { $($i)* } $($rest)* }
    };
    (@ $m:tt $n:ident { $($f:tt)* } { $($t:tt)* } { $($i:tt)* } $tag:tt repeated $kind:ident $field:ident; $($rest:tt)*) => {
        messages! { @ $m $n { $($f)* #[prost($kind, repeated, tag = $tag)] pub(crate) $field: Vec<scalar!($kind)>, }
            { $($t)* $tag } { $($i)* } $($rest)* }
    };
    (@ $m:tt $n:ident { $($f:tt)* } { $($t:tt)* } { $($i:tt)* } $tag:tt optional $kind:ident $field:ident; $($rest:tt)*) => {
        messages! { @ $m $n { $($f)* #[prost($kind, optional, tag = $tag)] pub(crate) $field: Option<scalar!($kind)>, }
            { $($t)* $tag } { $($i)* } $($rest)* }
    };
    (@ $m:tt $n:ident { $($f:tt)* } { $($t:tt)* } { $($i:tt)* } $tag:tt $kind:ident $field:ident; $($rest:tt)*) => {
        messages! { @ $m $n { $($f)* #[prost($kind, tag = $tag)] pub(crate) $field: scalar!($kind), }
            { $($t)* $tag } { $($i)* } $($rest)* }
    };
}

/// The Rust type of a scalar type of protobuf.
macro_rules! scalar {
    (string) => { String };
    (bytes) => { Vec<u8> };
    (int32) => { i32 };
    (int64) => { i64 };
    (uint32) => { u32 };
    (uint64) => { u64 };
    (float) => { f32 };
    (double) => { f64 };
    (bool) => { bool };
}

mod instruction;
mod module;
mod sharding;
mod value;

pub(crate) use instruction::*;
pub(crate) use module::*;
pub(crate) use sharding::*;
pub(crate) use value::*;
