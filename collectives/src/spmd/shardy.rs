//! Parser of Shardy's attributes in HLO text: meshes, shardings, manual axes.
//!
//! | attribute | text |
//! |---|---|
//! | `xla.sdy.meshes` | `{mesh = #sdy.mesh<["a"=4, "b"=2], device_ids=[...]>, ...}` |
//! | `xla.sdy.in_shardings`, `xla.sdy.out_shardings` | `#sdy.sharding_per_value<[<@mesh, [{"a"}, {?}], replicated={"b"}>, ...]>` |
//! | `xla.sdy.manual_axes` | `#sdy<manual_axes{"a", "b"}>` |
//!
//! Priorities (`p1`) and the axes of `replicated` only guide propagation: they are parsed and have
//! no effect. Open dimensions (`?`) have one only where a sharding is propagated.
//!
//! Source: Shardy, "Sharding representation"; the attributes' definitions in its dialect.
use crate::{Code, Error, Result};
use hlo::ir::FrontendAttributes;
use hlo::op::value::{AxisRef, Mesh, MeshAxis, MeshDevices, SubAxis};

/// The meshes of a module by name.
#[derive(Debug, Clone, Default)]
pub(super) struct Meshes(Vec<(String, Mesh)>);

/// The sharding of one value on a mesh.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ValueSharding {
    pub(super) mesh: Mesh,
    /// For each dimension the axes that divide it, the slowest first.
    pub(super) dims: Vec<Vec<AxisRef>>,
    /// The dimensions that propagation may divide further, `?` in the text.
    pub(super) open: Vec<bool>,
    /// Axes along which the devices have partial sums.
    pub(super) unreduced: Vec<AxisRef>,
}

/// Returns the text of an attribute.
pub(super) fn attribute<'a>(attributes: &'a FrontendAttributes, name: &str) -> Option<&'a str> {
    attributes.0.iter().find(|(key, _)| key == name).map(|(_, text)| text.as_str())
}

impl Meshes {
    /// Returns the meshes in the order of the text.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Mesh> {
        self.0.iter().map(|(_, mesh)| mesh)
    }
    /// Reads `xla.sdy.meshes`; none if the module has no such attribute.
    ///
    /// # Errors
    /// `E0511`
    pub(super) fn of(attributes: Option<&FrontendAttributes>) -> Result<Self> {
        const NAME: &str = "xla.sdy.meshes";
        let text = attributes.and_then(|attributes| attribute(attributes, NAME));
        let Some(text) = text else { return Ok(Self::default()) };
        let mut s = Scanner::new(NAME, text);
        let mut meshes = Vec::new();
        s.expect("{")?;
        s.list("}", |s| {
            let name = if s.quoted() { s.name()? } else { s.word()? };
            s.expect("=")?;
            s.expect("#sdy.mesh")?;
            s.expect("<")?;
            meshes.push((name, s.mesh()?));
            s.expect(">")
        })?;
        s.end()?;
        Ok(Self(meshes))
    }
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Returns the largest number of devices of a mesh.
    pub(super) fn devices(&self) -> Option<usize> {
        self.0.iter().filter_map(|(_, mesh)| devices(mesh)).max()
    }
}

/// Returns the number of devices of a mesh; nothing for one without axes.
pub(super) fn devices(mesh: &Mesh) -> Option<usize> {
    let count = usize::try_from(mesh.device_count()).ok();
    count.filter(|_| !mesh.axes.is_empty())
}

/// Reads `#sdy.sharding_per_value<[...]>`, or the `#sdy.sharding<...>` of a single value.
///
/// # Errors
/// `E0511`
pub(super) fn shardings(
    attribute: &'static str,
    text: &str,
    meshes: &Meshes,
) -> Result<Vec<ValueSharding>> {
    let mut s = Scanner::new(attribute, text);
    let mut found = Vec::new();
    if s.eat("#sdy.sharding_per_value") {
        s.expect("<")?;
        s.expect("[")?;
        s.list("]", |s| {
            found.push(s.sharding(meshes)?);
            Ok(())
        })?;
        s.expect(">")?;
    } else {
        s.expect("#sdy.sharding")?;
        found.push(s.sharding(meshes)?);
    }
    s.end()?;
    Ok(found)
}

/// Reads `#sdy<manual_axes{"a", "b"}>`.
///
/// # Errors
/// `E0511`
pub(super) fn manual_axes(text: &str) -> Result<Vec<AxisRef>> {
    let mut s = Scanner::new("xla.sdy.manual_axes", text);
    if !s.eat("#sdy.manual_axes") {
        s.expect("#sdy")?;
        s.expect("<")?;
        s.expect("manual_axes")?;
        let axes = s.axes()?;
        s.expect(">")?;
        s.end()?;
        return Ok(axes);
    }
    s.expect("<")?;
    let axes = s.axes()?;
    s.expect(">")?;
    s.end()?;
    Ok(axes)
}

/// A position in the text of an attribute.
struct Scanner<'a> {
    attribute: &'static str,
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn new(attribute: &'static str, text: &'a str) -> Self {
        Self { attribute, text, at: 0 }
    }
    /// Returns the rest of the text, after skipping blanks.
    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }
    #[cold]
    fn error(&self, message: &str) -> Error {
        let Self { attribute, text, at } = self;
        let shown: String = text[*at..].chars().take(24).collect();
        let place = match shown.as_str() {
            "" => "at its end".to_owned(),
            shown => format!("at character {}, `{shown}`", text[..*at].chars().count() + 1),
        };
        Code::Sharding { message: format!("{attribute}: {message} {place}") }.into()
    }
    fn expected(&mut self, what: &str) -> Error {
        self.rest();
        self.error(&format!("expected {what}"))
    }
    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }
    fn expect(&mut self, token: &str) -> Result<()> {
        if self.eat(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }
    fn end(&mut self) -> Result<()> {
        if self.rest().is_empty() { Ok(()) } else { Err(self.expected("the end of the text")) }
    }
    /// Parses items separated by commas, up to `close`.
    fn list(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        if self.eat(close) {
            return Ok(());
        }
        loop {
            item(self)?;
            if !self.eat(",") {
                return self.expect(close);
            }
        }
    }
    fn word(&mut self) -> Result<String> {
        let rest = self.rest();
        let letter = |c: char| c.is_alphanumeric() || "_.$-".contains(c);
        let length = rest.find(|c| !letter(c)).unwrap_or(rest.len());
        if length == 0 {
            return Err(self.expected("a name"));
        }
        self.at += length;
        Ok(rest[..length].to_owned())
    }
    fn number(&mut self) -> Result<i64> {
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..length].parse().map_err(|_| self.expected("a number"))?;
        self.at += length;
        Ok(number)
    }
    fn quoted(&mut self) -> bool {
        QUOTES.iter().any(|quote| self.rest().starts_with(quote))
    }
    /// Parses a quoted name. Older texts escape the quotes with a backslash, or write them as
    /// `\22`.
    fn name(&mut self) -> Result<String> {
        let rest = self.rest();
        let quote = QUOTES.iter().find(|&&quote| rest.starts_with(quote));
        let quote = quote.ok_or_else(|| self.expected("a name in quotes"))?;
        let inside = &rest[quote.len()..];
        let end = inside.find(quote).ok_or_else(|| self.expected("a name in quotes"))?;
        self.at += 2 * quote.len() + end;
        Ok(inside[..end].to_owned())
    }

    /// Parses `["a"=4, "b"=2], device_ids=[...]`.
    fn mesh(&mut self) -> Result<Mesh> {
        let start = self.at;
        let mut axes: Vec<MeshAxis> = Vec::new();
        self.expect("[")?;
        self.list("]", |s| {
            let name = s.name()?.into();
            s.expect("=")?;
            let size = s.number()?;
            if size < 1 || axes.iter().any(|axis| axis.name == name) {
                return Err(s.error("an axis of the mesh is repeated or has no devices, before"));
            }
            axes.push(MeshAxis { name, size });
            Ok(())
        })?;
        let count = axes.iter().try_fold(1i64, |n, axis| n.checked_mul(axis.size));
        let count = count.filter(|&n| usize::try_from(n).is_ok_and(|n| n <= MAX_DEVICES));
        let count = count.ok_or_else(|| self.error("the mesh has too many devices, before"))?;
        let mut mesh = Mesh { axes, devices: MeshDevices::Ordered };
        if !self.eat(",") {
            return Ok(mesh);
        }
        self.expect("device_ids")?;
        self.expect("=")?;
        self.expect("[")?;
        let mut ids = Vec::new();
        self.list("]", |s| {
            ids.push(s.number()?);
            Ok(())
        })?;
        if let ([], &[id]) = (mesh.axes.as_slice(), ids.as_slice()) {
            mesh.devices = MeshDevices::Maximal(id);
            return Ok(mesh);
        }
        let mut sorted = ids.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..count) {
            self.at = start;
            let message = format!("device_ids is not a permutation of {count} devices");
            return Err(self.error(&message));
        }
        mesh.devices = MeshDevices::List(ids);
        Ok(mesh)
    }

    /// `<@mesh, [{"a"}, {}], replicated={...}, unreduced={...}>`
    fn sharding(&mut self, meshes: &Meshes) -> Result<ValueSharding> {
        self.expect("<")?;
        let mesh = if self.eat("mesh") {
            self.expect("<")?;
            let mesh = self.mesh()?;
            self.expect(">")?;
            mesh
        } else {
            self.expect("@")?;
            let start = self.at;
            let name = if self.quoted() { self.name()? } else { self.word()? };
            let known = meshes.0.iter().find(|(known, _)| *known == name);
            let Some((_, mesh)) = known else {
                self.at = start;
                let error = self.error("xla.sdy.meshes has no mesh with the name");
                let names: Vec<&str> = meshes.0.iter().map(|(name, _)| name.as_str()).collect();
                return Err(error.with_help(format!("the meshes are: {}", names.join(", "))));
            };
            mesh.clone()
        };
        let mut sharding =
            ValueSharding { mesh, dims: Vec::new(), open: Vec::new(), unreduced: Vec::new() };
        self.expect(",")?;
        self.expect("[")?;
        self.list("]", |s| {
            let (axes, is_open) = s.dim(&sharding.mesh)?;
            sharding.dims.push(axes);
            sharding.open.push(is_open);
            Ok(())
        })?;
        while self.eat(",") {
            let key = self.word()?;
            self.expect("=")?;
            let axes = self.axes()?;
            match key.as_str() {
                "replicated" => {}
                "unreduced" => sharding.unreduced = axes,
                _ => return Err(self.error(&format!("`{key}` is unknown, before"))),
            }
        }
        self.expect(">")?;
        Ok(sharding)
    }
    /// `{"a", "b":(1)2, ?}p1`
    fn dim(&mut self, mesh: &Mesh) -> Result<(Vec<AxisRef>, bool)> {
        let (mut axes, mut is_open) = (Vec::new(), false);
        self.expect("{")?;
        self.list("}", |s| {
            if s.eat("?") {
                is_open = true;
            } else {
                let start = s.at;
                let axis = s.axis()?;
                if !mesh.axes.iter().any(|known| known.name == axis.name) {
                    s.at = start;
                    return Err(s.error("the mesh has no axis with the name"));
                }
                axes.push(axis);
            }
            Ok(())
        })?;
        let has_priority = self.text[self.at..].starts_with('p');
        if has_priority && self.eat("p") {
            self.number()?;
        }
        Ok((axes, is_open))
    }
    fn axes(&mut self) -> Result<Vec<AxisRef>> {
        let mut axes = Vec::new();
        self.expect("{")?;
        self.list("}", |s| {
            axes.push(s.axis()?);
            Ok(())
        })?;
        Ok(axes)
    }
    /// `"a"`, or `"a":(1)2`
    fn axis(&mut self) -> Result<AxisRef> {
        let mut axis = AxisRef::new(self.name()?);
        if self.eat(":") {
            self.expect("(")?;
            let pre = self.number()?;
            self.expect(")")?;
            axis.part = Some(SubAxis { pre, size: self.number()? });
        }
        Ok(axis)
    }
}

/// The spellings of a quote.
const QUOTES: [&str; 3] = ["\"", "\\\"", "\\22"];

/// The largest number of devices of a run.
pub(super) const MAX_DEVICES: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn meshes(text: &str) -> Result<Meshes> {
        let attributes = FrontendAttributes(vec![("xla.sdy.meshes".into(), text.to_owned())]);
        Meshes::of(Some(&attributes))
    }
    fn read(text: &str) -> Result<Vec<ValueSharding>> {
        let meshes =
            meshes(r#"{m = #sdy.mesh<["a"=4, "b"=2]>, one = #sdy.mesh<[], device_ids=[3]>}"#)?;
        shardings("xla.sdy.in_shardings", text, &meshes)
    }
    fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
        result.unwrap_err().code().to_string()
    }

    #[test]
    fn meshes_have_axes_and_devices() {
        let found = meshes(
            r#"{empty = #sdy.mesh<[]>, "x y" = #sdy.mesh<["a"=2, "b"=1], device_ids=[1, 0]>, m3 = #sdy.mesh<[], device_ids=[3]>}"#,
        );
        let found = found.unwrap();
        let devices: Vec<_> = found.0.iter().map(|(_, mesh)| mesh.devices.clone()).collect();
        let listed = MeshDevices::List(vec![1, 0]);
        assert_eq!(devices, [MeshDevices::Ordered, listed, MeshDevices::Maximal(3)]);
        assert_eq!(found.0[1].0, "x y");
        assert_eq!(found.devices(), Some(2));
        // As texts of 2024 write quotes.
        assert_eq!(meshes(r#"{m = #sdy.mesh<[\"a\"=8]>}"#).unwrap().devices(), Some(8));
        assert_eq!(meshes(r"{m = #sdy.mesh<[\22a\22=8]>}").unwrap().devices(), Some(8));
    }
    #[test]
    fn attributes_that_guide_propagation_have_no_effect() {
        let [first, second] = read(
            r#"#sdy.sharding_per_value<[<@m, [{"a":(2)2, ?}p0, {?}], replicated={"b"}>, <mesh<["x"=2]>, [{"x"}p1]>]>"#,
        )
        .unwrap()
        .try_into()
        .unwrap();
        let part = AxisRef { name: "a".into(), part: Some(SubAxis { pre: 2, size: 2 }) };
        assert_eq!(first.dims, [vec![part], vec![]]);
        assert_eq!((first.open, &second.open), (vec![true, true], &vec![false]));
        assert_eq!(second.dims, [[AxisRef::new("x")]]);
        assert_eq!(second.mesh.device_count(), 2);
        assert_eq!(read("#sdy.sharding_per_value<[]>").unwrap(), []);
        assert_eq!(read("#sdy.sharding<@one, []>").unwrap()[0].dims.len(), 0);
        let axes = manual_axes(r#"#sdy<manual_axes{"a", "b"}>"#).unwrap();
        assert_eq!(axes, [AxisRef::new("a"), AxisRef::new("b")]);
    }
    #[test]
    fn errors_name_the_attribute_and_the_place() {
        for (text, ending) in [
            ("#sdy.sharding<@n, []>", "no mesh with the name at character 16, `n, []>`"),
            ("#sdy.sharding<@m, [{\"c\"}]>", "no axis with the name at character 21, `\"c\"}]>`"),
            ("#sdy.sharding<@m, [{\"a\"]>", "expected `}` at character 24, `]>`"),
            ("#sdy.sharding<@m, []> x", "expected the end of the text at character 23, `x`"),
            ("#sdy.sharding<@m, [{\"a", "expected a name in quotes at character 21, `\"a`"),
            ("#sdy.sharding<@m, [], odd={}>", "`odd` is unknown, before at character 29, `>`"),
            ("", "expected `#sdy.sharding` at its end"),
        ] {
            let found = message(read(text));
            assert!(found.starts_with("xla.sdy.in_shardings: "), "{found}");
            assert!(found.ends_with(ending), "{found}");
        }
        for text in [
            r#"{m = #sdy.mesh<["a"=2], device_ids=[0, 0]>}"#,
            r#"{m = #sdy.mesh<["a"=0]>}"#,
            r#"{m = #sdy.mesh<["a"=2, "a"=2]>}"#,
            r#"{m = #sdy.mesh<["a"=99999999999]>}"#,
            r#"{m = #sdy.mesh<["a"=99999999999999999999]>}"#,
            r#"{m = #sdy.mesh<["a"=4]>"#,
        ] {
            assert!(message(meshes(text)).starts_with("xla.sdy.meshes: "), "{text}");
        }
        assert!(
            message(manual_axes("{\"a\"}")).starts_with("xla.sdy.manual_axes: expected `#sdy`")
        );
    }
}
