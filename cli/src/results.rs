//! Results as text. On a terminal, devices with equal results share a column; in a pipe each device has one line.
use graph::Statistics;
use hlo::Literal;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Arrays with more elements are elided.
const SHOWN: usize = 100;
/// The number of spaces between two columns.
const GAP: usize = 3;

/// The output of a device.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DeviceOutput {
    pub(crate) result: Literal,
    /// The values of `outfeed`, as a tuple.
    pub(crate) outfeed: Literal,
}

/// Whether a result has an array whose elements are too many to be printed.
pub(crate) fn is_long(outputs: &[DeviceOutput]) -> bool {
    let mut leaves = outputs.iter().flat_map(|output| output.result.leaves());
    leaves.any(|leaf| leaf.array_shape().is_some() && leaf.len() > SHOWN)
}

/// Returns whether a result has a NaN.
pub(crate) fn has_nan(outputs: &[DeviceOutput]) -> bool {
    let mut leaves = outputs.iter().flat_map(|output| output.result.leaves());
    leaves.any(|leaf| {
        leaf.array_shape().is_some() && Statistics::of(std::slice::from_ref(leaf)).nan > 0
    })
}

/// Returns the arrays of a result as a line of JSON, with all elements. Those that are no numbers of JSON, such as NaN, are strings;
/// a complex one is a list of two.
pub(crate) fn json(file: &str, arrays: &[(String, &Literal)]) -> String {
    let array = |(name, literal): &(String, &Literal)| {
        let text = literal.to_string();
        let (_, value) = text.split_once(char::is_whitespace).unwrap_or((&text, ""));
        let (shape, value) = (format!("{:#}", literal.shape()), elements(value));
        format!("{{\"name\":{},\"shape\":{},\"value\":{value}}}", json!(name), json!(shape))
    };
    let arrays: Vec<String> = arrays.iter().map(array).collect();
    format!("{{\"file\":{},\"results\":[{}]}}\n", json!(file), arrays.join(","))
}

/// Returns the elements of an array's text as JSON.
fn elements(text: &str) -> String {
    let mut json = String::with_capacity(text.len());
    let mut word = String::new();
    for c in text.chars().chain([' ']) {
        if !"{}(), \n".contains(c) {
            word.push(c);
            continue;
        }
        let is_json = serde_json::from_str::<Value>(&word).is_ok();
        match word.as_str() {
            "" => {}
            number if is_json => json.push_str(number),
            other => json.push_str(&json!(other).to_string()),
        }
        word.clear();
        match c {
            '{' | '(' => json.push('['),
            '}' | ')' => json.push(']'),
            ',' => json.push(','),
            _ => {}
        }
    }
    json
}

/// Returns a line for each array of a result: its name, and its elements or what they have in common.
pub(crate) fn overview(output: &DeviceOutput, names: &[String]) -> String {
    let rows: Vec<[String; 3]> = (named(&output.result, names).into_iter())
        .map(|(name, value)| {
            let text = value.summary(SHOWN);
            let shape = text.split_whitespace().next().unwrap_or_default();
            let elements = text[shape.len()..].trim_start();
            let elements = match value.len() <= SHOWN && !elements.contains('\n') {
                true => elements.to_owned(),
                false => Statistics::of(std::slice::from_ref(value)).to_string(),
            };
            [name.unwrap_or_default().to_owned(), shape.to_owned(), elements]
        })
        .collect();
    let [name, shape] =
        [0, 1].map(|k| rows.iter().map(|row| row[k].chars().count()).max().unwrap_or(0));
    let line = |row: &[String; 3]| format!("{:name$}  {:shape$}  {}\n", row[0], row[1], row[2]);
    let mut text: String = rows.iter().map(line).collect();
    for (i, value) in output.outfeed.elements().into_iter().flatten().enumerate() {
        let _ = writeln!(text, "outfeed {i}: {}", value.summary(SHOWN));
    }
    text
}

/// Returns the results as text; `width` is that of the terminal, if stdout is one. `names` are those of the arrays of a result, or
/// none.
pub(crate) fn text(outputs: &[DeviceOutput], width: Option<usize>, names: &[String]) -> String {
    match (outputs, width) {
        ([one], _) => lines_of(one, names).join("\n") + "\n",
        (all, None) => lines(all, 0, names),
        (all, Some(width)) => side_by_side(&columns(all, names), width),
    }
}

/// Returns the results of devices from number `first` on, each value on one line.
pub(crate) fn lines(outputs: &[DeviceOutput], first: usize, names: &[String]) -> String {
    outputs.iter().zip(first..).map(|(one, k)| one_line_each(k, one, names)).collect()
}

/// Returns the machine-readable form: each value on one line.
fn one_line_each(device: usize, output: &DeviceOutput, names: &[String]) -> String {
    let values = named(&output.result, names);
    let line = |(name, value): (Option<&str>, &Literal)| {
        let name = name.map_or_else(String::new, |name| format!(", {name}"));
        format!("device {device}{name}: {}\n", on_one_line(value))
    };
    let mut text: String = values.into_iter().map(line).collect();
    for (i, value) in output.outfeed.elements().into_iter().flatten().enumerate() {
        let _ = writeln!(text, "device {device}, outfeed {i}: {}", on_one_line(value));
    }
    text
}
fn on_one_line(value: &Literal) -> String {
    let text = value.summary(SHOWN);
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ").replace("( ", "(")
}

/// Returns the arrays of a value with their names, or the whole value if there are no names.
fn named<'a>(value: &'a Literal, names: &'a [String]) -> Vec<(Option<&'a str>, &'a Literal)> {
    if names.is_empty() {
        return vec![(None, value)];
    }
    let arrays = value.leaves().into_iter().filter(|leaf| leaf.array_shape().is_some());
    names.iter().map(|name| Some(name.as_str())).zip(arrays).collect()
}

fn lines_of(output: &DeviceOutput, names: &[String]) -> Vec<String> {
    let values = named(&output.result, names).into_iter().map(|(name, value)| {
        let name = name.map_or_else(String::new, |name| format!("{name}: "));
        name + &value.summary(SHOWN)
    });
    let mut text = values.collect::<Vec<_>>().join("\n");
    for (i, value) in output.outfeed.elements().into_iter().flatten().enumerate() {
        let _ = write!(text, "\noutfeed {i}: {}", value.summary(SHOWN));
    }
    text.lines().map(str::to_owned).collect()
}

/// The lines of a column, and its width.
struct Column {
    lines: Vec<String>,
    width: usize,
}

/// Returns the shape and the bytes of each array.
fn bits(output: &DeviceOutput) -> Vec<(String, &[u8])> {
    let leaves = output.result.leaves().into_iter().chain(output.outfeed.leaves());
    let arrays = leaves.filter(|leaf| leaf.array_shape().is_some());
    arrays.map(|leaf| (leaf.shape().to_string(), leaf.bytes())).collect()
}

/// Returns a column for each distinct output, in the order of the first device with it.
fn columns(outputs: &[DeviceOutput], names: &[String]) -> Vec<Column> {
    let mut indices = BTreeMap::new();
    let mut groups: Vec<(&DeviceOutput, Vec<usize>)> = Vec::new();
    for (device, one) in outputs.iter().enumerate() {
        let index = *indices.entry(bits(one)).or_insert(groups.len());
        match groups.get_mut(index) {
            Some((_, devices)) => devices.push(device),
            None => groups.push((one, vec![device])),
        }
    }
    let column = |(one, devices): (&DeviceOutput, Vec<usize>)| {
        let mut lines = vec![format!("{}:", collectives::list_devices(&devices))];
        lines.extend(lines_of(one, names));
        let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        Column { lines, width }
    };
    groups.into_iter().map(column).collect()
}

/// Lays out columns side by side, wrapping at `width`.
fn side_by_side(columns: &[Column], width: usize) -> String {
    let mut text = String::new();
    let mut rest = columns;
    while !rest.is_empty() {
        let mut used = rest[0].width;
        let mut count = 1;
        while let Some(next) = rest.get(count) {
            used += GAP + next.width;
            if used > width {
                break;
            }
            count += 1;
        }
        let (row, after) = rest.split_at(count);
        if !text.is_empty() {
            text.push('\n');
        }
        row_of(row, &mut text);
        rest = after;
    }
    text
}

fn row_of(row: &[Column], text: &mut String) {
    let height = row.iter().map(|column| column.lines.len()).max().unwrap_or(0);
    for i in 0..height {
        let mut line = String::new();
        for Column { lines, width } in row {
            let part = lines.get(i).map_or("", String::as_str);
            let _ = write!(line, "{part:width$}{}", " ".repeat(GAP));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outputs(texts: &[&str]) -> Vec<DeviceOutput> {
        let one = |text: &&str| DeviceOutput {
            result: text.parse().unwrap(),
            outfeed: Literal::tuple(Vec::new()),
        };
        texts.iter().map(one).collect()
    }

    #[test]
    fn a_pipe_has_one_line_per_device() {
        let all = outputs(&["s32[2,2] {{1, 2}, {3, 4}}", "s32[2,2] {{1, 2}, {3, 4}}"]);
        let expected = "device 0: s32[2,2] {{1, 2}, {3, 4}}\ndevice 1: s32[2,2] {{1, 2}, {3, 4}}\n";
        assert_eq!(text(&all, None, &[]), expected);
        let mut out = outputs(&["s32[] 1", "s32[] 2"]);
        out[1].outfeed = Literal::tuple(vec!["s32[2] {3, 4}".parse().unwrap()]);
        let expected = "device 0: s32[] 1\ndevice 1: s32[] 2\ndevice 1, outfeed 0: s32[2] {3, 4}\n";
        assert_eq!(text(&out, None, &[]), expected);
        let names = ["loss".to_owned()];
        let expected = "device 0, loss: s32[] 1\ndevice 1, loss: s32[] 2\ndevice 1, outfeed 0: s32[2] {3, 4}\n";
        assert_eq!(text(&out, None, &names), expected);
        assert_eq!(text(&out[..1], None, &names), "loss: s32[] 1\n");
    }

    #[test]
    fn a_terminal_shows_equal_results_once() {
        let all = outputs(&["s32[2] {1, 2}", "s32[2] {1, 2}", "s32[2] {3, 4}", "s32[2] {1, 2}"]);
        let expected = "\
devices 0, 1 and 3:   device 2:
s32[2] {1, 2}         s32[2] {3, 4}
";
        assert_eq!(text(&all, Some(80), &[]), expected);
        let narrow = "devices 0, 1 and 3:\ns32[2] {1, 2}\n\ndevice 2:\ns32[2] {3, 4}\n";
        assert_eq!(text(&all, Some(34), &[]), narrow);
        assert_eq!(text(&all[..2], Some(1), &[]), "devices 0 and 1:\ns32[2] {1, 2}\n");
        // A single device has no heading.
        assert_eq!(text(&all[..1], Some(80), &[]), "s32[2] {1, 2}\n");
    }

    #[test]
    fn json_has_all_elements() {
        let values =
            ["f32[2,2] {{1, -0}, {nan, 1e+30}}", "c64[] (1, -inf)", "pred[2] {true, false}"];
        let values: Vec<Literal> = values.iter().map(|text| text.parse().unwrap()).collect();
        let named: Vec<(String, &Literal)> =
            values.iter().zip(0..).map(|(one, i)| (format!("out{i}"), one)).collect();
        let line = json("m.hlo", &named);
        let found: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(found["results"][0]["value"], json!([[1, -0.0], ["nan", 1e30]]), "{line}");
        assert_eq!(found["results"][1]["value"], json!([1, "-inf"]));
        assert_eq!(found["results"][2]["value"], json!([1, 0]));
        assert_eq!(found["results"][0]["shape"], "f32[2,2]");
    }

    #[test]
    fn columns_of_different_heights_are_aligned() {
        let all = outputs(&["s32[2,2] {{1, 2}, {3, 4}}", "s32[2,2] {{5, 6}, {7, 8}}", "s32[] 1"]);
        let expected = "\
device 0:   device 1:   device 2:
s32[2,2]    s32[2,2]    s32[] 1
{{1, 2},    {{5, 6},
 {3, 4}}     {7, 8}}
";
        assert_eq!(text(&all, Some(80), &[]), expected);
    }
}
