//! Errors and their places, limits, and observers.
use super::{ADD, compile, cut, join, literals, module, pair};
use collectives::{RunError, Session};
use hlo::Module;
use interp::{CompileOptions, DeviceGrid, Hooks, RunOptions};
use std::sync::{Arc, Mutex};

/// Returns the text at an error's span.
fn place_of(text: &str, error: &RunError) -> String {
    text[error.diagnostic().span.unwrap().range()].to_owned()
}
/// Returns the error number of a module, the message, and the text at its span.
fn refused(text: &str, inputs: &[&str]) -> (&'static str, String, String) {
    let verified = Module::parse(text).unwrap().verify().unwrap();
    let run = |session: Session| session.run(&[literals(inputs)], &RunOptions::default());
    let error = compile(&verified).and_then(run).unwrap_err();
    (error.number(), error.diagnostic().message, place_of(text, &error))
}

#[test]
fn per_device_values_that_leave_a_region_are_rejected() {
    let cut = cut("<mesh<[\"c\"=4]>, [{\"c\"}]>", "\"c\"");
    let text = format!(
        "HloModule m\nENTRY e {{ x = s32[4] parameter(0) l = s32[1] custom-call(x), {cut} ROOT r = s32[1] negate(l) }}"
    );
    let (number, message, place) = refused(&text, &[]);
    assert_eq!(number, "E0512");
    assert!(
        message.contains("`e/r` is computed from the shard of each device, `e/l`"),
        "{message}"
    );
    assert!(place.starts_with("custom-call(x)"));
    let join = join("<mesh<[\"c\"=4]>, [{\"c\"}]>", "\"c\"");
    let text = format!(
        "HloModule m\nENTRY e {{ x = s32[1] parameter(0) j = s32[4] custom-call(x), {join} p = u32[] partition-id() ROOT t = (s32[4], u32[]) tuple(j, p) }}"
    );
    let (number, message, place) = refused(&text, &[]);
    assert_eq!((number, place.as_str()), ("E0512", "partition-id()"));
    assert!(message.starts_with("`e/p` has a value per device"), "{message}");
}

#[test]
fn invalid_shardings_are_rejected() {
    for (text, number, expected) in [
        (
            "<mesh<[\"c\"=4]>, [{\"c\"}, {}]>",
            "E0511",
            "for an array of rank 2, the array has rank 1",
        ),
        ("<mesh<[\"c\"=4]>, [{}]>", "E0511", "divided into 1 tile, the shard is s32[1]"),
        ("<mesh<[\"c\"=3]>, [{\"c\"}]>", "E0507", "tiles of unequal sizes are not supported"),
        (
            "<@c, [{\"c\"}]>",
            "E0511",
            "xla.sdy.meshes has no mesh with the name at character 28, `c,",
        ),
        (
            "<mesh<[], device_ids=[2]>, [{}]>",
            "E0507",
            "maximal shardings (a value on one device) are not supported",
        ),
        (
            "<mesh<[\"c\"=4]>, [{\"c\":(3)2}]>",
            "E0511",
            "`:(3)2` is not a sub-axis of an axis of size 4",
        ),
        ("", "E0511", "the marker has 1 operand and 0 shardings"),
    ] {
        let cut = cut(text, "\"c\"");
        let join = join("<mesh<[\"c\"=4]>, [{\"c\"}]>", "\"c\"");
        let join =
            if text.contains("=3") { join.replace("=4", "=3").replace("[4]", "[3]") } else { join };
        let text = format!(
            "HloModule m\nENTRY e {{ x = s32[4] parameter(0) l = s32[1] custom-call(x), {cut} ROOT r = s32[4] custom-call(l), {join} }}"
        );
        let (found, message, place) = refused(&text, &[]);
        assert_eq!(found, number, "{message}");
        assert!(message.contains(expected), "{message}");
        assert!(place.starts_with("custom-call("), "{place}");
    }
    let text = "HloModule m\nENTRY e { x = s32[4] parameter(0) l = s32[1] custom-call(x), custom_call_target=\"SPMDFullToShardShape\", sharding={manual} ROOT r = s32[4] custom-call(l), custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[4]<=[4]} }";
    let (number, message, _) = refused(text, &[]);
    assert_eq!((number, message.as_str()), ("E0511", "the sharding of the operand is not stated"));
    let text = text.replace("parameter(0)", "parameter(0), sharding={devices=[2]<=[2]}");
    assert_eq!(refused(&text, &[]).0, "E0507");
    let text = text.replace("m\nENTRY", "m, replica_count=2\nENTRY");
    let verified = Module::parse(&text).unwrap().verify().unwrap();
    let one = DeviceGrid { replicas: 1, partitions: 1 };
    let error = Session::compile_for(verified, one, &CompileOptions::default()).unwrap_err();
    assert_eq!(error.number(), "E0507");
}

#[test]
fn errors_of_devices_are_reported_unchanged() {
    let (cut, join) = pair("<mesh<[\"c\"=2]>, [{\"c\"}]>", "<mesh<[\"c\"=2]>, [{\"c\"}]>", "\"c\"");
    // Only device 0 reaches the sum.
    let text = format!(
        "HloModule m\n{ADD}
        meet {{ x = s32[1] parameter(0) ROOT met = s32[1] all-reduce(x), channel_id=1, replica_groups={{{{0,1}}}}, use_global_device_ids=true, to_apply=add }}
        alone {{ ROOT x = s32[1] parameter(0) }}
        ENTRY e {{ x = s32[2] parameter(0) l = s32[1] custom-call(x), {cut} p = u32[] partition-id() i = s32[] convert(p)
        c = s32[1] conditional(i, l, l), branch_computations={{meet, alone}} ROOT r = s32[2] custom-call(c), {join} }}"
    );
    let (number, message, place) = refused(&text, &["s32[2] {1, 2}"]);
    assert_eq!(number, "E0501");
    assert!(message.contains("device 0 waits at `meet/met` for device 1"), "{message}");
    assert!(place.starts_with("all-reduce(x)"), "{place}");
    // The second device takes the root of a negative number.
    let text = format!(
        "HloModule m\nENTRY e {{ x = f32[2] parameter(0) y = f32[2] negate(x) l = f32[1] custom-call(y), {cut}
        s = f32[1] sqrt(l) ROOT r = f32[2] custom-call(s), {join} }}"
    );
    let verified = Module::parse(&text).unwrap().verify().unwrap();
    let global = compile(&verified).unwrap();
    let checked = RunOptions::default().check_nan(true);
    let error = global.run(&[literals(&["f32[2] {-4, 4}"])], &checked).unwrap_err();
    assert_eq!((error.number(), place_of(&text, &error)), ("E0409", "sqrt(l)".to_owned()));
    assert!(error.to_string().starts_with("error[E0409]: device 1: "), "{error}");
    // Outside of the regions, and with limits.
    let infinite = [literals(&["f32[2] {3e38, 3e38}"])];
    let text = text.replace("negate(x)", "add(x, x)");
    let verified = Module::parse(&text).unwrap().verify().unwrap();
    let outside = compile(&verified).unwrap();
    let error = outside.run(&infinite, &checked).unwrap_err();
    assert_eq!((error.number(), place_of(&text, &error)), ("E0409", "add(x, x)".to_owned()));
    let error = global.run(&infinite, &RunOptions::default().fuel(1)).unwrap_err();
    assert_eq!(error.number(), "E0404");
    let error = global.run(&infinite, &RunOptions::default().max_memory(4)).unwrap_err();
    assert_eq!(error.number(), "E0405");
}
#[test]
fn groups_must_fit_the_devices_of_the_region() {
    let (cut, join) = pair("<mesh<[\"c\"=2]>, [{\"c\"}]>", "<mesh<[\"c\"=2]>, [{\"c\"}]>", "\"c\"");
    let text = format!(
        "HloModule m\n{ADD}
        ENTRY e {{ x = s32[2] parameter(0) l = s32[1] custom-call(x), {cut}
        s = s32[1] all-reduce(l), channel_id=1, replica_groups={{{{0,1,2}}}}, use_global_device_ids=true, to_apply=add
        ROOT r = s32[2] custom-call(s), {join} }}"
    );
    let (number, message, place) = refused(&text, &[]);
    assert!(
        message.contains("the groups have 3 ids, but the module has 2 devices"),
        "{number} {message}"
    );
    assert!(place.starts_with("all-reduce(l)"));
}

#[test]
fn outside_is_run_once_and_inside_by_every_device() {
    let (cut, join) = pair("<@r, [{\"c\"}]>", "<@r, [{\"c\"}]>", "\"c\"");
    let body = format!(
        "ENTRY e {{ x = s32[4] parameter(0) before = s32[4] negate(x) l = s32[1] custom-call(before), {cut}
        inside = s32[1] add(l, l) r = s32[4] custom-call(inside), {join} ROOT after = s32[4] negate(r) }}"
    );
    let seen = Arc::new(Mutex::new(Vec::new()));
    let names = Arc::clone(&seen);
    let hooks = Hooks::new().observe(move |event| {
        // A value that a region reads from outside is a parameter of its module.
        if event.opcode() != hlo::Opcode::Parameter {
            names.lock().unwrap().push(event.name().to_owned());
        }
    });
    let global = compile(&module(&body)).unwrap();
    let inputs = [literals(&["s32[4] {1, 2, 3, 4}"])];
    let finished = global.run(&inputs, &RunOptions::default().hooks(hooks)).unwrap();
    assert_eq!(finished.results[0], "s32[4] {2, 4, 6, 8}".parse().unwrap());
    let seen = seen.lock().unwrap();
    let count = |name: &str| seen.iter().filter(|seen| *seen == name).count();
    assert_eq!((count("before"), count("after"), count("inside")), (1, 1, 4));
}

#[test]
fn other_modules_have_no_regions() {
    let verified = module(
        "ENTRY e { x = s32[2] parameter(0) ROOT r = s32[2] custom-call(x), custom_call_target=\"Sharding\", sharding={devices=[2]<=[2]} }",
    );
    let session = Session::compile(verified, &CompileOptions::default()).unwrap();
    assert!(!session.is_unpartitioned());
}

#[test]
fn damaged_texts_do_not_panic() {
    let text = r##"HloModule t, frontend_attributes={xla.sdy.meshes={m = #sdy.mesh<["a"=2, "b"=2], device_ids=[3, 1, 0, 2]>}}
        ENTRY e { x = s32[2,2] parameter(0) l = s32[1,2] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={
            xla.sdy.in_shardings="#sdy.sharding_per_value<[<@m, [{\"a\", ?}p1, {}], replicated={\"b\"}>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\", \"b\"}>"}
        n = s32[1,2] collective-permute(l), channel_id=1, source_target_pairs={{0,1},{1,2}}
        j = s32[4,2] custom-call(n), custom_call_target="SPMDShardToFullShape", sharding={devices=[4,1]<=[2,2]T(1,0)}
        s = s32[4,2] custom-call(j), custom_call_target="Sharding", sharding={devices=[2,1,2]2,1,0,3 last_tile_dim_replicate}
        k = s32[2,2] custom-call(s), custom_call_target="SPMDFullToShardShape", sharding={devices=[1,1,2,2]2,1,0,3 last_tile_dims={manual, replicated}}
        ROOT r = s32[4,2] custom-call(k), custom_call_target="SPMDShardToFullShape", sharding={devices=[2,1,2]2,1,0,3 last_tile_dim_replicate} }"##;
    let runs = |text: &str| {
        let verified = Module::parse(text).ok()?.verify().ok()?;
        let global = Session::compile(verified, &CompileOptions::default()).ok()?;
        let options = RunOptions::default().fuel(1000).max_memory(1 << 20);
        global.run(&[literals(&["s32[2,2] {{1, 2}, {3, 4}}"])], &options).ok()
    };
    assert!(runs(text).is_some());
    for (at, old) in text.char_indices() {
        let (before, after) = (&text[..at], &text[at + old.len_utf8()..]);
        for new in ["", "9", "{", "\"", ","] {
            runs(&format!("{before}{new}{after}"));
        }
    }
}
