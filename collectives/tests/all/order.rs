//! The order of the text: without a schedule it does not matter.
use crate::common::program::Program;
use crate::common::verified;
use hlo::Literal;
use interp::RunOptions;
use proptest::prelude::*;

const PAIRS: &str =
    ", frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,2},{2,0}}}";
const HEADER: &str = "replica_count=3
add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }
wait { t = token[] parameter(0)
  r = (s32[], u32[], token[]) recv(t), channel_id=7PAIRS
  d = (s32[], token[]) recv-done(r), channel_id=7
  ROOT v = s32[] get-tuple-element(d), index=0 }
spawned { y = s32[] parameter(0) ROOT s = s32[] all-reduce(y), channel_id=8, replica_groups={}, to_apply=add }
body { c = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(c), index=0
  x = s32[] get-tuple-element(c), index=1 t = token[] after-all()
  r = (s32[], u32[], token[]) recv(t), channel_id=5PAIRS
  rd = (s32[], token[]) recv-done(r), channel_id=5
  s = (s32[], u32[], token[]) send(x, t), channel_id=5PAIRS
  sd = token[] send-done(s), channel_id=5
  y = s32[] get-tuple-element(rd), index=0 one = s32[] constant(1)
  j = s32[] add(i, one) z = s32[] add(y, one) ROOT w = (s32[], s32[]) tuple(j, z) }
more { c = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(c), index=0 n = s32[] constant(3)
  ROOT m = pred[] compare(i, n), direction=LT }
";

/// The instructions of the entry: name, names of operands, text. All orders with operands first are
/// in `orders`.
const ENTRY: &[(&str, &[&str], &str)] = &[
    ("x", &[], "s32[] parameter(0)"),
    ("k", &[], "token[] after-all()"),
    ("zero", &[], "s32[] constant(0)"),
    // Around the ring: the value is there only when the previous device has sent.
    ("r1", &["k"], "(s32[], u32[], token[]) recv(k), channel_id=1PAIRS"),
    ("d1", &["r1"], "(s32[], token[]) recv-done(r1), channel_id=1"),
    ("v1", &["d1"], "s32[] get-tuple-element(d1), index=0"),
    ("s1", &["x", "k"], "(s32[], u32[], token[]) send(x, k), channel_id=1PAIRS"),
    ("e1", &["s1"], "token[] send-done(s1), channel_id=1"),
    // The next channel takes what the first one brought.
    ("k1", &["e1"], "token[] after-all(e1)"),
    ("r2", &["k1"], "(s32[], u32[], token[]) recv(k1), channel_id=2PAIRS"),
    ("d2", &["r2"], "(s32[], token[]) recv-done(r2), channel_id=2"),
    ("v2", &["d2"], "s32[] get-tuple-element(d2), index=0"),
    ("s2", &["v1", "k"], "(s32[], u32[], token[]) send(v1, k), channel_id=2PAIRS"),
    ("e2", &["s2"], "token[] send-done(s2), channel_id=2"),
    // Collective ops beside them.
    ("a", &["x"], "s32[] all-reduce(x), channel_id=3, replica_groups={}, to_apply=add"),
    ("b", &["v2"], "s32[] all-reduce-start(v2), channel_id=4, replica_groups={}, to_apply=add"),
    ("c", &["b"], "s32[] all-reduce-done(b)"),
    ("p", &["a"], "((s32[]), s32[]) async-start(a), calls=spawned"),
    ("q", &["p"], "s32[] async-done(p)"),
    // A loop and a call that wait.
    ("t", &["zero", "x"], "(s32[], s32[]) tuple(zero, x)"),
    ("w", &["t"], "(s32[], s32[]) while(t), condition=more, body=body"),
    ("l", &["w"], "s32[] get-tuple-element(w), index=1"),
    ("f", &["k"], "s32[] call(k), to_apply=wait"),
    ("s7", &["c", "k"], "(s32[], u32[], token[]) send(c, k), channel_id=7PAIRS"),
    ("e7", &["s7"], "token[] send-done(s7), channel_id=7"),
];

/// Returns the module with the instructions of the entry in an order that the choices determine.
fn text(choices: &[prop::sample::Index], schedule: &str) -> String {
    let mut left: Vec<usize> = (0..ENTRY.len()).collect();
    let (mut placed, mut body) = (Vec::new(), String::new());
    for choice in choices {
        let ready: Vec<usize> = (0..left.len())
            .filter(|&i| ENTRY[left[i]].1.iter().all(|operand| placed.contains(operand)))
            .collect();
        let (name, _, instruction) = ENTRY[left.remove(ready[choice.index(ready.len())])];
        placed.push(name);
        body.extend(["  ", name, " = ", instruction, "\n"]);
    }
    let root = "  ROOT z = (s32[], s32[], s32[], s32[], s32[], s32[]) tuple(v1, v2, c, q, l, f)";
    let text = format!("HloModule m, {schedule}{HEADER}ENTRY e {{\n{body}{root} }}");
    text.replace("PAIRS", PAIRS)
}

fn inputs() -> Vec<Vec<Literal>> {
    ["s32[] 1", "s32[] 20", "s32[] 300"].map(|x| vec![x.parse().unwrap()]).into()
}

/// The results of the devices. The ring sends 0 to 1 to 2 to 0; twice, and three times with one
/// added each time. All sums are 321; the sum of the sums is 963.
const EXPECTED: [&str; 3] = [
    "(s32[] 300, s32[] 20, s32[] 321, s32[] 963, s32[] 4, s32[] 321)",
    "(s32[] 1, s32[] 300, s32[] 321, s32[] 963, s32[] 23, s32[] 321)",
    "(s32[] 20, s32[] 1, s32[] 321, s32[] 963, s32[] 303, s32[] 321)",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_order_of_the_text_has_the_same_results(
        choices in prop::collection::vec(any::<prop::sample::Index>(), ENTRY.len()),
        seed in any::<Option<u64>>(),
    ) {
        let text = text(&choices, "");
        let mut options = RunOptions::default();
        options.order = seed;
        let expected: Vec<Literal> = EXPECTED.iter().map(|text| text.parse().unwrap()).collect();
        for engine in interp::Engine::ALL {
            let program = Program::with_engine(&verified(&text), engine);
            let found = program.with_options(options.clone()).run(&inputs());
            match found {
                Ok(found) => {
                    for (found, expected) in found.iter().zip(&expected) {
                        prop_assert_eq!(found.leaves(), expected.leaves(), "{}", &text);
                    }
                }
                Err(error) => prop_assert!(false, "{error}\n{text}"),
            }
        }
    }
}

/// A schedule is an order of execution: of two orders one is a deadlock.
#[test]
fn a_schedule_binds() {
    let module = |scheduled: &str, first: &str, last: &str| {
        let entry = format!(
            "HloModule m, {scheduled}replica_count=3\nENTRY e {{ x = s32[] parameter(0) k = token[] after-all()
             r = (s32[], u32[], token[]) recv(k), channel_id=1PAIRS
             {first} {last} e = token[] send-done(s), channel_id=1
             ROOT v = s32[] get-tuple-element(d), index=0 }}"
        );
        verified(&entry.replace("PAIRS", PAIRS))
    };
    let done = "d = (s32[], token[]) recv-done(r), channel_id=1";
    let send = "s = (s32[], u32[], token[]) send(x, k), channel_id=1PAIRS";
    let run = |module: hlo::Verified, is_buffered: bool| {
        let options = RunOptions::default().buffered_sends(is_buffered);
        let found = Program::new(&module).with_options(options).run(&inputs());
        found.map(|_| ()).map_err(|error| error.number())
    };
    let scheduled = "is_scheduled=true, ";
    assert_eq!(run(module("", send, done), false), Ok(()));
    assert_eq!(run(module("", done, send), false), Ok(()));
    assert_eq!(run(module(scheduled, send, done), false), Ok(()));
    assert_eq!(run(module(scheduled, done, send), false), Err("E0501"));
    assert_eq!(run(module(scheduled, done, send), true), Err("E0501"));
}

/// Buffered sends take the rule away that `recv` comes before `send`.
#[test]
fn buffered_sends_do_not_wait() {
    let text = "HloModule m, replica_count=3
ENTRY e { x = s32[] parameter(0) k = token[] after-all()
  s = (s32[], u32[], token[]) send(x, k), channel_id=1PAIRS
  e = token[] send-done(s), channel_id=1
  r = (s32[], u32[], token[]) recv(e), channel_id=1PAIRS
  d = (s32[], token[]) recv-done(r), channel_id=1
  ROOT v = s32[] get-tuple-element(d), index=0 }";
    let module = verified(&text.replace("PAIRS", PAIRS));
    let run = |is_buffered| {
        let options = RunOptions::default().buffered_sends(is_buffered);
        Program::new(&module).with_options(options).run(&inputs())
    };
    assert_eq!(run(false).unwrap_err().number(), "E0501");
    let found: Vec<String> = run(true).unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(found, ["s32[] 300", "s32[] 1", "s32[] 20"]);
}
