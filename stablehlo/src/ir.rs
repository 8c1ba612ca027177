//! The part of MLIR that StableHLO programs use: ops with operands, attributes and regions.
use hlo::ElementType;
use smallvec::SmallVec;
use smol_str::SmolStr;
use std::sync::Arc;

/// A program: the op `builtin.module`'s name, attributes and body.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    /// The symbol name of the module, if it has one.
    pub name: Option<SmolStr>,
    /// The attributes of the module: `mhlo.num_partitions`, ...
    pub attributes: Attributes,
    /// The ops of the module's body: functions, meshes.
    pub ops: Vec<Op>,
    /// The number of values; every [`ValueId`] is below it.
    pub values: u32,
    /// Places that ops refer to.
    pub locations: Vec<Location>,
    /// The function that runs; if there is none, `@main` or the only public one.
    pub entry: Option<SmolStr>,
    /// The functions whose bodies were not read, and why: an error where one is called.
    pub unread: Vec<(SmolStr, crate::Error)>,
}
impl Program {
    /// Returns the program that a module is.
    pub(crate) fn from_module(module: Op, program: Self) -> Self {
        let mut attributes = Arc::unwrap_or_clone(module.attributes);
        let mut name = None;
        attributes.0.retain(|(attribute, value)| match value {
            Attribute::String(text) if attribute == "sym_name" => {
                name = Some(SmolStr::new(String::from_utf8_lossy(text)));
                false
            }
            _ => true,
        });
        let ops = module.regions.into_iter().next().map(|region| region.ops).unwrap_or_default();
        Self { name, attributes, ops, ..program }
    }
    /// Returns whether the program may start at the function of this name: it is the entry or
    /// `main`, or there is neither.
    pub(crate) fn may_start_at(&self, name: &str) -> bool {
        if let Some(entry) = &self.entry {
            return name == entry;
        }
        let is_main = |op: &Op| matches!(op.attributes.get("sym_name"), Some(Attribute::String(name)) if name == b"main");
        name == "main" || !self.ops.iter().any(is_main)
    }
}

/// A value: the result of an op or the argument of a block. Unique in its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// A place in [`Program::locations`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LocationId(pub u32);

/// A value with its type, where it is defined.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// The value.
    pub id: ValueId,
    /// Its type.
    pub ty: Type,
}

/// An op.
#[derive(Debug, Clone, PartialEq)]
pub struct Op {
    /// The full name: `stablehlo.add`, `func.func`, `chlo.erf`, `sdy.mesh`.
    pub name: SmolStr,
    /// The operands.
    pub operands: SmallVec<[ValueId; 4]>,
    /// The results.
    pub results: SmallVec<[Value; 1]>,
    /// Inherent and discardable attributes, by their names in the generic text form; ops with the
    /// same attributes share them.
    pub attributes: Arc<Attributes>,
    /// The regions.
    pub regions: Vec<Region>,
    /// Where the op was made, in the user's program.
    pub location: Option<LocationId>,
    /// Where the op stands in the text; none in bytecode.
    pub span: Option<hlo::diag::Span>,
}

/// A region of one block; StableHLO has no others. A region without ops may have no block in MLIR.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Region {
    /// The arguments of the block.
    pub arguments: Vec<Value>,
    /// The ops of the block, the terminator last.
    pub ops: Vec<Op>,
}

/// Attributes by name, sorted by it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Attributes(pub Vec<(SmolStr, Attribute)>);

impl Attributes {
    /// Returns the attribute of this name.
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, attribute)| attribute)
    }
}

/// A type.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// `tensor<2x?xf32, #stablehlo.bounds<?, 4>>`.
    Tensor(Tensor),
    /// A bare element type, as in `1 : i64`.
    Element(ElementType),
    /// `index`.
    Index,
    /// `!stablehlo.token`.
    Token,
    /// `tuple<...>`.
    Tuple(Vec<Type>),
    /// `(...) -> (...)`.
    Function(Vec<Type>, Vec<Type>),
    /// A type without a meaning in HLO (quantized, `none`, `memref`, ...), by its text; refused by
    /// name where it is used.
    Other(SmolStr),
}

/// The type of an array.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// The sizes, shared by values of the same type.
    pub dims: Arc<[Dim]>,
    /// The element type; none if it is one that HLO lacks, such as `index` or a quantized type,
    /// whose text is in `other`.
    pub element: Result<ElementType, SmolStr>,
}

/// The size of a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dim {
    /// A known size.
    Static(u64),
    /// `?`, with its bound from `#stablehlo.bounds` where there is one.
    Dynamic(Option<u64>),
}

/// An attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Attribute {
    /// `unit`.
    Unit,
    /// `true`.
    Bool(bool),
    /// `1 : i64`, with its type.
    Integer(i128, Type),
    /// `1.0 : f32`, with its type.
    Float(f64, Type),
    /// `"text"`; not always UTF-8 (`backend_config`, `sdy` round trips).
    String(Vec<u8>),
    /// `[...]`.
    Array(Vec<Attribute>),
    /// `{...}`.
    Dictionary(Attributes),
    /// A type as an attribute: `function_type`.
    Type(Type),
    /// `dense<...> : tensor<...>` of numbers.
    Dense(Dense),
    /// `dense<["a", "b"]> : tensor<2x!tf.string>` and the like.
    Strings(Vec<Vec<u8>>),
    /// `array<i64: 1, 2>` and `array<i1: true>`.
    Integers(Vec<i64>),
    /// `@name` or `@name::@nested`.
    Symbol(Vec<SmolStr>),
    /// An attribute of a dialect by its name and its fields: `#stablehlo<comparison_direction EQ>`
    /// is `stablehlo.comparison_direction` with [`Fields::Keyword`],
    /// `#stablehlo.gather<offset_dims = [0], ...>` is `stablehlo.gather` with [`Fields::Named`].
    Dialect(SmolStr, Fields),
}

/// The contents of a dialect's attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Fields {
    /// One word: `EQ`, `DEFAULT`, `FLOAT`.
    Keyword(SmolStr),
    /// Named fields, with the names of the text form. Fields at their default may be absent.
    Named(Attributes),
}

/// The value of a dense attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct Dense {
    /// Its type: static sizes.
    pub ty: Tensor,
    /// Row-major, little-endian; one byte per element for types of fewer than 8 bits, as in
    /// [`hlo::Literal`]. A single element if `splat`.
    pub bytes: Vec<u8>,
    /// Whether every element is the one in `bytes`.
    pub splat: bool,
}

/// A place in the user's program.
#[derive(Debug, Clone, PartialEq)]
pub enum Location {
    /// `"file":line:column`.
    File {
        /// The file's name.
        file: SmolStr,
        /// Line, from 1.
        line: u32,
        /// Column, from 1; 0 if it is unknown.
        column: u32,
    },
    /// `"name"(location)`: JAX's op name.
    Name(SmolStr, Option<LocationId>),
    /// `callsite(callee at caller)`.
    Call(LocationId, LocationId),
    /// `fused[...]`.
    Fused(Vec<LocationId>),
}
