//! `infeed`, `outfeed`, `send`, `recv`: data that comes from outside or goes there.
use super::value::Text;
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Reads from the host.
    pub struct Infeed {
        /// For the runtime.
        pub infeed_config: Text = "infeed_config" or Text::default();
    }
}

impl ShapeRule for Infeed {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Writes to the host.
    pub struct Outfeed {
        /// Shape of what is written.
        pub outfeed_shape: Option<Shape> = "outfeed_shape" or None;
        /// For the runtime.
        pub outfeed_config: Text = "outfeed_config" or Text::default();
    }
}

impl ShapeRule for Outfeed {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Starts sending.
    pub struct Send {
        /// Names the channel.
        pub channel_id: Option<i64> = "channel_id" or None;
        /// The other side is the host.
        pub is_host_transfer: bool = "is_host_transfer" or false;
    }
}

impl ShapeRule for Send {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Ends a [`Send`].
    pub struct SendDone {
        /// Names the channel.
        pub channel_id: Option<i64> = "channel_id" or None;
        /// The other side is the host.
        pub is_host_transfer: bool = "is_host_transfer" or false;
    }
}

impl ShapeRule for SendDone {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Starts receiving.
    pub struct Recv {
        /// Names the channel.
        pub channel_id: Option<i64> = "channel_id" or None;
        /// The other side is the host.
        pub is_host_transfer: bool = "is_host_transfer" or false;
    }
}

impl ShapeRule for Recv {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Ends a [`Recv`].
    pub struct RecvDone {
        /// Names the channel.
        pub channel_id: Option<i64> = "channel_id" or None;
        /// The other side is the host.
        pub is_host_transfer: bool = "is_host_transfer" or false;
    }
}

impl ShapeRule for RecvDone {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
