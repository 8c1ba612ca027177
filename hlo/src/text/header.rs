//! The module's header line.
use super::print::{push_int, push_ints, separator, shape as print_shape};
use super::shape::shape;
use super::{Cursor, balanced};
use crate::diag::{Code, Diagnostic, nearest};
use crate::ir::{
    AliasKind, BufferDonor, FrontendAttributes, HeaderAttr, InputOutputAlias, ModuleConfig,
    ProgramShape, origin,
};
use crate::{Error, Result, Shape};
use smol_str::SmolStr;

const NAMES: [&str; 13] = [
    "is_scheduled",
    "input_output_alias",
    "buffer_donor",
    "alias_passthrough_params",
    "entry_computation_layout",
    "allow_spmd_sharding_propagation_to_parameters",
    "allow_spmd_sharding_propagation_to_output",
    "replica_count",
    "num_partitions",
    "frontend_attributes",
    "origin_recovery_table",
    "debug_attributes",
    "dynamic_parameter_binding",
];

/// Reads what follows `HloModule`.
///
/// Any word can be the name. XLA takes one of its keywords only behind a `%`, but prints it without.
pub(super) fn header(
    c: &mut Cursor<'_>,
    lenient: bool,
    warnings: &mut Vec<Diagnostic>,
) -> Result<(SmolStr, ModuleConfig)> {
    let (name, _) = c.name("the module's name")?;
    if c.next_byte() == Some(b':') {
        c.skip(1);
    }
    let mut config = ModuleConfig::default();
    let mut seen = Vec::new();
    while c.eat(b',') {
        let (key, span) = c.attribute_name()?;
        if seen.contains(&key) {
            return Err(Error::from(Code::DuplicateAttribute { name: key.into() }).at(span));
        }
        seen.push(key);
        if !attribute(c, key, &mut config).map_err(|e| e.at(span))? {
            let code = Code::UnknownAttribute { op: "HloModule".into(), name: key.into() };
            let error = Error::from(code).at(span);
            let error = match nearest(key, NAMES) {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None => error,
            };
            if !lenient {
                return Err(error);
            }
            warnings.push(error.with_help("kept as it stands, because of --lenient").warning());
            let value = balanced::balanced_value(c)?.to_owned();
            config.raw.push(HeaderAttr { name: key.into(), value });
        }
    }
    Ok((name.into(), config))
}

/// Reads the value of a known attribute; gives false for an unknown one.
fn attribute(c: &mut Cursor<'_>, key: &str, config: &mut ModuleConfig) -> Result<bool> {
    match key {
        "is_scheduled" => config.is_scheduled = c.bool()?,
        "replica_count" => config.replica_count = c.int()?,
        "num_partitions" => config.num_partitions = c.int()?,
        "alias_passthrough_params" => config.alias_passthrough_params = c.bool()?,
        "input_output_alias" => config.input_output_alias = aliases(c)?,
        "buffer_donor" => config.buffer_donor = donors(c)?,
        "entry_computation_layout" => config.entry_layout = Some(entry_layout(c)?),
        "allow_spmd_sharding_propagation_to_parameters" => {
            config.allow_spmd_sharding_propagation_to_parameters = bools(c)?;
        }
        "allow_spmd_sharding_propagation_to_output" => {
            config.allow_spmd_sharding_propagation_to_output = bools(c)?;
        }
        "frontend_attributes" => config.frontend_attributes = Some(FrontendAttributes::parse(c)?),
        "origin_recovery_table" => config.origin_recovery_table = origin::parse_table(c)?,
        // Of older texts; nothing today says the same.
        "dynamic_parameter_binding" => {
            balanced::balanced_value(c)?;
        }
        "debug_attributes" => {
            let value = balanced::balanced_value(c)?.to_owned();
            config.raw.push(HeaderAttr { name: key.into(), value });
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// `{ {0}: (1, {}, may-alias), ... }`, kept sorted by the place in the result. Of an output named twice the first
/// counts, as in XLA.
fn aliases(c: &mut Cursor<'_>) -> Result<Vec<InputOutputAlias>> {
    c.expect(b'{')?;
    let mut aliases: Vec<InputOutputAlias> = Vec::new();
    // As in XLA, a comma may stand behind the last.
    while !c.eat(b'}') {
        aliases.push(alias(c)?);
        if !c.eat(b',') {
            c.expect(b'}')?;
            break;
        }
    }
    aliases.sort_by(|a, b| a.output_index.cmp(&b.output_index));
    aliases.dedup_by(|b, a| a.output_index == b.output_index);
    Ok(aliases)
}

fn alias(c: &mut Cursor<'_>) -> Result<InputOutputAlias> {
    let output_index = c.list(b'{', b'}', Cursor::size)?;
    c.expect(b':')?;
    c.expect(b'(')?;
    let parameter = c.size()?;
    c.expect(b',')?;
    let parameter_index = c.list(b'{', b'}', Cursor::size)?;
    let mut kind = AliasKind::May;
    if c.eat(b',') {
        let (word, span) = c.word("`may-alias` or `must-alias`")?;
        kind = match word {
            "may-alias" => AliasKind::May,
            "must-alias" => AliasKind::Must,
            _ => {
                let message = format!("`{word}` is neither may-alias nor must-alias");
                return Err(Error::from(Code::AttributeValue { message }).at(span));
            }
        };
    }
    c.expect(b')')?;
    Ok(InputOutputAlias { output_index, parameter, parameter_index, kind })
}

/// `{ (0, {}), ... }`, kept sorted, each once.
fn donors(c: &mut Cursor<'_>) -> Result<Vec<BufferDonor>> {
    let mut donors = c.list(b'{', b'}', |c| {
        c.expect(b'(')?;
        let parameter = c.size()?;
        c.expect(b',')?;
        let parameter_index = c.list(b'{', b'}', Cursor::size)?;
        c.expect(b')')?;
        Ok(BufferDonor { parameter, parameter_index })
    })?;
    donors.sort();
    donors.dedup();
    Ok(donors)
}

/// `{(shape, ...)->shape}`
fn entry_layout(c: &mut Cursor<'_>) -> Result<(Vec<Shape>, Shape)> {
    c.expect(b'{')?;
    let parameters = c.list(b'(', b')', shape)?;
    c.expect_token("->")?;
    let result = shape(c)?;
    c.expect(b'}')?;
    Ok((parameters, result))
}

/// `true` or `{true,false}`
fn bools(c: &mut Cursor<'_>) -> Result<Vec<bool>> {
    match c.peek() {
        Some(b'{') => c.list(b'{', b'}', Cursor::bool),
        _ => Ok(vec![c.bool()?]),
    }
}

fn print_ints(out: &mut String, numbers: &[i64]) {
    out.push('{');
    push_ints(out, numbers);
    out.push('}');
}

fn print_bools(out: &mut String, name: &str, values: &[bool]) {
    // A single false is what leaving the attribute out means.
    if values.is_empty() || values == [false] {
        return;
    }
    out.push_str(name);
    out.push('{');
    for (i, &value) in values.iter().enumerate() {
        out.push_str(if i > 0 { "," } else { "" });
        out.push_str(if value { "true" } else { "false" });
    }
    out.push('}');
}

/// Prints the header. The newline after it is left to the caller, whatever the last attribute ends with.
pub(super) fn print_header(
    out: &mut String,
    name: &str,
    config: &ModuleConfig,
    entry: &ProgramShape<'_>,
) {
    out.push_str("HloModule ");
    out.push_str(name);
    if config.is_scheduled {
        out.push_str(", is_scheduled=true");
    }
    print_aliases(out, config);
    if config.alias_passthrough_params {
        out.push_str(", alias_passthrough_params=true");
    }
    out.push_str(", entry_computation_layout={(");
    let stated = config.entry_layout.as_ref();
    let parameters = stated.map_or_else(|| entry.parameters.clone(), |(p, _)| p.iter().collect());
    for (i, parameter) in parameters.into_iter().enumerate() {
        separator(out, i);
        print_shape(out, parameter, true);
    }
    out.push_str(")->");
    print_shape(out, stated.map_or(entry.result, |(_, result)| result), true);
    out.push('}');
    let (to_parameters, to_output) = (
        &config.allow_spmd_sharding_propagation_to_parameters,
        &config.allow_spmd_sharding_propagation_to_output,
    );
    print_bools(out, ", allow_spmd_sharding_propagation_to_parameters=", to_parameters);
    print_bools(out, ", allow_spmd_sharding_propagation_to_output=", to_output);
    for (name, count) in
        [(", replica_count=", config.replica_count), (", num_partitions=", config.num_partitions)]
    {
        if count != 1 {
            out.push_str(name);
            push_int(out, count);
        }
    }
    if let Some(attributes) = config.frontend_attributes.as_ref().filter(|a| !a.0.is_empty()) {
        out.push_str(", frontend_attributes=");
        attributes.print(out);
    }
    for raw in &config.raw {
        out.push_str(", ");
        out.push_str(&raw.name);
        out.push('=');
        out.push_str(&raw.value);
    }
    // Last, as it ends its line; XLA has `debug_attributes` after it.
    if !config.origin_recovery_table.is_empty() {
        out.push_str(", origin_recovery_table=");
        origin::print_table(out, &config.origin_recovery_table);
    }
}

fn print_aliases(out: &mut String, config: &ModuleConfig) {
    if !config.input_output_alias.is_empty() {
        out.push_str(", input_output_alias={ ");
        for (i, alias) in config.input_output_alias.iter().enumerate() {
            out.push_str(if i > 0 { ", " } else { "" });
            print_ints(out, &alias.output_index);
            out.push_str(": (");
            push_int(out, alias.parameter);
            out.push_str(", ");
            print_ints(out, &alias.parameter_index);
            out.push_str(match alias.kind {
                AliasKind::May => ", may-alias)",
                AliasKind::Must => ", must-alias)",
            });
        }
        out.push_str(" }");
    }
    if !config.buffer_donor.is_empty() {
        out.push_str(", buffer_donor={ ");
        for (i, donor) in config.buffer_donor.iter().enumerate() {
            out.push_str(if i > 0 { ", (" } else { "(" });
            push_int(out, donor.parameter);
            out.push_str(", ");
            print_ints(out, &donor.parameter_index);
            out.push(')');
        }
        out.push_str(" }");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The header as it is printed for an entry computation from `f32[2]` to a tuple of two.
    fn again(text: &str) -> Result<String> {
        let mut c = Cursor::new(text);
        c.expect_token("HloModule")?;
        let (name, config) = header(&mut c, false, &mut Vec::new())?;
        c.expect_end("the end of the header")?;
        let array = "f32[2]".parse::<Shape>()?;
        let result = Shape::Tuple(vec![array.clone(); 2]);
        let mut out = String::new();
        let entry = ProgramShape { parameters: vec![&array], result: &result };
        print_header(&mut out, &name, &config, &entry);
        Ok(out)
    }
    const LAYOUT: &str = ", entry_computation_layout={(f32[2]{0})->(f32[2]{0}, f32[2]{0})}";

    #[test]
    fn attributes_are_printed_as_xla_does() {
        for (text, before, after) in [
            ("", "", ""),
            (", is_scheduled= true", ", is_scheduled=true", ""),
            (", replica_count=3, num_partitions=0", "", ", replica_count=3, num_partitions=0"),
            (", num_partitions=1, alias_passthrough_params=false", "", ""),
            (
                ", input_output_alias={{1} : (0, {}), {0}: (0, {}, must-alias), {0}: (1, {})}",
                ", input_output_alias={ {0}: (0, {}, must-alias), {1}: (0, {}, may-alias) }",
                "",
            ),
            (", input_output_alias={ }, buffer_donor={}", "", ""),
            (
                ", input_output_alias={{}: (7, {3}),}",
                ", input_output_alias={ {}: (7, {3}, may-alias) }",
                "",
            ),
            (
                ", buffer_donor={(1, {}), (0, {2,3}), (1,{})}",
                ", buffer_donor={ (0, {2,3}), (1, {}) }",
                "",
            ),
            (
                ", allow_spmd_sharding_propagation_to_parameters=true",
                "",
                ", allow_spmd_sharding_propagation_to_parameters={true}",
            ),
            (", allow_spmd_sharding_propagation_to_parameters={false}", "", ""),
            (", allow_spmd_sharding_propagation_to_output={}", "", ""),
            (
                ", allow_spmd_sharding_propagation_to_output={false,false}",
                "",
                ", allow_spmd_sharding_propagation_to_output={false,false}",
            ),
            (", frontend_attributes={b=\"1\",a={x}}", "", ", frontend_attributes={a={x},b=\"1\"}"),
            (", frontend_attributes={}", "", ""),
            (", dynamic_parameter_binding={a,b}", "", ""),
            (
                ", alias_passthrough_params=true, num_partitions=2, replica_count=2, \
                 frontend_attributes={z=\"1\"}, is_scheduled=true, buffer_donor={(0, {})}, \
                 origin_recovery_table={{\"a\"}:{\"b\"}}, input_output_alias={{0}: (0, {})}, \
                 allow_spmd_sharding_propagation_to_output={true}, \
                 allow_spmd_sharding_propagation_to_parameters={true,false}",
                ", is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }, \
                 buffer_donor={ (0, {}) }, alias_passthrough_params=true",
                ", allow_spmd_sharding_propagation_to_parameters={true,false}, \
                 allow_spmd_sharding_propagation_to_output={true}, replica_count=2, \
                 num_partitions=2, frontend_attributes={z=\"1\"}, \
                 origin_recovery_table={\n  {\"a\"} : {\"b\"}\n}\n",
            ),
        ] {
            let wanted = format!("HloModule m{before}{LAYOUT}{after}");
            for text in [&format!("HloModule m{text}"), &wanted] {
                assert_eq!(again(text).unwrap_or_else(|e| panic!("{text}: {e}")), wanted);
            }
        }
    }

    #[test]
    fn stated_layouts_are_kept() {
        let parameters = |n: usize| vec!["f32[1]"; n].join(", ");
        for (layout, wanted) in [
            ("{(f32[3])->f32[]}", "{(f32[3]{0})->f32[]}"),
            ("{()->f32[2,2]}", "{()->f32[2,2]{1,0}}"),
            ("{(f32[3,2]{0,1:T(8)})->(f32[1],())}", "{(f32[3,2]{0,1:T(8)})->(f32[1]{0}, ())}"),
            ("{(token[], opaque[])->token[]}", "{(token[], opaque[])->token[]}"),
        ] {
            let printed =
                again(&format!("HloModule m, entry_computation_layout={layout}")).unwrap();
            assert_eq!(printed, format!("HloModule m, entry_computation_layout={wanted}"));
        }
        let text = format!("HloModule m, entry_computation_layout={{({})->f32[]}}", parameters(6));
        assert!(again(&text).unwrap().contains("f32[1]{0}, /*index=5*/f32[1]{0})"));
    }

    #[test]
    fn names() {
        for (text, name) in [
            ("HloModule m:", "m"),
            ("HloModule m: , is_scheduled=false", "m"),
            ("HloModule %m", "m"),
            ("HloModule tuple", "tuple"),
            ("HloModule a.b-c", "a.b-c"),
            ("HloModule inf", "inf"),
        ] {
            assert_eq!(again(text).unwrap(), format!("HloModule {name}{LAYOUT}"), "{text}");
        }
    }

    #[test]
    fn what_is_refused() {
        for (text, number) in [
            (" \"m\"", "E0101"),
            (" 1m", "E0101"),
            (" m :", "E0101"),
            (" m,", "E0101"),
            (" m, is_scheduled=1", "E0101"),
            (" m, is_scheduled =true", "E0101"),
            (" m, is_scheduled=true is_scheduled=true", "E0101"),
            (" m, is_scheduled=true, is_scheduled=true", "E0105"),
            (" m, is_sheduled=true", "E0104"),
            (" m, replica_count=1.5", "E0101"),
            (" m, input_output_alias={{0}: 0}", "E0101"),
            (" m, input_output_alias={{0}: (0)}", "E0101"),
            (" m, input_output_alias={{0}: (-7, {})}", "E0112"),
            (" m, input_output_alias={{0}: (0, {}, foo)}", "E0107"),
            (" m, buffer_donor={0}", "E0101"),
            (" m, buffer_donor={(-1, {})}", "E0112"),
            (" m, allow_spmd_sharding_propagation_to_output=1", "E0101"),
            (" m, entry_computation_layout={f32[]->f32[]}", "E0101"),
            (" m, entry_computation_layout={(f32[])}", "E0101"),
            (" m, frontend_attributes={a=1}", "E0101"),
            (" m, frontend_attributes={a=\"1\",}", "E0101"),
        ] {
            let error = again(&format!("HloModule{text}")).unwrap_err();
            assert_eq!(error.code().number(), number, "{text}");
        }
        let error = again("HloModule m, is_sheduled=true").unwrap_err();
        assert_eq!(error.help(), Some("did you mean `is_scheduled`?"));
    }

    #[test]
    fn lenient_reading_keeps_what_it_does_not_know() {
        let mut c = Cursor::new(" m, new={a=[1,2]}, replica_count=2");
        let mut warnings = Vec::new();
        let (_, config) = header(&mut c, true, &mut warnings).unwrap();
        assert_eq!(config.raw, [HeaderAttr { name: "new".into(), value: "{a=[1,2]}".into() }]);
        assert_eq!((config.replica_count, warnings.len()), (2, 1));
    }

    #[test]
    fn aliases_are_of_parts_of_the_result() {
        let check = |index: &str, result: &str| {
            let text = format!(" m, input_output_alias={{{index}: (0, {{}})}}");
            let (_, config) = header(&mut Cursor::new(&text), false, &mut Vec::new()).unwrap();
            config.check_aliases(&result.parse().unwrap()).is_ok()
        };
        assert!(check("{1,0}", "(f32[], (f32[]))") && check("{}", "f32[]"));
        assert!(!check("{5}", "(f32[], f32[])") && !check("{0}", "f32[]"));
    }
}
