//! The builder itself: what it is asked, what is set on it, how modules are built.
#![expect(clippy::unwrap_used, reason = "tests")]
use crate::support::{run, text};
use builder::{Builder, Code, CustomCallOptions, Error, Value};
use hlo::ir::{AliasKind, FrontendAttributes, Metadata, OriginArray, OriginalValue, Sharding};
use hlo::{ElementType, Opcode, Verified};

fn sharding(text: &str) -> Sharding {
    text.parse().unwrap()
}
fn result(module: &Verified) -> String {
    interp::run(module, &[]).unwrap().to_string()
}
fn line<'t>(text: &'t str, name: &str) -> &'t str {
    text.lines().find(|line| line.contains(&format!("%{name} ="))).unwrap()
}

#[test]
fn names_and_shapes() {
    let b = Builder::new("asked");
    assert_eq!(b.name(), "asked");
    let (x, y) = (b.parameter(1, "f32[2]", "x"), b.parameter(0, "s32[]", "y"));
    let sum = x + 1.0;
    let shapes: Vec<String> =
        b.shapes(&[sum, y]).unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(shapes, ["f32[2]{0}", "s32[]"]);
    assert_eq!((sum.name().unwrap(), sum.opcode().unwrap()), ("add".to_owned(), Opcode::Add));
    let (parameters, root) = b.program_shape().unwrap();
    assert_eq!(parameters, [y.shape().unwrap(), x.shape().unwrap()]);
    assert_eq!(root, x.shape().unwrap());
    assert_eq!(b.program_shape_of(y).unwrap().1, y.shape().unwrap());
    assert_eq!(Builder::new("empty").program_shape().unwrap_err().number(), "E0805");
    let square = b.computation("square", &["f32[]"], |p| p[0] * p[0]);
    assert_eq!(square.program_shape().unwrap().0.len(), 1);
    // The instruction itself, by value and by handle.
    let handle = sum.handle().unwrap();
    assert_eq!(b.instruction_by_handle(handle).unwrap(), sum.instruction().unwrap());
    assert_eq!(b.instruction_by_handle(99).unwrap_err().number(), "E0801");
}

#[test]
fn instructions_as_text() {
    let b = Builder::new("shown");
    let x = b.parameter(0, "f32[2]", "x");
    let y = x.exp();
    let shown = b.op_to_string(y - x * y).unwrap();
    let expected = "subtract = f32[2] subtract(exponential, multiply)\n  \
                  exponential = f32[2] exponential(x)\n    \
                  x = f32[2] parameter()\n  \
                  multiply = f32[2] multiply(x, exponential)\n";
    assert_eq!(shown, expected);
}

#[test]
fn constants_and_variables() {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[<=4]", "x");
    let c = b.constant(2f32);
    let call = b.computation("f", &["f32[]"], |p| p[0]);
    let options = CustomCallOptions::default;
    let constant = [
        c,
        c * 2,
        x.get_dimension_size(0),
        b.custom_call("SetBound", &[x], "s32[]", &options()),
        b.iota_like(),
    ];
    let variable = [
        x,
        x * c,
        b.infeed("f32[]", ""),
        b.call(call, &[c]),
        b.custom_call("Other", &[c], "f32[]", &options()),
        c.while_loop(|n| n.lt(9), |n| n * 2),
        c.cross_replica_sum(Vec::new()),
        c.reshape(&[1]).reduce_scatter(|a, b| a + b, 0, 1, &builder::CollectiveOptions::default()),
        c.send_start(b.create_token(), 1, false),
        b.create_token().recv_start("f32[]", 2, false),
        c.outfeed_with_token(b.create_token(), "f32[]", ""),
    ];
    for value in constant {
        assert!(b.is_constant(value).unwrap(), "{}", b.op_to_string(value).unwrap());
    }
    for value in variable {
        assert!(!b.is_constant(value).unwrap(), "{}", b.op_to_string(value).unwrap());
    }
}

trait IotaLike {
    fn iota_like(&self) -> Value<'_>;
}
impl IotaLike for Builder {
    /// A value that is computed, from constants, by a closure.
    fn iota_like(&self) -> Value<'_> {
        self.constant([1f32, 2.0]).reduce(0.0, |a, c| a + c, &[0])
    }
}

#[test]
fn constant_graphs_keep_what_the_root_needs() {
    let b = Builder::new("graph");
    let x = b.parameter(0, "f32[<=6,3]", "x");
    let unused = b.constant(0.5f32).tanh();
    let sizes = b.tuple(&[x.get_dimension_size(0), unused, x.get_dimension_size(1)]);
    let sum = b.constant([1i32, 2, 4]).reduce(0, |a, c| a + c, &[0]);
    let root = sizes.get_tuple_element(0) * 100 + sizes.get_tuple_element(2) * 10 + sum;
    let module = b.build_constant_sub_graph(root, false).unwrap();
    // 600 + 30 + 7
    assert_eq!(result(&module), "s32[] 637");
    let text = module.module().to_string();
    assert!(text.starts_with("HloModule graph_compute_constant"), "{text}");
    for gone in ["%x", "tanh", "get-tuple-element", "f32"] {
        assert!(!text.contains(gone), "{gone}: {text}");
    }
    assert_eq!(module.module().computations.len(), 2, "{text}");
    // -100 + 30 + 7
    assert_eq!(result(&b.build_constant_sub_graph(root, true).unwrap()), "s32[] -63");
    let variable =
        root + x.reduce(0.0, |a, c| a + c, &[0, 1]).convert_element_type(ElementType::S32);
    let error = b.build_constant_sub_graph(variable, false).unwrap_err();
    assert!(error.to_string().contains("the value depends on `x`, a `parameter`"), "{error}");
}

#[test]
fn bounds_that_were_set_are_constants() {
    let b = Builder::new("bound");
    let x = b.parameter(0, "s32[]", "x");
    let literal = Some("s32[] 12".parse().unwrap());
    let options = CustomCallOptions { literal, ..CustomCallOptions::default() };
    let bound = b.custom_call("SetBound", &[x], "s32[]", &options);
    assert_eq!(result(&b.build_constant_sub_graph(bound + 1, false).unwrap()), "s32[] 13");
}

#[test]
fn modules_become_computations() {
    let other = "HloModule other\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n\
                 ENTRY e { p = f32[3] parameter(0) z = f32[] constant(0) ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=add }";
    let other = hlo::Module::parse(other).unwrap().verify().unwrap();
    let b = Builder::new("imported");
    let sum = b.add_sub_computation(&other);
    let x = b.parameter(0, "f32[3]", "x");
    let twice = b.call(sum, &[x]) + sum.inline(&[x * 10]);
    assert_eq!(run(&b, twice, &["f32[3] {1, 2, 3}"]), "f32[] 66");
}

#[test]
fn closures_are_sub_builders() {
    let b = Builder::new("sub");
    let square = b.computation("square", &["f32[2]"], |p| p[0] * p[0]);
    let x = b.parameter(0, "f32[2]", "x");
    assert_eq!(run(&b, b.call(square, &[x]), &["f32[2] {3, 4}"]), "f32[2]{0} {9, 16}");
    // A mistake in one is the builder's.
    let wrong = b.computation("wrong", &["f32[2]"], |p| p[0].and(p[0]));
    assert!(!wrong.is_valid());
    assert_eq!(b.first_error().unwrap().number(), "E0303");
}

#[test]
fn modules_are_built_in_three_ways() {
    let b = Builder::new("ways");
    let x = b.parameter(0, "f32[<=4]", "x");
    let y = x * 2.0;
    assert_eq!(b.build(x).unwrap().module().entry().root_opcode(), Opcode::Parameter);
    assert_eq!(b.build_last().unwrap().module().entry().root_opcode(), Opcode::Multiply);
    assert!(b.build(y).unwrap().module().to_string().contains("f32[<=4]"));
    let module = b.build_without_dynamic_dimensions(y).unwrap();
    assert!(!module.module().to_string().contains("<="), "{}", module.module());
    let values = interp::run(&module, &["f32[4] {1, 2, 3, 4}".parse().unwrap()]).unwrap();
    assert_eq!(values.to_string(), "f32[4]{0} {2, 4, 6, 8}");
}

#[test]
fn mistakes_are_kept() {
    let b = Builder::new("mistakes");
    assert!(b.status().is_ok() && b.first_error().is_none());
    b.report_error(Error::from(Code::Argument { message: "mine".to_owned() }));
    let line = line!() - 1;
    let error = b.first_error().unwrap();
    assert_eq!(
        (error.to_string().contains("mine"), error.location().unwrap().line()),
        (true, line)
    );
    let x = b.report_error_or_return(|| Err(Code::Argument { message: "later".into() }.into()));
    assert!(!x.is_valid());
    assert!(b.status().unwrap_err().to_string().contains("mine"));
    let b = Builder::new("fine");
    let x = b.report_error_or_return(|| Ok(b.constant(2f32)));
    assert_eq!(run(&b, x, &[]), "f32[] 2");
}

#[test]
#[should_panic(expected = "f32[2] and f32[3] do not fit")]
fn mistakes_panic_where_it_is_wished() {
    let b = Builder::new("dies");
    b.set_die_immediately_on_error(true);
    let _ = b.parameter(0, "f32[2]", "x") + b.parameter(1, "f32[3]", "y");
}

#[test]
fn metadata_is_set_swapped_and_cleared() {
    let b = Builder::new("metadata");
    let named = |name: &str| Metadata { op_name: name.into(), ..Metadata::default() };
    let x = b.parameter(0, "f32[]", "x");
    b.set_op_metadata(named("first"));
    let sin = x.sin();
    b.set_one_shot_op_metadata(named("once"));
    let (cos, tan) = (x.cos(), x.tan());
    assert_eq!(b.swap_op_metadata(Some(named("second"))), Some(named("first")));
    let exp = x.exp();
    b.clear_op_metadata();
    let log = x.log();
    let text = text(&b, b.tuple(&[sin, cos, tan, exp, log]));
    for (name, expected) in [
        ("sine", "{op_name=\"first\"}"),
        ("cosine", "{op_name=\"once\"}"),
        ("tan", "{op_name=\"first\"}"),
        ("exponential", "{op_name=\"second\"}"),
        ("log", "methods.rs\" source_line="),
    ] {
        assert!(line(&text, name).contains(expected), "{name}: {text}");
    }
}

#[test]
fn shardings_are_set_swapped_and_cleared() {
    let b = Builder::new("shardings");
    let (rows, whole) = (sharding("{devices=[2,1]<=[2]}"), sharding("{replicated}"));
    let x = b.parameter(0, "f32[4,2]", "x");
    b.set_sharding(rows.clone());
    let sin = x.sin();
    assert_eq!(b.sharding(), Some(rows.clone()));
    assert_eq!(b.swap_sharding(Some(whole.clone())), Some(rows.clone()));
    let cos = x.cos();
    let pair = b.tuple(&[sin, cos]);
    b.clear_sharding();
    let tan = x.tan();
    assert_eq!((sin.sharding().unwrap(), tan.sharding().unwrap()), (Some(rows.clone()), None));
    // Of a tuple every leaf has it.
    assert_eq!(pair.sharding().unwrap(), Some(sharding("{{replicated}, {replicated}}")));
    b.set_instruction_sharding(tan, Some(rows));
    b.set_instruction_sharding(cos, None);
    let text = text(&b, b.tuple(&[pair, tan]));
    assert!(line(&text, "sine").contains("sharding={devices=[2,1]<=[2]}"), "{text}");
    assert!(line(&text, "tan").contains("sharding={devices=[2,1]<=[2]}"), "{text}");
    assert!(!line(&text, "cosine").contains("sharding"), "{text}");
}

#[test]
fn notes_are_set_swapped_and_cleared() {
    let b = Builder::new("notes");
    let note = |key: &str| FrontendAttributes(vec![(key.into(), "1".to_owned())]);
    let two = FrontendAttributes(vec![("b".into(), "2".to_owned()), ("a".into(), "1".to_owned())]);
    let x = b.parameter(0, "f32[]", "x");
    b.set_frontend_attributes(two);
    let sin = x.sin();
    assert_eq!(b.frontend_attributes().0.len(), 2);
    assert_eq!(b.swap_frontend_attributes(note("c")).0[0].0, "a");
    let cos = x.cos();
    b.clear_frontend_attributes();
    let tan = x.tan();
    b.set_instruction_frontend_attribute(cos, "d", "x");
    b.set_instruction_frontend_attribute(cos, "c", "3");
    let text = text(&b, b.tuple(&[sin, cos, tan]));
    assert!(line(&text, "sine").contains("frontend_attributes={a=\"1\",b=\"2\"}"), "{text}");
    assert!(line(&text, "cosine").contains("frontend_attributes={c=\"3\",d=\"x\"}"), "{text}");
    assert!(!line(&text, "tan").contains("frontend_attributes"), "{text}");
}

#[test]
fn origins_are_set_and_cleared() {
    let b = Builder::new("origins");
    let origin =
        OriginalValue::Leaf(Some(OriginArray { name: "dot.1".to_owned(), index: Vec::new() }));
    let x = b.parameter(0, "f32[]", "x");
    b.set_original_value(origin.clone());
    let sin = x.sin();
    assert_eq!(b.original_value(), Some(origin));
    b.clear_original_value();
    assert_eq!(b.original_value(), None);
    let text = text(&b, b.tuple(&[sin, x.cos()]));
    assert!(line(&text, "sine").contains("origin={{\"dot.1\"}}"), "{text}");
    assert!(!line(&text, "cosine").contains("origin"), "{text}");
}

#[test]
fn scopes_put_back_what_was_set() {
    let b = Builder::new("scopes");
    let x = b.parameter(0, "f32[]", "x");
    let inner = {
        let _scope = b.scoped_sharding(Some(sharding("{replicated}")));
        let _notes = b.scoped_frontend_attributes(FrontendAttributes::default());
        let _origin = b.scoped_original_value(None);
        let _metadata = b.scoped_op_metadata(Metadata::default());
        x.sin()
    };
    assert_eq!((inner.sharding().unwrap(), b.sharding()), (Some(sharding("{replicated}")), None));
}

#[test]
fn memory_is_shared_as_the_header_says() {
    let b = Builder::new("memory");
    b.set_replica_count(2);
    b.set_num_partitions(4);
    let (x, y) = (b.parameter(0, "f32[4]", "x"), b.parameter(1, "(f32[4], f32[4])", "y"));
    b.set_up_alias(&[1], 1, &[1], AliasKind::Must);
    b.set_up_alias(&[0], 0, &[], AliasKind::May);
    b.add_buffer_donor(1, &[0]);
    let text = text(&b, b.tuple(&[x + 1, y.get_tuple_element(1) * 2]));
    for expected in [
        "input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {1}, must-alias) }",
        "buffer_donor={ (1, {0}) }",
        "replica_count=2",
        "num_partitions=4",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    b.set_up_alias(&[5], 0, &[], AliasKind::May);
    let error = b.build_last().unwrap_err();
    assert!(error.to_string().contains("input_output_alias names output index {5}"), "{error}");
}

#[test]
fn parameter_replication() {
    let b = Builder::new("replication");
    let x = b.parameter(0, "(f32[], f32[])", "x");
    b.set_parameter_replication(x, &[true, false]);
    assert!(text(&b, x).contains("parameter_replication={true,false}"));
    b.set_parameter_replication(x, &[true]);
    let error = b.first_error().unwrap();
    assert!(error.to_string().contains("the parameter has 2 leaves, the list has 1"), "{error}");
}
