//! `mesh['x'=2,'y'=4] {'y'}`: groups of the devices that differ only along some axes of a mesh.
use super::fields::bad;
use super::iota::offsets;
use super::mesh::{Mesh, MeshAxis, MeshDevices, SubAxis, push_axes};
use super::{AxisRef, mesh};
use crate::text::Cursor;
use crate::text::grammar::{lift, opt, peek, spanned, symbol, terminated};
use crate::{Dims, IndexSpace, Result};

/// Groups along axes of a mesh.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MeshGroups {
    mesh: Mesh,
    axes: Vec<AxisRef>,
    /// The range of each of `axes`: position of the axis, and the sub-axis.
    parts: Vec<(usize, SubAxis)>,
}

impl MeshGroups {
    /// Returns groups of the devices that differ only along `axes`; within a group, the first axis
    /// varies slowest.
    pub fn new(mesh: Mesh, mut axes: Vec<AxisRef>) -> Result<Self> {
        let parts: Result<Vec<_>> = axes.iter_mut().map(|axis| axis.resolve(&mesh)).collect();
        let parts = parts?;
        if matches!(mesh.devices, MeshDevices::Maximal(_)) || !parts.iter().any(|(_, p)| p.size > 1)
        {
            let error = bad("the groups have one device each");
            return Err(error.with_help("name axes of the mesh with two devices or more"));
        }
        for (i, &part) in parts.iter().enumerate() {
            for (j, &other) in parts[..i].iter().enumerate().filter(|(_, other)| other.0 == part.0)
            {
                let axis = &mesh.axes[part.0];
                apart(axis, other.1, part.1, j + 1 == i)?;
            }
        }
        Ok(Self { mesh, axes, parts })
    }
    /// Returns the mesh.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }
    /// Returns the axes.
    pub fn axes(&self) -> &[AxisRef] {
        &self.axes
    }
    /// Returns the number of devices in a group.
    pub fn group_size(&self) -> i64 {
        self.parts.iter().map(|(_, part)| part.size).product()
    }
    /// Returns the devices of each group.
    pub fn expand(&self) -> Vec<Vec<i64>> {
        let sizes: Dims = self.mesh.axes.iter().map(|axis| axis.size).collect();
        let strides = sizes.strides();
        // The stride of a sub-axis is the product of the sizes after it.
        let stride = |axis: usize, end: i64| strides[axis] * (sizes[axis] / end);
        let (mut own_sizes, mut own_strides) = (Dims::new(), Dims::new());
        for &(axis, part) in &self.parts {
            own_sizes.push(part.size);
            own_strides.push(stride(axis, part.pre * part.size));
        }
        let (mut other_sizes, mut other_strides) = (Dims::new(), Dims::new());
        for (axis, &size) in sizes.iter().enumerate() {
            let mut covered: Vec<_> =
                self.parts.iter().filter(|part| part.0 == axis).map(|part| part.1).collect();
            covered.push(SubAxis { pre: size, size: 1 });
            covered.sort_unstable_by_key(|part| part.pre);
            let mut done = 1;
            for part in covered {
                // The gap before this sub-axis is not part of the group.
                other_sizes.push(part.pre / done);
                other_strides.push(stride(axis, part.pre));
                done = part.pre * part.size;
            }
        }
        let ids = self.mesh.device_ids();
        let within = offsets(&own_sizes, &own_strides);
        let device = |at: i64| usize::try_from(at).ok().and_then(|at| ids.get(at).copied());
        let group = |base: i64| within.iter().filter_map(|offset| device(base + offset)).collect();
        offsets(&other_sizes, &other_strides).into_iter().map(group).collect()
    }

    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let mesh = Mesh::parse(c)?;
        // A comma before the axes is accepted, but never printed.
        c.parse(opt(terminated(symbol(','), peek(symbol('{')))))?;
        let (axes, span) = c.parse(spanned(lift(mesh::axes)))?;
        Self::new(mesh, axes).map_err(|error| error.at(span))
    }
    pub(crate) fn print(&self, out: &mut String) {
        self.mesh.print(out);
        out.push(' ');
        push_axes(out, &self.axes);
    }
}

/// Fails if two sub-axes overlap, or are adjacent both in the list (`next`) and in the axis.
fn apart(axis: &MeshAxis, first: SubAxis, second: SubAxis, next: bool) -> Result<()> {
    let name = &axis.name;
    let end = |part: SubAxis| part.pre * part.size;
    let (low, high) = if first.pre <= second.pre { (first, second) } else { (second, first) };
    if high.pre < end(low) || high.pre % end(low) != 0 {
        return Err(bad(format!("sub-axes of the axis `{name}` overlap")));
    }
    if !next || end(first) != second.pre {
        return Ok(());
    }
    let size = first.size * second.size;
    let help = if size == axis.size {
        format!("write `'{name}'`")
    } else {
        format!("write them as one: `'{name}':({}){size}`", first.pre)
    };
    Err(bad(format!("two adjacent sub-axes of the axis `{name}` can be merged")).with_help(help))
}

#[cfg(test)]
mod tests {
    use super::super::fields::{read, value_tests};
    use super::*;

    value_tests!(MeshGroups);

    fn groups(text: &str) -> Vec<Vec<i64>> {
        read(text, MeshGroups::parse).unwrap().expand()
    }

    #[test]
    fn groups_follow_the_axes() {
        for (text, expected) in [
            ("mesh['x'=2,'y'=4] {'x'}", vec![vec![0, 4], vec![1, 5], vec![2, 6], vec![3, 7]]),
            ("mesh['x'=2,'y'=4] {'y'}", vec![vec![0, 1, 2, 3], vec![4, 5, 6, 7]]),
            ("mesh['x'=2,'y'=4] {'y','x'}", vec![vec![0, 4, 1, 5, 2, 6, 3, 7]]),
            ("mesh['x'=8] {'x':(2)2}", vec![vec![0, 2], vec![1, 3], vec![4, 6], vec![5, 7]]),
            ("mesh['x'=4] {'x':(1)2}", vec![vec![0, 2], vec![1, 3]]),
            ("mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)) {'x'}", vec![vec![0, 1], vec![2, 3]]),
            ("mesh['x'=2,'y'=2], device_ids=(3,1,2,0) {'y'}", vec![vec![3, 1], vec![2, 0]]),
            ("mesh['x'=8] {'x':(4)2,'x':(1)2}", vec![vec![0, 4, 1, 5], vec![2, 6, 3, 7]]),
        ] {
            assert_eq!(groups(text), expected, "{text}");
        }
    }
    #[test]
    fn groups_round_trip() {
        for (text, printed) in [
            ("mesh['axis_0'=2,'axis_1'=2] {'axis_1'}", "mesh['axis_0'=2,'axis_1'=2] {'axis_1'}"),
            ("mesh['x'=2,'y'=4] {'1'}", "mesh['x'=2,'y'=4] {'y'}"),
            ("mesh[\"x\"=2,'y'=4]{\"x\"}", "mesh['x'=2,'y'=4] {'x'}"),
            ("mesh['x'=2,'y'=2], {'y'}", "mesh['x'=2,'y'=2] {'y'}"),
            ("mesh['x'=8] {'x': (2) 2}", "mesh['x'=8] {'x':(2)2}"),
            (
                "mesh['x'=2,'y'=2], device_ids=(3,1,2,0) {'y'}",
                "mesh['x'=2,'y'=2], device_ids=(3,1,2,0) {'y'}",
            ),
        ] {
            assert_eq!(round_trip(text), printed);
        }
    }
    #[test]
    fn rejections() {
        for (text, place, message) in [
            ("mesh['x'=2,'y'=4] {}", "{}", "the groups have one device each"),
            ("maximal_mesh[device_id=2] {}", "{}", "the groups have one device each"),
            ("mesh['x'=2] {'z'}", "{'z'}", "the mesh has no axis `z`"),
            ("mesh['x'=2] {'3'}", "{'3'}", "the mesh has no axis `3`"),
            ("mesh['x'=2] {'x','x'}", "{'x','x'}", "sub-axes of the axis `x` overlap"),
            (
                "mesh['x'=6] {'x':(1)4}",
                "{'x':(1)4}",
                "`:(1)4` is not a sub-axis of an axis of size 6",
            ),
            (
                "mesh['x'=8] {'x':(1)2,'x':(2)2}",
                "{'x':(1)2,'x':(2)2}",
                "two adjacent sub-axes of the axis `x` can be merged",
            ),
            (
                "mesh['x'=36] {'x':(2)2,'x':(6)3}",
                "{'x':(2)2,'x':(6)3}",
                "sub-axes of the axis `x` overlap",
            ),
        ] {
            let (at, found, _) = rejected(text);
            assert_eq!((at, found.as_str()), (place, message), "{text}");
        }
        let (.., help) = rejected("mesh['x'=4] {'x':(1)2,'x':(2)2}");
        assert_eq!(help, "write `'x'`");
    }
}
