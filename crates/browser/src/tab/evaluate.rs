//! Evaluation of functions in a page.

use cdp::{CdpError, Session};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{FrameId, Tab};

/// Name of our isolated world in every frame.
const OWN_WORLD: &str = "quarry";

/// JavaScript world in which a function runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum World {
    /// Isolated world of our own: same document, but separate globals and prototypes, which the page's scripts can
    /// neither see nor change. Can read the documents of all frames, including cross-origin ones.
    Own,
    /// The page's own world.
    Page,
}

impl Tab {
    /// Calls a JavaScript function, given as a declaration, in the main frame with JSON arguments. Returns its JSON
    /// value, `null` for values without a JSON form. A promise is awaited.
    ///
    /// # Errors
    /// `Script` if it throws, `Navigated` if the document is replaced meanwhile, `Timeout` at the deadline (the
    /// function may keep running), and errors of [`Session::call`].
    pub(crate) async fn evaluate(
        &self,
        world: World,
        function: &str,
        args: &[Value],
        deadline: Instant,
    ) -> Result<Value, CdpError> {
        let main = self.main_frame().ok_or(CdpError::Navigated)?;
        self.evaluate_in(&main, world, function, args, deadline).await
    }

    /// Calls a function like [`Tab::evaluate`], in a frame.
    ///
    /// # Errors
    /// Errors of [`Tab::evaluate`].
    #[expect(
        clippy::too_many_arguments,
        reason = "where, what, with what, until when: each call site reads as a sentence"
    )]
    pub(crate) async fn evaluate_in(
        &self,
        frame: &FrameId,
        world: World,
        function: &str,
        args: &[Value],
        deadline: Instant,
    ) -> Result<Value, CdpError> {
        let run = async {
            match world {
                World::Own => self.call_in_own_world(frame, function, args).await,
                World::Page => self.call_in_page(frame, function, args).await,
            }
        };
        tokio::time::timeout_at(deadline, run).await.unwrap_or(Err(CdpError::Timeout))
    }

    /// Calls a function like [`Tab::evaluate`], with a node of the main frame (`backendNodeId`) as `this`.
    ///
    /// # Errors
    /// Errors of [`Tab::evaluate`], and `Refused` if the node is gone.
    #[expect(
        clippy::too_many_arguments,
        reason = "where, what, with what, until when: each call site reads as a sentence"
    )]
    pub(crate) async fn evaluate_on(
        &self,
        world: World,
        node: i64,
        function: &str,
        args: &[Value],
        deadline: Instant,
    ) -> Result<Value, CdpError> {
        let main = self.main_frame().ok_or(CdpError::Navigated)?;
        let run = async {
            let (session, _) = self.place(&main).ok_or(CdpError::Navigated)?;
            let mut node = json!({ "backendNodeId": node });
            if world == World::Own {
                node["executionContextId"] = self.make_own_world(&session, &main).await?.into();
            }
            let node = session.call("DOM.resolveNode", node).await?;
            let object = &node["object"]["objectId"];
            let result = session.call("Runtime.callFunctionOn", params(function, args, "objectId", object)).await;
            session.post("Runtime.releaseObject", json!({ "objectId": object })).await;
            returned(result?)
        };
        tokio::time::timeout_at(deadline, run).await.unwrap_or(Err(CdpError::Timeout))
    }

    async fn call_in_own_world(&self, frame: &FrameId, function: &str, args: &[Value]) -> Result<Value, CdpError> {
        let (session, known) = self.place(frame).ok_or(CdpError::Navigated)?;
        if let Some(world) = known {
            // `NoContext`: the world belongs to an earlier document, and the function has not run. A new world is made.
            match call_in_context(&session, world, function, args).await {
                Err(CdpError::NoContext) => {}
                result => return result,
            }
        }
        let world = self.make_own_world(&session, frame).await?;
        match call_in_context(&session, world, function, args).await {
            Err(CdpError::NoContext) => Err(CdpError::Navigated),
            result => result,
        }
    }

    async fn make_own_world(&self, session: &Session, frame: &FrameId) -> Result<i64, CdpError> {
        // The typo is part of the protocol.
        let params = json!({"frameId": frame.0.as_ref(), "worldName": OWN_WORLD, "grantUniveralAccess": true});
        let made = session.call("Page.createIsolatedWorld", params).await?;
        let world = made["executionContextId"].as_i64();
        let lacking =
            CdpError::Malformed { method: "Page.createIsolatedWorld".to_owned(), lacks: "executionContextId" };
        let world = world.ok_or(lacking)?;
        self.keep_own_world(frame, world);
        Ok(world)
    }

    /// Calls a function in the page's world. In frames it is reached through the document: worlds have ids only after
    /// `Runtime.enable`, which pages can detect.
    async fn call_in_page(&self, frame: &FrameId, function: &str, args: &[Value]) -> Result<Value, CdpError> {
        let (session, _) = self.place(frame).ok_or(CdpError::Navigated)?;
        if self.main_frame().as_ref() == Some(frame) {
            let args = args.iter().map(Value::to_string).collect::<Vec<_>>().join(", ");
            let expression = format!("({function}\n)({args})");
            let params =
                json!({"expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true});
            return returned(session.call("Runtime.evaluate", params).await?);
        }
        let world = self.make_own_world(&session, frame).await?;
        let ours = json!({"functionDeclaration": "() => document", "executionContextId": world});
        let ours = session.call("Runtime.callFunctionOn", ours).await?;
        let node = session.call("DOM.describeNode", json!({"objectId": ours["result"]["objectId"]})).await?;
        let theirs = json!({"backendNodeId": node["node"]["backendNodeId"]});
        let theirs = session.call("DOM.resolveNode", theirs).await?;
        let params = params(function, args, "objectId", &theirs["object"]["objectId"]);
        returned(session.call("Runtime.callFunctionOn", params).await?)
    }
}

async fn call_in_context(session: &Session, world: i64, function: &str, args: &[Value]) -> Result<Value, CdpError> {
    let params = params(function, args, "executionContextId", &world.into());
    returned(session.call("Runtime.callFunctionOn", params).await?)
}

fn params(function: &str, args: &[Value], place: &str, name: &Value) -> Value {
    let args: Vec<_> = args.iter().map(|arg| json!({ "value": arg })).collect();
    json!({"functionDeclaration": function, "arguments": args, place: name, "returnByValue": true, "awaitPromise": true,
        "userGesture": true})
}

fn returned(mut answer: Value) -> Result<Value, CdpError> {
    match answer.get("exceptionDetails") {
        Some(details) => Err(CdpError::thrown(details)),
        None => Ok(answer["result"]["value"].take()),
    }
}
