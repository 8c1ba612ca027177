//! The C code of operations: functions in C99, for programs that compute elements themselves.
use super::scalar::{c_type, expression};
use super::{CAReduce, Elemwise, ScalarOp};
use builder::{Error, Result};
use hlo::{ElementType, Scalar};
use std::fmt::Write;
use std::panic::Location;

/// The headers of the C code.
const HEADERS: [&str; 3] = ["<math.h>", "<stdbool.h>", "<stdint.h>"];
/// Helper functions of the C code.
const SUPPORT: &str = include_str!("support.h");

/// PyTensor's `c_code_cache_version`: it changes when the code of any operation does.
const VERSION: [i64; 1] = [1];

/// The functions of both classes beside the code itself: headers, helpers, version.
macro_rules! compilation {
    ($($class:ident)*) => {
        $(impl $class {
            /// Returns the headers that the C code includes.
            pub fn c_headers(&self) -> &'static [&'static str] {
                &HEADERS
            }
            /// Returns the folders that the C code's headers are in, besides the compiler's own:
            /// none.
            pub fn c_header_dirs(&self) -> &'static [&'static str] {
                &[]
            }
            /// Returns the helper functions, which the C code contains already. Included twice they
            /// are defined once.
            pub fn c_support_code(&self) -> &'static str {
                SUPPORT
            }
            /// Returns the version of the C code: code of equal versions, types and dimensions is
            /// equal.
            pub fn c_code_cache_version(&self) -> &'static [i64] {
                &VERSION
            }
        })*
    };
}
compilation! { CAReduce Elemwise }

/// Returns headers, helpers and a function. Helpers that follow again are defined once.
fn unit(function: &str) -> String {
    let includes = HEADERS.map(|header| format!("#include {header}\n")).concat();
    format!("{includes}{SUPPORT}{function}")
}

/// Fails unless it is a C identifier.
fn check_name(name: &str) -> Result<()> {
    let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if letters && !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(());
    }
    Err(Error::argument(format!("`{name}` is not a C identifier"))
        .with_help("write letters, digits and `_`"))
}

/// Returns the loops over these dimensions, nested.
fn open_loops(axes: impl Iterator<Item = usize>) -> String {
    let loops: Vec<String> =
        axes.map(|d| format!("  for (int64_t i{d} = 0; i{d} < dims[{d}]; i{d}++)\n")).collect();
    loops.concat()
}
/// Returns the index of an element: `i0 * strides[0] + i1 * strides[1]`.
fn index(strides: &str, ndim: usize) -> String {
    let terms: Vec<String> = (0..ndim).map(|d| format!("i{d} * {strides}[{d}]")).collect();
    if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") }
}

impl Elemwise {
    /// Returns the operation as a C99 function of this name, with what it needs, on inputs of these
    /// types and `ndim` dimensions:
    ///
    /// ```c
    /// void name(const int64_t *dims, const void *const *in, const int64_t *const *strides, void *out);
    /// ```
    ///
    /// `dims` are the sizes of the output, `in[k]` the elements of input `k`, `strides[k][d]` how
    /// many elements it advances along dimension `d`: 0 where it is stretched. The output is
    /// written row by row, without gaps; it may be an input of the same type that lies so too and
    /// is not stretched. Compile it with `-std=c99` and link the mathematical library; options that
    /// change arithmetic (`-ffast-math`) change results.
    ///
    /// The values are those of the instructions, bit for bit, but for functions: with the GNU
    /// library those of `exp`, `exp2`, `expm1`, `log`, `log1p`, `pow`, `erf`, `sin`, `cos`, `tan`
    /// and their inverses are within 1 unit in the last place, those of `log2`, `log10`, `sigmoid`,
    /// `softplus`, `sinh`, `cosh`, `tanh` and their inverses within 2. Rounding half to even
    /// follows the rounding mode, which is that unless a program changes it.
    ///
    /// ```
    /// use builder_compat::pytensor::{Elemwise, ScalarOp};
    /// use hlo::ElementType::F32;
    /// let code = Elemwise::new(ScalarOp::Add).c_code("sum", &[F32, F32], 1)?;
    /// assert!(code.contains("z[n++] = ((x0) + (x1));"));
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ScalarOp::output_type`]; `E0801` for a name that is no C identifier; `E0811` for `f16`
    /// and complex numbers, which have no C code.
    #[track_caller]
    pub fn c_code(&self, name: &str, inputs: &[ElementType], ndim: usize) -> Result<String> {
        let here = Location::caller();
        self.c_function(name, inputs, ndim).map(|f| unit(&f)).map_err(|error| error.at(here))
    }
    fn c_function(&self, name: &str, inputs: &[ElementType], ndim: usize) -> Result<String> {
        check_name(name)?;
        let out = self.output_type(inputs)?;
        let mut code = format!(
            "void {name}(const int64_t *dims, const void *const *in, const int64_t *const *strides, void *out) {{\n"
        );
        if ndim == 0 {
            code.push_str("  (void)dims, (void)strides;\n");
        }
        let _ = writeln!(code, "  {0} *z = ({0} *)out;\n  int64_t n = 0;", c_type(out)?);
        code.push_str(&open_loops(0..ndim));
        code.push_str("  {\n");
        let names: Vec<String> = (0..inputs.len()).map(|k| format!("x{k}")).collect();
        for (k, (x, &ty)) in names.iter().zip(inputs).enumerate() {
            let (c, at) = (c_type(ty)?, index(&format!("strides[{k}]"), ndim));
            let _ =
                writeln!(code, "    const {c} {x} = ((const {c} *)in[{k}])[{at}];\n    (void){x};");
        }
        let given: Vec<(&str, ElementType)> =
            names.iter().map(String::as_str).zip(inputs.iter().copied()).collect();
        let value = expression(self.scalar_op, &given, out)?;
        let _ = writeln!(code, "    z[n++] = {value};\n  }}\n}}");
        Ok(code)
    }
}

impl CAReduce {
    /// Returns the reduction as a C99 function of this name, with what it needs, on inputs of this
    /// type and `ndim` dimensions:
    ///
    /// ```c
    /// int name(const int64_t *dims, const int64_t *strides, const void *in, void *out);
    /// ```
    ///
    /// `dims` and `strides` (in elements) are the input's. The output is written row by row,
    /// without gaps. The result is 0, or 1 for the `maximum` or `minimum` of no elements. Elements
    /// are reduced in row-major order, in the accumulator's type, so that sums and products of
    /// floats may differ from the instructions' by rounding, and nothing else. See
    /// [`Elemwise::c_code`] for how to compile it.
    ///
    /// # Errors
    /// As [`CAReduce::apply`] and [`Elemwise::c_code`].
    #[track_caller]
    pub fn c_code(&self, name: &str, input: ElementType, ndim: usize) -> Result<String> {
        let here = Location::caller();
        self.c_function(name, input, ndim).map(|f| unit(&f)).map_err(|error| error.at(here))
    }
    fn c_function(&self, name: &str, input: ElementType, ndim: usize) -> Result<String> {
        check_name(name)?;
        let plan = self.plan(input, ndim)?;
        let acc = plan.accumulator;
        let (reduced, kept): (Vec<usize>, Vec<usize>) =
            (0..ndim).partition(|&d| i64::try_from(d).is_ok_and(|d| plan.axes.contains(&d)));
        let mut code = format!(
            "int {name}(const int64_t *dims, const int64_t *strides, const void *in, void *out) {{\n"
        );
        if ndim == 0 {
            code.push_str("  (void)dims, (void)strides;\n");
        }
        if matches!(self.scalar_op, ScalarOp::Maximum | ScalarOp::Minimum) {
            for d in &reduced {
                let _ = writeln!(code, "  if (dims[{d}] == 0) return 1;");
            }
        }
        let _ = writeln!(code, "  {0} *z = ({0} *)out;\n  int64_t n = 0;", c_type(plan.output)?);
        code.push_str(&open_loops(kept.into_iter()));
        let start = identity(self.identity(acc).get(0));
        let _ = writeln!(code, "  {{\n    {} acc = {start};", c_type(acc)?);
        code.push_str(&open_loops(reduced.into_iter()));
        let (c, at) = (c_type(input)?, index("strides", ndim));
        let element = format!("((const {c} *)in)[{at}]");
        let converted = expression(ScalarOp::Cast(acc), &[("x", input)], acc)?;
        let step = expression(self.scalar_op, &[("acc", acc), ("y", acc)], acc)?;
        let _ = writeln!(
            code,
            "    {{\n      const {c} x = {element};\n      const {} y = {converted};\n      acc = {step};\n    }}",
            c_type(acc)?
        );
        let last = expression(ScalarOp::Cast(plan.output), &[("acc", acc)], plan.output)?;
        let _ = writeln!(code, "    z[n++] = {last};\n  }}\n  return 0;\n}}");
        Ok(code)
    }
}

/// Returns what a reduction starts from, in C.
fn identity(value: Scalar) -> String {
    match value {
        Scalar::Pred(truth) => truth.to_string(),
        Scalar::Signed(i64::MIN) => "INT64_MIN".to_owned(),
        Scalar::Signed(number) => format!("INT64_C({number})"),
        Scalar::Unsigned(number) => format!("UINT64_C({number})"),
        Scalar::Float(x) if x.is_infinite() => {
            if x < 0.0 { "-INFINITY" } else { "INFINITY" }.to_owned()
        }
        Scalar::Float(x) | Scalar::Complex(x, _) => format!("{x:?}"),
    }
}
