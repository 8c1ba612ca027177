//! A reduced module as a file test.
use super::limited_run;
use crate::file::without_layouts;
use hlo::text::Style;
use hlo::{Literal, Verified};
use std::fmt::Write as _;
use std::sync::Arc;

/// Returns a file test: the module, its arguments as `// in:`, and the results of the exact engine
/// as `// out:`. There is no `// out:` without `fuel`, the steps that the engine may take, or if it
/// has no result within them.
pub fn file_test(module: &Arc<Verified>, arguments: &[Vec<Literal>], fuel: Option<u64>) -> String {
    let mut text = module.module().print(Style::Short);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    write_comments(&mut text, "in", arguments);
    let run = |fuel| limited_run::run(Arc::clone(module), arguments, fuel);
    if let Some(results) = fuel.and_then(run) {
        let results: Vec<Vec<Literal>> =
            results.iter().map(|result| result.leaves().into_iter().cloned().collect()).collect();
        write_comments(&mut text, "out", &results);
    }
    text
}

/// Writes the values of each device; those of all devices once.
fn write_comments(text: &mut String, word: &str, devices: &[Vec<Literal>]) {
    let is_same = devices.windows(2).all(|two| two[0] == two[1]);
    let shown = if is_same { 1.min(devices.len()) } else { devices.len() };
    for (device, values) in devices.iter().enumerate().take(shown) {
        let device = if is_same { String::new() } else { format!(" d{device}") };
        for value in values {
            let _ = writeln!(text, "// {word}{device}: {}", without_layouts(value));
        }
    }
}
