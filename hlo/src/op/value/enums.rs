//! Attribute values that are enums.
use super::fields::unknown;
use crate::Result;
use crate::text::Cursor;
use std::fmt;

/// Declares enums with their words in the text: `exact` words are case-sensitive, `any_case` words
/// can be written in any case; `also` is a word that is read and not printed. The string is the
/// name of the set in messages.
macro_rules! enums {
    ($(
        $(#[$meta:meta])* pub enum $name:ident = $case:ident $what:literal {
            $($(#[$vmeta:meta])* $variant:ident $word:literal $(also $old:literal)? $($number:literal)?,)*
        }
    )*) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vmeta])* $variant,)* }

        impl $name {
            /// All values.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];
            const WORDS: &'static [&'static str] = &[$($word,)*];
            const OLD_WORDS: &'static [(&'static str, Self)] = &[$($(($old, Self::$variant),)?)*];

            /// Returns the word in HLO text.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
            pub(crate) fn parse(c: &mut Cursor<'_>) -> Result<Self> {
                let old = c.peek_word().and_then(|word| {
                    Self::OLD_WORDS.iter().find(|(known, _)| Case::$case.same(known, word))
                });
                if let Some(&(_, value)) = old {
                    c.eat_word();
                    return Ok(value);
                }
                let index = index(c, Case::$case, $what, Self::WORDS)?;
                Ok(Self::ALL[index])
            }
            pub(crate) fn print(&self, out: &mut String) {
                out.push_str(self.name());
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
        impl $crate::proto::Enum for $name {
            const WHAT: &'static str = $what;
            const VALUES: &'static [(Self, &'static str, Option<i32>)] =
                &[$((Self::$variant, $word, number!($($number)?)),)*];
        }
    )*};
}
macro_rules! number {
    () => {
        None
    };
    ($number:literal) => {
        Some($number)
    };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(non_camel_case_types, reason = "spelled as in the declarations below")]
enum Case {
    exact,
    any_case,
}

impl Case {
    fn same(self, known: &str, word: &str) -> bool {
        match self {
            Self::exact => known == word,
            Self::any_case => known.eq_ignore_ascii_case(word),
        }
    }
}

fn index(c: &mut Cursor<'_>, case: Case, what: &str, words: &[&'static str]) -> Result<usize> {
    let (word, span) = c.word(what)?;
    let found = words.iter().position(|known| case.same(known, word));
    found.ok_or_else(|| unknown(&format!("`{word}` is not a valid {what}"), word, words).at(span))
}

enums! {
    /// The direction of a `compare`.
    pub enum Direction = exact "comparison direction" {
        /// `lhs == rhs`
        Eq "EQ",
        /// `lhs != rhs`
        Ne "NE",
        /// `lhs >= rhs`
        Ge "GE",
        /// `lhs > rhs`
        Gt "GT",
        /// `lhs <= rhs`
        Le "LE",
        /// `lhs < rhs`
        Lt "LT",
    }

    /// The type of a `compare`.
    pub enum ComparisonType = exact "comparison type" {
        /// IEEE 754: NaN is unordered, -0 equals +0.
        Float "FLOAT" also "PARTIAL",
        /// The total order of floats: -NaN, -inf, .., -0, +0, .., +inf, +NaN.
        TotalOrder "TOTALORDER" also "TOTAL",
        /// Two's complement.
        Signed "SIGNED",
        /// Unsigned binary.
        Unsigned "UNSIGNED",
    }

    /// The transform of an `fft`.
    pub enum FftType = exact "FFT type" {
        /// Complex to complex.
        Fft "FFT" 0,
        /// Complex to complex, inverse.
        Ifft "IFFT" 1,
        /// Real to the non-negative half of the spectrum.
        Rfft "RFFT" 2,
        /// Half a spectrum to real.
        Irfft "IRFFT" 3,
    }

    /// The distribution of an `rng`.
    pub enum RandomDistribution = any_case "distribution" {
        /// Uniform between two bounds.
        Uniform "rng_uniform" 1,
        /// Normal with mean and standard deviation.
        Normal "rng_normal" 2,
    }

    /// The algorithm of an `rng-bit-generator`.
    pub enum RandomAlgorithm = any_case "random algorithm" {
        /// The backend's choice.
        Default "rng_default" 0,
        /// Threefry 2x32.
        ThreeFry "rng_three_fry" 1,
        /// Philox 4x32.
        Philox "rng_philox" 2,
    }

    /// The kind of a `fusion`, for a code generator; the result does not depend on it.
    pub enum FusionKind = exact "fusion kind" {
        /// One loop over the result.
        Loop "kLoop",
        /// Fused into a reduction or another op that reads more than it writes.
        Input "kInput",
        /// Fused after an op such as a dot.
        Output "kOutput",
        /// Specific to the backend.
        Custom "kCustom",
    }

    /// Precision in which a `dot` multiplies and adds.
    #[derive(Default)]
    pub enum DotAlgorithm = any_case "dot algorithm" {
        /// The backend's choice.
        #[default]
        Unset "unset" 0,
        /// FP8 inputs of any kind, f32 sums.
        AnyF8AnyF8F32 "dot_any_f8_any_f8_f32" 1,
        /// FP8 inputs of any kind, f32 sums with fewer bits where that is faster.
        AnyF8AnyF8F32FastAccum "dot_any_f8_any_f8_f32_fast_accum" 2,
        /// f16 inputs and sums.
        F16F16F16 "dot_f16_f16_f16" 3,
        /// f16 inputs, f32 sums.
        F16F16F32 "dot_f16_f16_f32" 4,
        /// bf16 inputs and sums.
        Bf16Bf16Bf16 "dot_bf16_bf16_bf16" 5,
        /// bf16 inputs, f32 sums.
        Bf16Bf16F32 "dot_bf16_bf16_f32" 6,
        /// Inputs split into two bf16, three products, f32 sums.
        Bf16Bf16F32X3 "dot_bf16_bf16_f32_x3" 7,
        /// Inputs split into three bf16, six products, f32 sums.
        Bf16Bf16F32X6 "dot_bf16_bf16_f32_x6" 8,
        /// Inputs split into three bf16, nine products, f32 sums.
        Bf16Bf16F32X9 "dot_bf16_bf16_f32_x9" 13,
        /// tf32 inputs, f32 sums.
        Tf32Tf32F32 "dot_tf32_tf32_f32" 9,
        /// Inputs split into two tf32, three products, f32 sums.
        Tf32Tf32F32X3 "dot_tf32_tf32_f32_x3" 10,
        /// f32 throughout.
        F32F32F32 "dot_f32_f32_f32" 11,
        /// f64 throughout.
        F64F64F64 "dot_f64_f64_f64" 12,
    }

    /// The transposition of the matrix of a `triangular-solve`.
    #[derive(Default)]
    pub enum Transpose = exact "transposition" {
        /// Not transposed.
        None "NO_TRANSPOSE" 1,
        /// Transposed.
        Transpose "TRANSPOSE" 2,
        /// Transposed and conjugated.
        Adjoint "ADJOINT" 3,
        /// Not specified.
        #[default]
        Invalid "TRANSPOSE_INVALID" 0,
    }

    /// `padding_type` of a `custom-call` that is a convolution.
    #[derive(Default)]
    pub enum PaddingType = exact "padding type" {
        /// Not specified.
        #[default]
        Invalid "PADDING_INVALID" 0,
        /// No padding.
        Valid "PADDING_VALID" 1,
        /// As much as keeps the size.
        Same "PADDING_SAME" 2,
    }

    /// The schedule of a `custom-call`.
    #[derive(Default)]
    pub enum CustomCallSchedule = any_case "schedule" {
        /// At any time.
        #[default]
        None "SCHEDULE_NONE" 0,
        /// As late as possible.
        Latest "SCHEDULE_LATEST" 1,
        /// As early as possible.
        Earliest "SCHEDULE_EARLIEST" 2,
    }

    /// The calling convention of a `custom-call`'s target.
    #[derive(Default)]
    pub enum ApiVersion = any_case "API version" {
        /// A function without a status, which XLA also takes for an unspecified version.
        #[default]
        Original "API_VERSION_ORIGINAL" also "API_VERSION_UNSPECIFIED" 1,
        /// A function that returns a status.
        StatusReturning "API_VERSION_STATUS_RETURNING" 2,
        /// The same on every platform.
        StatusReturningUnified "API_VERSION_STATUS_RETURNING_UNIFIED" 3,
        /// A handler of XLA's FFI.
        TypedFfi "API_VERSION_TYPED_FFI" 4,
    }

    /// The role of a convolution in training.
    #[derive(Default)]
    pub enum ConvolutionKind = exact "convolution kind" {
        /// Not specified.
        #[default]
        Unset "unset" 0,
        /// Forward.
        Fprop "fprop" 1,
        /// Gradient of the kernel.
        Wgrad "wgrad" 3,
        /// Gradient of the input.
        Dgrad "dgrad" 2,
    }

    /// The precision of one operand of a `dot` or `convolution`.
    #[derive(Default)]
    pub enum Precision = any_case "precision" {
        /// The fastest of the backend.
        #[default]
        Default "default" 0,
        /// In between.
        High "high" 1,
        /// That of the element type.
        Highest "highest" 2,
    }

    /// The requested implementation of a transcendental op.
    #[derive(Default)]
    pub enum AccuracyMode = any_case "accuracy mode" {
        /// The backend's choice.
        #[default]
        Default "default" 0,
        /// The most accurate.
        Highest "highest" 1,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fields::{read, value_tests};
    use super::*;

    value_tests!(Direction);

    #[test]
    fn exact_words() {
        assert_eq!(round_trip("EQ"), "EQ");
        let takes = "use one of EQ, NE, GE, GT, LE, LT".to_owned();
        assert_eq!(
            rejected("eq"),
            (
                "eq",
                "`eq` is not a valid comparison direction".to_owned(),
                "did you mean `EQ`?".to_owned()
            )
        );
        assert_eq!(
            rejected("equal"),
            ("equal", "`equal` is not a valid comparison direction".to_owned(), takes)
        );
        assert!(read("totalorder", ComparisonType::parse).is_err());
        assert!(read("fprop", ConvolutionKind::parse).is_ok());
        assert!(read("FPROP", ConvolutionKind::parse).is_err());
    }
    #[test]
    fn words_of_any_case_print_in_theirs() {
        assert_eq!(read("HIGH", Precision::parse).map(Precision::name), Ok("high"));
        assert_eq!(
            read("schedule_latest", CustomCallSchedule::parse),
            Ok(CustomCallSchedule::Latest)
        );
        assert_eq!(read("api_version_TYPED_FFI", ApiVersion::parse), Ok(ApiVersion::TypedFfi));
        assert_eq!(read("API_version_unspecified", ApiVersion::parse), Ok(ApiVersion::Original));
        assert_eq!(read("RNG_Uniform", RandomDistribution::parse), Ok(RandomDistribution::Uniform));
        assert_eq!(read("DOT_F32_F32_F32", DotAlgorithm::parse), Ok(DotAlgorithm::F32F32F32));
    }
    #[test]
    fn words_that_look_right() {
        assert!(read("uniform", RandomDistribution::parse).is_err());
        assert!(read("philox", RandomAlgorithm::parse).is_err());
        assert!(read("alg_dot_f32_f32_f32", DotAlgorithm::parse).is_err());
        assert!(read("rfft", FftType::parse).is_err());
        assert!(read("padding_same", PaddingType::parse).is_err());
    }
    #[test]
    fn every_word_reads_as_itself() {
        for &algorithm in DotAlgorithm::ALL {
            assert_eq!(read(algorithm.name(), DotAlgorithm::parse), Ok(algorithm));
        }
        for &kind in FusionKind::ALL {
            assert_eq!(read(kind.name(), FusionKind::parse), Ok(kind));
        }
        for &transpose in Transpose::ALL {
            assert_eq!(read(transpose.name(), Transpose::parse), Ok(transpose));
        }
    }
}
