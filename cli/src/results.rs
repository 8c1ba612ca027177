//! Results of several devices as text: equal ones once and small ones side by side on a terminal, a line each elsewhere.
use hlo::Literal;
use hlo::literal::summary;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Elements of an array that are shown before its middle is left out.
const SHOWN: usize = 100;
/// Blanks between two columns.
const GAP: usize = 3;

/// What a device gave.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Given {
    pub(crate) result: Literal,
    /// What it put out on the way, as a tuple.
    pub(crate) outfeed: Literal,
}

/// The results as text; `width` is that of the terminal, if it is one.
pub(crate) fn text(given: &[Given], width: Option<usize>) -> String {
    match (given, width) {
        ([one], _) => lines_of(one).join("\n") + "\n",
        (all, None) => all.iter().enumerate().map(|(k, one)| in_lines(k, one)).collect(),
        (all, Some(width)) => beside(&folded(all), width),
    }
}

/// The form for programs: each value on one line.
fn in_lines(device: usize, given: &Given) -> String {
    let mut text = format!("device {device}: {}\n", on_a_line(&given.result));
    for (i, value) in given.outfeed.elements().into_iter().flatten().enumerate() {
        let _ = writeln!(text, "device {device}, outfeed {i}: {}", on_a_line(value));
    }
    text
}
fn on_a_line(value: &Literal) -> String {
    let text = summary(value, SHOWN);
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ").replace("( ", "(")
}

fn lines_of(given: &Given) -> Vec<String> {
    let mut text = summary(&given.result, SHOWN);
    for (i, value) in given.outfeed.elements().into_iter().flatten().enumerate() {
        let _ = write!(text, "\noutfeed {i}: {}", summary(value, SHOWN));
    }
    text.lines().map(str::to_owned).collect()
}

/// A column: who has it, and its lines.
struct Column {
    lines: Vec<String>,
    width: usize,
}

/// Shape and bytes of each array.
fn bits(given: &Given) -> Vec<(String, &[u8])> {
    let leaves = given.result.leaves().into_iter().chain(given.outfeed.leaves());
    let arrays = leaves.filter(|leaf| leaf.array_shape().is_some());
    arrays.map(|leaf| (leaf.shape().to_string(), leaf.bytes())).collect()
}

/// Devices that gave the same, together, in the order of their first.
fn folded(given: &[Given]) -> Vec<Column> {
    let mut places = BTreeMap::new();
    let mut alike: Vec<(&Given, Vec<usize>)> = Vec::new();
    for (device, one) in given.iter().enumerate() {
        let place = *places.entry(bits(one)).or_insert(alike.len());
        match alike.get_mut(place) {
            Some((_, devices)) => devices.push(device),
            None => alike.push((one, vec![device])),
        }
    }
    let column = |(one, devices): (&Given, Vec<usize>)| {
        let mut lines = vec![format!("{}:", collectives::list_devices(&devices))];
        lines.extend(lines_of(one));
        let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        Column { lines, width }
    };
    alike.into_iter().map(column).collect()
}

/// Columns next to each other, as many as there is room for, then the next ones below.
fn beside(columns: &[Column], width: usize) -> String {
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

    fn given(texts: &[&str]) -> Vec<Given> {
        let one = |text: &&str| Given {
            result: text.parse().unwrap(),
            outfeed: Literal::tuple(Vec::new()),
        };
        texts.iter().map(one).collect()
    }

    #[test]
    fn a_pipe_gets_a_line_for_each_device() {
        let all = given(&["s32[2,2] {{1, 2}, {3, 4}}", "s32[2,2] {{1, 2}, {3, 4}}"]);
        let wanted = "device 0: s32[2,2] {{1, 2}, {3, 4}}\ndevice 1: s32[2,2] {{1, 2}, {3, 4}}\n";
        assert_eq!(text(&all, None), wanted);
        let mut out = given(&["s32[] 1", "s32[] 2"]);
        out[1].outfeed = Literal::tuple(vec!["s32[2] {3, 4}".parse().unwrap()]);
        let wanted = "device 0: s32[] 1\ndevice 1: s32[] 2\ndevice 1, outfeed 0: s32[2] {3, 4}\n";
        assert_eq!(text(&out, None), wanted);
    }

    #[test]
    fn a_terminal_shows_equal_ones_once_and_others_side_by_side() {
        let all = given(&["s32[2] {1, 2}", "s32[2] {1, 2}", "s32[2] {3, 4}", "s32[2] {1, 2}"]);
        let wanted = "\
devices 0, 1 and 3:   device 2:
s32[2] {1, 2}         s32[2] {3, 4}
";
        assert_eq!(text(&all, Some(80)), wanted);
        let narrow = "devices 0, 1 and 3:\ns32[2] {1, 2}\n\ndevice 2:\ns32[2] {3, 4}\n";
        assert_eq!(text(&all, Some(34)), narrow);
        assert_eq!(text(&all[..2], Some(1)), "devices 0 and 1:\ns32[2] {1, 2}\n");
        // One device needs no name.
        assert_eq!(text(&all[..1], Some(80)), "s32[2] {1, 2}\n");
    }

    #[test]
    fn columns_of_other_heights_stay_in_line() {
        let all = given(&["s32[2,2] {{1, 2}, {3, 4}}", "s32[2,2] {{5, 6}, {7, 8}}", "s32[] 1"]);
        let wanted = "\
device 0:   device 1:   device 2:
s32[2,2]    s32[2,2]    s32[] 1
{{1, 2},    {{5, 6},
 {3, 4}}     {7, 8}}
";
        assert_eq!(text(&all, Some(80)), wanted);
    }
}
