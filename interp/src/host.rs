//! Host transfers: `infeed`, `outfeed`, `send` and `recv`, also of one device to itself
//!
//! `infeed` takes the next value of the queue in [`Hooks`](crate::Hooks), `outfeed` appends one to
//! the other; so do `recv` and `send` with the host, which have a queue for each channel; all in
//! the order in which the instructions are run. None of them waits, since a wait could last forever
//! and its end would depend on a clock: an infeed queue must hold its values before the run. A
//! missing, empty or full queue is an error: values are neither invented nor dropped.
//!
//! `send` appends its operand to the channel of its number, and `recv-done` removes the oldest
//! value. In a computation that an `async-start` calls, and that has transfers alone, `recv`
//! removes it. No instruction may use the data of a `recv` before its done. A `recv-done` that
//! comes before the `send` in the text is an error, since one device runs instructions one after
//! another. In a module that is not scheduled, printing preserves only the order that tokens and
//! control predecessors define.
use crate::context::RunContext;
use crate::state::Site;
use crate::{Error, Result};
use crossbeam_channel::{Receiver, Sender, TrySendError};
use hlo::ir::Instruction;
use hlo::op::Recv;
use hlo::op::{RecvDone, Send};
use hlo::{ElementType, Literal, Scalar, Shape};
use hlo::{Module, Op};
use num::array::{with_layouts, zeros};
use num::error::Code;
use std::collections::VecDeque;

fn starved(message: impl Into<String>) -> Error {
    Code::Starved { message: message.into() }.into()
}

/// `result = (next value of the queue, token)`; without a token, in old texts, only the value
pub(crate) fn infeed(tokens: &[&Literal], shape: &Shape, context: &RunContext) -> Result<Literal> {
    let data = match (tokens, shape.tuple()) {
        ([_, ..], Some([data, ..])) => data,
        _ => shape,
    };
    in_order("infeed", context)?;
    let queue = context.hooks().infeed.as_ref();
    let queue = queue.ok_or_else(|| {
        starved("`infeed` has no queue").with_help("set one with `Hooks::infeed`")
    })?;
    let value = next(queue, data, "the infeed queue", "infeed")?;
    Ok(if tokens.is_empty() { value } else { Literal::tuple(vec![value, Literal::token()]) })
}

/// Appends the value to the queue; `result = token`
pub(crate) fn outfeed(value: &Literal, context: &RunContext) -> Result<Literal> {
    in_order("outfeed", context)?;
    let queue = context.hooks().outfeed.as_ref();
    let queue = queue.ok_or_else(|| {
        starved("`outfeed` has no queue").with_help("set one with `Hooks::outfeed`")
    })?;
    put(queue, value, "the outfeed queue")?;
    Ok(Literal::token())
}

/// Returns the next value of a queue, which must have this shape.
fn next(queue: &Receiver<Literal>, data: &Shape, of: &str, opcode: &str) -> Result<Literal> {
    let value = queue.try_recv().map_err(|_| starved(format!("{of} is empty")))?;
    let found = value.shape();
    if !found.compatible(data) {
        let message = format!("{of} holds {found}, but `{opcode}` expects {data}");
        return Err(Code::Invalid { message }.into());
    }
    Ok(with_layouts(value, data))
}
fn put(queue: &Sender<Literal>, value: &Literal, of: &str) -> Result<()> {
    queue.try_send(value.to_static()).map_err(|error| {
        starved(match error {
            TrySendError::Full(_) => format!("{of} is full"),
            TrySendError::Disconnected(_) => format!("the receiver of {of} is disconnected"),
        })
    })
}

/// Appends the value to the channel; `result = (value, 0, token)`
pub(crate) fn send(op: &Send, operands: &[&Literal], context: &RunContext) -> Result<Literal> {
    in_order("send", context)?;
    if op.is_host_transfer {
        let queue = context.hooks().to_host.get(&op.channel_id);
        let queue = queue.ok_or_else(|| no_queue("send", op.channel_id, "to_host"))?;
        put(queue, operands[0], &of_host(op.channel_id))?;
    } else {
        context.channels().entry(op.channel_id).or_default().push_back(operands[0].clone());
    }
    Ok(under_way(operands[0].clone(), operands.len() > 1))
}

/// `result = token`
pub(crate) fn send_done(shape: &Shape) -> Literal {
    zeros(shape)
}

/// Returns whether an instruction is in a group of transfers that starts and ends as one.
pub(crate) fn in_group(module: &Module, site: Site) -> bool {
    let starts = |(_, one): (_, &Instruction)| matches!(&one.op, Op::AsyncStart(start) if start.calls == site.computation);
    module.computations[site.computation].only_transfers()
        && module.computations.iter().any(|(_, it)| it.instructions.iter().any(starts))
}

/// `result = (zeros, 0, token)`; in a group `(oldest value in the channel, 0, token)`
pub(crate) fn recv(op: &Recv, shape: &Shape, site: Site, context: &RunContext) -> Result<Literal> {
    let nothing = zeros(shape);
    let Some(parts) = nothing.elements().filter(|_| in_group(context.module(), site)) else {
        return Ok(nothing);
    };
    let Recv { channel_id, is_host_transfer } = *op;
    let channel = (channel_id, is_host_transfer);
    let value = received(channel, &parts[0].shape(), "recv", context)?;
    Ok(Literal::tuple([&[value], &parts[1..]].concat()))
}

/// `result = (oldest value in the channel, token)`; without a token, in old texts, the value alone
pub(crate) fn recv_done(op: &RecvDone, shape: &Shape, context: &RunContext) -> Result<Literal> {
    let with_token =
        matches!(shape, Shape::Tuple(elements) if elements.last() == Some(&Shape::Token));
    let data = match shape.tuple() {
        Some([data, ..]) if with_token => data,
        _ => shape,
    };
    let value = received((op.channel_id, op.is_host_transfer), data, "recv-done", context)?;
    Ok(if with_token { Literal::tuple(vec![value, Literal::token()]) } else { value })
}

/// Takes the oldest value of a channel, of this device or of the host.
fn received(
    (channel_id, is_of_host): (Option<i64>, bool),
    data: &Shape,
    opcode: &str,
    context: &RunContext,
) -> Result<Literal> {
    in_order(opcode, context)?;
    if is_of_host {
        let queue = context.hooks().from_host.get(&channel_id);
        let queue = queue.ok_or_else(|| no_queue("recv", channel_id, "from_host"))?;
        return next(queue, data, &of_host(channel_id), opcode);
    }
    let channel = channel_id.map_or_else(String::new, |id| format!(" {id}"));
    let value = context.channels().get_mut(&channel_id).and_then(VecDeque::pop_front);
    let value = value.ok_or_else(|| {
        starved(format!("nothing was sent on channel{channel}"))
            .with_help("a run has one device: put its own `send` before this line")
    })?;
    let found = value.shape();
    if !found.compatible(data) {
        let message =
            format!("{found} was sent on channel{channel}, but `{opcode}` expects {data}");
        return Err(Code::Trap { message }.into());
    }
    Ok(with_layouts(value, data))
}

/// Rejects the op in nested machines, which run on several threads in no defined order.
fn in_order(opcode: &str, context: &RunContext) -> Result<()> {
    if !context.is_nested() {
        return Ok(());
    }
    let message = format!("`{opcode}` in a computation that is called for each element");
    Err(Error::unsupported(message))
}

fn of_host(channel_id: Option<i64>) -> String {
    let channel = channel_id.map_or_else(String::new, |id| format!(" {id}"));
    format!("the host's queue of channel{channel}")
}
fn no_queue(opcode: &str, channel_id: Option<i64>, hook: &str) -> Error {
    starved(format!("`{opcode}` with the host has no queue: {} is not set", of_host(channel_id)))
        .with_help(format!("set one with `Hooks::{hook}`"))
}

fn under_way(value: Literal, with_token: bool) -> Literal {
    let number = Literal::scalar(ElementType::U32, Scalar::Unsigned(0));
    let mut elements = vec![value, number];
    elements.extend(with_token.then(Literal::token));
    Literal::tuple(elements)
}

#[cfg(test)]
mod tests {
    use crate::{CompileOptions, Error, Executable, Hooks, RunOptions};
    use hlo::{Literal, Module};

    const ECHO: &str = "HloModule m\nENTRY e {
  t = token[] after-all()
  a = ((s32[2], f32[]), token[]) infeed(t)
  x = (s32[2], f32[]) get-tuple-element(a), index=0
  u = token[] get-tuple-element(a), index=1
  b = (s32[2], token[]) infeed(u)
  y = s32[2] get-tuple-element(b), index=0
  v = token[] get-tuple-element(b), index=1
  w = token[] outfeed(y, v), outfeed_shape=s32[2]
  ROOT o = token[] outfeed(x, w)
}";

    fn run(text: &str, hooks: Hooks) -> Result<Literal, Error> {
        let verified = Module::parse(text).unwrap().verify().unwrap();
        let executable = Executable::compile(verified, &CompileOptions::default())?;
        executable.execute(&[], &RunOptions::default().hooks(hooks))
    }
    fn filled(values: &[&str]) -> Hooks {
        let (fill, queue) = crossbeam_channel::unbounded();
        for value in values {
            fill.send(value.parse().unwrap()).unwrap();
        }
        Hooks::new().infeed(queue)
    }

    #[test]
    fn queues_keep_their_order() {
        let (out, results) = crossbeam_channel::unbounded();
        let hooks = filled(&["(s32[2] {1, 2}, f32[] 0.5)", "s32[2] {3, 4}"]).outfeed(out);
        assert_eq!(run(ECHO, hooks).unwrap(), Literal::token());
        let results: Vec<_> = results.try_iter().map(|value| value.to_string()).collect();
        let expected: Vec<_> = ["s32[2] {3, 4}", "(s32[2] {1, 2}, f32[] 0.5)"]
            .map(|text| text.parse::<Literal>().unwrap().to_string())
            .into();
        assert_eq!(results, expected);
    }
    #[test]
    fn transfers_with_the_host_have_queues_of_their_own() {
        let text = "HloModule m\nENTRY e {
  x = s32[2] parameter(0)
  t = token[] after-all()
  s = (s32[2], u32[], token[]) send(x, t), channel_id=3, is_host_transfer=true
  d = token[] send-done(s), channel_id=3, is_host_transfer=true
  r = (f32[], u32[], token[]) recv(d), channel_id=4, is_host_transfer=true
  v = (f32[], token[]) recv-done(r), channel_id=4, is_host_transfer=true
  ROOT y = f32[] get-tuple-element(v), index=0
}";
        let verified = Module::parse(text).unwrap().verify().unwrap();
        let x: Literal = "s32[2] {1, 2}".parse().unwrap();
        let (to, from_device) = crossbeam_channel::unbounded();
        let (to_device, from) = crossbeam_channel::unbounded();
        to_device.send("f32[] 0.5".parse().unwrap()).unwrap();
        let hooks = Hooks::new().to_host(Some(3), to).from_host(Some(4), from);
        let executable = Executable::compile(verified, &CompileOptions::default()).unwrap();
        let run = |hooks| {
            let options = RunOptions::default().hooks(hooks);
            executable.execute(std::slice::from_ref(&x), &options)
        };
        assert_eq!(run(hooks.clone()).unwrap().to_string(), "f32[] 0.5");
        assert_eq!(from_device.try_recv(), Ok(x.clone()));
        let error = run(hooks).unwrap_err();
        assert_eq!(error.code().to_string(), "the host's queue of channel 4 is empty");
        let error = run(Hooks::new()).unwrap_err();
        assert_eq!(error.code().number(), "E0407");
        assert_eq!(error.instruction(), Some("e/s"));
    }
    #[test]
    fn missing_empty_and_full_queues_are_errors() {
        let first = "(s32[2] {1, 2}, f32[] 0.5)";
        let both = [first, "s32[2] {3, 4}"];
        let closed = crossbeam_channel::unbounded().0;
        let full = crossbeam_channel::bounded(0);
        for (hooks, code, message) in [
            (Hooks::new(), "E0407", "`infeed` has no queue"),
            (filled(&[first]), "E0407", "the infeed queue is empty"),
            (
                filled(&["s32[] 3"]),
                "E0401",
                "the infeed queue holds s32[], but `infeed` expects (s32",
            ),
            (filled(&both), "E0407", "`outfeed` has no queue"),
            (
                filled(&both).outfeed(closed),
                "E0407",
                "the receiver of the outfeed queue is disconnected",
            ),
            (filled(&both).outfeed(full.0), "E0407", "the outfeed queue is full"),
        ] {
            let error = run(ECHO, hooks).unwrap_err();
            assert_eq!(error.code().number(), code);
            assert!(error.code().to_string().starts_with(message), "{error}");
            assert!(error.instruction().is_some_and(|at| at.starts_with("e/")));
        }
    }
}
