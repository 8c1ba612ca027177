//! Processes as each system has them: groups, streams, ends. The rest of the crate knows no system.
#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(super) use unix::{
    end_group, kill_group, kill_marked, own_group, private_streams, signal, watcher,
};

#[cfg(not(unix))]
mod other;
#[cfg(not(unix))]
pub(super) use other::{
    end_group, kill_group, kill_marked, own_group, private_streams, signal, watcher,
};
