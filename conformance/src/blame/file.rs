//! An instruction alone as a file test.
use super::program::Program;
use super::sides::etalon;
use crate::file::without_layouts;
use hlo::Literal;
use hlo::text::Style;
use interp::DeviceGrid;
use std::fmt::Write as _;

/// Returns a file test: the module, its arguments as `// in:`, and Etalon's results as `// out:`, unless the run takes more than
/// `fuel` steps.
pub fn file_test(program: &Program, fuel: u64) -> String {
    let module = program.module.module();
    let mut text = module.print(Style::Short);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    write_comments(&mut text, "in", &program.arguments);
    if let Ok(results) = etalon(program, DeviceGrid::of(&module.config), fuel) {
        let leaves = |result: &Literal| result.leaves().into_iter().cloned().collect();
        write_comments(&mut text, "out", &results.iter().map(leaves).collect::<Vec<_>>());
    }
    text
}

/// Writes the values of each device; those of all devices once.
fn write_comments(text: &mut String, word: &str, devices: &[Vec<Literal>]) {
    let is_same = devices.windows(2).all(|two| two[0] == two[1]);
    let shown = if is_same { devices.len().min(1) } else { devices.len() };
    for (device, values) in devices.iter().enumerate().take(shown) {
        let device = if is_same { String::new() } else { format!(" d{device}") };
        for value in values {
            let _ = writeln!(text, "// {word}{device}: {}", without_layouts(value));
        }
    }
}
