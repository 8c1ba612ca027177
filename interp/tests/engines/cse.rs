//! Equal instructions, of which only the first is computed.
use crate::{agree, compiled};
use interp::Engine;

/// Returns how many steps of the plan are products.
fn products(body: &str) -> usize {
    let text = format!(
        "twice {{ p = f32[20,20] parameter(0) q = f32[20,20] parameter(1)
           d = f32[20,20] dot(p, q), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} ROOT e = f32[20,20] add(d, d) }}
         ENTRY e {{ x = f32[20,20] parameter(0) y = f32[20,20] parameter(1) {body} }}"
    );
    agree(&text);
    let plan = compiled(&text, Engine::Exact).plan().to_string();
    let entry = plan.split("ENTRY").nth(1).unwrap().split("\n\n").next().unwrap();
    entry.matches(" dot(").count()
}

#[test]
fn equal_instructions_are_computed_once() {
    let dot = "f32[20,20] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    assert_eq!(products(&format!("a = {dot} b = {dot} ROOT r = f32[20,20] subtract(a, b)")), 1);
    assert_eq!(
        products(&format!("a = {dot} b = {dot} ROOT r = (f32[20,20], f32[20,20]) tuple(a, b)")),
        1
    );
    // Inlined calls are part of the computation that calls them.
    let call = "a = f32[20,20] call(x, y), to_apply=twice";
    assert_eq!(products(&format!("{call} b = {dot} ROOT r = f32[20,20] multiply(a, b)")), 1);
}

#[test]
fn others_are_computed_each() {
    let dots = "a = f32[20,20] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      b = f32[20,20] dot(y, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      c = f32[20,20] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0} d = f32[20,20] add(a, b)
      ROOT r = f32[20,20] add(c, d)";
    assert_eq!(products(dots), 3);
    // Random bits differ in each op.
    let random = "low = f32[] constant(0) high = f32[] constant(1) a = f32[20,20] rng(low, high), distribution=rng_uniform
      b = f32[20,20] rng(low, high), distribution=rng_uniform
      e = f32[20,20] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      f = f32[20,20] dot(b, a), lhs_contracting_dims={1}, rhs_contracting_dims={0} ROOT r = (f32[20,20], f32[20,20]) tuple(e, f)";
    assert_eq!(products(random), 2);
}

/// A product of a transposed array reads the array, by other dimensions than a product of the array
/// itself.
#[test]
fn products_of_an_array_and_of_its_transpose_differ() {
    let transposed = "t = f32[20,20] transpose(x), dimensions={1,0}
      a = f32[20,20] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
      b = f32[20,20] dot(t, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    assert_eq!(products(&format!("{transposed} ROOT r = f32[20,20] subtract(a, b)")), 2);
    assert_eq!(products(&format!("{transposed} ROOT r = (f32[20,20], f32[20,20]) tuple(b, a)")), 2);
    let same = "c = f32[20,20] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}";
    assert_eq!(
        products(&format!(
            "{transposed} {same} d = f32[20,20] add(b, c) ROOT r = f32[20,20] subtract(a, d)"
        )),
        2
    );
}
