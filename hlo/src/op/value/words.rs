//! Words: attributes whose value is one of a few.
use crate::diag::{Code, nearest};
use crate::text::Cursor;
use crate::{Error, Result};

/// Declares enums with the words of the text; `any case` for those XLA reads in any case.
macro_rules! words {
    ($(
        $(#[$meta:meta])* $name:ident $what:literal $($any:ident case)? {
            $($variant:ident $word:literal $doc:literal,)*
        }
    )*) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
            pub enum $name { $(#[doc = $doc] $variant,)* }

            impl $name {
                /// The word in the text.
                pub const fn word(self) -> &'static str {
                    match self { $(Self::$variant => $word,)* }
                }
                /// The value a word stands for.
                pub fn from_word(word: &str) -> Option<Self> {
                    let words = [$(($word, Self::$variant),)*];
                    let same = |w: &str| words!(@same word, w $(, $any)?);
                    words.into_iter().find(|(w, _)| same(w)).map(|(_, value)| value)
                }
                pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
                    let (word, span) = c.word($what)?;
                    Self::from_word(word).ok_or_else(|| {
                        let words = [$($word,)*];
                        let message = format!("`{word}` is not {}", $what);
                        let error = Error::from(Code::AttributeValue { message }).at(span);
                        match nearest(&word.to_lowercase(), words).or(nearest(&word.to_uppercase(), words)) {
                            Some(near) => error.with_help(format!("did you mean `{near}`?")),
                            None => error.with_help(format!("one of {}", words.join(", "))),
                        }
                    })
                }
                pub(crate) fn print(&self, out: &mut String) {
                    out.push_str(self.word());
                }
            }
        )*
    };
    (@same $a:expr, $b:expr) => { $a == $b };
    (@same $a:expr, $b:expr, any) => { $a.eq_ignore_ascii_case($b) };
}

words! {
    /// The relation of a `compare`.
    Direction "a direction" {
        Eq "EQ" "Equal.", Ne "NE" "Not equal.", Ge "GE" "Greater or equal.",
        Gt "GT" "Greater.", Le "LE" "Less or equal.", Lt "LT" "Less.",
    }
    /// How a `compare` orders values.
    ComparisonType "a comparison type" {
        Float "FLOAT" "As IEEE 754 compares: NaN is in no order.",
        TotalOrder "TOTALORDER" "By bits: -NaN, -inf, ..., -0, +0, ..., +inf, +NaN.",
        Signed "SIGNED" "As signed numbers.",
        Unsigned "UNSIGNED" "As unsigned numbers.",
    }
    /// Which Fourier transform.
    FftType "an FFT type" {
        Fft "FFT" "Complex to complex.", Ifft "IFFT" "Complex to complex, inverse.",
        Rfft "RFFT" "Real to complex.", Irfft "IRFFT" "Complex to real, inverse.",
    }
    /// Distribution of random numbers.
    RandomDistribution "a distribution" any case {
        Uniform "rng_uniform" "All numbers of a range alike.", Normal "rng_normal" "The bell curve.",
    }
    /// Generator of random bits.
    RandomAlgorithm "a random algorithm" any case {
        Default "rng_default" "The back end's choice.", ThreeFry "rng_three_fry" "Threefry-2x32.",
        Philox "rng_philox" "Philox-4x32-10.",
    }
    /// How a compiler runs a fusion.
    FusionKind "a fusion kind" {
        Loop "kLoop" "One loop over the result.", Input "kInput" "Ends in a reduction.",
        Output "kOutput" "Starts with a dot or convolution.", Custom "kCustom" "As the back end says.",
    }
    /// How the products of a dot are formed and added.
    DotAlgorithm "a dot algorithm" {
        Unset "unset" "The back end's choice.",
        AnyF8AnyF8F32 "dot_any_f8_any_f8_f32" "8-bit floats, added in f32.",
        AnyF8AnyF8F32FastAccum "dot_any_f8_any_f8_f32_fast_accum" "8-bit floats, added in less than f32.",
        F16F16F16 "dot_f16_f16_f16" "f16 throughout.",
        F16F16F32 "dot_f16_f16_f32" "f16, added in f32.",
        Bf16Bf16Bf16 "dot_bf16_bf16_bf16" "bf16 throughout.",
        Bf16Bf16F32 "dot_bf16_bf16_f32" "bf16, added in f32.",
        Bf16Bf16F32X3 "dot_bf16_bf16_f32_x3" "f32 as two bf16, three products.",
        Bf16Bf16F32X6 "dot_bf16_bf16_f32_x6" "f32 as three bf16, six products.",
        Bf16Bf16F32X9 "dot_bf16_bf16_f32_x9" "f32 as three bf16, nine products.",
        Tf32Tf32F32 "dot_tf32_tf32_f32" "f32 cut to 10 bits of mantissa.",
        Tf32Tf32F32X3 "dot_tf32_tf32_f32_x3" "f32 as two such, three products.",
        F32F32F32 "dot_f32_f32_f32" "f32 throughout.",
        F64F64F64 "dot_f64_f64_f64" "f64 throughout.",
    }
    /// What a `triangular-solve` does to its matrix first.
    Transpose "a transposition" {
        NoTranspose "NO_TRANSPOSE" "Nothing.", Transposed "TRANSPOSE" "Transposes it.",
        Adjoint "ADJOINT" "Transposes and conjugates it.", Invalid "TRANSPOSE_INVALID" "Was not said.",
    }
    /// How the window of a custom convolution is padded.
    PaddingType "a padding type" {
        Invalid "PADDING_INVALID" "Was not said.", Valid "PADDING_VALID" "Not at all.",
        Same "PADDING_SAME" "So that the result has the operand's sizes.",
    }
    /// When a custom call should run.
    CustomCallSchedule "a schedule" any case {
        None "SCHEDULE_NONE" "Whenever.", Latest "SCHEDULE_LATEST" "As late as can be.",
        Earliest "SCHEDULE_EARLIEST" "As early as can be.",
    }
    /// How a custom call's function is called.
    ApiVersion "an API version" any case {
        Original "API_VERSION_ORIGINAL" "`void f(void* out, void** in)`",
        StatusReturning "API_VERSION_STATUS_RETURNING" "With a status as last argument.",
        StatusReturningUnified "API_VERSION_STATUS_RETURNING_UNIFIED" "With the configuration before the status.",
        TypedFfi "API_VERSION_TYPED_FFI" "Through XLA's foreign function interface.",
    }
    /// Which of the shapes of a convolution and its gradients.
    ConvolutionKind "a convolution kind" {
        Unset "unset" "The convolution itself.", Fprop "fprop" "The convolution itself.",
        Wgrad "wgrad" "Gradient of the kernel.", Dgrad "dgrad" "Gradient of the operand.",
    }
    /// How exactly an operand is to be read.
    Precision "a precision" any case {
        Default "default" "The back end's choice.", High "high" "Better.", Highest "highest" "As it is.",
    }
}
