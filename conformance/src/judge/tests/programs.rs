//! Programs for several devices, before and after partitioning.
use super::*;
use collectives::Session;
use collectives::spmd::Boundary;
use interp::RunOptions;

fn literal(text: &str) -> Literal {
    text.parse().unwrap()
}

/// Judges results of two replicas that get the same arguments.
fn on_two(text: &str, argument: &str, actual: [&str; 2]) -> Judgement {
    let verified = verified(text);
    let arguments = vec![vec![literal(argument)]; 2];
    let session = Session::compile(verified.clone(), &CompileOptions::default()).unwrap();
    let expected = session.run(&arguments, &RunOptions::default()).unwrap().results;
    judge(&verified, &arguments, &expected, &actual.map(literal))
}

#[test]
fn devices_know_their_numbers_in_every_computation() {
    // 1.1 + 0.3, and twice 0.3 more; times the number in f32, of device 1.
    let scan = "f { x = f32[] parameter(0) c = f32[] parameter(1) i = u32[] replica-id() n = f32[] convert(i)
          s = f32[] add(x, c) m = f32[] multiply(s, n) ROOT t = (f32[], f32[]) tuple(m, s) }
        ENTRY e { x = f32[2] parameter(0) z = f32[] constant(1.1)
          r = (f32[2], f32[]) scan(x, z), dimensions={0}, num_carries=1, to_apply=f
          ROOT y = f32[2] get-tuple-element(r), index=0 }";
    let map = "f { x = f32[] parameter(0) i = u32[] replica-id() n = f32[] convert(i) ROOT m = f32[] multiply(x, n) }
        ENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] map(x), dimensions={0}, to_apply=f }";
    // One device loops once, the other not at all.
    let loops = "c { t = (u32[], f32[2]) parameter(0) n = u32[] get-tuple-element(t), index=0 z = u32[] constant(0)
          ROOT p = pred[] compare(n, z), direction=GT }
        b { t = (u32[], f32[2]) parameter(0) z = u32[] constant(0) x = f32[2] get-tuple-element(t), index=1
          s = f32[2] tanh(x) ROOT r = (u32[], f32[2]) tuple(z, s) }
        ENTRY e { x = f32[2] parameter(0) i = u32[] replica-id() t = (u32[], f32[2]) tuple(i, x)
          l = (u32[], f32[2]) while(t), condition=c, body=b ROOT r = f32[2] get-tuple-element(l), index=1 }";
    for (body, right, wrong) in [
        (
            scan,
            ["f32[2] {0, 0}", "f32[2] {1.4000001, 1.7}"],
            ["f32[2] {0, 0}", "f32[2] {1.4000001, 0}"],
        ),
        (map, ["f32[2] {0, 0}", "f32[2] {0.3, 0.3}"], ["f32[2] {0.3, 0}", "f32[2] {0.3, 0.3}"]),
        (
            loops,
            ["f32[2] {0.3, 0.3}", "f32[2] {0.2913126, 0.29131263}"],
            ["f32[2] {0.3, 0.3}", "f32[2] {0.3, 0.3}"],
        ),
    ] {
        let text = format!("HloModule m, replica_count=2\n{body}");
        let found = on_two(&text, "f32[2] {0.3, 0.3}", right);
        assert!(matches!(found.verdict, Verdict::Agrees | Verdict::WithinBound), "{body}\n{found}");
        let found = on_two(&text, "f32[2] {0.3, 0.3}", wrong);
        assert_eq!((found.verdict, found.estimated), (Verdict::Differs, None), "{body}");
    }
}

#[test]
fn steps_of_a_scan_may_exchange_values() {
    let text = "HloModule m, replica_count=2
        add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
        f { x = f32[] parameter(0) c = f32[] parameter(1) a = f32[] all-reduce(x), replica_groups={{0,1}}, to_apply=add
          s = f32[] add(a, c) ROOT t = (f32[], f32[]) tuple(s, s) }
        ENTRY e { x = f32[2] parameter(0) z = f32[] constant(1.1)
          r = (f32[2], f32[]) scan(x, z), dimensions={0}, num_carries=1, to_apply=f
          ROOT y = f32[2] get-tuple-element(r), index=0 }";
    let found = on_two(text, "f32[2] {0.3, 0.3}", ["f32[2] {1.7, 2.3000002}"; 2]);
    assert!(matches!(found.verdict, Verdict::Agrees | Verdict::WithinBound), "{found}");
    let found = on_two(text, "f32[2] {0.3, 0.3}", ["f32[2] {1.4, 1.7}"; 2]);
    assert_eq!((found.verdict, found.estimated), (Verdict::Differs, None));
}

#[test]
fn results_of_devices_may_be_smaller_than_their_bounds() {
    let text = "HloModule m, replica_count=2
        ENTRY e { x = f32[3] parameter(0) n = s32[] constant(2) y = f32[3] tanh(x)
        ROOT r = f32[<=3] set-dimension-size(y, n), dimensions={0} }";
    let x = "f32[3] {0.5, 0.5, 0.5}";
    let near = on_two(text, x, ["f32[2] {0.46211714, 0.46211716}"; 2]);
    assert_eq!((near.verdict, near.estimated), (Verdict::WithinBound, None));
    let far = on_two(text, x, ["f32[2] {0.462, 0.46211716}"; 2]);
    assert_eq!((far.verdict, far.estimated), (Verdict::Differs, None));
}

const PROGRAM: &str = r##"HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2]>}}
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[4] parameter(0)
  shard = f32[2] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={
    xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"a\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\"}>"}
  t = f32[2] tanh(shard)
  sum = f32[2] all-reduce(t), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
  d = f32[2] subtract(t, sum)
  whole = f32[4] custom-call(d), custom_call_target="xla.sdy.LocalToGlobalShape", frontend_attributes={
    xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{\"a\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\"}>"}
  ROOT r = f32[4] negate(whole)
}"##;

#[test]
fn manual_regions_have_bounds() {
    // The result of each element is the hyperbolic tangent of the other device's.
    let arguments = [vec![literal("f32[4] {0.5, 0.25, 0.125, 1}")]];
    let program = verified(PROGRAM);
    let session = Session::compile(program.clone(), &CompileOptions::default()).unwrap();
    let expected = session.run(&arguments, &RunOptions::default()).unwrap().results;
    let judged = |actual: &str| judge(&program, &arguments, &expected, &[literal(actual)]);
    let found = judged("f32[4] {0.124353, 0.7615942, 0.46211714, 0.24491866}");
    assert_eq!((found.verdict, found.estimated), (Verdict::WithinBound, None));
    let found = judged("f32[4] {0.124353, 0.7615942, 0.4621, 0.24491866}");
    assert_eq!((found.verdict, found.estimated), (Verdict::Differs, None));
    assert_eq!(found.measures.wrong, 1);
}

#[test]
fn partitioned_modules_are_judged_by_their_program() {
    let part = "HloModule p, num_partitions=2
        add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
        ENTRY e { x = f32[2] parameter(0), sharding={devices=[2]<=[2]} t = f32[2] tanh(x)
          sum = f32[2] all-reduce(t), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
          d = f32[2] subtract(t, sum) ROOT r = f32[2] negate(d), sharding={devices=[2]<=[2]} }";
    let (program, part) = (verified(PROGRAM), verified(part));
    let boundary = Boundary::of(&program, &part).unwrap();
    let (x, result) = (
        [literal("f32[4] {0.5, 0.25, 0.125, 1}")],
        literal("f32[4] {0.12435305, 0.7615942, 0.46211714, 0.24491866}"),
    );
    let options = JudgeOptions::of_partitioner();
    let judged = |devices: [&str; 2]| {
        let devices = devices.map(literal);
        judge_partitioned(&options, &program, &boundary, &x, &result, &devices).unwrap()
    };
    let found = judged(["f32[2] {0.124353, 0.7615942}", "f32[2] {0.46211714, 0.2449187}"]);
    assert_eq!((found.verdict, found.estimated), (Verdict::WithinBound, None));
    // A device that has the other one's part.
    let found = judged(["f32[2] {0.46211714, 0.24491866}", "f32[2] {0.46211714, 0.2449187}"]);
    assert_eq!((found.verdict, found.measures.wrong), (Verdict::Differs, 2));
    // Rounded to bf16, as the program does not.
    let found = judged(["f32[2] {0.12451172, 0.76171875}", "f32[2] {0.46289063, 0.24511719}"]);
    assert_eq!(found.verdict, Verdict::Differs);
}
