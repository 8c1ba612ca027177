//! The error codes of text, structure and shape rules; `etalon explain` prints the doc comment of a variant.

/// Declares the error codes of a crate: an enum whose doc comments `etalon explain` prints, and the numbers of its
/// variants. The items in `impl ErrorCode { }` override methods of [`ErrorCode`](crate::diag::ErrorCode).
#[doc(hidden)]
#[macro_export]
macro_rules! error_codes {
    (
        $(#[$meta:meta])* pub enum $name:ident {
            $( $(#[doc = $doc:literal])* $number:literal $text:literal $(($($value:tt)*))? $variant:ident $({ $($field:ident: $ty:ty),* $(,)? })?, )*
        }
        $(impl ErrorCode { $($item:tt)* })?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, thiserror::Error)]
        #[non_exhaustive]
        pub enum $name {
            $(
                $(#[doc = $doc])*
                #[error($text $(, $($value)*)?)]
                #[allow(missing_docs, reason = "the variant's comment covers its fields")]
                $variant $({ $($field: $ty),* })?,
            )*
        }
        impl $name {
            /// Returns the error number: `E0301`.
            pub const fn number(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $number,)* }
            }
        }
        impl $crate::diag::ErrorCode for $name {
            const EXPLANATIONS: &'static [(&'static str, &'static str)] =
                &[$(($number, concat!($($doc, "\n"),*)),)*];
            fn number(&self) -> &'static str {
                Self::number(self)
            }
            $($($item)*)?
        }
    };
}

error_codes! {
    /// The kinds of errors in a text or a module.
    pub enum Code {
        /// The text does not follow the grammar of HLO.
        ///
        /// A common cause is a blank before `=` or `:` (`dimensions ={0}`): in HLO text the sign is part of the
        /// word before it.
        "E0101" "expected {expected}, found {found}"
        Syntax { expected: String, found: String },
        /// A character, escape sequence or comment is not allowed in HLO text: a control character, a byte above 127
        /// outside strings and comments, a string or a `/* comment` that is never closed.
        "E0102" "{message}"
        Character { message: String },
        /// The word is not an opcode of HLO, and not an old name of one.
        ///
        /// `etalon explain OPCODE` describes an opcode. `<opcode>-start`, `-update` and `-done` are asynchronous
        /// forms of every other opcode.
        "E0103" "unknown opcode `{name}`"
        UnknownOpcode { name: String },
        /// The opcode of the instruction does not have this attribute.
        ///
        /// With `--lenient` an unknown attribute is kept, printed again, and reported as a warning. Use it to open a
        /// dump of a newer XLA.
        "E0104" "`{op}` has no attribute `{name}`"
        UnknownAttribute { op: String, name: String },
        /// An attribute is specified more than once.
        "E0105" "attribute `{name}` is specified twice"
        DuplicateAttribute { name: String },
        /// The opcode requires this attribute.
        "E0106" "`{op}` needs the attribute `{name}`"
        MissingAttribute { op: String, name: String },
        /// The value of an attribute has the wrong kind, is out of range, or contradicts another attribute.
        "E0107" "{message}"
        AttributeValue { message: String },
        /// An operand or a control predecessor is not the name of an earlier instruction of the same computation.
        ///
        /// Define operands before their users. A called computation cannot use the names of its caller: pass the value
        /// as an operand.
        "E0108" "`{name}` is not defined before its use"
        UndefinedName { name: String },
        /// The text has no computation with this name.
        "E0109" "there is no computation `{name}`"
        UndefinedComputation { name: String },
        /// Two instructions of a computation, or two computations of a module, have the same name. `%x` and `x` are the
        /// same name.
        "E0110" "{kind} `{name}` is defined twice"
        DuplicateName { kind: &'static str, name: String },
        /// The text of a constant does not fit its shape: braces must be nested as deep as the rank, and each level must
        /// have as many elements as the dimension.
        "E0111" "{message}"
        Literal { message: String },
        /// A number does not fit in its type.
        "E0112" "{message}"
        NumberRange { message: String },
        /// The text of a shape is malformed: a dimension that is not a size, a layout whose length is not the rank, or a
        /// layout field out of order.
        "E0113" "{message}"
        ShapeText { message: String },
        /// The result shape is omitted, but cannot be inferred for this opcode.
        "E0114" "`{op}` needs an explicit result shape"
        ShapeMissing { op: String },
        /// The shape written before an operand is not the shape of that instruction. Layouts are not compared.
        "E0115" "operand `{name}` has shape {actual}, not {written}"
        OperandShape { name: String, written: String, actual: String },
        /// Operands, shapes, literals or computations are nested deeper than the parser supports; or an array has more dimensions,
        /// together with the tuples around it, than every format of modules and values can hold.
        "E0116" "nested deeper than {limit} levels"
        TooDeep { limit: u32 },
        /// The text is not valid UTF-8.
        "E0117" "byte {offset} is not valid UTF-8"
        NotUtf8 { offset: usize },
        /// An instruction has a reserved name: the name of an element type, or one that starts with `__`.
        "E0118" "`{name}` cannot be the name of an instruction"
        IllegalName { name: String },
        /// The start, updates and done of an asynchronous op do not match in their shapes, their opcode, or the wrapped
        /// computation.
        "E0119" "{message}"
        Async { message: String },
        /// The text is larger than 4 GiB.
        "E0120" "the text has {bytes} bytes; at most 4294967295 can be read"
        TooLarge { bytes: usize },
        /// The bytes are not an `HloModuleProto`, or a field has a value that no module has: ids that do not exist or exist
        /// twice, an operand that comes after its user, a shape without dimensions, a literal with too few elements.
        ///
        /// Messages of XLA that contain a module, such as `HloSnapshot`, are recognized, too. The binary formats of
        /// other systems, such as a `SavedModel`, are not.
        "E0121" "{message}"
        Proto { message: String },
        /// The result shapes that the text omits have too many elements in all: tuples of tuples grow exponentially with the
        /// text.
        "E0122" "the omitted shapes have more than {limit} elements"
        TooManyShapes { limit: usize },
        /// The module is not well formed: it has no computation, an empty computation, two `ENTRY` computations, two
        /// `ROOT` instructions, or text after the end.
        "E0201" "{message}"
        Structure { message: String },
        /// The instruction has the wrong number of operands.
        "E0202" "`{op}` expects {expected}, found {found}"
        Arity { op: String, expected: String, found: usize },
        /// The parameters of a computation are not numbered from 0 without gaps and duplicates.
        "E0203" "{message}"
        ParameterNumber { message: String },
        /// A computation calls itself, directly or indirectly. HLO has no recursion: use `while`.
        "E0204" "computation `{name}` calls itself: {path}"
        Recursion { name: String, path: String },
        /// The parameters or the result of a called computation do not fit the instruction that calls it.
        "E0205" "{message} ({rule})"
        Callee { rule: &'static str, message: String },
        /// `entry_computation_layout`, aliases or buffer donors of the module header do not fit the entry computation.
        "E0206" "{message}"
        Header { message: String },
        /// An asynchronous computation of the main thread has other instructions than its parameters and one op, or elements of
        /// its parameters and a root, or `send`s and `recv`s.
        ///
        /// Pass what else the op needs as operands of the `async-start`. A computation of another `execution_thread`, and one
        /// whose start has the frontend attribute `_collectives_group`, may have any instructions.
        "E0207" "{message}"
        AsyncComputation { message: String },
        /// A constraint of the op is violated. The label in parentheses names it: it is the label of the constraint in the
        /// `StableHLO` specification, if there is one, or a descriptive name.
        "E0301" "{message} ({rule})"
        Rule { rule: &'static str, message: String },
        /// The stated result shape is not the one that follows from operands and attributes. Layouts are not compared.
        "E0302" "expected `{op}` to have shape {inferred}, found {stated}"
        ResultShape { op: String, inferred: String, stated: String },
        /// The op is not defined on this element type.
        "E0303" "`{op}` is not defined on {found}; expected {expected}"
        OperandType { op: String, found: String, expected: String },
    }
}
