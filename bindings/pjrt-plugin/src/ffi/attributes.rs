//! The attributes of a call: the dictionary in its `backend_config`, as the FFI has it.
#![expect(unsafe_code, reason = "makes structs with pointers")]
use super::data_type::data_type;
use hlo::ir::BackendConfig;
use hlo::{ElementType, Scalar};
use std::ffi::{c_int, c_void};

/// `XLA_FFI_ByteSpan`.
#[repr(C)]
pub(super) struct ByteSpan {
    start: *const u8,
    size: usize,
}
/// `XLA_FFI_Attrs`.
#[repr(C)]
pub(super) struct Attrs {
    header_size: usize,
    extension: *mut c_void,
    size: i64,
    types: *const c_int,
    names: *const *const ByteSpan,
    values: *const *const c_void,
}
#[repr(C)]
struct ScalarValue {
    ty: c_int,
    value: *const u8,
}
#[repr(C)]
struct ArrayValue {
    ty: c_int,
    size: usize,
    data: *const u8,
}

/// An attribute as it is read.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Scalar(ElementType, Vec<u8>),
    Array(ElementType, usize, Vec<u8>),
    Text(Vec<u8>),
    Dictionary(Vec<(String, Value)>),
}

/// The structs that the frame points to. No list grows after the first pointer into it.
pub(super) struct Attributes {
    _values: Vec<(String, Value)>,
    _names: Vec<ByteSpan>,
    _scalars: Vec<ScalarValue>,
    _arrays: Vec<ArrayValue>,
    _texts: Vec<ByteSpan>,
    _inner: Vec<Attributes>,
    _types: Vec<c_int>,
    _name_pointers: Vec<*const ByteSpan>,
    _value_pointers: Vec<*const c_void>,
    attrs: Attrs,
}

/// Appends a value within the capacity of a list, and returns its address.
fn keep<T>(list: &mut Vec<T>, value: T) -> *const c_void {
    assert!(list.len() < list.capacity(), "the address of a value must not change");
    list.push(value);
    let last = list.len() - 1;
    (&raw const list[last]).cast()
}

impl Attributes {
    /// Reads the dictionary.
    ///
    /// # Errors
    /// With the attribute that cannot be passed.
    pub(super) fn read(config: &str) -> Result<Self, String> {
        Ok(Self::of(dictionary(config)?))
    }
    pub(super) fn attrs(&self) -> Attrs {
        let Attrs { header_size, extension, size, types, names, values } = self.attrs;
        Attrs { header_size, extension, size, types, names, values }
    }

    fn of(values: Vec<(String, Value)>) -> Self {
        let count = values.len();
        let (mut scalars, mut arrays) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let (mut texts, mut inner) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut names = Vec::with_capacity(count);
        let (mut types, mut pointers): (Vec<c_int>, Vec<*const c_void>) = (Vec::new(), Vec::new());
        let mut name_pointers: Vec<*const ByteSpan> = Vec::new();
        for (name, value) in &values {
            let span = ByteSpan { start: name.as_ptr(), size: name.len() };
            name_pointers.push(keep(&mut names, span).cast());
            let (kind, pointer) = match value {
                Value::Array(ty, size, bytes) => {
                    let array =
                        ArrayValue { ty: data_type(*ty), size: *size, data: bytes.as_ptr() };
                    (1, keep(&mut arrays, array))
                }
                Value::Dictionary(fields) => {
                    let within = keep(&mut inner, Self::of(fields.clone())).cast::<Self>();
                    // SAFETY: the value was pushed just now.
                    (2, unsafe { &raw const (*within).attrs }.cast())
                }
                Value::Scalar(ty, bytes) => {
                    let scalar = ScalarValue { ty: data_type(*ty), value: bytes.as_ptr() };
                    (3, keep(&mut scalars, scalar))
                }
                Value::Text(bytes) => {
                    (4, keep(&mut texts, ByteSpan { start: bytes.as_ptr(), size: bytes.len() }))
                }
            };
            types.push(kind);
            pointers.push(pointer);
        }
        let attrs = Attrs {
            header_size: size_of::<Attrs>(),
            extension: std::ptr::null_mut(),
            size: i64::try_from(count).unwrap_or(0),
            types: types.as_ptr(),
            names: name_pointers.as_ptr(),
            values: pointers.as_ptr(),
        };
        Self {
            _values: values,
            _names: names,
            _scalars: scalars,
            _arrays: arrays,
            _texts: texts,
            _inner: inner,
            _types: types,
            _name_pointers: name_pointers,
            _value_pointers: pointers,
            attrs,
        }
    }
}

/// Reads `{name = value, ...}`, sorted by name as the FFI requires.
fn dictionary(text: &str) -> Result<Vec<(String, Value)>, String> {
    let entries = BackendConfig::entries(text)
        .ok_or_else(|| format!("the attributes are `{text}`, expected a dictionary"))?;
    let field = |(name, value): (&str, &str)| Ok((name.to_owned(), read(value)?));
    let mut fields: Vec<_> = entries.into_iter().map(field).collect::<Result<_, String>>()?;
    fields.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(fields)
}

fn read(text: &str) -> Result<Value, String> {
    let refused = || format!("the attribute `{text}` cannot be passed to a handler");
    if text == "true" || text == "false" {
        return Ok(Value::Scalar(ElementType::Pred, vec![u8::from(text == "true")]));
    }
    if text.starts_with('{') {
        return dictionary(text).map(Value::Dictionary);
    }
    if let Some(quoted) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return unescaped(quoted).map(Value::Text).ok_or_else(refused);
    }
    if let Some(inside) = text.strip_prefix("array<").and_then(|rest| rest.strip_suffix('>')) {
        let (ty, items) = inside.split_once(':').unwrap_or((inside, ""));
        return elements(ty.trim(), items).ok_or_else(refused);
    }
    if let Some(rest) = text.strip_prefix("dense<") {
        let (items, shape) = rest.split_once("> : tensor<").ok_or_else(refused)?;
        let ty = shape.trim_end_matches('>').rsplit('x').next().unwrap_or_default();
        return elements(ty, items.trim_matches(['[', ']'])).ok_or_else(refused);
    }
    let (number, ty) = text.rsplit_once(':').ok_or_else(refused)?;
    let (ty, bytes) = scalar(number.trim(), ty.trim()).ok_or_else(refused)?;
    Ok(Value::Scalar(ty, bytes))
}

fn elements(ty: &str, items: &str) -> Option<Value> {
    let items: Vec<&str> =
        items.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
    let element = element_type(ty)?;
    let bytes: Option<Vec<Vec<u8>>> = items.iter().map(|item| Some(scalar(item, ty)?.1)).collect();
    Some(Value::Array(element, items.len(), bytes?.concat()))
}

/// Returns the element type with this name in MLIR.
fn element_type(name: &str) -> Option<ElementType> {
    let name = match name.strip_prefix("ui").or_else(|| name.strip_prefix('u')) {
        Some(bits) => format!("u{bits}"),
        None => match name.strip_prefix('i') {
            Some("1") => "pred".to_owned(),
            Some(bits) => format!("s{bits}"),
            None => name.to_lowercase(),
        },
    };
    ElementType::from_name(&name)
}

fn scalar(number: &str, ty: &str) -> Option<(ElementType, Vec<u8>)> {
    use hlo::Class;
    let ty = element_type(ty)?;
    let value = match ty.class() {
        Class::Pred => Scalar::Pred(number == "true" || number == "1"),
        Class::Signed => Scalar::Signed(number.parse().ok()?),
        Class::Unsigned => Scalar::Unsigned(number.parse().ok()?),
        Class::Float => Scalar::Float(number.parse().ok()?),
        Class::Complex => return None,
    };
    let mut bytes = vec![0; ty.storage_bytes()];
    value.write(ty, &mut bytes);
    Some((ty, bytes))
}

/// Returns the bytes of a text with `\"`, `\\` and `\0A`.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next()? {
            plain @ (b'"' | b'\\') => bytes.push(plain),
            high => {
                let digits = [high, rest.next()?];
                bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
            }
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_and_sorted() {
        let found = dictionary(
            r#"{n = -2 : i32, eps = 5.000000e-01 : f32, s = "a, \"b\"\0A", l = array<i64: 1, 2>, f = true}"#,
        );
        let names: Vec<String> = found.clone().unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["eps", "f", "l", "n", "s"]);
        let values: Vec<Value> = found.unwrap().into_iter().map(|(_, value)| value).collect();
        assert_eq!(values[0], Value::Scalar(ElementType::F32, 0.5f32.to_le_bytes().to_vec()));
        assert_eq!(values[1], Value::Scalar(ElementType::Pred, vec![1]));
        let two = [1i64.to_le_bytes(), 2i64.to_le_bytes()].concat();
        assert_eq!(values[2], Value::Array(ElementType::S64, 2, two));
        assert_eq!(values[3], Value::Scalar(ElementType::S32, (-2i32).to_le_bytes().to_vec()));
        assert_eq!(values[4], Value::Text(b"a, \"b\"\n".to_vec()));
    }

    #[test]
    fn what_a_handler_cannot_get_is_refused() {
        for text in ["opaque", "{a}", "{a = #stablehlo.x}", "{a = 1 : q7}"] {
            assert!(dictionary(text).is_err(), "{text}");
        }
    }
}
