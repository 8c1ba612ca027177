//! The error codes of the readers of StableHLO and of its conversion to HLO.
use hlo::diag::{BrokenRule, Diagnostic, Internal, Unsupported};

hlo::error_codes! {
    /// The kinds of errors in a StableHLO program.
    pub enum Code {
        /// The text does not follow the grammar of MLIR, or the pretty form of an op.
        ///
        /// Any op can be written in the generic form:
        /// `%r = "dialect.op"(%a, %b) <{name = value}> : (type, type) -> type`.
        "E0901" "expected {expected}, found {found}"
        Syntax { expected: String, found: String },
        /// A string or a character is not allowed in MLIR text: a string that is never closed, an
        /// unknown escape sequence, a control character.
        "E0902" "{message}"
        Character { message: String },
        /// A value, an alias or a function is used that the program does not define, or that is
        /// defined later or in another region.
        "E0903" "{kind} `{name}` is not defined"
        Undefined { kind: &'static str, name: String },
        /// Two values that are visible at the same place, two aliases, or two attributes of an op
        /// have the same name.
        "E0904" "{kind} `{name}` is defined twice"
        Duplicate { kind: &'static str, name: String },
        /// The type written for an operand is not the type of that value, or the number of types is
        /// not the number of values.
        "E0905" "{message}"
        TypeMismatch { message: String },
        /// Etalon does not know the pretty form of this op.
        ///
        /// Print the program in the generic form: `mlir-opt --mlir-print-op-generic`, or
        /// `module.operation.get_asm(print_generic_op_form=True)` in Python.
        "E0906" "the pretty form of `{name}` is unknown"
        UnknownForm { name: String },
        /// An attribute is missing, or its value has the wrong kind or is out of range.
        "E0907" "{message}"
        AttributeValue { message: String },
        /// The elements of a `dense` constant do not fit its type: their number, their nesting, or
        /// a value out of range.
        "E0908" "{message}"
        Literal { message: String },
        /// Regions, types, attributes or locations are nested deeper than Etalon reads.
        "E0909" "nested deeper than {limit} levels"
        TooDeep { limit: u32 },
        /// The text is not valid UTF-8, or larger than 4 GiB.
        "E0910" "{message}"
        Encoding { message: String },
        /// The bytes begin like MLIR bytecode, but do not follow its format: the file is truncated
        /// or damaged, or is of a version that Etalon does not know.
        "E0911" "{message} (at byte {offset} of the {section})"
        Bytecode { message: String, offset: usize, section: &'static str },
        /// The bytecode has a newer version than Etalon reads, or contains an op, attribute or type
        /// of a newer VHLO.
        ///
        /// Write the program for an older version:
        /// `stablehlo.serialize_portable_artifact(module, "1.0.0")` in Python, or
        /// `stablehlo-translate --serialize --target=1.0.0`.
        "E0912" "{message}"
        Version { message: String },
        /// The program cannot be written for this version of StableHLO: it has an op, an attribute
        /// or a type that a later one introduced, or Etalon does not know the version.
        ///
        /// The message names the version that is needed.
        "E0913" "{message}"
        Target { message: String },
        /// The program uses a part of MLIR or StableHLO that HLO lacks, or that Etalon does not
        /// implement.
        "E0920" "{message}"
        Unsupported { message: String },
        /// The program breaks a rule of HLO; the message has the rule's number.
        "E0921" "{message} [{number}]"
        Rule { number: &'static str, message: String },
        /// The op has no conversion to HLO: it is not one of StableHLO or CHLO, nor one of `func`,
        /// `shape`, `arith`, `tensor` or `sdy` that programs for XLA use.
        ///
        /// A typical cause is a program of an earlier stage of a compiler: lower its dialects to
        /// StableHLO first.
        "E0922" "`{name}` has no conversion to HLO{at}"
        UnknownOp { name: String, at: String },
        /// A symbol names no function, two functions have one name, or functions call each other in
        /// a cycle, which HLO does not have.
        ///
        /// A program starts at `@main`, or at its only public function.
        "E0923" "{message}"
        Symbol { message: String },
        /// A type has no counterpart in HLO: memory references, quantized types with a scale for each block or with
        /// integers of another width than 2, 4, 8, 16 or 32 bits.
        "E0924" "{message}"
        Type { message: String },
        /// The size of an array is not known when the program is converted.
        ///
        /// Operands that give sizes must be constants, or be computed from constants and the sizes
        /// of arrays whose shapes are known. Typical causes: the arguments of `@main` have unknown
        /// sizes (`tensor<?xf32>`), or a size depends on data.
        "E0925" "{message}"
        DynamicShape { message: String },
        /// An op has another number of operands, results or regions than it takes, or operands that
        /// do not fit together.
        "E0926" "{message}"
        Malformed { message: String },
        /// A bug in Etalon. Please report it with the program.
        "E0999" "internal error: {message}"
        Internal { message: String },
    }
    impl ErrorCode {
        fn complete(&self, mut diagnostic: Diagnostic) -> Diagnostic {
            match self {
                Self::UnknownForm { .. } => {
                    diagnostic.help.get_or_insert_with(|| "write the op in the generic form".to_owned());
                }
                Self::Version { .. } => {
                    diagnostic.help.get_or_insert_with(|| "serialize the program for an older version".to_owned());
                }
                _ => {}
            }
            diagnostic
        }
    }
}

/// The reason why a StableHLO program cannot be read, and its place.
pub type Error = hlo::diag::Error<Code>;

/// Result of everything in this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl From<Unsupported> for Code {
    fn from(Unsupported(message): Unsupported) -> Self {
        Self::Unsupported { message }
    }
}
impl From<Internal> for Code {
    fn from(Internal(message): Internal) -> Self {
        Self::Internal { message }
    }
}
impl From<BrokenRule> for Code {
    fn from(BrokenRule { number, message }: BrokenRule) -> Self {
        Self::Rule { number, message }
    }
}

impl Code {
    /// Returns the code whose message ends with a location in the user's program, where it has a
    /// message of its own.
    pub(crate) fn with_location(mut self, location: &str) -> Self {
        match &mut self {
            Self::Character { message }
            | Self::TypeMismatch { message }
            | Self::AttributeValue { message }
            | Self::Literal { message }
            | Self::Encoding { message }
            | Self::Bytecode { message, .. }
            | Self::Version { message }
            | Self::Target { message }
            | Self::Unsupported { message }
            | Self::Rule { message, .. }
            | Self::UnknownOp { at: message, .. }
            | Self::Symbol { message }
            | Self::Type { message }
            | Self::DynamicShape { message }
            | Self::Malformed { message }
            | Self::Internal { message } => message.push_str(location),
            Self::Syntax { .. }
            | Self::Undefined { .. }
            | Self::Duplicate { .. }
            | Self::UnknownForm { .. }
            | Self::TooDeep { .. } => {}
        }
        self
    }
    /// Returns whether the program may be right, and Etalon or HLO lacks what it uses.
    pub fn is_unsupported(&self) -> bool {
        match self {
            Self::UnknownForm { .. }
            | Self::Version { .. }
            | Self::Target { .. }
            | Self::Unsupported { .. }
            | Self::Type { .. }
            | Self::DynamicShape { .. } => true,
            // The ops of these dialects are all known: another name, or one without a dialect, is a
            // mistake.
            Self::UnknownOp { name, .. } => {
                !matches!(name.split_once('.'), None | Some(("stablehlo" | "chlo", _)))
            }
            Self::Syntax { .. }
            | Self::Character { .. }
            | Self::Undefined { .. }
            | Self::Duplicate { .. }
            | Self::TypeMismatch { .. }
            | Self::AttributeValue { .. }
            | Self::Literal { .. }
            | Self::TooDeep { .. }
            | Self::Encoding { .. }
            | Self::Bytecode { .. }
            | Self::Rule { .. }
            | Self::Symbol { .. }
            | Self::Malformed { .. }
            | Self::Internal { .. } => false,
        }
    }
}
