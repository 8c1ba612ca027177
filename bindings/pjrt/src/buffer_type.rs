//! `PJRT_Buffer_Type`: the numbers of element types.
use hlo::ElementType;
use std::ffi::c_int;

/// `PJRT_Buffer_Type_TOKEN`.
pub const TOKEN: c_int = 23;

/// Returns the number of an element type in `PJRT_Buffer_Type`.
pub const fn buffer_type(ty: ElementType) -> c_int {
    match ty {
        ElementType::Pred => 1,
        ElementType::S8 => 2,
        ElementType::S16 => 3,
        ElementType::S32 => 4,
        ElementType::S64 => 5,
        ElementType::U8 => 6,
        ElementType::U16 => 7,
        ElementType::U32 => 8,
        ElementType::U64 => 9,
        ElementType::F16 => 10,
        ElementType::F32 => 11,
        ElementType::F64 => 12,
        ElementType::Bf16 => 13,
        ElementType::C64 => 14,
        ElementType::C128 => 15,
        ElementType::F8E5M2 => 16,
        ElementType::F8E4M3Fn => 17,
        ElementType::F8E4M3B11Fnuz => 18,
        ElementType::F8E5M2Fnuz => 19,
        ElementType::F8E4M3Fnuz => 20,
        ElementType::S4 => 21,
        ElementType::U4 => 22,
        // 23 is TOKEN.
        ElementType::S2 => 24,
        ElementType::U2 => 25,
        ElementType::F8E4M3 => 26,
        ElementType::F8E3M4 => 27,
        ElementType::F8E8M0Fnu => 28,
        ElementType::F4E2M1Fn => 29,
        ElementType::S1 => 30,
        ElementType::U1 => 31,
        ElementType::F6E2M3Fn => 32,
        ElementType::F6E3M2Fn => 33,
    }
}

/// Returns the element type with a number, if there is one.
pub fn element_type(number: c_int) -> Option<ElementType> {
    ElementType::ALL.iter().copied().find(|&ty| buffer_type(ty) == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_types_have_different_numbers() {
        let mut numbers: Vec<c_int> = ElementType::ALL.iter().map(|&ty| buffer_type(ty)).collect();
        numbers.extend([0, TOKEN]);
        numbers.sort_unstable();
        assert_eq!(numbers, (0..34).collect::<Vec<_>>());
    }
}
