//! Bodies of feedback, refusals, shape of the answer and of its errors.

use serde_json::{Value, json};
use wire::{
    Code, ErrorBody, FeedbackAnswer, FeedbackBody, FeedbackEndpoint, FeedbackErrorCode, Rating, decode_feedback,
    decode_search_feedback,
};

const ID: &str = "0199b5a0-0000-7000-8000-000000000001";

fn job(mut members: Value) -> Value {
    for (key, value) in [("endpoint", "scrape"), ("jobId", ID), ("rating", "partial")] {
        if members.get(key).is_none() {
            members[key] = json!(value);
        }
    }
    members
}

#[track_caller]
fn refused(members: Value, message: &str) {
    assert_eq!(decode_feedback(job(members)).unwrap_err().message, message);
}

#[test]
fn feedback_on_a_search() {
    let body = json!({
        "rating": "good", "valuableSources": [{ "url": "https://example.com", "reason": "complete" }],
        "missingContent": [{ "topic": "prices", "description": "of 2026" }], "querySuggestions": "granite price",
        "integration": "cli", "origin": "js-sdk@4.42.0",
    });
    let feedback = decode_search_feedback(body.clone()).unwrap();
    assert_eq!((feedback.rating, feedback.valuable_sources.len()), (Rating::Good, 1));
    assert_eq!(serde_json::to_value(&feedback).unwrap(), body);
    let message = |body: Value| decode_search_feedback(body).unwrap_err().message;
    assert_eq!(message(json!({})), "`rating` is required");
    assert_eq!(message(json!({ "rating": "ok" })), "`rating` must be `good`, `partial` or `bad`");
    let sources: Vec<Value> = (0..51).map(|_| json!({ "url": "u" })).collect();
    let many = message(json!({ "rating": "bad", "valuableSources": sources }));
    assert_eq!(many, "`valuableSources` must have 0 to 50 entries, has 51");
    let topic = message(json!({ "rating": "bad", "missingContent": [{ "topic": "x".repeat(201) }] }));
    assert_eq!(topic, "`missingContent[0].topic` must have 1 to 200 characters, has 201");
}

#[test]
fn feedback_on_a_job() {
    let body = job(json!({
        "issues": ["missing_text"], "tags": ["a-1"], "note": "n", "url": "https://example.com/", "pageNumbers": [1, 2],
        "metadata": { "a": [1] }, "integration": "cli",
    }));
    let Ok(FeedbackBody::Job(feedback)) = decode_feedback(body.clone()) else { panic!("feedback on a job") };
    assert_eq!((feedback.endpoint, feedback.job_id.to_string().as_str()), (FeedbackEndpoint::Scrape, ID));
    assert_eq!(feedback.feedback.rating, Rating::Partial);
    assert_eq!(serde_json::to_value(&*feedback).unwrap(), body);
    refused(json!({ "jobId": "x" }), "`jobId` must be an id");
    refused(json!({ "endpoint": "crawl" }), "`endpoint` must be `search`, `scrape`, `parse`, `map` or `alexandria`");
    refused(json!({ "tags": ["A"] }), "`tags[0]` must be a code of 1 to 80 letters a to z, digits, `_` or `-`");
    refused(json!({ "issues": vec!["a"; 21] }), "`issues` must have 0 to 20 entries, has 21");
    refused(json!({ "note": "x".repeat(4001) }), "`note` must have 0 to 4000 characters, has 4001");
    refused(json!({ "pageNumbers": vec![1; 101] }), "`pageNumbers` must have 0 to 100 entries, has 101");
    refused(json!({ "pageNumbers": [0] }), "`pageNumbers[0]` must be a whole number from 1 to 4294967295, got 0");
    refused(
        json!({ "metadata": { "a": "x".repeat(8192) } }),
        "`metadata` must not exceed 8192 bytes as JSON, has 8200",
    );
    refused(json!({ "rationale": "r" }), "Unrecognized key in body: `rationale`");
}

#[test]
fn feedback_on_tools() {
    let body = json!({
        "endpoint": "alexandria", "rating": "bad", "rationale": "r",
        "requestedWebsite": { "url": "https://a.test", "requestedFunctionality": "f" },
        "providerFeedback": [{ "name": "p", "issue": "i", "why": "w" }],
        "capabilityFeedback": [{ "name": "c", "provider": "p", "issue": "i", "why": "w" }],
    });
    let Ok(FeedbackBody::Tools(feedback)) = decode_feedback(body.clone()) else { panic!("feedback on tools") };
    assert_eq!(serde_json::to_value(&*feedback).unwrap(), body);
    let invalid = decode_feedback(json!({ "endpoint": "alexandria", "capabilityFeedback": [{ "name": "c" }] }));
    assert_eq!(invalid.unwrap_err().message, "`capabilityFeedback[0].provider` is required");
}

#[test]
fn answers_and_errors() {
    let answer = FeedbackAnswer { success: true, feedback_id: ID.to_owned(), ..FeedbackAnswer::default() };
    let want = json!({ "success": true, "feedbackId": ID, "creditsRefunded": 0 });
    assert_eq!(serde_json::to_value(answer).unwrap(), want);
    let mut error = ErrorBody::new(Code::Forbidden, "no feedback with zero data retention");
    error.feedback_error_code = Some(FeedbackErrorCode::TeamOptedOut);
    assert_eq!(serde_json::to_value(error).unwrap()["feedbackErrorCode"], "TEAM_OPTED_OUT");
}
