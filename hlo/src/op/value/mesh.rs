//! `mesh['x'=2,'y'=4], device_ids=(...)`: devices with named axes.
use super::IotaDims;
use crate::diag::Code;
use crate::text::print::push_int;
use crate::text::{Cursor, strings};
use crate::{Error, Result};
use smol_str::SmolStr;

/// Devices laid out along named axes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Mesh {
    /// `mesh['x'=2,'y'=4]`
    Axes {
        /// Name and size of each axis, the slowest first.
        axes: Vec<(SmolStr, i64)>,
        /// Which device stands where; in order if absent.
        devices: Option<MeshDevices>,
    },
    /// `maximal_mesh[device_id=3]`
    Maximal(i64),
}

/// Which device stands where in a mesh.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum MeshDevices {
    /// One after the other.
    List(Vec<i64>),
    /// Counted off.
    Iota(IotaDims),
}

/// `'x'` or `'x':(2)4`: an axis, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AxisRef {
    /// Its name.
    pub name: SmolStr,
    /// Of a part: the product of the sizes before it, and its size.
    pub part: Option<(i64, i64)>,
}

fn print_name(out: &mut String, name: &str) {
    out.push('\'');
    strings::print_escaped(out, name);
    out.push('\'');
}

impl Mesh {
    /// Reads from the word `mesh` or `maximal_mesh` on.
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        if c.eat_token("maximal_mesh") {
            c.expect(b'[')?;
            c.expect_token("device_id=")?;
            let device = c.size()?;
            c.expect(b']')?;
            return Ok(Self::Maximal(device));
        }
        c.expect_token("mesh")?;
        let axes = c.list(b'[', b']', |c| {
            let name = strings::string(c)?;
            c.expect(b'=')?;
            Ok((SmolStr::from(name), c.size()?))
        })?;
        let mut ahead = *c;
        let devices = if ahead.eat(b',') && ahead.eat_token("device_ids=") {
            *c = ahead;
            c.expect(b'(')?;
            let devices = match c.peek() {
                Some(b'[') => MeshDevices::Iota(IotaDims::parse(c)?),
                _ => {
                    let list = c.list_rest(b')', Cursor::size)?;
                    return Ok(Self::Axes { axes, devices: Some(MeshDevices::List(list)) });
                }
            };
            c.expect(b')')?;
            Some(devices)
        } else {
            None
        };
        Ok(Self::Axes { axes, devices })
    }
    pub(crate) fn print(&self, out: &mut String) {
        let (axes, devices) = match self {
            Self::Maximal(device) => {
                out.push_str("maximal_mesh[device_id=");
                push_int(out, *device);
                out.push(']');
                return;
            }
            Self::Axes { axes, devices } => (axes, devices),
        };
        out.push_str("mesh[");
        for (i, (name, size)) in axes.iter().enumerate() {
            out.push_str(if i > 0 { "," } else { "" });
            print_name(out, name);
            out.push('=');
            push_int(out, *size);
        }
        out.push(']');
        match devices {
            None => {}
            Some(MeshDevices::Iota(iota)) => {
                out.push_str(", device_ids=(");
                iota.print(out);
                out.push(')');
            }
            Some(MeshDevices::List(list)) => {
                out.push_str(", device_ids=(");
                for (i, &device) in list.iter().enumerate() {
                    out.push_str(if i > 0 { "," } else { "" });
                    push_int(out, device);
                }
                out.push(')');
            }
        }
    }
    /// The devices in the mesh's order.
    pub fn devices(&self) -> Vec<i64> {
        match self {
            Self::Maximal(device) => vec![*device],
            Self::Axes { devices: Some(MeshDevices::List(list)), .. } => list.clone(),
            Self::Axes { devices: Some(MeshDevices::Iota(iota)), .. } => iota.expand(),
            Self::Axes { axes, devices: None } => (0..axes.iter().map(|(_, size)| size).product()).collect(),
        }
    }
    /// The groups the listed axes form: the first axis varies slowest inside a group.
    pub(crate) fn groups(&self, axes: &[AxisRef]) -> Result<Vec<Vec<i64>>> {
        let wrong = |message: String| Error::from(Code::AttributeValue { message });
        let Self::Axes { axes: mesh, .. } = self else {
            return Err(wrong("a mesh of one device has no axes".to_owned()));
        };
        // Split every axis into the parts that are named and what lies around them: (axis, size, stride).
        let mut stride = 1i64;
        let mut strides = vec![0; mesh.len()];
        for (slot, (_, size)) in strides.iter_mut().zip(mesh).rev() {
            *slot = stride;
            stride = stride.checked_mul(*size).filter(|&n| n <= 1 << 31).ok_or_else(|| {
                wrong("more devices than any machine has".to_owned())
            })?;
        }
        let mut grouped: Vec<(i64, i64)> = Vec::new();
        let mut cuts: Vec<Vec<(i64, i64)>> = vec![Vec::new(); mesh.len()];
        for axis in axes {
            let by_name = mesh.iter().position(|(name, _)| *name == axis.name);
            let by_number = axis.name.parse().ok().filter(|&i: &usize| i < mesh.len());
            let index = by_name.or(by_number).ok_or_else(|| wrong(format!("the mesh has no axis '{}'", axis.name)))?;
            let size = mesh[index].1;
            let (before, part) = axis.part.unwrap_or((1, size));
            let whole = before.checked_mul(part).filter(|&n| n > 0 && size % n == 0);
            let Some(whole) = whole else {
                return Err(wrong(format!("axis '{}' of size {size} has no part ({before}){part}", axis.name)));
            };
            grouped.push((part, strides[index] * (size / whole)));
            cuts[index].push((before, part));
        }
        let mut rest: Vec<(i64, i64)> = Vec::new();
        for (index, (_, size)) in mesh.iter().enumerate() {
            cuts[index].sort_unstable();
            let mut done = 1;
            for &(before, part) in &cuts[index] {
                if before < done || before % done != 0 {
                    return Err(wrong(format!("parts of axis '{}' overlap", mesh[index].0)));
                }
                rest.push((before / done, strides[index] * (size / before)));
                done = before * part;
            }
            rest.push((size / done.max(1), strides[index]));
        }
        let walk = |dims: &[(i64, i64)]| {
            dims.iter().fold(vec![0], |list: Vec<i64>, &(size, stride)| {
                list.iter().flat_map(|&n| (0..size).map(move |i| n + i * stride)).collect()
            })
        };
        let devices = self.devices();
        let device = |at: i64| usize::try_from(at).ok().and_then(|i| devices.get(i)).copied();
        let inner = walk(&grouped);
        let groups = walk(&rest).into_iter().map(|base| {
            inner.iter().map(|&at| device(base + at)).collect::<Option<Vec<_>>>()
        });
        groups.collect::<Option<_>>().ok_or_else(|| wrong("the mesh lists too few devices".to_owned()))
    }
}

impl AxisRef {
    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let name = SmolStr::from(strings::string(c)?);
        let part = if c.eat(b':') {
            c.expect(b'(')?;
            let before = c.size()?;
            c.expect(b')')?;
            Some((before, c.size()?))
        } else {
            None
        };
        Ok(Self { name, part })
    }
    pub(crate) fn print(&self, out: &mut String) {
        print_name(out, &self.name);
        if let Some((before, size)) = self.part {
            out.push_str(":(");
            push_int(out, before);
            out.push(')');
            push_int(out, size);
        }
    }
}
