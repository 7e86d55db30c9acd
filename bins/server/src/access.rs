//! Access rules. Every route names its [`Access`] in the table of `routes.rs`; there is no default.

use wire::EndpointGroup;

use crate::health;
use crate::missing::is_under;

/// Root of the links in mails, which need no key.
const MAILS: &str = "/v2/monitor/email";

/// Access rule of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Public, under any host name: the answer reveals only that the service runs.
    Health,
    /// Holders of a URL with a signature or a token, under any host name; the handler checks it.
    Signed,
    /// Public.
    Open,
    /// Public with `auth.mode = "open"` or on the operator's listener; otherwise the operator.
    Metrics,
    /// A team, by a key that may call this endpoint group.
    Team(EndpointGroup),
    /// A team, as with [`Access::Team`]; public if `auth.keyless` lists the group.
    TeamOrKeyless(EndpointGroup),
    /// The operator, by `admin.token`.
    Operator,
}

impl Access {
    /// Returns whether the route moves to the operator's listener when `admin.listen` is set.
    pub(crate) fn is_operators(self) -> bool {
        matches!(self, Self::Operator | Self::Metrics)
    }

    /// Returns the endpoint group that a key must be allowed to call.
    pub(crate) fn group(self) -> Option<EndpointGroup> {
        match self {
            Self::Team(group) | Self::TeamOrKeyless(group) => Some(group),
            Self::Health | Self::Signed | Self::Open | Self::Metrics | Self::Operator => None,
        }
    }

    /// Returns the access rule for unsupported methods of the path: `auth.keyless` does not apply to them.
    pub(crate) fn other_methods(self) -> Self {
        match self {
            Self::TeamOrKeyless(group) => Self::Team(group),
            same => same,
        }
    }

    /// Returns the access rule of an unknown path, or `None` under `/v2` except for the links in mails: a team is required,
    /// but no endpoint group. The rule only decides which refusal the caller sees.
    pub(crate) fn without_route(path: &str) -> Option<Self> {
        if is_under(path, MAILS) {
            Some(Self::Signed)
        } else if is_under(path, "/v2") {
            None
        } else if is_under(path, "/admin") {
            Some(Self::Operator)
        } else if is_under(path, health::ROOT) {
            Some(Self::Health)
        } else if is_under(path, "/files") || is_under(path, "/sessions") {
            Some(Self::Signed)
        } else if is_under(path, "/metrics") {
            Some(Self::Metrics)
        } else {
            Some(Self::Open)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_paths_are_refused_like_their_neighbours() {
        for (path, expect) in [
            ("/v2", None),
            ("/v2/", None),
            ("/v2/no/such/path", None),
            ("/v2/crawl/../../admin", None),
            ("/v2/monitor/email/other", Some(Access::Signed)),
            ("/v2/monitor/emails", None),
            ("/admin", Some(Access::Operator)),
            ("/admin/nothing", Some(Access::Operator)),
            ("/v2x", Some(Access::Open)),
            ("/administrator", Some(Access::Open)),
            ("/health/nothing", Some(Access::Health)),
            ("/healthy", Some(Access::Open)),
            ("/files/1", Some(Access::Signed)),
            ("/filesystem", Some(Access::Open)),
            ("/sessions/1/cdp", Some(Access::Signed)),
            ("/sessionsx", Some(Access::Open)),
            ("/metrics/nothing", Some(Access::Metrics)),
            ("/", Some(Access::Open)),
            ("", Some(Access::Open)),
        ] {
            assert_eq!(Access::without_route(path), expect, "{path}");
        }
    }
}
