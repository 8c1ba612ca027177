//! Tokens, infeed and outfeed, transfers.
#![expect(clippy::unwrap_used, reason = "tests")]
use crate::support::{build, run, run_with_hooks};
use builder::{Builder, Value};
use hlo::Literal;
use interp::Hooks;

fn literal(text: &str) -> Literal {
    text.parse().unwrap()
}

/// The result, and what came out of the outfeed queue, of a run with these values in the infeed
/// queue.
fn run_with_queues(b: &Builder, root: Value<'_>, infeed: &[&str]) -> (String, Vec<String>) {
    let (send, input) = crossbeam_channel::unbounded();
    for text in infeed {
        send.send(literal(text)).unwrap();
    }
    let (output, received) = crossbeam_channel::unbounded();
    let hooks = Hooks::new().infeed(input).outfeed(output);
    let result = run_with_hooks(build(b, root), hooks, &[]);
    (result.to_string(), received.try_iter().map(|value| value.to_string()).collect())
}

#[test]
fn infeeds_follow_each_other() {
    let b = Builder::new("infeeds");
    let (first, second) = (b.infeed("s32[2]", ""), b.infeed("s32[]", "fast"));
    let result = b.tuple(&[second, first]);
    let (result, _) = run_with_queues(&b, result, &["s32[2] {1, 2}", "s32[] 3"]);
    assert_eq!(result, "( s32[] 3, s32[2]{0} {1, 2} )");
    let text = b.build_last().unwrap().module().to_string();
    // The second waits for the first.
    assert_eq!(text.matches("after-all()").count(), 1, "{text}");
    assert!(text.contains("infeed_config=\"fast\""), "{text}");
}

#[test]
fn outfeeds_follow_each_other() {
    let b = Builder::new("outfeeds");
    let _ = b.constant([1f32, 2.0]).outfeed("f32[2]", "");
    let end = b.constant(7i32).outfeed("s32[]", "slow");
    let (result, received) = run_with_queues(&b, end, &[]);
    assert_eq!(
        (result.as_str(), received.as_slice()),
        ("(  )", ["f32[2]{0} {1, 2}".to_owned(), "s32[] 7".to_owned()].as_slice())
    );
    let text = b.build(end).unwrap().module().to_string();
    assert_eq!(text.matches("after-all()").count(), 1, "{text}");
    assert!(text.contains("outfeed_config=\"slow\""), "{text}");
}

#[test]
fn tokens_order_queues() {
    let b = Builder::new("tokens");
    let start = b.create_token();
    let both = start.infeed_with_token("s32[2]", "");
    let (data, token) = (both.get_tuple_element(0), both.get_tuple_element(1));
    let done = (data * 10).outfeed_with_token(token, "s32[2]{0}", "");
    let root = data.add_dependency(b.after_all(&[done, start]));
    let (result, received) = run_with_queues(&b, root, &["s32[2] {4, 5}"]);
    assert_eq!((result.as_str(), received[0].as_str()), ("s32[2]{0} {4, 5}", "s32[2]{0} {40, 50}"));
}

#[test]
fn shardings_of_infeeds_have_one_for_the_token() {
    let b = Builder::new("infeed_sharding");
    b.set_sharding("{maximal device=1}".parse().unwrap());
    let data = b.infeed("s32[]", "");
    b.set_keep_unused(true);
    let text = build(&b, data).module().to_string();
    let pair = "sharding={{maximal device=1}, {maximal device=0}}";
    assert!(text.contains(pair), "{text}");
    assert_eq!(text.matches("sharding={maximal device=0}").count(), 2, "{text}");
}

#[test]
fn a_device_sends_to_itself() {
    let b = Builder::new("transfers");
    let channel = b.create_channel();
    let sent = b.constant([1f32, 2.0]).send(channel);
    let received = sent.recv_with_token("f32[2]", channel).get_tuple_element(0);
    assert_eq!(run(&b, received, &[]), "f32[2]{0} {1, 2}");
    assert_eq!(b.create_channel(), channel + 1);
}

#[test]
fn transfers_print_their_channels() {
    let b = Builder::new("transfer_text");
    let x = b.parameter(0, "f32[2]", "x");
    let token = x.send_with_token(b.create_token(), 3);
    let started = x.send_start(token, 4, false);
    let token = started.send_done();
    let received = b.recv("f32[2]", 5);
    let half = token.recv_start("f32[2]", 6, false).recv_done();
    let host = x.send_to_host(half.get_tuple_element(1), "f32[2]", 7);
    let back = host.recv_from_host("f32[2]", 8);
    let module = build(&b, b.tuple(&[received, half.get_tuple_element(0), back]));
    let text = module.module().to_string();
    for expected in [
        "(f32[2]{0}, u32[], token[]) send(",
        "token[] send-done(",
        "(f32[2]{0}, u32[], token[]) recv(",
        "(f32[2]{0}, token[]) recv-done(",
        "channel_id=3",
        "channel_id=4",
        "channel_id=5",
        "channel_id=6",
        "channel_id=7, is_host_transfer=true",
        "channel_id=8, is_host_transfer=true",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn what_is_no_token_is_refused() {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[2]", "x");
    let error = b.build(b.after_all(&[x])).unwrap_err();
    assert!(
        error.to_string().contains("operand 0 of `after_all` is f32[2], not a token"),
        "{error}"
    );
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[2]", "x");
    let error = b.build(x.send_done()).unwrap_err();
    assert!(
        error.to_string().contains("expected the result of `send_start`, found `parameter`"),
        "{error}"
    );
    let b = Builder::new("m");
    let token = b.create_token();
    let error = b.build(token.recv_from_host("(f32[])", 1)).unwrap_err();
    assert!(error.to_string().contains("the host exchanges arrays, not (f32[])"), "{error}");
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[2]", "x");
    let error = b.build(x.send_to_host(b.create_token(), "f32[3]", 1)).unwrap_err();
    assert!(
        error.to_string().contains("expected a value of shape f32[3], found f32[2]"),
        "{error}"
    );
}
