//! Declared attributes: one declaration generates the struct, its constructor, its parser, its
//! printer and its called computations.
use crate::diag::{Code, Place, nearest};
use crate::ir::{CommonAttrs, ComputationId};
use crate::proto::message;
use crate::text::{Parser, common};
use crate::{Opcode, Result};

/// A type an attribute can have.
pub(crate) trait AttrValue: Sized {
    /// The separator of two of them in a list.
    const SEPARATOR: &'static str = ",";
    /// Whether it is a computation, which some styles print in place.
    const IS_COMPUTATION: bool = false;
    /// Reads the value after the `=`.
    fn parse(p: &mut Parser<'_>) -> Result<Self>;
    /// Reads the value after the `=` of an older name, whose syntax may differ.
    fn parse_old(p: &mut Parser<'_>) -> Result<Self> {
        Self::parse(p)
    }
    /// Writes the value after the `=`.
    fn print(&self, out: &mut AttrWriter<'_>);
    /// Calls `visit` with each computation it names.
    fn each_callee(&self, _visit: &mut dyn FnMut(ComputationId)) {}
    /// Calls `visit` with each computation it names.
    fn each_callee_mut(&mut self, _visit: &mut dyn FnMut(&mut ComputationId)) {}
}

/// The attributes of an op; `attrs!` writes the impl.
pub(crate) trait Attrs: Sized {
    const NAMES: &'static [&'static str];
    fn parse(attrs: &mut AttrReader<'_, '_>) -> Result<Self>;
    fn print(&self, out: &mut AttrWriter<'_>);
    fn each_callee(&self, visit: &mut dyn FnMut(ComputationId));
    fn each_callee_mut(&mut self, visit: &mut dyn FnMut(&mut ComputationId));
    /// Writes the fields of the message; computations are written as their index.
    fn encode(&self, proto: &mut message::Instruction) -> Result<()>;
    /// Reads the fields of the message and resets those that it has read.
    fn decode(proto: &mut message::Instruction) -> Result<Self>;
}

impl<T: Attrs> Attrs for Box<T> {
    const NAMES: &'static [&'static str] = T::NAMES;
    fn parse(attrs: &mut AttrReader<'_, '_>) -> Result<Self> {
        T::parse(attrs).map(Self::new)
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        T::print(self, out);
    }
    fn each_callee(&self, visit: &mut dyn FnMut(ComputationId)) {
        T::each_callee(self, visit);
    }
    fn each_callee_mut(&mut self, visit: &mut dyn FnMut(&mut ComputationId)) {
        T::each_callee_mut(self, visit);
    }
    fn encode(&self, proto: &mut message::Instruction) -> Result<()> {
        T::encode(self, proto)
    }
    fn decode(proto: &mut message::Instruction) -> Result<Self> {
        T::decode(proto).map(Self::new)
    }
}

/// The result of matching an attribute with those of an op.
pub(crate) enum Field {
    Taken,
    Twice,
    Unknown,
}

/// The attributes of one instruction, still in the text.
pub(crate) struct AttrReader<'p, 'a> {
    pub(crate) p: &'p mut Parser<'a>,
    pub(crate) opcode: Opcode,
    /// The word in opcode position: the name of the op in messages.
    pub(crate) op_name: &'a str,
    /// Attributes that an old opcode name implies.
    pub(crate) implied: &'static str,
    /// Attributes every opcode may have.
    pub(crate) common: Option<Box<CommonAttrs>>,
    /// The number or literal between the parentheses of a parameter or a constant.
    pub(crate) positional: Option<crate::op::value::Positional>,
    /// For `<opcode>-start`: attributes of the asynchronous instruction around the op.
    pub(crate) outer: Option<OuterAsync>,
}

/// Attributes of `async-start` that are written among those of the op it wraps.
#[derive(Default)]
pub(crate) struct OuterAsync {
    pub(crate) thread: smol_str::SmolStr,
    pub(crate) aliasing: crate::op::value::OutputOperandAliasing,
}

impl<'a> AttrReader<'_, 'a> {
    /// Calls `field` with each key that is not common to all ops, until the list ends.
    pub(crate) fn each(
        &mut self,
        field: &mut dyn FnMut(&str, &mut Parser<'a>) -> Result<Field>,
    ) -> Result<()> {
        if !self.implied.is_empty() {
            let text = self.p.cursor.enter(self.implied);
            let (key, _) = self.p.cursor.attribute_name()?;
            field(key, self.p)?;
            self.p.cursor.leave(text);
        }
        while self.p.cursor.eat(b',') {
            let (key, span) = self.p.cursor.attribute_name()?;
            let found = match common::parse(self.p, self.opcode, key, &mut self.common) {
                Ok(Field::Unknown) => field(key, self.p),
                other => other,
            };
            let found = match (found, &mut self.outer) {
                (Ok(Field::Unknown), Some(outer)) => outer.offer(key, self.p),
                (found, _) => found,
            };
            match found.map_err(|e| e.at(span))? {
                Field::Taken => {}
                Field::Twice => {
                    return Err(
                        crate::Error::from(Code::DuplicateAttribute { name: key.into() }).at(span)
                    );
                }
                Field::Unknown => self.unknown(key, span)?,
            }
        }
        Ok(())
    }

    /// Reads the attributes of an op without attributes of its own.
    pub(crate) fn none(&mut self) -> Result<()> {
        self.each(&mut |_, _| Ok(Field::Unknown))
    }

    #[cold]
    fn unknown(&mut self, key: &str, span: crate::Span) -> Result<()> {
        let op = self.op_name.to_owned();
        let error = crate::Error::from(Code::UnknownAttribute { op, name: key.into() }).at(span);
        let mut known: Vec<_> = self.opcode.attributes().to_vec();
        known.extend(common::NAMES);
        let error = match nearest(key, known.iter().copied()) {
            // An attribute that only some opcodes have.
            Some(name) if name == key => {
                let takers = Opcode::ALL.iter().filter(|op| op.takes_result_accuracy());
                let takers: Vec<_> = takers.map(|op| op.name()).collect();
                error
                    .with_help(format!("remove it: the ops that have it are {}", takers.join(", ")))
            }
            Some(name) => error.with_help(format!("did you mean `{name}`?")),
            None => match self.opcode.attributes() {
                [] => error.with_help("this opcode has no attributes of its own"),
                own => error.with_help(format!("use one of {}", own.join(", "))),
            },
        };
        if !self.p.options.lenient {
            return Err(error);
        }
        let value = crate::text::balanced::balanced_value(&mut self.p.cursor)?;
        let common = self.common.get_or_insert_default();
        common.unknown.push(crate::ir::RawAttr { name: key.into(), value: value.into() });
        self.p.warn(&error.replace_help("kept unchanged, because unknown attributes are allowed"));
        Ok(())
    }

    /// Returns the error for a missing required attribute.
    #[cold]
    pub(crate) fn missing(&self, name: &'static str) -> crate::Error {
        let op = self.op_name.to_owned();
        crate::Error::from(Code::MissingAttribute { op, name: name.into() })
            .on(Place::Attribute(name))
    }
}

impl OuterAsync {
    fn offer(&mut self, key: &str, p: &mut Parser<'_>) -> Result<Field> {
        match key {
            "async_execution_thread" => self.thread = AttrValue::parse(p)?,
            "output_to_operand_aliasing" => self.aliasing = AttrValue::parse(p)?,
            _ => return Ok(Field::Unknown),
        }
        Ok(Field::Taken)
    }
}

/// Prints attributes after the operand list.
pub(crate) struct AttrWriter<'a> {
    pub(crate) out: &'a mut String,
    pub(crate) printer: &'a crate::text::print::Printer<'a>,
    /// Depth of the instruction, for computations printed in place.
    pub(crate) indent: usize,
}

impl AttrWriter<'_> {
    pub(crate) fn field(&mut self, key: &str, value: &impl AttrValue) {
        self.out.push_str(", ");
        self.out.push_str(key);
        self.out.push('=');
        value.print(self);
    }
}

/// Declares the attributes of a structured op with their names in HLO text.
///
/// `= "key"` is required; `= "key" or default` is printed where it differs from the default; `=
/// "key" always default` is printed always; `also "old"` is another spelling that is read. Several
/// structs, separated by commas, share one list.
///
/// `in field` is the field of XLA's message of an instruction, `in message.field` a field of a
/// message in it; an attribute without one is not in the message. `in instruction` is the message
/// itself, for values that take several fields.
///
/// Required attributes are the arguments of `new`; where all have defaults there is `Default`
/// instead.
macro_rules! attrs {
    (
        $(#[$meta:meta])* pub struct $name:ident {
            $($(#[$fmeta:meta])* pub $field:ident: $ty:ty = $key:literal
                $(in $($path:ident).+)? $(also $old:literal)* $(or $default:expr)? $(, always $always:expr)?;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name { $($(#[$fmeta])* pub $field: $ty,)* }

        impl $crate::op::Attrs for $name {
            const NAMES: &'static [&'static str] = &[$($key,)*];
            #[allow(unused_mut, unused_variables, clippy::too_many_lines, reason = "some ops have no attributes, some many")]
            fn parse(attrs: &mut $crate::op::AttrReader<'_, '_>) -> $crate::Result<Self> {
                $(let mut $field: Option<$ty> = None;)*
                attrs.each(&mut |key, p| {
                    match key {
                        $($key $(| $old)* => {
                            if $field.is_some() {
                                return Ok($crate::op::Field::Twice);
                            }
                            $field = Some(match key {
                                $key => $crate::op::AttrValue::parse(p)?,
                                _ => $crate::op::AttrValue::parse_old(p)?,
                            });
                        })*
                        _ => return Ok($crate::op::Field::Unknown),
                    }
                    #[allow(unreachable_code, reason = "an op without attributes takes none")]
                    Ok($crate::op::Field::Taken)
                })?;
                Ok(Self {
                    $($field: match $field {
                        Some(value) => value,
                        None => attrs!(@absent attrs $key $(, $default)? $(, $always)?),
                    },)*
                })
            }
            #[allow(unused_variables, reason = "some ops have no attributes")]
            fn print(&self, out: &mut $crate::op::AttrWriter<'_>) {
                $(if attrs!(@shown self.$field $(, $default)?) { out.field($key, &self.$field); })*
            }
            #[allow(unused_variables, reason = "some ops have no attributes")]
            fn each_callee(&self, visit: &mut dyn FnMut($crate::ir::ComputationId)) {
                $($crate::op::AttrValue::each_callee(&self.$field, visit);)*
            }
            #[allow(unused_variables, reason = "some ops have no attributes")]
            fn each_callee_mut(&mut self, visit: &mut dyn FnMut(&mut $crate::ir::ComputationId)) {
                $($crate::op::AttrValue::each_callee_mut(&mut self.$field, visit);)*
            }
            #[allow(unused_variables, reason = "some ops have no attributes")]
            fn encode(&self, proto: &mut $crate::proto::message::Instruction) -> $crate::Result<()> {
                $($($crate::proto::ProtoField::encode(&self.$field, attrs!(@place proto $($path).+))
                    .map_err($crate::proto::in_field(stringify!($($path).+)))?;)?)*
                Ok(())
            }
            #[allow(unused_variables, reason = "some ops have no attributes")]
            fn decode(proto: &mut $crate::proto::message::Instruction) -> $crate::Result<Self> {
                Ok(Self { $($field: attrs!(@decode proto [$($($path).+)?] [$($default)?] [$($always)?]),)* })
            }
        }
        attrs! { @new $name {} {} $([$field: $ty $(, $default)? $(, $always)?])* }
    };
    (
        $(#[$meta:meta])* pub struct $name:ident,
        $($(#[$others_meta:meta])* pub struct $others:ident),+ { $($body:tt)* }
    ) => {
        attrs! { $(#[$meta])* pub struct $name { $($body)* } }
        attrs! { $($(#[$others_meta])* pub struct $others),+ { $($body)* } }
    };
    (@new $name:ident { $($parameters:tt)* } { $($fields:tt)* } [$field:ident: $ty:ty] $($rest:tt)*) => {
        attrs! { @new $name { $($parameters)* $field: $ty, } { $($fields)* $field, } $($rest)* }
    };
    (@new $name:ident $parameters:tt { $($fields:tt)* } [$field:ident: $ty:ty, $default:expr] $($rest:tt)*) => {
        attrs! { @new $name $parameters { $($fields)* $field: $default, } $($rest)* }
    };
    (@new $name:ident {} { $($fields:tt)* }) => {
        impl Default for $name {
            /// Returns the defaults of all attributes.
            fn default() -> Self {
                Self { $($fields)* }
            }
        }
    };
    (@new $name:ident { $($parameters:tt)* } { $($fields:tt)* }) => {
        impl $name {
            /// Returns these attributes, which the text must state, and the defaults of the others.
            #[allow(clippy::too_many_arguments, reason = "as many as the op has")]
            pub fn new($($parameters)*) -> Self {
                Self { $($fields)* }
            }
        }
    };
    (@absent $attrs:ident $key:literal) => { return Err($attrs.missing($key)) };
    (@absent $attrs:ident $key:literal, $default:expr) => { $default };
    (@place $proto:ident instruction) => { &mut *$proto };
    (@place $proto:ident $($path:ident).+) => { attrs!(@inside ($proto) $($path).+) };
    (@inside ($($at:tt)*) $field:ident) => { &mut $($at)*.$field };
    (@inside ($($at:tt)*) $field:ident . $($path:ident).+) => {
        attrs!(@inside ($($at)*.$field.get_or_insert_default()) $($path).+)
    };
    (@decode $proto:ident [] [$default:expr] []) => { $default };
    (@decode $proto:ident [$($path:ident).+] [$($default:expr)?] [$($always:expr)?]) => {
        $crate::proto::ProtoField::decode(attrs!(@place $proto $($path).+), attrs!(@optional $($default)? $($always)?))
            .map_err($crate::proto::in_field(stringify!($($path).+)))?
    };
    (@optional) => { None };
    (@optional $default:expr) => { Some($default) };
    (@shown $value:expr) => { true };
    (@shown $value:expr, $default:expr) => { $value != $default };
}
