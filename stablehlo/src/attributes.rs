//! Attributes as both readers make them.
use crate::ir::{Attribute, Attributes, Dim, Fields, Tensor, Type};
use hlo::ElementType;
use smol_str::SmolStr;

/// Returns an integer of 64 bits.
pub(crate) fn integer(value: i64) -> Attribute {
    Attribute::Integer(value.into(), Type::Element(ElementType::S64))
}

/// Returns a list of integers.
pub(crate) fn list(values: impl Into<Vec<i64>>) -> Attribute {
    Attribute::Integers(values.into())
}
/// Returns a value of an enum: `#stablehlo<precision DEFAULT>`.
pub(crate) fn keyword(name: &str, word: &str) -> Attribute {
    Attribute::Dialect(name.into(), Fields::Keyword(word.into()))
}
/// Returns an integer of 32 bits.
pub(crate) fn integer32(value: i64) -> Attribute {
    Attribute::Integer(value.into(), Type::Element(ElementType::S32))
}
/// Returns a text.
pub(crate) fn string(text: &str) -> Attribute {
    Attribute::String(text.as_bytes().to_vec())
}
/// Returns an array of integers with these rows, each of this length.
pub(crate) fn matrix(rows: &[Vec<i64>], width: usize) -> Attribute {
    let dims = [rows.len(), width].map(|size| Dim::Static(u64::try_from(size).unwrap_or(u64::MAX)));
    let ty = Tensor { dims: dims.into(), element: Ok(ElementType::S64) };
    let bytes = rows.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
    Attribute::Dense(crate::dense::splat_if_equal(ty, bytes, 8))
}

/// Returns fields with these names.
pub(crate) fn named<const N: usize>(fields: [(&'static str, Attribute); N]) -> Fields {
    Fields::Named(Attributes(
        fields.into_iter().map(|(name, value)| (SmolStr::new_static(name), value)).collect(),
    ))
}

fn dictionary(entries: impl IntoIterator<Item = (&'static str, Attribute)>) -> Attribute {
    let entries = entries.into_iter().map(|(name, value)| (SmolStr::new_static(name), value));
    Attribute::Dictionary(Attributes(entries.collect()))
}

/// How devices combine parts of a value, in the order of Shardy's numbers; a sum where nothing is
/// written.
pub(crate) const REDUCTIONS: [&str; 3] = ["sum", "max", "min"];

/// Axes along which devices have parts of a value that are yet to be combined.
#[derive(Debug, Default)]
pub(crate) struct Unreduced {
    pub(crate) axes: Vec<Attribute>,
    pub(crate) reduction: Option<&'static str>,
}

/// Returns an axis of a mesh: a dictionary of its name and size.
pub(crate) fn mesh_axis(name: Vec<u8>, size: i64) -> Attribute {
    dictionary([("name", Attribute::String(name)), ("size", integer(size))])
}
/// Returns the fields of a mesh.
pub(crate) fn mesh(axes: Vec<Attribute>, devices: Vec<i64>) -> Fields {
    named([("axes", Attribute::Array(axes)), ("device_ids", Attribute::Integers(devices))])
}
/// Returns a part of a sharding: an axis, or the part of an axis with the size before it and its
/// own size.
pub(crate) fn axis(name: Vec<u8>, part: Option<(i64, i64)>) -> Attribute {
    let part = part
        .into_iter()
        .flat_map(|(before, size)| [("pre_size", integer(before)), ("size", integer(size))]);
    dictionary([("name", Attribute::String(name))].into_iter().chain(part))
}
/// Returns the sharding of a dimension: its axes, whether more may be added, and its priority.
pub(crate) fn dimension(axes: Vec<Attribute>, closed: bool, priority: Option<i64>) -> Attribute {
    let fixed = [("axes", Attribute::Array(axes)), ("closed", Attribute::Bool(closed))];
    dictionary(fixed.into_iter().chain(priority.map(|priority| ("priority", integer(priority)))))
}
/// Returns the fields of a sharding.
pub(crate) fn sharding(
    mesh: Attribute,
    dimensions: Vec<Attribute>,
    replicated: Vec<Attribute>,
    unreduced: Unreduced,
) -> Fields {
    let mut fields = Attributes::default();
    let mut set = |name, value| fields.0.push((SmolStr::new_static(name), value));
    set("mesh", mesh);
    set("dimensions", Attribute::Array(dimensions));
    set("replicated", Attribute::Array(replicated));
    set("unreduced", Attribute::Array(unreduced.axes));
    if let Some(reduction) = unreduced.reduction.filter(|reduction| *reduction != "sum") {
        set("reduction", Attribute::String(reduction.into()));
    }
    Fields::Named(fields)
}
