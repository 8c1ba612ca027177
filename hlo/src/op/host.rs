//! `infeed`, `outfeed`, `send`, `recv`: data from and to the host or other devices.
//!
//! | op | operands | result |
//! |---|---|---|
//! | `infeed` | token | `(data, token[])`, with the data's shape as stated |
//! | `outfeed` | data, token | `token[]` |
//! | `send` | data, token | `(data, u32[], token[])` |
//! | `send-done` | the `send` | `token[]` |
//! | `recv` | token | `(data, u32[], token[])`, with the data's shape as stated |
//! | `recv-done` | the `recv` | `(data, token[])` |
//!
//! The result's shape must be stated, but is computed: only the shape of the data is taken from it.
//! Texts from before the middle of 2018 have no tokens: `infeed()` and `recv-done` return the data,
//! `send` and `recv` return `(data, u32[])`, `send-done` returns `()`.
use super::value::Text;
use super::{Communication, Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ElementType, Result, Shape};

attrs! {
    /// Reads from the host.
    pub struct Infeed {
        /// Configuration for the runtime.
        pub infeed_config: Text = "infeed_config" in infeed_config or Text::default();
    }
}
attrs! {
    /// Writes to the host.
    pub struct Outfeed {
        /// Shape of the data; that of the operand if omitted.
        pub outfeed_shape: Option<Shape> = "outfeed_shape" in outfeed_shape or None;
        /// Configuration for the runtime.
        pub outfeed_config: Text = "outfeed_config" in outfeed_config or Text::default();
    }
}
attrs! {
    /// Starts sending.
    pub struct Send,
    /// Ends a [`Send`].
    pub struct SendDone,
    /// Starts receiving.
    pub struct Recv,
    /// Ends a [`Recv`].
    pub struct RecvDone {
        /// Names the channel.
        pub channel_id: Option<i64> = "channel_id" in channel_id or None;
        /// Whether the other side is the host.
        pub is_host_transfer: bool = "is_host_transfer" in is_host_transfer or false;
    }
}

impl ShapeRule for Infeed {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.arity(cx.operands.len() <= 1, "1 token")?;
        let stated = cx.stated()?;
        if cx.operands.is_empty() {
            return Ok(stated.clone());
        }
        token(cx, 0, "infeed_token")?;
        let data = stated.tuple().and_then(<[Shape]>::first);
        check(data.is_some(), "infeed_c1", || {
            format!("expected `infeed` to have shape (data, token[]), found {stated:#}")
        })?;
        Ok(Shape::Tuple(vec![data.expect("checked above").clone(), Shape::Token]))
    }
}

impl ShapeRule for Outfeed {
    fn complete(&mut self, operands: &[&Shape], _: Option<&Shape>) -> Result<()> {
        if self.outfeed_shape.is_none() {
            self.outfeed_shape = operands.first().map(|&data| data.clone());
        }
        Ok(())
    }
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated()?;
        cx.arity(matches!(cx.operands.len(), 1 | 2), "data and a token")?;
        if cx.operands.len() == 2 {
            token(cx, 1, "outfeed_token")?;
        }
        if let Some(stated) = &self.outfeed_shape {
            check(stated.compatible(cx.operands[0]), "outfeed_shape", || {
                format!("outfeed_shape is {stated:#}, but the data is {:#}", cx.operands[0])
            })
            .map_err(|e| e.on(Place::Attribute("outfeed_shape")))?;
        }
        Ok(Shape::Token)
    }
}

impl ShapeRule for Send {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated()?;
        cx.arity(matches!(cx.operands.len(), 1 | 2), "data and a token")?;
        let with_token = cx.operands.len() == 2;
        if with_token {
            token(cx, 1, "send_token")?;
        }
        Ok(under_way(cx.operands[0], with_token))
    }
}
impl ShapeRule for SendDone {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated()?;
        let (_, with_token) = started(cx, "send_done_operand")?;
        Ok(if with_token { Shape::Token } else { Shape::Tuple(Vec::new()) })
    }
}
impl ShapeRule for Recv {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.arity(cx.operands.len() <= 1, "1 token")?;
        let with_token = cx.operands.len() == 1;
        if with_token {
            token(cx, 0, "recv_token")?;
        }
        let stated = cx.stated()?;
        let data = stated.tuple().and_then(<[Shape]>::first);
        check(data.is_some(), "recv_result", || {
            format!("expected `recv` to have shape (data, u32[], token[]), found {stated:#}")
        })?;
        Ok(under_way(data.expect("checked above"), with_token))
    }
}
impl ShapeRule for RecvDone {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated()?;
        let (data, with_token) = started(cx, "recv_done_operand")?;
        let data = data.clone();
        Ok(if with_token { Shape::Tuple(vec![data, Shape::Token]) } else { data })
    }
}
impl Communication for Send {
    fn channel_id(&self) -> Option<i64> {
        self.channel_id
    }
    fn is_host_transfer(&self) -> bool {
        self.is_host_transfer
    }
}
impl Communication for SendDone {
    fn channel_id(&self) -> Option<i64> {
        self.channel_id
    }
    fn is_host_transfer(&self) -> bool {
        self.is_host_transfer
    }
}
impl Communication for Recv {
    fn channel_id(&self) -> Option<i64> {
        self.channel_id
    }
    fn is_host_transfer(&self) -> bool {
        self.is_host_transfer
    }
}
impl Communication for RecvDone {
    fn channel_id(&self) -> Option<i64> {
        self.channel_id
    }
    fn is_host_transfer(&self) -> bool {
        self.is_host_transfer
    }
}

/// Fails unless operand `i` is a token.
fn token(cx: &Infer<'_>, i: usize, rule: &'static str) -> Result<()> {
    check(*cx.operands[i] == Shape::Token, rule, || {
        format!("operand {i} of `{}` is {:#}, expected a token", cx.opcode, cx.operands[i])
    })
    .map_err(|e| e.on(Place::Operand(i)))
}

/// Returns the shape of `send` and `recv`: the data, a number for the backend, a token.
fn under_way(data: &Shape, with_token: bool) -> Shape {
    let mut elements = vec![data.clone(), Shape::scalar(ElementType::U32)];
    elements.extend(with_token.then_some(Shape::Token));
    Shape::Tuple(elements)
}

/// Returns the shape of the data of a `send` or `recv`, and whether there is a token.
fn started<'a>(cx: &Infer<'a>, rule: &'static str) -> Result<(&'a Shape, bool)> {
    let found = match cx.operands[0].tuple() {
        Some([data, number]) if number.is_scalar(ElementType::U32) => Some((data, false)),
        Some([data, number, Shape::Token]) if number.is_scalar(ElementType::U32) => {
            Some((data, true))
        }
        _ => None,
    };
    check(found.is_some(), rule, || {
        let start = if cx.opcode == crate::Opcode::SendDone { "send" } else { "recv" };
        format!(
            "expected the operand of `{}` to be a `{start}`, found {:#}",
            cx.opcode, cx.operands[0]
        )
    })
    .map_err(|e| e.on(Place::Operand(0)))?;
    Ok(found.expect("checked above"))
}
