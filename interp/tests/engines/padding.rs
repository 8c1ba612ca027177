//! Random paddings: the elements of the definition.
use crate::{compiled, ramp};
use hlo::{ArrayShape, ElementType};
use interp::{Engine, RunOptions};

#[test]
fn random_paddings() {
    let mut state = 3_u64;
    let mut below = |limit: u64| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        i64::try_from((state >> 33) % limit).unwrap()
    };
    let list = |dims: &[i64]| dims.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    for _ in 0..400 {
        let (mut from, mut to, mut padding) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..=below(4) {
            let size = below(if from.is_empty() { 70 } else { 6 });
            let (low, high, interior) = match below(3) {
                0 => (0, 0, 0),
                1 => (below(6) - 2, below(6) - 2, 0),
                _ => (below(9) - 4, below(9) - 4, below(3)),
            };
            let result = low + high + if size == 0 { 0 } else { (size - 1) * (interior + 1) + 1 };
            let (low, result) = if result < 0 { (low - result, 0) } else { (low, result) };
            from.push(size);
            to.push(result);
            padding.push(format!("{low}_{high}_{interior}"));
        }
        for ty in [ElementType::U8, ElementType::Bf16, ElementType::S32, ElementType::C128] {
            let text = format!(
                "ENTRY e {{ a = {ty}[{}] parameter(0) v = {ty}[] parameter(1)
                  ROOT p = {ty}[{}] pad(a, v), padding={} }}",
                list(&from),
                list(&to),
                padding.join("x")
            );
            let arguments = [
                ramp(&ArrayShape::new(ty, from.as_slice()), 1),
                ramp(&ArrayShape::new(ty, [].as_slice()), 9),
            ];
            let [found, expected] = [Engine::Exact, Engine::Reference].map(|engine| {
                compiled(&text, engine).execute(&arguments, &RunOptions::default()).unwrap()
            });
            assert_eq!(found, expected, "{text}");
        }
    }
}
