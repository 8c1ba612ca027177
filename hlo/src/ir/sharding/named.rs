//! `{mesh['x'=2,'y'=4], [{'x'}, {?}]}`: shardings along the named axes of a mesh.
use super::text::{self, AxisParts};
use super::{Placement, Reduction};
use crate::diag::{Code, nearest};
use crate::ir::Metadata;
use crate::op::value::{AxisRef, Mesh, MeshDevices};
use crate::text::Cursor;
use crate::{Error, Result};

/// A sharding along the axes of a mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedSharding {
    /// The devices.
    pub mesh: Mesh,
    /// How the value lies along its axes.
    pub axes: NamedAxes,
    /// Axes along which every device has the same.
    pub replicated: Vec<AxisRef>,
    /// Axes along which each device has a part of a reduction still to be made.
    pub unreduced: Vec<AxisRef>,
    /// That reduction.
    pub reduction: Reduction,
    /// Axes along which the program itself says what each device has.
    pub manual: Vec<AxisRef>,
}

/// How a value lies along the axes of a mesh.
#[derive(Debug, Clone, PartialEq)]
pub enum NamedAxes {
    /// For each dimension of the value, the axes it is divided along. Empty for a mesh of one device.
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

/// Whether a sharding that starts here is a named one.
pub(super) fn starts(c: &Cursor<'_>) -> bool {
    matches!(c.peek_word(), Some("mesh" | "maximal_mesh"))
}

/// Reads from the mesh up to the closing brace, which is left standing.
pub(super) fn parse(c: &mut Cursor<'_>) -> Result<(Placement, Vec<Metadata>)> {
    let start = { c.blank(); c.offset() };
    let mesh = mesh(c)?;
    let mut sharding = NamedSharding {
        axes: NamedAxes::Dims(Vec::new()),
        replicated: Vec::new(),
        unreduced: Vec::new(),
        reduction: Reduction::Sum,
        manual: Vec::new(),
        mesh,
    };
    if !matches!(sharding.mesh, Mesh::Maximal(_)) {
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
            "metadata" => metadata = text::metadata(c)?,
            _ if !matches!(sharding.axes, NamedAxes::Dims(_)) => return Err(unknown(key).at(span)),
            "replicated" => sharding.replicated = axis_list(c)?,
            "manual" => sharding.manual = axis_list(c)?,
            "unreduced" => {
                sharding.reduction = text::reduction(c)?;
                sharding.unreduced = axis_list(c)?;
            }
            _ => return Err(unknown(key).at(span)),
        }
    }
    sharding.check().map_err(|e| e.at(c.span_from(start)))?;
    sharding.normalise();
    Ok((Placement::Named(sharding), metadata))
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

fn mesh(c: &mut Cursor<'_>) -> Result<Mesh> {
    let start = { c.blank(); c.offset() };
    let mesh = Mesh::parse(c)?;
    let wrong = |message: String| {
        Err(Error::from(Code::AttributeValue { message }).at(c.span_from(start)))
    };
    let Mesh::Axes { axes, devices } = mesh else { return Ok(mesh) };
    for (i, (name, _)) in axes.iter().enumerate() {
        if axes[..i].iter().any(|(other, _)| other == name) {
            return wrong(format!("the mesh has two axes '{name}'"));
        }
    }
    let Some(count) = axes.iter().try_fold(1i64, |n, (_, size)| n.checked_mul(*size)) else {
        return wrong("more devices than any machine has".to_owned());
    };
    let listed = match &devices {
        None => count,
        Some(MeshDevices::Iota(iota)) => iota.reshape.iter().product(),
        Some(MeshDevices::List(list)) => {
            let mut sorted = list.clone();
            sorted.sort_unstable();
            if sorted.iter().zip(0..).any(|(&device, i)| device != i) {
                return wrong("device_ids lists every device from 0 once".to_owned());
            }
            i64::try_from(list.len()).unwrap_or(i64::MAX)
        }
    };
    if listed != count {
        return wrong(format!("the axes of the mesh have {count} devices, device_ids lists {listed}"));
    }
    // Devices in order need not be listed.
    let in_order = match &devices {
        None => true,
        Some(MeshDevices::Iota(iota)) => iota.transpose.is_none(),
        Some(MeshDevices::List(list)) => list.is_sorted(),
    };
    Ok(Mesh::Axes { axes, devices: devices.filter(|_| !in_order) })
}

/// `[{'x'}, {?}]`, or a word for the whole.
fn axes(c: &mut Cursor<'_>, sharding: &mut NamedSharding) -> Result<NamedAxes> {
    const WANTED: &str = "`[`, `replicated`, `manual` or `unreduced`";
    if c.peek() == Some(b'[') {
        return Ok(NamedAxes::Dims(c.list(b'[', b']', dim)?));
    }
    let before = *c;
    match c.eat_word() {
        Some(("replicated", _)) => Ok(NamedAxes::Replicated),
        Some(("manual", _)) => Ok(NamedAxes::Manual),
        Some(("unreduced", _)) => {
            if c.next_byte() == Some(b'=') {
                c.skip(1);
                sharding.reduction = text::reduction(c)?;
            }
            if c.peek() == Some(b'{') {
                sharding.unreduced = axis_list(c)?;
            }
            Ok(NamedAxes::Unreduced)
        }
        _ => {
            *c = before;
            Err(c.wanted(WANTED))
        }
    }
}

/// `{'x', 'y', ?}`
fn dim(c: &mut Cursor<'_>) -> Result<NamedDim> {
    c.expect(b'{')?;
    let mut dim = NamedDim { axes: Vec::new(), open: false };
    if c.eat(b'}') {
        return Ok(dim);
    }
    loop {
        if c.eat(b'?') {
            dim.open = true;
            break;
        }
        dim.axes.push(AxisRef::parse(c)?);
        if !c.eat(b',') {
            break;
        }
    }
    c.expect(b'}')?;
    Ok(dim)
}

fn axis_list(c: &mut Cursor<'_>) -> Result<Vec<AxisRef>> {
    c.list(b'{', b'}', AxisRef::parse)
}

impl NamedSharding {
    /// Fails unless every axis is one of the mesh's and no part of one is used twice.
    fn check(&self) -> Result<()> {
        let wrong = |message: String| Err(Code::AttributeValue { message }.into());
        let Mesh::Axes { axes: mesh, .. } = &self.mesh else { return Ok(()) };
        if mesh.is_empty() && matches!(self.axes, NamedAxes::Manual | NamedAxes::Unreduced) {
            return wrong("a mesh without axes can only be replicated".to_owned());
        }
        let mut used: Vec<AxisParts<'_>> = Vec::new();
        for axis in self.all_axes() {
            let Some((_, size)) = mesh.iter().find(|(name, _)| *name == axis.name) else {
                return wrong(format!("the mesh has no axis '{}'", axis.name));
            };
            let parts = match axis.part {
                None => AxisParts { name: &axis.name, from: 1, to: i64::MAX },
                Some((before, part)) => {
                    let to = before.checked_mul(part).filter(|&to| to > 0 && size % to == 0);
                    let (Some(to), true) = (to, part > 1 && part < *size) else {
                        let name = &axis.name;
                        let message = format!("axis '{name}' of size {size} has no part ({before}){part}");
                        return wrong(message);
                    };
                    AxisParts { name: &axis.name, from: before, to }
                }
            };
            if used.iter().any(|other| other.overlaps(&parts)) {
                return wrong(format!("axis '{}' is used twice", axis.name));
            }
            used.push(parts);
        }
        Ok(())
    }
    fn all_axes(&self) -> impl Iterator<Item = &AxisRef> {
        let dims = match &self.axes {
            NamedAxes::Dims(dims) => dims.as_slice(),
            NamedAxes::Replicated | NamedAxes::Manual | NamedAxes::Unreduced => &[],
        };
        let dims = dims.iter().flat_map(|dim| &dim.axes);
        dims.chain(&self.replicated).chain(&self.unreduced).chain(&self.manual)
    }

    /// Uses a word where all axes do the same and no dimension is named, as XLA does.
    fn normalise(&mut self) {
        let Mesh::Axes { axes: mesh, .. } = &self.mesh else { return };
        let no_dims = matches!(&self.axes, NamedAxes::Dims(dims) if dims.is_empty());
        let used = [&self.replicated, &self.unreduced, &self.manual];
        let all = |axes: &[AxisRef]| {
            let whole = |(axis, (name, _)): (&AxisRef, &(_, i64))| axis.part.is_none() && axis.name == *name;
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
        if matches!(self.mesh, Mesh::Maximal(_)) {
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
