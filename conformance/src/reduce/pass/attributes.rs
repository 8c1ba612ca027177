//! Attributes removed, so that they have their defaults.
use crate::reduce::draft::{At, Edit};
use crate::reduce::search::Reduction;
use hlo::Module;
use hlo::text::Style;

/// Removes the attributes that every op may have, those of the header, and those of single ops.
pub(super) fn attributes(search: &mut Reduction<'_, '_>) {
    let draft = search.draft();
    let edits = draft.all().into_iter().map(|at: At| -> Edit {
        Box::new(move |draft| {
            let has_common = draft.get(at).is_some_and(|i| i.common.is_some());
            if has_common {
                draft.rewriter.computation_mut(at.0).instruction_mut(at.1).common = None;
            }
            has_common
        })
    });
    search.minimize(edits.collect());
    plain_names(search);
    let mut skipped = 0;
    loop {
        let text = search.module.module().print(Style::Short);
        let arguments = search.arguments.clone();
        let spans = attribute_spans(&text).into_iter().enumerate().skip(skipped);
        let candidates = spans.map(|(number, (start, end))| {
            let module = Module::parse(&format!("{}{}", &text[..start], &text[end..])).ok();
            (module.map(|module| (module, arguments.clone())), number)
        });
        match search.first_of(candidates) {
            Some(number) => skipped = number,
            None => return,
        }
    }
}

/// Removes source locations, and the layouts of the header.
fn plain_names(search: &mut Reduction<'_, '_>) {
    let mut module = search.module.module().clone();
    module.frames = hlo::ir::StackFrames::default();
    module.config.entry_layout = None;
    let arguments = search.arguments.clone();
    search.attempt(module, arguments);
}

/// Attributes without which a `sort` is another one: of text until 2019, or of any order of equal keys.
const SORTS: [&str; 2] = ["is_stable=", "to_apply="];

/// Returns the spans of `, key=value` outside of brackets, on each line.
fn attribute_spans(text: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let (end, sorts) = (line.trim_end().len(), line.contains(" sort("));
        let mut commas = top_level_commas(&line[..end]);
        commas.push(end);
        for two in commas.windows(2) {
            let attribute = line[two[0] + 1..two[1]].trim_start();
            let stays = sorts && SORTS.iter().any(|key| attribute.starts_with(key));
            if attribute.contains('=') && !stays {
                spans.push((offset + two[0], offset + two[1]));
            }
        }
        offset += line.len();
    }
    spans
}

/// Returns the positions of commas outside of brackets and strings.
fn top_level_commas(line: &str) -> Vec<usize> {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    let mut commas = Vec::new();
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'(' | b'{' | b'[' => depth += 1,
            b')' | b'}' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => commas.push(at),
            _ => {}
        }
    }
    commas
}
