//! Messages to clients, and their delivery.

use cdp::Raw;
use serde_json::Value;
use tokio::sync::mpsc;

/// Size in bytes above which a message waits for an empty channel, which bounds the channel's memory.
pub const LARGE_MESSAGE: usize = 256 << 10;

/// Sends a message. A large one waits until the channel is empty.
pub(super) async fn put(to: &mpsc::Sender<String>, message: String) -> Result<(), mpsc::error::SendError<()>> {
    let places = if message.len() > LARGE_MESSAGE { to.max_capacity() } else { 1 };
    if let Some(place) = to.reserve_many(places).await?.next() {
        place.send(message);
    }
    Ok(())
}

/// Formats an answer with its result or error, both as JSON.
pub(super) fn answer(id: u64, outcome: Result<&str, &str>, session: Option<&str>) -> String {
    let (member, value) = match outcome {
        Ok(result) => ("result", result),
        Err(error) => ("error", error),
    };
    format!(r#"{{"id":{id},"{member}":{value}{}}}"#, of_session(session))
}

/// Formats an event.
pub(super) fn event(method: &str, params: Option<&Raw>, session: Option<&str>) -> String {
    let params = params.map_or("{}".into(), Raw::text);
    format!(r#"{{"method":{},"params":{params}{}}}"#, Value::from(method), of_session(session))
}

fn of_session(session: Option<&str>) -> String {
    session.map(|session| format!(r#","sessionId":{}"#, Value::from(session))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_are_json() {
        let read = |text: String| serde_json::from_str::<Value>(&text).unwrap();
        assert_eq!(read(answer(1, Ok("{}"), None)), json!({ "id": 1, "result": {} }));
        assert_eq!(read(answer(2, Err("[1]"), Some("s"))), json!({ "id": 2, "error": [1], "sessionId": "s" }));
        let params = Raw::from(json!({ "x": "\"" }));
        let expect = json!({ "method": "A.b", "params": { "x": "\"" }, "sessionId": "\"" });
        assert_eq!(read(event("A.b", Some(&params), Some("\""))), expect);
        assert_eq!(read(event("A.b", None, None)), json!({ "method": "A.b", "params": {} }));
    }

    #[tokio::test]
    async fn large_messages_wait_one_at_a_time() {
        let (to, mut from) = mpsc::channel(8);
        let large = || "x".repeat(LARGE_MESSAGE + 1);
        put(&to, large()).await.unwrap();
        for _ in 0..7 {
            put(&to, "small".to_owned()).await.unwrap();
        }
        let second = tokio::spawn(async move { put(&to, large()).await });
        for _ in 0..8 {
            tokio::task::yield_now().await;
            assert!(!second.is_finished());
            from.recv().await.unwrap();
        }
        assert_eq!(from.recv().await.unwrap().len(), LARGE_MESSAGE + 1);
        second.await.unwrap().unwrap();
    }
}
