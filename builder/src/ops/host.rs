//! Tokens, and transfers to and from the host and other devices.
//!
//! Without a token of its own, an infeed waits for the infeed before it in its computation, and an
//! outfeed for the outfeed before it: the builder keeps the two chains. A transfer without a token
//! is ordered by nothing.
use crate::state::Open;
use crate::{Builder, Code, Error, IntoShape, Result, Value};
use hlo::ir::{InstructionId, Placement, Sharding};
use hlo::op::value::Text;
use hlo::op::{AfterAll, GetTupleElement, Infeed, Outfeed, Recv, RecvDone, Send, SendDone, Tuple};
use hlo::{ElementType, Op, Shape};
use smol_str::SmolStr;

/// A channel between devices: its number, and the devices at its ends. A number alone is a channel
/// without stated ends.
///
/// A `send` and a `recv` of one channel state the same pairs of source and target: with
/// [`Builder::create_channel_between`] both get them from the channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Channel {
    id: i64,
    pairs: Option<Vec<(i64, i64)>>,
}

impl Channel {
    /// Returns its number.
    pub fn id(&self) -> i64 {
        self.id
    }
    /// Returns the channel with these pairs of source and target: numbers of partitions, or of
    /// replicas if there is one partition.
    #[must_use]
    pub fn between(self, pairs: &[(i64, i64)]) -> Self {
        Self { pairs: Some(pairs.to_vec()), ..self }
    }
    /// Returns the attribute that states the pairs.
    fn attribute(&self) -> Option<(SmolStr, String)> {
        let pairs = self.pairs.as_ref()?.iter().map(|(from, to)| format!("{{{from},{to}}}"));
        let pairs = pairs.collect::<Vec<_>>().join(",");
        Some(("_xla_send_recv_source_target_pairs".into(), format!("{{{pairs}}}")))
    }
}

impl From<i64> for Channel {
    fn from(id: i64) -> Self {
        Self { id, pairs: None }
    }
}

impl From<&Self> for Channel {
    fn from(channel: &Self) -> Self {
        channel.clone()
    }
}

/// One of the two chains of tokens.
type Chain = fn(&mut Open) -> &mut Option<InstructionId>;

impl Builder {
    /// Returns a token without predecessors: XLA's `CreateToken`.
    #[track_caller]
    pub fn create_token(&self) -> Value<'_> {
        self.record(|b| b.emit(AfterAll {}, &[], None))
    }
    /// Returns a token after all of these: XLA's `AfterAll`.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if one of the values is no token.
    #[track_caller]
    pub fn after_all<'b>(&'b self, tokens: &[Value<'b>]) -> Value<'b> {
        self.record(|b| {
            for (i, token) in tokens.iter().enumerate() {
                let shape = token.shape()?;
                if shape != Shape::Token {
                    let message = format!("operand {i} of `after_all` is {shape:#}, not a token");
                    return Err(Error::argument(message));
                }
            }
            b.emit(AfterAll {}, tokens, None)
        })
    }
    /// Returns the number of a channel that nothing uses yet, from 1 on. Numbers of your own are as
    /// good.
    pub fn create_channel(&self) -> i64 {
        let mut state = self.state.borrow_mut();
        state.channels += 1;
        state.channels
    }
    /// Returns a channel that nothing uses yet, from the first device of each pair to the second.
    /// The devices are partitions, or replicas if there is one partition.
    ///
    /// ```
    /// // Each of three devices sends its value to the next one.
    /// let b = builder::Builder::new("ring");
    /// b.set_num_partitions(3);
    /// let x = b.input("x", "f32[2]");
    /// let next = b.create_channel_between(&[(0, 1), (1, 2), (2, 0)]);
    /// let sent = x.send(&next);
    /// let received = b.recv("f32[2]", &next);
    /// let module = b.build(received.add_dependency(sent))?;
    /// let session = collectives::Session::compile(module, &interp::CompileOptions::default())?;
    /// let inputs = ["f32[2] {0, 1}", "f32[2] {10, 11}", "f32[2] {20, 21}"];
    /// let inputs: Vec<_> = inputs.iter().map(|x| Ok(vec![x.parse()?])).collect::<hlo::Result<_>>()?;
    /// let output = session.run(&inputs, &interp::RunOptions::default())?;
    /// assert_eq!(output.results[0].to_string(), "f32[2]{0} {20, 21}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_channel_between(&self, pairs: &[(i64, i64)]) -> Channel {
        Channel::from(self.create_channel()).between(pairs)
    }
    /// Adds an op of a transfer, which states the ends of its channel.
    #[track_caller]
    fn emit_transfer<'b>(
        &'b self,
        op: impl Into<Op>,
        operands: &[Value<'b>],
        (shape, channel): (Shape, &Channel),
    ) -> Result<Value<'b>> {
        let _scope = channel.attribute().map(|attribute| {
            let mut all = self.state.borrow().annotations.frontend.clone();
            all.0.retain(|(key, _)| *key != attribute.0);
            all.0.push(attribute);
            self.scoped_frontend_attributes(all)
        });
        self.emit(op, operands, Some(shape))
    }

    /// Returns the next value of the infeed queue, of this shape: XLA's `Infeed`.
    ///
    /// Infeeds of one computation follow each other. `config` is for the backend; it is mostly
    /// empty.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let module = b.build(b.infeed("s32[2]", "") * 10)?;
    /// let (send, queue) = crossbeam_channel::unbounded();
    /// send.send("s32[2] {1, 2}".parse()?)?;
    /// let hooks = interp::Hooks::new().infeed(queue);
    /// let executable = interp::Executable::compile(module, &interp::CompileOptions::default())?;
    /// let result = executable.execute(&[], &interp::RunOptions::default().hooks(hooks))?;
    /// assert_eq!(result.to_string(), "s32[2]{0} {10, 20}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn infeed(&self, shape: impl IntoShape, config: &str) -> Value<'_> {
        self.record(|b| {
            let shape = shape.into_shape()?;
            let chain: Chain = |open| &mut open.infeed_token;
            let token = b.last_token(chain)?;
            let op = Infeed { infeed_config: Text(config.into()) };
            let stated = Shape::Tuple(vec![shape.clone(), Shape::Token]);
            let both = b.with_token_sharding(&shape, |b| b.emit(op, &[token], Some(stated)))?;
            let next =
                b.on_first_device(|b| b.emit(GetTupleElement { index: 1 }, &[both], None))?;
            *chain(b.state.borrow_mut().innermost()) = next.id();
            b.emit(GetTupleElement { index: 0 }, &[both], None)
        })
    }
    /// Returns the last token of a chain; at its beginning a new one.
    fn last_token(&self, chain: Chain) -> Result<Value<'_>> {
        let (mark, last) = {
            let mut state = self.state.borrow_mut();
            let open = state.innermost();
            (open.mark, *chain(open))
        };
        match last {
            Some(id) => Ok(Value::new(self, mark, id)),
            None => self.on_first_device(|b| b.emit(AfterAll {}, &[], None)),
        }
    }
    /// Places tokens on device 0 if values have shardings.
    fn on_first_device<'b>(
        &'b self,
        make: impl FnOnce(&'b Self) -> Result<Value<'b>>,
    ) -> Result<Value<'b>> {
        let sharded = self.state.borrow().annotations.sharding.is_some();
        let _scope = sharded
            .then(|| self.scoped_sharding(Some(Sharding::One(Placement::Maximal(0).into()))));
        make(self)
    }
    /// Sets the sharding of a tuple of data and token: where values have shardings, the data's and
    /// device 0.
    fn with_token_sharding<'b>(
        &'b self,
        data: &Shape,
        make: impl FnOnce(&'b Self) -> Result<Value<'b>>,
    ) -> Result<Value<'b>> {
        let sharding = self.state.borrow().annotations.sharding.clone();
        let leaves = data.leaves().len();
        let both = sharding.map(|sharding| match sharding.expand_to_leaves(leaves) {
            Sharding::Tuple(mut parts) => {
                parts.push(Placement::Maximal(0).into());
                Sharding::Tuple(parts)
            }
            one @ Sharding::One(_) => one,
        });
        let _scope = both.map(|both| self.scoped_sharding(Some(both)));
        make(self)
    }

    /// Returns a value of this shape from another device: XLA's `Recv`. Which one
    /// [`create_channel_between`](Self::create_channel_between) states.
    #[track_caller]
    pub fn recv(&self, shape: impl IntoShape, channel: impl Into<Channel>) -> Value<'_> {
        self.record(|b| {
            let token = b.emit(AfterAll {}, &[], None)?;
            let both = token.recv_with_token(shape, channel);
            b.emit(GetTupleElement { index: 0 }, &[both], None)
        })
    }
}

impl Value<'_> {
    /// Returns the next value of the infeed queue, after this token: XLA's `InfeedWithToken`. The
    /// result is `(data, token)`.
    #[track_caller]
    pub fn infeed_with_token(self, shape: impl IntoShape, config: &str) -> Self {
        self.record(|b| {
            let stated = Shape::Tuple(vec![shape.into_shape()?, Shape::Token]);
            b.emit(Infeed { infeed_config: Text(config.into()) }, &[self], Some(stated))
        })
    }
    /// Writes the value to the outfeed queue: XLA's `Outfeed`. Returns an empty tuple, for
    /// computations that end with it.
    ///
    /// Outfeeds of one computation follow each other. The host is given the value in the layout of
    /// `shape`, which is otherwise the value's own shape.
    #[track_caller]
    pub fn outfeed(self, shape: impl IntoShape, config: &str) -> Self {
        self.record(|b| {
            let shape = shape.into_shape()?;
            let chain: Chain = |open| &mut open.outfeed_token;
            let token = b.last_token(chain)?;
            let op = outfeed(&shape, config);
            let next =
                b.with_token_sharding(&shape, |b| b.emit(op, &[self, token], Some(Shape::Token)))?;
            *chain(b.state.borrow_mut().innermost()) = next.id();
            let _scope = b.scoped_sharding(None);
            b.emit(Tuple {}, &[], None)
        })
    }
    /// Writes the value to the outfeed queue, after the token: XLA's `OutfeedWithToken`. Returns a
    /// token.
    #[track_caller]
    pub fn outfeed_with_token(self, token: Self, shape: impl IntoShape, config: &str) -> Self {
        self.record(|b| {
            b.emit(outfeed(&shape.into_shape()?, config), &[self, token], Some(Shape::Token))
        })
    }
    /// Sends the value to another device: XLA's `Send`. Returns the token of its end, which comes
    /// after the `recv` of the receiver: a `recv` after this token would wait for ever.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let channel = b.create_channel();
    /// let sent = b.constant(7i32).send(channel);
    /// let module = b.build(b.recv("s32[]", channel).add_dependency(sent))?;
    /// // On one device the value comes back.
    /// let session = collectives::Session::compile(module, &interp::CompileOptions::default())?;
    /// let output = session.run(&[vec![]], &interp::RunOptions::default())?;
    /// assert_eq!(output.results[0].to_string(), "s32[] 7");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn send(self, channel: impl Into<Channel>) -> Self {
        self.record(|b| {
            let token = b.emit(AfterAll {}, &[], None)?;
            Ok(self.send_with_token(token, channel))
        })
    }
    /// Sends the value to another device, after the token: XLA's `SendWithToken`. Returns a token.
    #[track_caller]
    pub fn send_with_token(self, token: Self, channel: impl Into<Channel>) -> Self {
        self.record(|_| Ok(self.send_start(token, channel, false).send_done()))
    }
    /// Returns a value of this shape from another device, after this token: XLA's `RecvWithToken`.
    /// The result is `(data, token)`.
    #[track_caller]
    pub fn recv_with_token(self, shape: impl IntoShape, channel: impl Into<Channel>) -> Self {
        self.record(|_| Ok(self.recv_start(shape, channel, false).recv_done()))
    }
    /// Sends the array to the host, after the token: XLA's `SendToHost`. Returns a token.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if `shape` is no array, or not the value's.
    #[track_caller]
    pub fn send_to_host(self, token: Self, shape: impl IntoShape, channel: i64) -> Self {
        self.record(|b| {
            let (shape, own) = (host_array(shape)?, self.shape()?);
            if !own.compatible(&shape) {
                let message = format!("expected a value of shape {shape:#}, found {own:#}");
                return Err(Error::argument(message));
            }
            let op = Send { channel_id: Some(channel), is_host_transfer: true };
            let start = b.emit(op, &[self, token], Some(under_way(shape)))?;
            Ok(start.send_done())
        })
    }
    /// Returns an array of this shape from the host, after this token: XLA's `RecvFromHost`. The
    /// result is `(data, token)`.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if `shape` is no array.
    #[track_caller]
    pub fn recv_from_host(self, shape: impl IntoShape, channel: i64) -> Self {
        self.record(|_| Ok(self.recv_start(host_array(shape)?, channel, true).recv_done()))
    }

    /// Starts sending the value, after the token; [`send_done`](Value::send_done) ends it: the
    /// first half of XLA's `Send`. Returns `(data, u32[], token)`.
    #[track_caller]
    pub fn send_start(
        self,
        token: Self,
        channel: impl Into<Channel>,
        is_host_transfer: bool,
    ) -> Self {
        self.record(|b| {
            let channel = channel.into();
            let op = Send { channel_id: Some(channel.id), is_host_transfer };
            b.emit_transfer(op, &[self, token], (under_way(self.shape()?), &channel))
        })
    }
    /// Ends what [`send_start`](Value::send_start) started, on the same channel. Returns a token.
    #[track_caller]
    pub fn send_done(self) -> Self {
        self.record(|b| {
            let Op::Send(Send { channel_id, is_host_transfer }) = self.op()? else {
                return Err(not_started(self, "send_start")?);
            };
            b.emit(SendDone { channel_id, is_host_transfer }, &[self], Some(Shape::Token))
        })
    }
    /// Starts receiving a value, after this token; [`recv_done`](Value::recv_done) ends it: the
    /// first half of XLA's `Recv`. Returns `(data, u32[], token)`; the data may not be looked at.
    #[track_caller]
    pub fn recv_start(
        self,
        shape: impl IntoShape,
        channel: impl Into<Channel>,
        is_host_transfer: bool,
    ) -> Self {
        self.record(|b| {
            let channel = channel.into();
            let op = Recv { channel_id: Some(channel.id), is_host_transfer };
            b.emit_transfer(op, &[self], (under_way(shape.into_shape()?), &channel))
        })
    }
    /// Ends what [`recv_start`](Value::recv_start) started, on the same channel. Returns
    /// `(data, token)`.
    #[track_caller]
    pub fn recv_done(self) -> Self {
        self.record(|b| {
            let Op::Recv(Recv { channel_id, is_host_transfer }) = self.op()? else {
                return Err(not_started(self, "recv_start")?);
            };
            let data = self.shape()?.tuple().and_then(<[_]>::first).cloned();
            let stated = Shape::Tuple(vec![data.ok_or(Code::Invalid {})?, Shape::Token]);
            b.emit(RecvDone { channel_id, is_host_transfer }, &[self], Some(stated))
        })
    }
}

fn outfeed(shape: &Shape, config: &str) -> Outfeed {
    Outfeed { outfeed_shape: Some(shape.clone()), outfeed_config: Text(config.into()) }
}

/// Returns the shape of a started transfer.
fn under_way(data: Shape) -> Shape {
    Shape::Tuple(vec![data, Shape::scalar(ElementType::U32), Shape::Token])
}

fn host_array(shape: impl IntoShape) -> Result<Shape> {
    let shape = shape.into_shape()?;
    if shape.array().is_none() {
        let message = format!("the host exchanges arrays, not {shape:#}");
        return Err(Error::argument(message).with_help("send the elements one by one"));
    }
    Ok(shape)
}

fn not_started(value: Value<'_>, start: &str) -> Result<Error> {
    let message = format!("expected the result of `{start}`, found `{}`", value.opcode()?);
    Ok(Error::argument(message).with_help(format!("pass the value that `{start}` returned")))
}
