//! A connection of the program, and the tunnel that it may become.

use std::sync::Arc;

use http_body_util::combinators::BoxBody;
use hyper::body::Bytes;
use hyper::upgrade::OnUpgrade;
use parking_lot::Mutex;

use super::Shared;
use super::upstream::Upstream;
use crate::stream::Stream;

pub(super) type Body = BoxBody<Bytes, hyper::Error>;

/// A connection of the program, with sequential requests.
pub(super) struct Conversation {
    pub(super) shared: Arc<Shared>,
    /// Upstream connection of the previous request.
    pub(super) upstream: Mutex<Option<Upstream>>,
    /// Tunnel that the connection becomes after an upgrade.
    handover: Mutex<Option<(OnUpgrade, TunnelEnd)>>,
}

/// The other side of a tunnel.
pub(super) enum TunnelEnd {
    Stream(Box<dyn Stream>),
    Upgrade(OnUpgrade),
}

impl Conversation {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, upstream: Mutex::default(), handover: Mutex::default() }
    }

    /// Turns the connection into a tunnel after the response to the request.
    pub(super) fn hand_over(&self, near: OnUpgrade, far: TunnelEnd) {
        *self.handover.lock() = Some((near, far));
    }

    /// Takes the tunnel that the connection becomes, if it does.
    pub(super) fn handed_over(&self) -> Option<(OnUpgrade, TunnelEnd)> {
        self.handover.lock().take()
    }
}
