//! Metrics of checks, mails and chat messages.

use ::metrics::counter;
use wire::CheckStatus;

/// Checks that ended, by status.
const CHECKS: &str = "quarry_monitor_checks_total";
/// Questions to the model that judges, by result.
const JUDGED: &str = "quarry_monitor_judgments_total";
/// Attempts to send mails, by kind and result.
const MAILED: &str = "quarry_mails_total";
/// Attempts to send messages to chat channels, by kind of the channel and result.
const CHATTED: &str = "quarry_chat_messages_total";

/// Counts a check that has ended or was skipped.
pub(crate) fn ended(status: CheckStatus) {
    counter!(CHECKS, "status" => status.as_str()).increment(1);
}

/// Counts a judgment.
pub(crate) fn judged(has_answer: bool) {
    counter!(JUDGED, "result" => if has_answer { "answered" } else { "failed" }).increment(1);
}

/// Counts an attempt to send a mail.
pub(crate) fn mailed(kind: &'static str, result: &'static str) {
    counter!(MAILED, "kind" => kind, "result" => result).increment(1);
}

/// Counts an attempt to send a message to a chat channel.
pub(crate) fn chatted(kind: &'static str, result: &'static str) {
    counter!(CHATTED, "kind" => kind, "result" => result).increment(1);
}
