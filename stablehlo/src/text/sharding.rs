//! Attributes of Shardy: meshes and shardings.
use super::Parser;
use super::dialect::{integer, named};
use crate::error::Result;
use crate::ir::{Attribute, Attributes, Fields};
use smol_str::SmolStr;

impl Parser<'_> {
    /// Parses the body of an attribute of Shardy with this full name.
    pub(super) fn sharding_attribute(&mut self, name: &str, start: usize) -> Result<Attribute> {
        let fields = match name {
            "sdy.mesh" => self.sharding_mesh()?,
            "sdy.sharding" => self.sharding()?,
            "sdy.sharding_per_value" => {
                self.cursor.expect("<")?;
                let shardings = self.shardings()?;
                self.cursor.expect(">")?;
                return Ok(shardings);
            }
            "sdy.manual_axes" => return self.manual_axes(),
            // A rule says how shardings propagate; the op means the same without it.
            "sdy.op_sharding_rule" => {
                self.balanced()?;
                Fields::Named(Attributes::default())
            }
            _ => {
                if self.cursor.peek_here() == Some(b'{') {
                    self.balanced()?;
                }
                return self.opaque(name, start);
            }
        };
        Ok(Attribute::Dialect(name.into(), fields))
    }
    /// Parses `[<@mesh, [{"x"}]>, ...]`.
    pub(super) fn shardings(&mut self) -> Result<Attribute> {
        let shardings = self.items("[", "]", |parser| {
            parser.sharding().map(|fields| Attribute::Dialect("sdy.sharding".into(), fields))
        })?;
        let fields = named([("shardings", Attribute::Array(shardings))]);
        Ok(Attribute::Dialect("sdy.sharding_per_value".into(), fields))
    }
    /// Parses `{"x", "y"}`.
    pub(super) fn manual_axes(&mut self) -> Result<Attribute> {
        let axes = self.items("{", "}", |parser| {
            parser.string("the name of an axis").map(Attribute::String)
        })?;
        let fields = named([("axes", Attribute::Array(axes))]);
        Ok(Attribute::Dialect("sdy.manual_axes".into(), fields))
    }
    /// Parses `<["x"=2, "y"=4], device_ids=[0, 1]>`.
    pub(super) fn sharding_mesh(&mut self) -> Result<Fields> {
        self.cursor.expect("<")?;
        let axes = self.items("[", "]", |parser| {
            let name = parser.string("the name of an axis")?;
            parser.cursor.expect("=")?;
            let size = parser.cursor.integer("a size")?;
            Ok(mesh_axis(name, size))
        })?;
        let devices = if self.cursor.eat(",") {
            self.cursor.expect("device_ids")?;
            self.cursor.expect("=")?;
            self.cursor.integers("[", "]")?
        } else {
            Vec::new()
        };
        self.cursor.expect(">")?;
        Ok(mesh(axes, devices))
    }
    /// Parses `<@mesh, [{"x"}, {"y":(1)2, ?}p1], replicated={"z"}, unreduced={"w"}>`.
    pub(super) fn sharding(&mut self) -> Result<Fields> {
        self.cursor.expect("<")?;
        let mesh = if self.cursor.eat_word("mesh") {
            Attribute::Dialect("sdy.mesh".into(), self.sharding_mesh()?)
        } else {
            Attribute::Symbol(self.symbol()?)
        };
        self.cursor.expect(",")?;
        let dimensions = self.items("[", "]", Self::dimension_sharding)?;
        let (mut replicated, mut unreduced) = (Vec::new(), Vec::new());
        while self.cursor.eat(",") {
            let axes = if self.cursor.eat_word("replicated") {
                &mut replicated
            } else {
                self.cursor.expect("unreduced")?;
                &mut unreduced
            };
            self.cursor.expect("=")?;
            *axes = self.items("{", "}", Self::sharding_axis)?;
        }
        self.cursor.expect(">")?;
        Ok(sharding(mesh, dimensions, replicated, unreduced))
    }
    fn dimension_sharding(&mut self) -> Result<Attribute> {
        let mut closed = true;
        let mut axes = Vec::new();
        self.items("{", "}", |parser| {
            if parser.cursor.eat("?") {
                closed = false;
            } else {
                axes.push(parser.sharding_axis()?);
            }
            Ok(())
        })?;
        let mut ahead = self.cursor;
        let priority = ahead.identifier().and_then(|word| word.strip_prefix('p')?.parse().ok());
        if priority.is_some() {
            self.cursor = ahead;
        }
        Ok(dimension(axes, closed, priority))
    }
    /// Parses `"x"` or `"x":(1)2`.
    fn sharding_axis(&mut self) -> Result<Attribute> {
        let name = self.string("the name of an axis")?;
        if !self.cursor.eat(":") {
            return Ok(axis(name, None));
        }
        self.cursor.expect("(")?;
        let before = self.cursor.integer("a size")?;
        self.cursor.expect(")")?;
        let size = self.cursor.integer("a size")?;
        Ok(axis(name, Some((before, size))))
    }
}

fn dictionary(entries: impl IntoIterator<Item = (&'static str, Attribute)>) -> Attribute {
    let entries = entries.into_iter().map(|(name, value)| (SmolStr::new_static(name), value));
    Attribute::Dictionary(Attributes(entries.collect()))
}
/// Returns an axis of a mesh: a dictionary of its name and size.
pub(crate) fn mesh_axis(name: Vec<u8>, size: i64) -> Attribute {
    dictionary([("name", Attribute::String(name)), ("size", integer(size))])
}
/// Returns the fields of a mesh.
pub(crate) fn mesh(axes: Vec<Attribute>, devices: Vec<i64>) -> Fields {
    named([("axes", Attribute::Array(axes)), ("device_ids", Attribute::Integers(devices))])
}
/// Returns a part of a sharding: an axis, or the part of an axis with the size before it and its own size.
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
    unreduced: Vec<Attribute>,
) -> Fields {
    named([
        ("mesh", mesh),
        ("dimensions", Attribute::Array(dimensions)),
        ("replicated", Attribute::Array(replicated)),
        ("unreduced", Attribute::Array(unreduced)),
    ])
}
