//! Words of monitors.

use crate::words::words;

words! {
    /// Status of a monitor.
    pub enum MonitorStatus {
        /// Follows its schedule.
        Active = "active",
        /// Its schedule is stopped.
        Paused = "paused",
    }
}

words! {
    /// Type of a target.
    pub enum TargetType {
        /// Pages by their URLs.
        Scrape = "scrape",
        /// Pages of a site.
        Crawl = "crawl",
        /// Results of searches.
        Search = "search",
    }
}

words! {
    /// Age of the results of a search target.
    #[derive(Default)]
    pub enum SearchWindow {
        /// Five minutes.
        FiveMinutes = "5m",
        /// A quarter of an hour.
        QuarterHour = "15m",
        /// An hour.
        Hour = "1h",
        /// Six hours.
        SixHours = "6h",
        /// A day.
        #[default]
        Day = "24h",
        /// A week.
        Week = "7d",
    }
}

words! {
    /// Status of a check.
    pub enum CheckStatus {
        /// Waits for a worker.
        Queued = "queued",
        /// Its pages are being read.
        Running = "running",
        /// All pages were read.
        Completed = "completed",
        /// No page could be read, or the check got no further.
        Failed = "failed",
        /// Some pages could not be read.
        Partial = "partial",
        /// The check before was still queued or running.
        SkippedOverlap = "skipped_overlap",
        /// The credits of the team did not cover it.
        SkippedNoCredits = "skipped_no_credits",
    }
}

impl CheckStatus {
    /// Whether the check is over.
    #[must_use]
    pub const fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

words! {
    /// Cause of a check.
    pub enum CheckTrigger {
        /// The schedule.
        Scheduled = "scheduled",
        /// A call of `run`.
        Manual = "manual",
    }
}

words! {
    /// Payment of a check.
    pub enum BillingStatus {
        /// Nothing is paid: the check was skipped.
        NotApplicable = "not_applicable",
        /// Its credits are reserved.
        Reserved = "reserved",
        /// Its credits are charged.
        Confirmed = "confirmed",
        /// Its credits were returned: it has ended without a charge.
        Released = "released",
        /// Its credits could not be charged.
        Failed = "failed",
    }
}

words! {
    /// Status of a page of a check.
    pub enum CheckPageStatus {
        /// As before.
        Same = "same",
        /// Never seen before, or back again.
        New = "new",
        /// Different from before.
        Changed = "changed",
        /// Gone.
        Removed = "removed",
        /// Could not be read.
        Error = "error",
    }
}

words! {
    /// JudgmentConfidence of a judgment.
    pub enum JudgmentConfidence {
        /// Sure.
        High = "high",
        /// Rather sure.
        Medium = "medium",
        /// Not sure.
        Low = "low",
    }
}

words! {
    /// Type of a meaningful change.
    pub enum ChangeType {
        /// New on the page.
        Added = "added",
        /// No longer on the page.
        Removed = "removed",
        /// Different from before.
        Changed = "changed",
    }
}

words! {
    /// Event of a monitor.
    pub enum MonitorEvent {
        /// A page of a check is finished.
        Page = "monitor.page",
        /// A check is over.
        CheckCompleted = "monitor.check.completed",
    }
}

words! {
    /// Whether a recipient gets mails.
    pub enum SubscriptionStatus {
        /// Has not confirmed yet.
        Pending = "pending",
        /// Gets mails.
        Confirmed = "confirmed",
        /// Wants no mails.
        Unsubscribed = "unsubscribed",
    }
}

words! {
    /// Origin of a recipient.
    pub enum SubscriptionSource {
        /// Alert address of the team.
        Team = "team",
        /// Has confirmed by mail.
        OptIn = "opt_in",
        /// From before confirmations.
        Legacy = "legacy",
    }
}
