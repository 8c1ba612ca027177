//! `mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0))`: devices with named axes; and references to axes,
//! `'x':(2)2`.
use super::IotaDims;
use super::fields::{bad, unknown};
use super::iota::count;
use crate::Result;
use crate::diag::quantity;
use crate::text::Cursor;
use crate::text::grammar::{
    after, alt, checked, cut, delimited, int, items, lift, list, map, opt, pair, peek, preceded,
    separated_pair, size, symbol, terminated, token,
};
use crate::text::number::{push_int, push_ints};
use smol_str::SmolStr;

/// Devices in an array whose axes have names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Mesh {
    /// The axes, the slowest-varying first.
    pub axes: Vec<MeshAxis>,
    /// The device at each position.
    pub devices: MeshDevices,
}

/// An axis of a mesh.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MeshAxis {
    /// Its name, without quotes.
    pub name: SmolStr,
    /// Number of devices along it.
    pub size: i64,
}

/// The devices of a mesh in row-major order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum MeshDevices {
    /// 0, 1, 2, ..
    Ordered,
    /// `device_ids=([4,2]T(1,0))`
    Iota(IotaDims),
    /// `device_ids=(3,1,2,0)`
    List(Vec<i64>),
    /// `maximal_mesh[device_id=3]`: one device, and no axes.
    Maximal(i64),
}

/// An axis of a mesh, or a sub-axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AxisRef {
    /// Name of the axis, without quotes.
    pub name: SmolStr,
    /// The sub-axis, if it is not the whole axis.
    pub part: Option<SubAxis>,
}

/// `:(2)4`: the second dimension of an axis reshaped to `pre x size x rest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SubAxis {
    /// Product of the sizes before it.
    pub pre: i64,
    /// Its own size.
    pub size: i64,
}

impl Mesh {
    /// Returns the number of devices.
    pub fn device_count(&self) -> i64 {
        self.axes.iter().map(|axis| axis.size).product()
    }
    /// Returns the devices in row-major order.
    pub fn device_ids(&self) -> Vec<i64> {
        match &self.devices {
            MeshDevices::Ordered => (0..self.device_count()).collect(),
            MeshDevices::Iota(iota) => iota.expand(),
            MeshDevices::List(ids) => ids.clone(),
            MeshDevices::Maximal(id) => vec![*id],
        }
    }
    /// Returns the position of the axis with this name, or else with this number.
    pub fn axis(&self, name: &str) -> Option<usize> {
        let named = self.axes.iter().position(|axis| axis.name == name);
        named.or_else(|| name.parse().ok().filter(|&number| number < self.axes.len()))
    }

    /// Returns the mesh of these axes and devices.
    ///
    /// # Errors
    /// `E0107` if two axes have the same name, or there is another number of devices.
    pub fn new(axes: Vec<MeshAxis>, devices: MeshDevices) -> Result<Self> {
        let mut mesh = Self { axes, devices: MeshDevices::Ordered };
        mesh.check()?;
        mesh.set_devices(devices)?;
        Ok(mesh)
    }
    /// Sets the devices; those in order need no list.
    fn set_devices(&mut self, devices: MeshDevices) -> Result<()> {
        let (ordered, found) = match &devices {
            MeshDevices::Ordered => return Ok(()),
            MeshDevices::Maximal(_) if self.axes.is_empty() => (false, Some(self.device_count())),
            MeshDevices::Maximal(_) => (false, Some(1)),
            MeshDevices::Iota(iota) => (iota.transpose().is_none(), Some(iota.count())),
            MeshDevices::List(ids) => {
                let ordered = ids.iter().zip(0i64..).all(|(&id, i)| id == i);
                (ordered, i64::try_from(ids.len()).ok())
            }
        };
        let (found, expected) = (found.unwrap_or(i64::MAX), self.device_count());
        if found != expected {
            let message = format!(
                "the mesh has {}, but `device_ids` has {found}",
                quantity(expected, "device")
            );
            return Err(bad(message));
        }
        self.devices = if ordered { MeshDevices::Ordered } else { devices };
        Ok(())
    }

    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        if c.eat_token("maximal_mesh") {
            let id = preceded(lift(device_id), int);
            let devices = map(delimited(symbol('['), id, symbol(']')), MeshDevices::Maximal);
            return Ok(Self { axes: Vec::new(), devices: c.parse(devices)? });
        }
        let axis = map(separated_pair(lift(quoted), symbol('='), size), |(name, size)| MeshAxis {
            name,
            size,
        });
        let axes = preceded(token("mesh"), list('[', axis, ']'));
        let mut mesh = c.parse(checked(axes, |axes| {
            let mesh = Self { axes, devices: MeshDevices::Ordered };
            mesh.check().map(|()| mesh)
        }))?;
        let listed = map(items(size, ')'), MeshDevices::List);
        let iota = map(terminated(IotaDims::grammar, symbol(')')), MeshDevices::Iota);
        let devices = checked(alt((iota, listed)), |devices| mesh.set_devices(devices));
        let devices = preceded((lift(Cursor::attribute_name), symbol('(')), devices);
        c.parse(opt(preceded((symbol(','), peek(token("device_ids"))), cut(devices))))?;
        Ok(mesh)
    }
    fn check(&self) -> Result<()> {
        let sizes: Vec<_> = self.axes.iter().map(|axis| axis.size).collect();
        count(&sizes)?;
        for (i, axis) in self.axes.iter().enumerate() {
            check_name(&axis.name)?;
            if self.axes[..i].iter().any(|other| other.name == axis.name) {
                return Err(bad(format!("the mesh has two axes `{}`", axis.name)));
            }
        }
        Ok(())
    }
    pub(crate) fn print(&self, out: &mut String) {
        if let MeshDevices::Maximal(id) = self.devices {
            out.push_str("maximal_mesh[device_id=");
            push_int(out, id);
            return out.push(']');
        }
        out.push_str("mesh[");
        for (i, axis) in self.axes.iter().enumerate() {
            out.push_str(if i > 0 { "," } else { "" });
            push_quoted(out, &axis.name);
            out.push('=');
            push_int(out, axis.size);
        }
        out.push(']');
        match &self.devices {
            MeshDevices::Ordered | MeshDevices::Maximal(_) => return,
            MeshDevices::Iota(iota) => {
                out.push_str(", device_ids=(");
                iota.print(out);
            }
            MeshDevices::List(ids) => {
                out.push_str(", device_ids=(");
                push_ints(out, ids);
            }
        }
        out.push(')');
    }
}

impl AxisRef {
    /// Returns a reference to the whole axis.
    pub fn new(name: impl Into<SmolStr>) -> Self {
        Self { name: name.into(), part: None }
    }
    /// Replaces the number of the axis by its name, and checks that the mesh has it. Returns its
    /// position and the range of the reference: the product before, the size.
    pub(crate) fn resolve(&mut self, mesh: &Mesh) -> Result<(usize, SubAxis)> {
        let Some(position) = mesh.axis(&self.name) else {
            let names: Vec<_> = mesh.axes.iter().map(|axis| format!("`{}`", axis.name)).collect();
            let error = bad(format!("the mesh has no axis `{}`", self.name));
            return Err(match names.as_slice() {
                [] => error,
                names => error.with_help(format!("use one of its axes: {}", names.join(", "))),
            });
        };
        let axis = &mesh.axes[position];
        self.name = axis.name.clone();
        let Some(part) = self.part else {
            return Ok((position, SubAxis { pre: 1, size: axis.size }));
        };
        let divides = part.pre.checked_mul(part.size).is_some_and(|n| n > 0 && axis.size % n == 0);
        if part.pre < 1 || part.size < 2 || !divides {
            let SubAxis { pre, size } = part;
            let message =
                format!("`:({pre}){size}` is not a sub-axis of an axis of size {}", axis.size);
            return Err(bad(message));
        }
        if part.size == axis.size {
            let error = bad(format!("the sub-axis is the whole axis `{}`", self.name));
            return Err(error.with_help(format!("write `'{}'`", self.name)));
        }
        Ok((position, part))
    }

    pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
        let part = pair(delimited(symbol('('), size, symbol(')')), size);
        let part = map(part, |(pre, size)| SubAxis { pre, size });
        c.parse(map((lift(quoted), after(':', part)), |(name, part)| Self { name, part }))
    }

    pub(crate) fn print(&self, out: &mut String) {
        push_quoted(out, &self.name);
        if let Some(SubAxis { pre, size }) = self.part {
            out.push_str(":(");
            push_int(out, pre);
            out.push(')');
            push_int(out, size);
        }
    }
}

/// Parses `device_id=`.
fn device_id(c: &mut Cursor<'_>) -> Result<()> {
    let (name, span) = c.attribute_name()?;
    match name {
        "device_id" => Ok(()),
        _ => Err(unknown(&format!("unknown field `{name}`"), name, &["device_id"]).at(span)),
    }
}
/// Returns the axes between braces.
pub(crate) fn axes(c: &mut Cursor<'_>) -> Result<Vec<AxisRef>> {
    c.parse(list('{', lift(AxisRef::parse), '}'))
}
/// Writes axes between braces, with commas between them.
pub(crate) fn push_axes(out: &mut String, axes: &[AxisRef]) {
    out.push('{');
    for (i, axis) in axes.iter().enumerate() {
        out.push_str(if i > 0 { "," } else { "" });
        axis.print(out);
    }
    out.push('}');
}

/// Parses a name in quotes of either kind. XLA prints names without escapes, so that one with a
/// quote or a backslash could not be parsed again; such names are rejected.
fn quoted(c: &mut Cursor<'_>) -> Result<SmolStr> {
    const EXPECTED: &str = "the name of an axis in quotes";
    c.blank();
    let start = c.offset();
    let Some(quote @ (b'\'' | b'"')) = c.next_byte() else { return Err(c.expected(EXPECTED)) };
    let inside = &c.rest()[1..];
    let Some(end) = inside.find(char::from(quote)) else { return Err(c.expected(EXPECTED)) };
    let name = &inside[..end];
    c.skip(end + 2);
    check_name(name).map_err(|error| error.at(c.span_from(start)))?;
    Ok(name.into())
}

/// Fails if the name cannot be written in quotes.
fn check_name(name: &str) -> Result<()> {
    match name.contains(['\'', '\\']) || name.chars().any(char::is_control) {
        true => Err(bad("the name of an axis must have neither quotes nor escapes")),
        false => Ok(()),
    }
}

fn push_quoted(out: &mut String, name: &str) {
    out.push('\'');
    out.push_str(name);
    out.push('\'');
}

#[cfg(test)]
mod tests {
    use super::super::fields::{read, value_tests};
    use super::*;

    value_tests!(Mesh);

    #[test]
    fn meshes_round_trip() {
        for (text, printed) in [
            ("mesh[]", "mesh[]"),
            ("mesh['x'=2,'y'=4]", "mesh['x'=2,'y'=4]"),
            ("mesh[\"x\" = 2, 'a b'=4]", "mesh['x'=2,'a b'=4]"),
            ("maximal_mesh[device_id=5]", "maximal_mesh[device_id=5]"),
            (
                "mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0))",
                "mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0))",
            ),
            ("mesh['x'=4], device_ids=([2,2]T(1,0))", "mesh['x'=4], device_ids=([2,2]T(1,0))"),
            ("mesh['x'=2,'y'=2], device_ids=([4])", "mesh['x'=2,'y'=2]"),
            ("mesh['x'=2,'y'=2], device_ids=([2,2]T(0,1))", "mesh['x'=2,'y'=2]"),
            ("mesh['x'=2,'y'=2], device_ids=(3, 1,2,0)", "mesh['x'=2,'y'=2], device_ids=(3,1,2,0)"),
            ("mesh['x'=4], device_ids=(0,1,2,3)", "mesh['x'=4]"),
        ] {
            assert_eq!(round_trip(text), printed);
        }
    }
    #[test]
    fn a_comma_after_a_mesh_is_left_standing() {
        let mut c = Cursor::new("mesh['x'=2], [{'x'}]");
        Mesh::parse(&mut c).unwrap();
        assert_eq!(c.rest(), ", [{'x'}]");
    }
    #[test]
    fn rejections() {
        for (text, place, message) in [
            ("mesh['x'=2,'x'=2]", "mesh['x'=2,'x'=2]", "the mesh has two axes `x`"),
            ("mesh['x'=0]", "mesh['x'=0]", "`0` is not a number of devices"),
            ("mesh['x'=2147483649]", "mesh['x'=2147483649]", "`2147483649` are more than 2^31 ids"),
            (
                "mesh['x'=2,'y'=2], device_ids=(3,1,2)",
                "3,1,2)",
                "the mesh has 4 devices, but `device_ids` has 3",
            ),
            ("mesh[x=2]", "x", "expected the name of an axis in quotes, found `x`"),
            (
                "mesh['y\\'z'=2]",
                "'y\\'",
                "the name of an axis must have neither quotes nor escapes",
            ),
            ("maximal_mesh[id=2]", "id", "unknown field `id`"),
        ] {
            let (at, found, _) = rejected(text);
            assert_eq!((at, found.as_str()), (place, message), "{text}");
        }
    }
    #[test]
    fn references_are_resolved_by_name_or_number() {
        let mesh = read("mesh['x'=2,'y'=8]", Mesh::parse).unwrap();
        let resolve = |text: &str| {
            let mut axis = read(text, AxisRef::parse).unwrap();
            let found = axis.resolve(&mesh).map_err(|error| error.code().to_string());
            found.map(|(position, part)| {
                let mut out = String::new();
                axis.print(&mut out);
                (position, part.pre, part.size, out)
            })
        };
        assert_eq!(resolve("'x'"), Ok((0, 1, 2, "'x'".to_owned())));
        assert_eq!(resolve("'1'"), Ok((1, 1, 8, "'y'".to_owned())));
        assert_eq!(resolve("'y': (2) 2"), Ok((1, 2, 2, "'y':(2)2".to_owned())));
        assert_eq!(resolve("'z'"), Err("the mesh has no axis `z`".to_owned()));
        assert_eq!(resolve("'2'"), Err("the mesh has no axis `2`".to_owned()));
        assert_eq!(resolve("'y':(1)8"), Err("the sub-axis is the whole axis `y`".to_owned()));
        assert_eq!(
            resolve("'y':(1)3"),
            Err("`:(1)3` is not a sub-axis of an axis of size 8".to_owned())
        );
        assert_eq!(
            resolve("'y':(2)1"),
            Err("`:(2)1` is not a sub-axis of an axis of size 8".to_owned())
        );
        assert_eq!(
            resolve("'y':(0)2"),
            Err("`:(0)2` is not a sub-axis of an axis of size 8".to_owned())
        );
    }
}
