//! The functions that the conversion of StableHLO applies are those of this crate.
use builder::Builder;

/// The text of the module; `ETALON_BLESS=1` writes it.
#[test]
fn the_text_is_that_of_the_builder() {
    let b = Builder::new("functions");
    let x = b.parameter(0, "f64[]", "x");
    let y = b.parameter(1, "f64[]", "y");
    let all =
        [x.erfc(), x.erf_inv(), x.lgamma(), x.digamma(), x.bessel_i1e(), x.zeta(y), x.polygamma(y)];
    let module = b.build(b.tuple(&all)).unwrap();
    let text = module.module().print(hlo::text::Style::Short);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../stablehlo/src/convert/functions.hlo");
    if std::env::var_os("ETALON_BLESS").is_some_and(|v| v == "1") {
        std::fs::write(path, &text).unwrap();
    }
    let known = std::fs::read_to_string(path).unwrap();
    assert!(
        text.trim() == known.trim(),
        "the functions have changed: run this test with ETALON_BLESS=1"
    );
}
