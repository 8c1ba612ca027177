//! Modules of tests: built, read back, run.
use super::{Builder, Value};
use hlo::{Literal, Verified};
use std::hash::{Hash, Hasher};

/// The module whose result is `root`; its text must read back as the same module.
///
/// With `ETALON_KEEP_MODULES=folder` the text is kept there, for another reader to check.
#[track_caller]
pub fn build(b: &Builder, root: Value<'_>) -> Verified {
    let module = b.build(root).unwrap();
    let text = module.module().to_string();
    let again = hlo::Module::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(again.to_string(), text);
    if let Some(folder) = std::env::var_os("ETALON_KEEP_MODULES") {
        let mut hasher = std::hash::DefaultHasher::new();
        // The style that leaves out no large constant.
        let text = module.module().print(hlo::text::Style::Short);
        text.hash(&mut hasher);
        let name = format!("{}_{:016x}.hlo", b.name(), hasher.finish());
        std::fs::write(std::path::Path::new(&folder).join(name), text).unwrap();
    }
    module
}

/// The result of the module whose root is `root`.
#[track_caller]
pub fn evaluate_on(b: &Builder, root: Value<'_>, arguments: &[Literal]) -> Literal {
    let module = build(b, root);
    match interp::run(&module, arguments) {
        Ok(result) => result,
        Err(error) => panic!("{error}\n{}", module.module()),
    }
}
