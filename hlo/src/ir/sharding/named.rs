//! `{mesh['x'=2,'y'=4], [{'x'}, {?}]}`: shardings along the named axes of a mesh.
use super::{Placement, Reduction, parts};
use crate::diag::{Code, nearest};
use crate::ir::Metadata;
use crate::op::value::{AxisRef, Mesh, MeshAxis, MeshDevices, SubAxis, mesh};
use crate::text::Cursor;
use crate::text::grammar::{
    Parsed, Parser, alt, checked, expecting, lift, list, map, symbol, token, value,
};
use crate::{Error, Result};

/// A sharding along the axes of a mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedSharding {
    /// The devices.
    pub mesh: Mesh,
    /// The division of the value along the axes.
    pub axes: NamedAxes,
    /// Axes along which every device has the same value.
    pub replicated: Vec<AxisRef>,
    /// Axes along which each device has a partial result of a pending reduction.
    pub unreduced: Vec<AxisRef>,
    /// The pending reduction.
    pub reduction: Reduction,
    /// Manual axes.
    pub manual: Vec<AxisRef>,
}

/// The division of a value along the axes of a mesh.
#[derive(Debug, Clone, PartialEq)]
pub enum NamedAxes {
    /// For each dimension of the value, the axes it is divided along. Empty for a mesh of one
    /// device.
    Dims(Vec<NamedDim>),
    /// `replicated`
    Replicated,
    /// `manual`
    Manual,
    /// `unreduced`
    Unreduced,
}

/// One dimension of a value.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedDim {
    /// The axes it is divided along, the slowest first.
    pub axes: Vec<AxisRef>,
    /// `?`: it may be divided further.
    pub open: bool,
}

/// Returns whether the mesh is a single device without axes.
fn is_maximal(mesh: &Mesh) -> bool {
    matches!(mesh.devices, MeshDevices::Maximal(_))
}

/// Returns whether a sharding that starts here is a named one.
pub(super) fn starts(c: &Cursor<'_>) -> bool {
    matches!(c.peek_word(), Some("mesh" | "maximal_mesh"))
}

/// Parses from the mesh up to the closing brace, which is not consumed.
pub(super) fn parse(c: &mut Cursor<'_>) -> Result<(Placement, Vec<Metadata>)> {
    c.blank();
    let start = c.offset();
    let mesh = c.parse(checked(lift(Mesh::parse), |mesh| check_devices(&mesh).map(|()| mesh)))?;
    let mut sharding = NamedSharding {
        axes: NamedAxes::Dims(Vec::new()),
        replicated: Vec::new(),
        unreduced: Vec::new(),
        reduction: Reduction::Sum,
        manual: Vec::new(),
        mesh,
    };
    if !is_maximal(&sharding.mesh) {
        c.eat(b',');
        sharding.axes = axes(c, &mut sharding)?;
    }
    let mut metadata = Vec::new();
    let mut seen = Vec::new();
    while c.eat(b',') {
        let (key, span) = c.attribute_name()?;
        if seen.contains(&key) {
            return Err(Error::from(Code::DuplicateAttribute { name: key.into() }).at(span));
        }
        seen.push(key);
        match key {
            "metadata" => metadata = parts::metadata(c)?,
            _ if !matches!(sharding.axes, NamedAxes::Dims(_)) => return Err(unknown(key).at(span)),
            "replicated" => sharding.replicated = mesh::axes(c)?,
            "manual" => sharding.manual = mesh::axes(c)?,
            "unreduced" => {
                sharding.reduction = parts::reduction(c)?;
                sharding.unreduced = mesh::axes(c)?;
            }
            _ => return Err(unknown(key).at(span)),
        }
    }
    sharding.complete().map_err(|e| e.at(c.span_from(start)))?;
    Ok((Placement::Named(Box::new(sharding)), metadata))
}

#[cold]
fn unknown(key: &str) -> Error {
    let name = key.to_owned();
    let error = Error::from(Code::UnknownAttribute { op: "a mesh sharding".into(), name });
    match nearest(key, ["replicated", "unreduced", "manual", "metadata"]) {
        Some(name) if name != key => error.with_help(format!("did you mean `{name}`?")),
        _ => error,
    }
}

/// Fails unless every device is listed once.
fn check_devices(mesh: &Mesh) -> Result<()> {
    let MeshDevices::List(ids) = &mesh.devices else { return Ok(()) };
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    if sorted.iter().zip(0..).all(|(&id, i)| id == i) {
        return Ok(());
    }
    let message = "`device_ids` must list every device, counted from 0, exactly once".to_owned();
    Err(Code::AttributeValue { message }.into())
}

/// Parses `[{'x'}, {?}]`, or a word for the whole value.
fn axes(c: &mut Cursor<'_>, sharding: &mut NamedSharding) -> Result<NamedAxes> {
    const EXPECTED: &str = "`[`, `replicated`, `manual` or `unreduced`";
    let word = alt((
        map(list('[', dim, ']'), NamedAxes::Dims),
        value(NamedAxes::Replicated, token("replicated")),
        value(NamedAxes::Manual, token("manual")),
        value(NamedAxes::Unreduced, token("unreduced")),
    ));
    let axes = c.parse(expecting(EXPECTED, None, word))?;
    if axes == NamedAxes::Unreduced {
        if c.next_byte() == Some(b'=') {
            c.skip(1);
            sharding.reduction = parts::reduction(c)?;
        }
        if c.peek() == Some(b'{') {
            sharding.unreduced = mesh::axes(c)?;
        }
    }
    Ok(axes)
}

/// Parses `{'x', 'y', ?}`.
fn dim(input: Cursor<'_>) -> Parsed<'_, NamedDim> {
    let axis = alt((value(None, symbol('?')), map(lift(AxisRef::parse), Some)));
    let dim = checked(list('{', axis, '}'), |mut axes| {
        let open = axes.pop_if(|axis| axis.is_none()).is_some();
        let axes = axes.into_iter().collect::<Option<Vec<_>>>().ok_or_else(|| {
            let message = "`?` must be the last of the axes of a dimension".to_owned();
            Error::from(Code::AttributeValue { message })
        });
        Ok(NamedDim { axes: axes?, open })
    });
    { dim }.parse(input)
}

impl NamedSharding {
    /// Checks the axes, gives them their names, and returns the form XLA keeps.
    pub(crate) fn complete(&mut self) -> Result<()> {
        check_devices(&self.mesh)?;
        self.resolve()?;
        self.normalize();
        Ok(())
    }
    /// Fails unless every axis is one of the mesh and no sub-axis is used twice. Axes given by
    /// number get their names.
    fn resolve(&mut self) -> Result<()> {
        let wrong = |message: String| Err(Code::AttributeValue { message }.into());
        let Self { mesh, axes, replicated, unreduced, manual, .. } = self;
        if mesh.axes.is_empty() && matches!(axes, NamedAxes::Manual | NamedAxes::Unreduced) {
            return wrong("a mesh without axes can only be replicated".to_owned());
        }
        let dims = match axes {
            NamedAxes::Dims(dims) => dims.as_mut_slice(),
            NamedAxes::Replicated | NamedAxes::Manual | NamedAxes::Unreduced => &mut [],
        };
        let dims = dims.iter_mut().flat_map(|dim| &mut dim.axes);
        // The used range of each axis: from one stride up to another.
        let mut used: Vec<(usize, i64, i64)> = Vec::new();
        for axis in dims.chain(replicated).chain(unreduced).chain(manual) {
            let (at, SubAxis { pre, size }) = axis.resolve(mesh)?;
            // A whole axis of size 1 counts as used, too.
            let (from, to) = (pre, (pre * size).max(pre + 1));
            if used.iter().any(|&(axis, start, end)| axis == at && start < to && from < end) {
                return wrong(format!("axis `{}` is used twice", axis.name));
            }
            used.push((at, from, to));
        }
        Ok(())
    }

    /// Uses a word where all axes have the same role and no dimension is named, as XLA does.
    fn normalize(&mut self) {
        if is_maximal(&self.mesh) {
            return;
        }
        let mesh = &self.mesh.axes;
        let no_dims = matches!(&self.axes, NamedAxes::Dims(dims) if dims.is_empty());
        let used = [&self.replicated, &self.unreduced, &self.manual];
        let all = |axes: &[AxisRef]| {
            let whole =
                |(axis, of): (&AxisRef, &MeshAxis)| axis.part.is_none() && axis.name == of.name;
            !mesh.is_empty() && axes.len() == mesh.len() && axes.iter().zip(mesh).all(whole)
        };
        if !no_dims {
            return;
        }
        if used.iter().all(|axes| axes.is_empty()) {
            self.axes = NamedAxes::Replicated;
        } else if all(&self.manual) {
            (self.axes, self.manual) = (NamedAxes::Manual, Vec::new());
        } else if all(&self.unreduced) {
            (self.axes, self.unreduced) = (NamedAxes::Unreduced, Vec::new());
        }
    }

    pub(super) fn print(&self, out: &mut String) {
        self.mesh.print(out);
        if is_maximal(&self.mesh) {
            return;
        }
        match &self.axes {
            NamedAxes::Replicated => out.push_str(", replicated"),
            NamedAxes::Manual => out.push_str(", manual"),
            NamedAxes::Unreduced => {
                out.push_str(", unreduced");
                let reduction = self.reduction.name();
                if let Some(name) = reduction {
                    out.push('=');
                    out.push_str(name);
                }
                if !self.unreduced.is_empty() {
                    print_axes(out, &self.unreduced, false);
                }
                return;
            }
            NamedAxes::Dims(dims) => {
                out.push_str(", [");
                for (i, dim) in dims.iter().enumerate() {
                    out.push_str(if i > 0 { ", " } else { "" });
                    print_axes(out, &dim.axes, dim.open);
                }
                out.push(']');
            }
        }
        let lists = [
            (", replicated=", Reduction::Sum, &self.replicated),
            (", unreduced=", self.reduction, &self.unreduced),
            (", manual=", Reduction::Sum, &self.manual),
        ];
        for (name, reduction, axes) in lists.into_iter().filter(|(_, _, axes)| !axes.is_empty()) {
            out.push_str(name);
            out.push_str(reduction.name().unwrap_or(""));
            print_axes(out, axes, false);
        }
    }
}

fn print_axes(out: &mut String, axes: &[AxisRef], open: bool) {
    out.push('{');
    for (i, axis) in axes.iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        axis.print(out);
    }
    if open {
        out.push_str(if axes.is_empty() { "?" } else { ", ?" });
    }
    out.push('}');
}
