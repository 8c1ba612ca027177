//! Programs over global arrays, and what each device runs of them.
use super::{as_a_whole, parsed};
use field::{Answer, Failure, Options, equal};
use std::path::Path;

fn text(name: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    std::fs::read_to_string(examples.join(name)).unwrap()
}

fn answer(first: &str, second: &str) -> Answer {
    let options = Options { seeds: 4, ..as_a_whole() };
    equal(&parsed(first), &parsed(second), &options).unwrap()
}

#[test]
fn a_partitioned_program_is_the_program() {
    let [global, partitioned, wrong] =
        ["partition.global.hlo", "partition.hlo", "partition.wrong.hlo"].map(text);
    assert!(matches!(answer(&global, &partitioned), Answer::Equal(_)));
    let Answer::Different(found) = answer(&global, &wrong) else { unreachable!("it is wrong") };
    assert_eq!(found.arguments.len(), parsed(&global).module().entry().parameters().len());
    let other = "HloModule m, num_partitions=4\nENTRY e { ROOT x = f32[5] parameter(0) }";
    let failure = equal(&parsed(&global), &parsed(other), &as_a_whole()).unwrap_err();
    assert!(matches!(failure, Failure::Partition(_)));
}

/// Returns a program of four devices.
fn of_devices(root: &str) -> String {
    format!(
        "HloModule m, num_partitions=4
         add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }}
         ENTRY e {{ x = f32[4] parameter(0) {root} }}"
    )
}

#[test]
fn devices_have_other_arguments() {
    let sum = |groups: &str| {
        format!(
            "ROOT r = f32[4] all-reduce(x), channel_id=1, replica_groups={groups}, use_global_device_ids=true, to_apply=add"
        )
    };
    let all = of_devices(&sum("{{0,1,2,3}}"));
    let in_steps = of_devices(&format!(
        "{} {}",
        sum("{{0,1},{2,3}}").replace("ROOT r", "s"),
        sum("{{0,2},{1,3}}").replace("(x)", "(s)").replace("channel_id=1", "channel_id=2")
    ));
    assert!(matches!(answer(&all, &in_steps), Answer::Equal(_)));
    // These differ if all devices have the same argument.
    let without = of_devices("ROOT r = f32[4] copy(x)");
    assert!(matches!(answer(&all, &without), Answer::Different(_)));
    let pairs = of_devices(&sum("{{0,1},{2,3}}"));
    assert!(matches!(answer(&all, &pairs), Answer::Different(_)));
    // These do not.
    let times = of_devices(
        "c = f32[] constant(4) b = f32[4] broadcast(c), dimensions={} ROOT r = f32[4] multiply(x, b)",
    );
    assert!(matches!(answer(&all, &times), Answer::Open(_)));
}

#[test]
fn stated_shardings_are_kept() {
    let program = |header: &str, sharding: &str| {
        format!(
            "HloModule m, num_partitions=2{header}
             ENTRY e {{ x = f32[4] parameter(0), sharding={{devices=[2]<=[2]}} ROOT r = f32[4] negate(x), sharding={sharding} }}"
        )
    };
    let part = |sharding: &str| {
        format!(
            "HloModule m, num_partitions=2
             ENTRY e {{ x = f32[2] parameter(0), sharding={{devices=[2]<=[2]}} ROOT r = f32[2] negate(x){sharding} }}"
        )
    };
    let swapped = part(", sharding={devices=[2]<=[2]}")
        .replace("ROOT r = f32[2] negate(x)", "n = f32[2] negate(x) ROOT r = f32[2] collective-permute(n), channel_id=1, source_target_pairs={{0,1},{1,0}}")
        .replace("[2]<=[2]} }", "[2]1,0} }");
    let stated = program("", "{devices=[2]<=[2]}");
    assert!(matches!(answer(&stated, &part(", sharding={devices=[2]<=[2]}")), Answer::Equal(_)));
    assert!(matches!(answer(&stated, &part("")), Answer::Equal(_)));
    // Each device has the other one's half: the sharding of the partitioned module says so.
    let failure = equal(&parsed(&stated), &parsed(&swapped), &as_a_whole()).unwrap_err();
    assert_eq!(
        failure.to_string(),
        "the modules do not fit: error[E0511]: the program states the sharding `{devices=[2]<=[2]}` of \
         leaf 0 of `r`, the partitioned module has `{devices=[2]1,0}`"
    );
    // The shape differs from the one that is stated.
    let whole = program("", "{replicated}");
    let failure = equal(&parsed(&whole), &parsed(&part("")), &as_a_whole()).unwrap_err();
    assert!(failure.to_string().ends_with("the partitioned module has f32[2]"), "{failure}");
    let free = ", allow_spmd_sharding_propagation_to_output={true}";
    let free = program(free, "{devices=[2]<=[2]}");
    assert!(matches!(answer(&free, &swapped), Answer::Equal(_)));
}

#[test]
fn a_replicated_partition_is_the_program() {
    let program = "ENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] add(x, x) }";
    let part = of_devices(
        "s = f32[4] all-reduce(x), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=add
         ROOT r = f32[4] copy(s)",
    );
    assert!(matches!(answer(program, &part), Answer::Equal(_)));
    let sharded = of_devices("ROOT r = f32[4] add(x, x), sharding={replicated}");
    assert!(matches!(answer(&sharded, &part), Answer::Equal(_)));
    // Of two modules without shardings each is that of one device.
    let bare = of_devices("ROOT r = f32[4] add(x, x)");
    assert!(matches!(answer(&bare, &part), Answer::Open(_)));
}

/// An error of a program names the types of its module.
#[test]
fn an_error_names_the_types_of_the_module() {
    let marker = |name: &str, list: &str, sharding: &str| {
        format!(
            "custom_call_target=\"xla.sdy.{name}\", frontend_attributes={{xla.sdy.{list}=\"#sdy.sharding_per_value<[<mesh<[\\\"c\\\"=4]>, [{{{sharding}}}]>]>\",
             xla.sdy.manual_axes=\"#sdy<manual_axes{{\\\"c\\\"}}>\"}}"
        )
    };
    let cut = marker("GlobalToLocalShape", "in_shardings", "");
    let join = marker("LocalToGlobalShape", "out_shardings", "\\\"c\\\"");
    let program = parsed(&format!(
        "HloModule m\nENTRY e {{ x = f32[4] parameter(0) l = f32[1] custom-call(x), {cut} ROOT r = f32[4] custom-call(l), {join} }}"
    ));
    let failure = equal(&program, &program, &as_a_whole()).unwrap_err();
    let Failure::Run { error, .. } = &failure else { panic!("{failure}") };
    assert_eq!(error.number(), "E0511");
    let message = failure.to_string();
    assert!(message.contains("f32[1]") && !message.contains("c128"), "{message}");
}
