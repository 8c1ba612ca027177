//! Shardings: `mhlo.sharding`, and Shardy's meshes and shardings.
use super::attrs::FromAttribute;
use crate::error::{Code, Error, Result};
use crate::ir::{Attribute, Attributes, Fields, Op};
use hlo::ir::{Placement, Sharding};
use hlo::op::value::{
    AxisRef, IotaDims, Mesh, MeshAxis, MeshDevices, MeshGroups, ReplicaGroups, SubAxis,
};
use smol_str::SmolStr;
use std::fmt::Write;

/// The meshes of a program by name.
#[derive(Default)]
pub(super) struct Meshes(Vec<(SmolStr, Mesh)>);

fn invalid(message: impl Into<String>) -> Error {
    Code::AttributeValue { message: message.into() }.into()
}
fn get<'a, T: FromAttribute<'a>>(fields: &'a Attributes, name: &str) -> Result<T> {
    let found = fields.get(name).and_then(T::from_attribute);
    found.ok_or_else(|| invalid(format!("`{name}` of a sharding must be {}", T::EXPECTED)))
}
fn dictionaries<'a>(fields: &'a Attributes, name: &str) -> Result<Vec<&'a Attributes>> {
    let items = match fields.get(name) {
        Some(_) => get::<&[Attribute]>(fields, name)?,
        None => &[],
    };
    let one = |item| <&Attributes>::from_attribute(item);
    let all = items.iter().map(one).collect::<Option<_>>();
    all.ok_or_else(|| invalid(format!("`{name}` of a sharding must be a list of dictionaries")))
}

/// Returns the mesh of an attribute.
fn mesh(fields: &Attributes) -> Result<Mesh> {
    let axis = |fields: &Attributes| {
        Ok(MeshAxis { name: get::<String>(fields, "name")?.into(), size: get(fields, "size")? })
    };
    get::<&[Attribute]>(fields, "axes")?;
    let axes: Vec<_> =
        dictionaries(fields, "axes")?.into_iter().map(axis).collect::<Result<_>>()?;
    let ids: Vec<i64> = fields.get("device_ids").and_then(<_>::from_attribute).unwrap_or_default();
    let devices = match ids.as_slice() {
        [] => MeshDevices::Ordered,
        [id] if axes.is_empty() => return Ok(Mesh { axes, devices: MeshDevices::Maximal(*id) }),
        ids if ids.iter().zip(0..).all(|(id, place)| *id == place) => MeshDevices::Ordered,
        _ => MeshDevices::List(ids),
    };
    Mesh::new(axes, devices).map_err(|error| invalid(error.code().to_string()))
}
/// Returns references to axes.
fn axes(fields: &Attributes, name: &str) -> Result<Vec<AxisRef>> {
    let one = |fields: &Attributes| {
        let part = match fields.get("pre_size") {
            Some(_) => Some(SubAxis { pre: get(fields, "pre_size")?, size: get(fields, "size")? }),
            None => None,
        };
        Ok(AxisRef { name: get::<String>(fields, "name")?.into(), part })
    };
    dictionaries(fields, name)?.into_iter().map(one).collect()
}

impl Meshes {
    /// Makes a mesh known.
    pub(super) fn declare(&mut self, name: SmolStr, op: &Op) -> Result<()> {
        self.0.push((name, mesh(get(&op.attributes, "mesh")?)?));
        Ok(())
    }
    /// Returns the mesh of a sharding: a name, or the mesh itself.
    fn of(&self, fields: &Attributes) -> Result<Mesh> {
        match fields.get("mesh") {
            Some(Attribute::Symbol(path)) => {
                let name = path.last().map_or("", |name| name);
                let found = self.0.iter().find(|(known, _)| known == name).map(|(_, mesh)| mesh);
                found.cloned().ok_or_else(|| invalid(format!("`@{name}` is not a mesh")))
            }
            Some(Attribute::Dialect(_, Fields::Named(fields))) => mesh(fields),
            _ => Err(invalid("a sharding needs a mesh")),
        }
    }
    /// Returns the text of the module's frontend attribute `xla.sdy.meshes`.
    pub(super) fn text(&self) -> Option<String> {
        let one = |(name, mesh): &(SmolStr, Mesh)| format!("{name} = #sdy.mesh{}", mesh_text(mesh));
        let all: Vec<_> = self.0.iter().map(one).collect();
        (!all.is_empty()).then(|| format!("{{{}}}", all.join(", ")))
    }
}
fn mesh_text(mesh: &Mesh) -> String {
    let axes: Vec<_> =
        mesh.axes.iter().map(|axis| format!("\"{}\"={}", axis.name, axis.size)).collect();
    let ids = match &mesh.devices {
        MeshDevices::Ordered => String::new(),
        MeshDevices::Iota(_) | MeshDevices::List(_) | MeshDevices::Maximal(_) => {
            format!(", device_ids={:?}", mesh.device_ids())
        }
    };
    format!("<[{}]{ids}>", axes.join(", "))
}

/// Returns whether an op, or an argument or a result of a function, has a sharding.
pub(super) fn is_sharded(op: &Op) -> bool {
    let has = |attributes: &Attributes| {
        let text = attributes.get("mhlo.sharding").and_then(String::from_attribute);
        text.is_some_and(|text| !text.is_empty()) || attributes.get("sdy.sharding").is_some()
    };
    let parts = |name| op.attributes.get(name).and_then(<&[Attribute]>::from_attribute);
    let values = ["arg_attrs", "res_attrs"].into_iter().filter_map(parts).flatten();
    op.name.starts_with("sdy.")
        || has(&op.attributes)
        || values.filter_map(<&Attributes>::from_attribute).any(has)
}

/// Returns the sharding among the attributes of an op, an argument or a result.
pub(super) fn of_attributes(meshes: &Meshes, attributes: &Attributes) -> Result<Option<Sharding>> {
    if let Some(text) = attributes.get("mhlo.sharding") {
        let text = String::from_attribute(text)
            .ok_or_else(|| invalid("`mhlo.sharding` must be a string"))?;
        if text.is_empty() {
            return Ok(None);
        }
        let parsed = text.parse::<Sharding>();
        return parsed
            .map(Some)
            .map_err(|error| invalid(format!("`mhlo.sharding`: {}", error.code())));
    }
    let Some(fields) = attributes.get("sdy.sharding").and_then(<&Attributes>::from_attribute)
    else {
        return Ok(None);
    };
    let all = match fields.get("shardings") {
        Some(_) => each(meshes, fields)?,
        None => vec![tiled(meshes, fields)?],
    };
    Ok(together(all))
}
/// Returns the shardings of `#sdy.sharding_per_value<[...]>`.
pub(super) fn each(meshes: &Meshes, fields: &Attributes) -> Result<Vec<Sharding>> {
    dictionaries(fields, "shardings")?.into_iter().map(|fields| tiled(meshes, fields)).collect()
}
/// Returns the sharding of several values together.
pub(super) fn together(mut all: Vec<Sharding>) -> Option<Sharding> {
    match all.len() {
        0 | 1 => all.pop(),
        _ => Some(Sharding::Tuple(all.into_iter().flat_map(leaves).collect())),
    }
}
/// Returns the sharding of the values that a loop carries, for that of its results: those of the
/// values after them are not known.
pub(super) fn of_carried(results: Sharding, count: usize) -> Sharding {
    let mut all = leaves(results);
    all.resize(count, Placement::Unknown.into());
    Sharding::Tuple(all)
}
fn leaves(sharding: Sharding) -> Vec<hlo::ir::DeviceSharding> {
    match sharding {
        Sharding::One(one) => vec![one],
        Sharding::Tuple(all) => all,
    }
}

/// Returns a sharding of Shardy as tiles: dimension i of the value is divided along its axes, and
/// the value is the same along the others. An axis of which only parts are used is divided at these
/// parts.
pub(super) fn tiled(meshes: &Meshes, fields: &Attributes) -> Result<Sharding> {
    let mesh = meshes.of(fields)?;
    get::<&[Attribute]>(fields, "dimensions")?;
    if let MeshDevices::Maximal(id) = mesh.devices {
        return parse(&format!("{{maximal device={id}}}"));
    }
    let dims = dictionaries(fields, "dimensions")?;
    let dims: Vec<_> = dims.into_iter().map(|dim| axes(dim, "axes")).collect::<Result<_>>()?;
    let unreduced = axes(fields, "unreduced")?;
    let parts = parts(&mesh, dims.iter().flatten().chain(&unreduced))?;
    let (mut order, mut tiles) = (Vec::new(), Vec::new());
    let mut take = |refs: &[AxisRef]| {
        let mut tile = 1;
        for axis in refs {
            for (i, part) in parts.iter().enumerate().filter(|(_, part)| part.is_in(axis)) {
                order.push(i);
                tile *= part.size;
            }
        }
        tile
    };
    for dim in &dims {
        tiles.push(take(dim));
    }
    let partial = take(&unreduced);
    let mut kinds = Vec::new();
    if partial > 1 {
        tiles.push(partial);
        kinds.push("unreduced");
    }
    let used: i64 = tiles.iter().product();
    let rest = mesh.device_count() / used.max(1);
    if used == 1 {
        return parse("{replicated}");
    }
    if rest > 1 {
        tiles.push(rest);
        kinds.push("replicated");
    }
    let others: Vec<_> = (0..parts.len()).filter(|i| !order.contains(i)).collect();
    order.extend(others);
    let kinds = match kinds.as_slice() {
        [] => String::new(),
        ["replicated"] => " last_tile_dim_replicate".to_owned(),
        kinds => format!(" last_tile_dims={{{}}}", kinds.join(", ")),
    };
    parse(&format!("{{devices={}{}{kinds}}}", list(&tiles), devices(&mesh, &parts, &order)?))
}
fn parse(text: &str) -> Result<Sharding> {
    text.parse()
        .map_err(|error: hlo::Error| invalid(format!("a sharding is {text}: {}", error.code())))
}
fn list<T: std::fmt::Display>(items: &[T]) -> String {
    let mut out = String::from("[");
    for (i, item) in items.iter().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        write!(out, "{comma}{item}").expect("a string grows");
    }
    out + "]"
}
/// Returns the devices of the tiles: `<=[2,2]T(1,0)`, or a list for a mesh that lists them.
fn devices(mesh: &Mesh, parts: &[AxisPart], order: &[usize]) -> Result<String> {
    let sizes: Vec<i64> = parts.iter().map(|part| part.size).collect();
    let transpose: Vec<i64> = order.iter().filter_map(|&i| i64::try_from(i).ok()).collect();
    if matches!(mesh.devices, MeshDevices::Ordered) {
        return Ok(match transpose.is_sorted() {
            true => format!("<=[{}]", mesh.device_count()),
            false => format!(
                "<={}T{}",
                list(&sizes),
                list(&transpose).replace('[', "(").replace(']', ")")
            ),
        });
    }
    let order = Some(transpose.as_slice()).filter(|order| order.len() > 1);
    let iota = IotaDims::new(&sizes, order).map_err(|e| invalid(e.code().to_string()))?;
    let ids = mesh.device_ids();
    let id = |place: &i64| usize::try_from(*place).ok().and_then(|place| ids.get(place)).copied();
    let ids: Vec<i64> = iota.expand().iter().filter_map(id).collect();
    Ok(list(&ids).trim_matches(['[', ']']).to_owned())
}

/// A part of an axis: its sizes before it and its own.
struct AxisPart {
    name: SmolStr,
    pre: i64,
    size: i64,
    whole: i64,
}
impl AxisPart {
    fn is_in(&self, axis: &AxisRef) -> bool {
        let SubAxis { pre, size } = axis.part.unwrap_or(SubAxis { pre: 1, size: self.whole });
        self.name == axis.name && self.pre >= pre && self.pre * self.size <= pre * size
    }
}
/// Returns the axes of a mesh, divided where a part of one is used.
fn parts<'a>(mesh: &Mesh, used: impl Iterator<Item = &'a AxisRef>) -> Result<Vec<AxisPart>> {
    let used: Vec<_> = used.collect();
    if let Some(axis) =
        used.iter().find(|axis| !mesh.axes.iter().any(|known| known.name == axis.name))
    {
        return Err(invalid(format!("the mesh has no axis `{}`", axis.name)));
    }
    let mut all = Vec::new();
    for MeshAxis { name, size: whole } in &mesh.axes {
        let mut cuts = vec![1, *whole];
        for part in used.iter().filter(|axis| axis.name == *name).filter_map(|axis| axis.part) {
            cuts.extend([part.pre, part.pre.saturating_mul(part.size)]);
        }
        cuts.sort_unstable();
        cuts.dedup();
        for pair in cuts.windows(2) {
            if pair[0] < 1 || pair[1] % pair[0] != 0 {
                return Err(invalid(format!("the parts of axis `{name}` do not divide it")));
            }
            all.push(AxisPart {
                name: name.clone(),
                pre: pair[0],
                size: pair[1] / pair[0],
                whole: *whole,
            });
        }
        if *whole == 1 {
            all.push(AxisPart { name: name.clone(), pre: 1, size: 1, whole: 1 });
        }
    }
    Ok(all)
}

/// Returns the text of `#sdy.sharding_per_value<[...]>`, from the attribute.
pub(super) fn per_value(fields: &Attributes) -> Result<String> {
    let each = dictionaries(fields, "shardings")?;
    let all = each.into_iter().map(text).collect::<Result<Vec<_>>>()?;
    Ok(format!("#sdy.sharding_per_value<[{}]>", all.join(", ")))
}
/// Returns the text of a sharding: `<@mesh, [{"x"}, {}]>`.
pub(super) fn text(fields: &Attributes) -> Result<String> {
    let mesh = match fields.get("mesh") {
        Some(Attribute::Symbol(path)) => format!("@{}", path.join("::@")),
        Some(Attribute::Dialect(_, Fields::Named(fields))) => {
            format!("mesh{}", mesh_text(&mesh(fields)?))
        }
        _ => return Err(invalid("a sharding needs a mesh")),
    };
    let mut dims = Vec::new();
    for dim in dictionaries(fields, "dimensions")? {
        let mut items = axes_text(&axes(dim, "axes")?);
        if dim.get("closed").and_then(bool::from_attribute) == Some(false) {
            items.push("?".to_owned());
        }
        let priority = match dim.get("priority").and_then(i64::from_attribute) {
            Some(priority) => format!("p{priority}"),
            None => String::new(),
        };
        dims.push(format!("{{{}}}{priority}", items.join(", ")));
    }
    let mut out = format!("<{mesh}, [{}]", dims.join(", "));
    let reduction = fields.get("reduction").and_then(String::from_attribute).unwrap_or_default();
    for (name, reduction) in [("replicated", ""), ("unreduced", &reduction)] {
        let axes = axes_text(&axes(fields, name)?);
        if !axes.is_empty() {
            write!(out, ", {name}={reduction}{{{}}}", axes.join(", ")).expect("a string grows");
        }
    }
    Ok(out + ">")
}
fn axes_text(axes: &[AxisRef]) -> Vec<String> {
    let one = |axis: &AxisRef| match axis.part {
        Some(SubAxis { pre, size }) => format!("\"{}\":({pre}){size}", axis.name),
        None => format!("\"{}\"", axis.name),
    };
    axes.iter().map(one).collect()
}
/// Returns the text of `#sdy<manual_axes{"x"}>`.
pub(super) fn manual_axes(fields: &Attributes) -> Result<String> {
    let names: &[Attribute] = get(fields, "axes")?;
    let names: Vec<_> =
        names.iter().filter_map(String::from_attribute).map(|name| format!("\"{name}\"")).collect();
    Ok(format!("#sdy<manual_axes{{{}}}>", names.join(", ")))
}

/// Returns replica groups along axes of a mesh.
pub(super) fn groups(meshes: &Meshes, fields: &Attributes) -> Result<ReplicaGroups> {
    let mesh = meshes.of(fields)?;
    let axes = axes(fields, "axes")?;
    let groups = MeshGroups::new(mesh, axes).map_err(|error| invalid(error.code().to_string()))?;
    Ok(ReplicaGroups::Mesh(Box::new(groups)))
}
