//! MAX Graph's promotion of types.
use builder_compat::max_graph::promote;
use hlo::ElementType::{self, Bf16, F16, F32, F64, Pred, S8, S16, S32, S64, U8, U16, U32, U64};

/// By hand: an entry for each pair of categories, both where it promotes and where it does not.
#[test]
fn pairs_promote_as_the_rules_say() {
    let accepted = [
        (Pred, Pred, Pred),
        (Pred, U8, U8),
        (Pred, S64, S64),
        (Pred, Bf16, Bf16),
        (U8, U16, U16),
        (U32, U64, U64),
        (U8, S16, S16),
        (U32, S64, S64),
        (U8, F16, F16),
        (U8, Bf16, Bf16),
        (U16, F32, F32),
        (U32, F64, F64),
        (S8, S32, S32),
        (S8, F16, F16),
        (S8, Bf16, Bf16),
        (S16, F32, F32),
        (S32, F64, F64),
        (F16, F32, F32),
        (Bf16, F32, F32),
        (Bf16, F64, F64),
        (F32, F64, F64),
        (ElementType::F8E5M2, F16, F16),
        (ElementType::F8E4M3Fn, Bf16, Bf16),
        (ElementType::F8E8M0Fnu, Bf16, Bf16),
        (ElementType::F4E2M1Fn, ElementType::F8E5M2, ElementType::F8E5M2),
        (Pred, ElementType::F4E2M1Fn, ElementType::F4E2M1Fn),
    ];
    for (a, b, expected) in accepted {
        assert_eq!(promote(a, b).unwrap(), expected, "{a} {b}");
        assert_eq!(promote(b, a).unwrap(), expected, "{b} {a}");
    }
    let refused = [
        (U8, S8, "u8 holds 128, which s8"),
        (U32, S32, "u32 holds 2147483648, which s32"),
        (U64, S8, "u64 holds 9223372036854775808, which s64"),
        (S32, F32, "s32 holds 16777217, which f32"),
        (U32, F32, "u32 holds 16777217, which f32"),
        (U64, F64, "u64 holds 9007199254740993, which f64"),
        (S64, F64, "s64 holds 9007199254740993, which f64"),
        (S64, F32, "s64 holds 9007199254740993, which f64"),
        (S16, F16, "s16 holds 2049, which f16"),
        (U16, Bf16, "u16 holds 257, which bf16"),
        (U8, ElementType::F8E4M3Fn, "u8 holds 17, which f8e4m3fn"),
        (S16, ElementType::F8E5M2, "s16 holds 2049, which f16"),
        (F16, Bf16, "one width, and different formats"),
        (ElementType::F8E5M2, ElementType::F8E4M3Fn, "one width, and different formats"),
        (ElementType::F6E3M2Fn, ElementType::F6E2M3Fn, "one width, and different formats"),
        (ElementType::F8E8M0Fnu, F16, "f8e8m0fnu holds 1.7014118346046923e38, which f16"),
        (Pred, ElementType::F8E8M0Fnu, "pred holds 0, which f8e8m0fnu"),
        (ElementType::F4E2M1Fn, ElementType::F8E4M3Fnuz, "f4e2m1fn holds -0, which f8e4m3fnuz"),
        (ElementType::C64, F32, "no promotion for c64"),
        (ElementType::S4, S8, "no promotion for s4"),
    ];
    for (a, b, message) in refused {
        for error in [promote(a, b).unwrap_err(), promote(b, a).unwrap_err()] {
            assert_eq!(error.number(), "E0810");
            assert!(error.to_string().contains(message), "{error}");
        }
    }
}
/// No new type appears: what two types promote to is one of them.
#[test]
fn the_common_type_is_one_of_both() {
    for &a in ElementType::ALL {
        for &b in ElementType::ALL {
            if let Ok(common) = promote(a, b) {
                assert!(common == a || common == b, "{a} {b}: {common}");
            }
        }
    }
}
