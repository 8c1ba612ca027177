//! The error numbers of text, structure and shape rules; each variant's doc comment is what `etalon explain` prints.

/// Declares the error codes of a crate: an enum whose doc comments `etalon explain` prints, and the numbers of its variants. What
/// follows in `impl ErrorCode { }` overrides methods of [`ErrorCode`](crate::diag::ErrorCode).
#[doc(hidden)]
#[macro_export]
macro_rules! error_codes {
    (
        $(#[$meta:meta])* pub enum $name:ident {
            $( $(#[doc = $doc:literal])* $number:literal $text:literal $variant:ident $({ $($field:ident: $ty:ty),* $(,)? })?, )*
        }
        $(impl ErrorCode { $($item:tt)* })?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, thiserror::Error)]
        #[non_exhaustive]
        pub enum $name {
            $(
                $(#[doc = $doc])*
                #[error($text)]
                #[allow(missing_docs, reason = "the variant's comment covers its fields")]
                $variant $({ $($field: $ty),* })?,
            )*
        }
        impl $name {
            /// The number a user can look up: `E0301`.
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
    /// What is wrong with a text or a module.
    pub enum Code {
        /// The text does not follow the grammar of HLO: something else was needed at this place.
        ///
        /// A common cause is a blank before `=` or `:` (`dimensions ={0}`): in HLO text the sign belongs to the
        /// word before it.
        "E0101" "expected {wanted}, found {found}"
        Syntax { wanted: String, found: String },
        /// A character, escape or comment that no HLO text has: a control character, a byte above 127 outside
        /// strings and comments, a string or a `/* comment` that is never closed.
        "E0102" "{message}"
        Character { message: String },
        /// The word is no opcode of HLO, and no old name of one.
        ///
        /// `etalon explain OPCODE` describes an opcode. `<opcode>-start`, `-update` and `-done` are asynchronous
        /// forms of every opcode that has no such form of its own.
        "E0103" "unknown opcode `{name}`"
        UnknownOpcode { name: String },
        /// The instruction's opcode does not take this attribute.
        ///
        /// With `--lenient` an unknown attribute is kept as it stands, printed back, and warned about: a dump
        /// from a newer XLA can then still be opened.
        "E0104" "`{op}` has no attribute `{name}`"
        UnknownAttribute { op: String, name: String },
        /// An attribute may be given once.
        "E0105" "attribute `{name}` is given twice"
        DuplicateAttribute { name: String },
        /// The opcode has no meaning without this attribute.
        "E0106" "`{op}` needs the attribute `{name}`"
        MissingAttribute { op: String, name: String },
        /// The attribute is known, but its value is of the wrong kind, out of range, or contradicts another.
        "E0107" "{message}"
        AttributeValue { message: String },
        /// An operand or a control predecessor names no instruction that stands before this one in the same
        /// computation. Operands must be defined before they are used; a nested computation does not see the
        /// names around it.
        "E0108" "`{name}` is not defined before this place"
        UndefinedName { name: String },
        /// No computation of this name is anywhere in the text.
        "E0109" "there is no computation `{name}`"
        UndefinedComputation { name: String },
        /// Two instructions of one computation, or two computations of one module, have the same name
        /// (`%x` and `x` are the same name).
        "E0110" "{kind} `{name}` is defined twice"
        DuplicateName { kind: &'static str, name: String },
        /// A constant's text does not fit its shape: braces must nest as deep as the rank, and each level must
        /// hold as many elements as the dimension says.
        "E0111" "{message}"
        Literal { message: String },
        /// A number that its type cannot hold.
        "E0112" "{message}"
        NumberRange { message: String },
        /// A shape's text is malformed: a dimension that is no size, a layout whose length is not the rank, a
        /// layout field out of order.
        "E0113" "{message}"
        ShapeText { message: String },
        /// The result shape was left out, but this opcode's shape cannot be told from its operands.
        "E0114" "the result shape of `{op}` must be written"
        ShapeMissing { op: String },
        /// An operand's shape is repeated before its name and is not the shape of that instruction (layouts are
        /// not compared).
        "E0115" "operand `{name}` has shape {actual}, not {written}"
        OperandShape { name: String, written: String, actual: String },
        /// Nested operands, shapes, literals or computations go deeper than the reader follows.
        "E0116" "nested deeper than {limit} levels"
        TooDeep { limit: u32 },
        /// HLO text is UTF-8.
        "E0117" "byte {offset} is not valid UTF-8"
        NotUtf8 { offset: usize },
        /// An instruction's name would be read as something else: the name of an element type, or a name
        /// starting with `__` (kept for XLA's own use).
        "E0118" "`{name}` cannot be the name of an instruction"
        IllegalName { name: String },
        /// An asynchronous chain does not fit together: the shapes of start, update and done, their opcode, or
        /// the computation they wrap.
        "E0119" "{message}"
        Async { message: String },
        /// The text is larger than 4 GiB.
        "E0120" "the text has {bytes} bytes; at most 4294967295 can be read"
        TooLarge { bytes: usize },
        /// The module as a whole is not well formed: no computation, an empty computation, two `ENTRY`
        /// computations, two `ROOT` instructions, text after the end.
        "E0201" "{message}"
        Structure { message: String },
        /// The instruction has a number of operands that its opcode does not take.
        "E0202" "`{op}` takes {wanted}, found {found}"
        Arity { op: String, wanted: String, found: usize },
        /// Parameters are numbered from 0 without gaps, each number once in a computation.
        "E0203" "{message}"
        ParameterNumber { message: String },
        /// Computations may not call themselves, directly or through others.
        "E0204" "computation `{name}` calls itself: {path}"
        Recursion { name: String, path: String },
        /// A called computation's parameters or result do not fit the instruction that calls it.
        "E0205" "{message} ({rule})"
        Callee { rule: &'static str, message: String },
        /// `entry_computation_layout`, aliases or donors of the module header do not fit the entry computation.
        "E0206" "{message}"
        Header { message: String },
        /// A rule of the operation's specification is broken. The label in parentheses is the rule's name: the
        /// constraint's label in the `StableHLO` specification where it has one, or a name that says what is
        /// wanted.
        "E0301" "{message} ({rule})"
        Rule { rule: &'static str, message: String },
        /// The instruction states a result shape other than the one its operands and attributes give. Layouts
        /// are not compared.
        "E0302" "`{op}` gives {inferred}, but {stated} is stated"
        ResultShape { op: String, inferred: String, stated: String },
        /// The operation is not defined on this element type.
        "E0303" "`{op}` is not defined on {found}; it takes {wanted}"
        OperandType { op: String, found: String, wanted: String },
    }
}
