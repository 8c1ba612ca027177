//! Parses the header of a module: `HloModule name, attribute=value, ...`.
use super::Cursor;
use super::balanced::{balanced_value, is_raw, is_value};
use super::number::push_ints;
use super::shape::shape;
use super::strings::{print_string, string};
use crate::diag::{Code, Diagnostic, nearest};
use crate::ir::{
    AliasKind, BufferDonor, FrontendAttributes, HeaderAttr, InputOutputAlias, ModuleConfig,
};
use crate::text::grammar::{
    Parsed, Parser as _, after, alt, delimited, expecting, lift, list, map, pair, separated_pair,
    size, symbol, token, value,
};
use crate::{Error, Result, Shape, Span};
use smol_str::SmolStr;
use std::borrow::Cow;
use std::collections::BTreeMap;

pub(super) const TO_PARAMETERS: &str = "allow_spmd_sharding_propagation_to_parameters";
pub(super) const TO_OUTPUT: &str = "allow_spmd_sharding_propagation_to_output";

const NAMES: [&str; 12] = [
    "is_scheduled",
    "input_output_alias",
    "buffer_donor",
    "alias_passthrough_params",
    "entry_computation_layout",
    TO_PARAMETERS,
    TO_OUTPUT,
    "replica_count",
    "num_partitions",
    "frontend_attributes",
    "origin_recovery_table",
    "debug_attributes",
];

/// Parses the header after the word `HloModule`.
pub(crate) fn header(
    c: &mut Cursor<'_>,
    lenient: bool,
    warnings: &mut Vec<Diagnostic>,
) -> Result<(SmolStr, ModuleConfig)> {
    let (name, _) = c.name("the module's name")?;
    if c.next_byte() == Some(b':') {
        c.skip(1);
    }
    let mut config = ModuleConfig::default();
    let mut seen: Vec<(&str, Span)> = Vec::new();
    while c.eat(b',') {
        let (word, span) = c.attribute_name()?;
        if let Some(&(_, first)) = seen.iter().find(|(name, _)| *name == word) {
            let error = Error::from(Code::DuplicateAttribute { name: word.into() });
            return Err(error.at(span).label(first, "first given here"));
        }
        seen.push((word, span));
        if attribute(c, word, &mut config)? {
            continue;
        }
        let error = unknown(word).at(span);
        if !lenient {
            return Err(error);
        }
        warnings.push(error.warning());
        let value = balanced_value(c)?.to_owned();
        config.unknown.push(HeaderAttr { name: word.into(), value });
    }
    // A computation does not start like an attribute.
    let mut ahead = *c;
    if ahead.attribute_name().is_ok() {
        return Err(c.expected("`,` before the next attribute"));
    }
    Ok((name.into(), config))
}

fn unknown(word: &str) -> Error {
    let code = Code::UnknownAttribute { op: "HloModule".into(), name: word.into() };
    let error = Error::from(code);
    match nearest(word, NAMES) {
        Some(name) => error.with_help(format!("did you mean `{name}`?")),
        None => error,
    }
}

/// Parses the value of attribute `word`; returns whether there is such an attribute.
fn attribute(c: &mut Cursor<'_>, word: &str, config: &mut ModuleConfig) -> Result<bool> {
    match word {
        "is_scheduled" => config.is_scheduled = c.bool()?,
        "replica_count" => config.replica_count = c.int()?,
        "num_partitions" => config.num_partitions = c.int()?,
        "input_output_alias" => config.input_output_alias = aliases(c)?,
        "buffer_donor" => config.buffer_donor = donors(c)?,
        "alias_passthrough_params" => config.alias_passthrough_params = c.bool()?,
        "entry_computation_layout" => config.entry_layout = Some(entry_layout(c)?),
        "frontend_attributes" => config.frontend_attributes = frontend_attributes(c)?,
        TO_PARAMETERS => config.allow_spmd_sharding_propagation_to_parameters = bools(c)?,
        TO_OUTPUT => config.allow_spmd_sharding_propagation_to_output = bools(c)?,
        "origin_recovery_table" => config.origin_recovery_table = recovery_table(c)?,
        "debug_attributes" => config.debug_attributes = Some(balanced_value(c)?.to_owned()),
        // Older texts have it; there is no equivalent now.
        "dynamic_parameter_binding" => {
            balanced_value(c)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// Parses `{ {0}: (0, {}, must-alias), ... }`; the first alias of an output is kept.
fn aliases(c: &mut Cursor<'_>) -> Result<Vec<InputOutputAlias>> {
    c.expect(b'{')?;
    let mut aliases = Vec::new();
    // As in XLA, a comma may follow the last one.
    while !c.eat(b'}') {
        aliases.push(c.parse(alias)?);
        if !c.eat(b',') && c.peek() != Some(b'}') {
            return Err(c.expected("`,` or `}`"));
        }
    }
    aliases.sort_by(|a, b| a.output_index.cmp(&b.output_index));
    aliases.dedup_by(|later, first| later.output_index == first.output_index);
    Ok(aliases)
}

fn alias(input: Cursor<'_>) -> Parsed<'_, InputOutputAlias> {
    let kind = alt((
        value(AliasKind::Must, token("must-alias")),
        value(AliasKind::May, token("may-alias")),
    ));
    let kind = after(',', expecting("`must-alias` or `may-alias`", None, kind));
    let source = delimited(symbol('('), pair(donor, kind), symbol(')'));
    let alias = separated_pair(list('{', size, '}'), symbol(':'), source);
    map(alias, |(output_index, (BufferDonor { parameter, parameter_index }, kind))| {
        let kind = kind.unwrap_or_default();
        InputOutputAlias { output_index, parameter, parameter_index, kind }
    })
    .parse(input)
}

/// Parses `{ (0, {}), ... }`.
fn donors(c: &mut Cursor<'_>) -> Result<Vec<BufferDonor>> {
    let donor = delimited(symbol('('), donor, symbol(')'));
    let mut donors = c.parse(list('{', donor, '}'))?;
    donors.sort();
    donors.dedup();
    Ok(donors)
}

/// Parses `0, {1,2}`: a parameter and an index into it.
fn donor(input: Cursor<'_>) -> Parsed<'_, BufferDonor> {
    let donor = separated_pair(size, symbol(','), list('{', size, '}'));
    map(donor, |(parameter, parameter_index)| BufferDonor { parameter, parameter_index })
        .parse(input)
}

/// Parses `{(shape, ...)->shape}`.
fn entry_layout(c: &mut Cursor<'_>) -> Result<(Vec<Shape>, Shape)> {
    c.expect(b'{')?;
    let parameters = c.parse(list('(', lift(shape), ')'))?;
    c.expect_token("->")?;
    let result = shape(c)?;
    c.expect(b'}')?;
    Ok((parameters, result))
}

fn frontend_attributes(c: &mut Cursor<'_>) -> Result<Option<FrontendAttributes>> {
    let mut ahead = *c;
    if ahead.eat(b'{') && ahead.eat(b'}') {
        *c = ahead;
        return Ok(None);
    }
    FrontendAttributes::parse(c).map(Some)
}

/// Parses `true` or `{true, false}`; a single `false` is the default.
fn bools(c: &mut Cursor<'_>) -> Result<Vec<bool>> {
    let mut flags = match c.peek() {
        Some(b'{') => c.parse(list('{', lift(Cursor::bool), '}'))?,
        _ => vec![c.bool()?],
    };
    if flags == [false] {
        flags.clear();
    }
    Ok(flags)
}

/// Parses `{ {"a" {0}} : {"b"}, "module" ... }` into the form it is printed in: sorted, one entry
/// per line; the first entry of a value is kept. The module stays in quotes: XLA prints it over
/// many lines, which it cannot parse.
fn recovery_table(c: &mut Cursor<'_>) -> Result<Option<String>> {
    let mut table = BTreeMap::new();
    c.expect(b'{')?;
    while !c.eat(b'}') {
        let old = original_array(c)?;
        c.expect(b':')?;
        let new = original_array(c)?;
        let module = if c.eat(b',') { Some(string(c)?) } else { None };
        table.entry(old).or_insert((new, module));
    }
    let mut out = String::new();
    for (old, (new, module)) in &table {
        out.push_str("  ");
        print_array(&mut out, old);
        out.push_str(" : ");
        print_array(&mut out, new);
        if let Some(module) = module {
            out.push_str(",\n  ");
            print_string(&mut out, module);
        }
        out.push('\n');
    }
    Ok(Some(out).filter(|out| !out.is_empty()))
}

/// An instruction of the original module, and an index into its result.
type OriginalArray<'a> = (Cow<'a, str>, Vec<i64>);

/// Parses `{"name" {0,1}}`; `{}` has an empty name.
fn original_array<'a>(c: &mut Cursor<'a>) -> Result<OriginalArray<'a>> {
    c.expect(b'{')?;
    let name = if c.peek() == Some(b'}') { Cow::default() } else { string(c)? };
    let index = match c.peek() {
        Some(b'{') => c.parse(list('{', size, '}'))?,
        _ => Vec::new(),
    };
    c.expect(b'}')?;
    Ok((name, index))
}

fn print_array(out: &mut String, (name, index): &OriginalArray<'_>) {
    out.push('{');
    print_string(out, name);
    if !index.is_empty() {
        out.push_str(" {");
        push_ints(out, index);
        out.push('}');
    }
    out.push('}');
}

/// Returns the name of an attribute that is printed as it is, but would be read as something else.
pub(crate) fn not_kept(config: &ModuleConfig) -> Option<&str> {
    if let Some(table) = &config.origin_recovery_table {
        let read = recovery_table(&mut Cursor::new(&format!("{{\n{table}}}")));
        if read.ok().flatten().as_ref() != Some(table) {
            return Some("origin_recovery_table");
        }
    }
    if config.debug_attributes.as_ref().is_some_and(|value| !is_value(value)) {
        return Some("debug_attributes");
    }
    let taken = |attribute: &&HeaderAttr| {
        let HeaderAttr { name, value } = attribute;
        NAMES.contains(&name.as_str()) || !is_raw(name, value)
    };
    config.unknown.iter().find(taken).map(|attribute| attribute.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, lenient: bool) -> Result<(String, usize)> {
        let (mut c, mut warnings) = (Cursor::new(text), Vec::new());
        let (name, config) = header(&mut c, lenient, &mut warnings)?;
        c.expect_end("the end")?;
        let shape: Shape = "f32[2]{0}".parse()?;
        let entry = crate::ir::ProgramShape { parameters: vec![&shape; 6], result: &shape };
        let mut out = String::new();
        crate::text::print::header::print(&mut out, &name, &config, &entry);
        Ok((out, warnings.len()))
    }
    fn printed(text: &str) -> String {
        read(text, false).unwrap().0
    }
    const LAYOUT: &str = "entry_computation_layout={()->f32[]}";

    #[test]
    fn everything_prints_in_xlas_order() {
        let text = "m, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {0}, must-alias) }, \
            buffer_donor={ (0, {}), (1, {1}) }, alias_passthrough_params=true, \
            entry_computation_layout={(f32[2,3]{0,1}, (s8[], token[]))->f32[]}, \
            allow_spmd_sharding_propagation_to_parameters={true,false}, \
            allow_spmd_sharding_propagation_to_output={true}, replica_count=0, num_partitions=-3, \
            frontend_attributes={a=\"1\",b={x}}, origin_recovery_table={\n  {\"a\" {0,1}} : {\"b\"}\n}\n, \
            debug_attributes={ {\"a\"}:{op_id=1} }";
        assert_eq!(printed(text), format!("HloModule {text}"));
        let (name, tail) = text.split_once(", is_scheduled=true").unwrap();
        assert_eq!(
            printed(&format!("{name}{tail}, is_scheduled=true")),
            format!("HloModule {text}")
        );
    }
    #[test]
    fn what_holds_anyway_is_not_printed() {
        let text = format!(
            "%m:, {LAYOUT}, is_scheduled=false, input_output_alias={{}}, buffer_donor={{}}, frontend_attributes={{}}, \
            allow_spmd_sharding_propagation_to_output={{}}, allow_spmd_sharding_propagation_to_parameters={{false}}, \
            alias_passthrough_params=false, replica_count=1, num_partitions=1, origin_recovery_table={{}}"
        );
        assert_eq!(printed(&text), format!("HloModule m, {LAYOUT}"));
    }
    #[test]
    fn lists_are_sorted_and_the_first_of_equal_ones_counts() {
        let text = format!(
            "m, input_output_alias={{{{1}}:(1,{{0}}),{{0}}:(0,{{}}),{{1}}:(2,{{}},must-alias)}}, {LAYOUT}"
        );
        let expected = "HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {0}, may-alias) }, ";
        assert_eq!(printed(&text), format!("{expected}{LAYOUT}"));
        let text = format!("m, buffer_donor={{(1,{{1}}),(0,{{}}),(1,{{0}}),(0,{{}})}}, {LAYOUT}");
        assert_eq!(
            printed(&text),
            format!("HloModule m, buffer_donor={{ (0, {{}}), (1, {{0}}), (1, {{1}}) }}, {LAYOUT}")
        );
        let text = format!(
            "m, {LAYOUT}, origin_recovery_table={{{{\"z\"}}:{{}} {{\"a\"{{}}}}:{{\"b\"}},'x \"y\"' {{\"z\"}}:{{\"c\"}}}}"
        );
        let expected = "origin_recovery_table={\n  {\"a\"} : {\"b\"},\n  \"x \\\"y\\\"\"\n  {\"z\"} : {\"\"}\n}\n";
        assert_eq!(printed(&text), format!("HloModule m, {LAYOUT}, {expected}"));
        assert_eq!(printed(&printed(&text)["HloModule ".len()..]), printed(&text));
    }
    #[test]
    fn layout_comes_from_the_entry_if_not_stated() {
        let s = "f32[2]{0}";
        let layout = format!("({s}, {s}, {s}, {s}, {s}, /*index=5*/{s})->{s}");
        assert_eq!(printed("m"), format!("HloModule m, entry_computation_layout={{{layout}}}"));
    }
    #[test]
    fn unknown_attributes_are_kept_if_lenient() {
        let text = format!("m, {LAYOUT}, new_thing={{a, {{b}}}}, other=3");
        assert_eq!(read(&text, true).unwrap(), (format!("HloModule {text}"), 2));
        let error = read("m, is_schedule=true", false).unwrap_err();
        assert_eq!(error.code().number(), "E0104");
        assert_eq!(error.help(), Some("did you mean `is_scheduled`?"));
        assert_eq!(error.span(), Some(Span::new(3, 14)));
    }
    #[test]
    fn what_follows_is_left() {
        let mut c = Cursor::new("m, replica_count=2\n\nFileNames\n");
        header(&mut c, false, &mut Vec::new()).unwrap();
        assert_eq!(c.peek_word(), Some("FileNames"));
    }
    #[test]
    fn what_other_texts_write_is_read() {
        let text = format!("m, dynamic_parameter_binding={{a, b}}, {LAYOUT}");
        assert_eq!(printed(&text), format!("HloModule m, {LAYOUT}"));
        let text = format!("m, input_output_alias={{{{}}: (7, {{3}}),}}, {LAYOUT}");
        let expected = "HloModule m, input_output_alias={ {}: (7, {3}, may-alias) }, ";
        assert_eq!(printed(&text), format!("{expected}{LAYOUT}"));
    }
    #[test]
    fn aliases_are_of_parts_of_the_result() {
        let check = |index: &str, result: &str| {
            let text = format!("m, input_output_alias={{{index}: (0, {{}})}}");
            let (_, config) = header(&mut Cursor::new(&text), false, &mut Vec::new()).unwrap();
            config.check_aliases(&result.parse().unwrap()).is_ok()
        };
        assert!(check("{1,0}", "(f32[], (f32[]))") && check("{}", "f32[]"));
        assert!(!check("{5}", "(f32[], f32[])") && !check("{0}", "f32[]"));
    }
    #[test]
    fn refuses_what_is_no_header() {
        for (text, number) in [
            ("\"m\"", "E0101"),
            ("m,", "E0101"),
            ("m replica_count=2", "E0101"),
            ("m, replica_count=2, replica_count=2", "E0105"),
            ("m, replica_count=x", "E0101"),
            ("m, input_output_alias={ {0}: 0 }", "E0101"),
            ("m, input_output_alias={ {0}: (0, {}) {1}: (0, {}) }", "E0101"),
            ("m, input_output_alias={ {0}: (0, {}, foo) }", "E0101"),
            ("m, input_output_alias={ {-1}: (0, {}) }", "E0112"),
            ("m, allow_spmd_sharding_propagation_to_output={true", "E0101"),
            ("m, entry_computation_layout={()->f32[], f32[]}", "E0101"),
            ("m, origin_recovery_table={{\"a\"}}", "E0101"),
        ] {
            let error = read(text, false).expect_err(text);
            assert_eq!(error.code().number(), number, "{text}: {error}");
        }
    }
}
