//! Allow-list of protocol calls for clients of a session. Everything else is refused: the protocol grows with every
//! version of Chromium, and much of it leads out of the browser, to files, ports and proxies.

use serde_json::{Map, Value, json};
use url::Url;

use super::bounds::Bounds;
use super::call::Params;

/// Domains of which all methods are allowed except [`REFUSED`]: they affect pages only.
const DOMAINS: &[&str] = &[
    "Accessibility",
    "Animation",
    "Audits",
    "BackgroundService",
    "CSS",
    "CacheStorage",
    "Console",
    "DOM",
    "DOMDebugger",
    "DOMSnapshot",
    "DOMStorage",
    "Debugger",
    "DeviceOrientation",
    "Emulation",
    "EventBreakpoints",
    "Fetch",
    "HeapProfiler",
    "IndexedDB",
    "Input",
    "Inspector",
    "LayerTree",
    "Log",
    "Media",
    "Network",
    "Overlay",
    "Page",
    "Performance",
    "PerformanceTimeline",
    "Profiler",
    "Runtime",
    "Schema",
    "Security",
    "ServiceWorker",
    "WebAudio",
    "WebAuthn",
];
/// Methods of these domains that read or write files, load what pages cannot, or break the browser.
const REFUSED: &[&str] = &[
    "DOM.getFileInfo",
    "DOM.setFileInputFiles",
    "Network.loadNetworkResource",
    "Network.takeResponseBodyForInterceptionAsStream",
    "Page.addCompilationCache",
    "Page.crash",
    "Page.handleFileChooser",
    "Page.produceCompilationCache",
    "Page.setRPHRegistrationMode",
    "Page.setSPCTransactionMode",
];
/// Single allowed methods of other domains.
const METHODS: &[&str] = &[
    "Browser.cancelDownload",
    "Browser.getVersion",
    "Browser.getWindowBounds",
    "Browser.getWindowForTarget",
    "Browser.grantPermissions",
    "Browser.resetPermissions",
    "Browser.setDownloadBehavior",
    "Browser.setPermission",
    "Browser.setWindowBounds",
    "IO.close",
    "IO.read",
    "Storage.clearCookies",
    "Storage.clearDataForOrigin",
    "Storage.clearDataForStorageKey",
    "Storage.getCookies",
    "Storage.getStorageKey",
    "Storage.getStorageKeyForFrame",
    "Storage.getUsageAndQuota",
    "Storage.setCookies",
    "Target.activateTarget",
    "Target.attachToBrowserTarget",
    "Target.attachToTarget",
    "Target.closeTarget",
    "Target.createBrowserContext",
    "Target.createTarget",
    "Target.detachFromTarget",
    "Target.disposeBrowserContext",
    "Target.getBrowserContexts",
    "Target.getTargetInfo",
    "Target.getTargets",
    "Target.setAutoAttach",
    "Target.setDiscoverTargets",
];
/// Methods that apply to the context of the session unless they name one: Chromium's default context has no network
/// access.
pub(super) const OF_A_CONTEXT: &[&str] = &[
    "Browser.grantPermissions",
    "Browser.resetPermissions",
    "Browser.setDownloadBehavior",
    "Browser.setPermission",
    "Storage.clearCookies",
    "Storage.getCookies",
    "Storage.setCookies",
    "Target.createTarget",
];
/// Maximum number of windows and workers of a browser, so that a client cannot flood the machine with processes.
pub(super) const MAX_TARGETS: usize = 50;

/// Checks a call; adapts its parameters where that suffices.
///
/// # Errors
/// A message for the client if the call is refused.
pub(super) fn check(method: &str, params: &mut Params<'_>, bounds: &Bounds) -> Result<(), String> {
    let domain = method.split_once('.').map_or("", |(domain, _)| domain);
    let known = METHODS.contains(&method) || DOMAINS.contains(&domain) && !REFUSED.contains(&method);
    if !known {
        let method: String = method.chars().take(64).collect();
        return Err(format!("{method} is not available in sessions of this server"));
    }
    match method {
        "Page.navigate" | "Target.createTarget" => navigable(params.read()?.get("url"))?,
        "Fetch.continueRequest" => {
            if let Some(url) = params.read()?.get("url").filter(|url| !url.is_null()) {
                of_the_web(url)?;
            }
        }
        "Target.createBrowserContext" => {
            // A proxy of the client's choice would bypass the egress guard.
            let params = params.read()?;
            params.insert("proxyServer".to_owned(), bounds.proxy.as_str().into());
            params.insert("proxyBypassList".to_owned(), "<-loopback>".into());
            params.remove("originsWithUniversalNetworkAccess");
        }
        "Target.setAutoAttach" | "Target.attachToTarget" => {
            // Without `flatten`, messages are nested in other messages and would escape the checks.
            params.read()?.insert("flatten".to_owned(), true.into());
        }
        // Downloads are always denied: nothing is written to the server's disk.
        "Browser.setDownloadBehavior" | "Page.setDownloadBehavior" => {
            let params = params.read()?;
            let context = params.remove("browserContextId");
            *params = Map::from_iter([("behavior".to_owned(), "deny".into())]);
            params.extend(context.map(|context| ("browserContextId".to_owned(), context)));
        }
        "Input.dispatchDragEvent" => {
            if let Some(files) = params.read()?.get_mut("data").and_then(|data| data.get_mut("files")) {
                *files = json!([]);
            }
        }
        "Target.disposeBrowserContext" if params.text("browserContextId")? == Some(bounds.context.as_str()) => {
            return Err("this context ends with the session".to_owned());
        }
        _ => {}
    }
    if OF_A_CONTEXT.contains(&method) && params.read()?.get("browserContextId").is_none_or(Value::is_null) {
        params.read()?.insert("browserContextId".to_owned(), bounds.context.as_str().into());
    }
    Ok(())
}

/// Checks an address that a page may navigate to.
fn navigable(url: Option<&Value>) -> Result<(), String> {
    let text = url.and_then(Value::as_str).unwrap_or_default();
    let scheme = Url::parse(text).map(|url| url.scheme().to_owned()).unwrap_or_default();
    match scheme.as_str() {
        "http" | "https" | "data" => Ok(()),
        _ if matches!(text, "" | "about:blank") => Ok(()),
        _ => Err("only http and https addresses can be opened".to_owned()),
    }
}

fn of_the_web(url: &Value) -> Result<(), String> {
    match url.as_str().and_then(|text| Url::parse(text).ok()) {
        Some(url) if matches!(url.scheme(), "http" | "https") => Ok(()),
        _ => Err("only http and https addresses can be requested".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "calls write it in place")]
    fn checked(method: &str, params: Value) -> Result<Value, String> {
        let (proxy, context) = ("http://127.0.0.1:9".to_owned(), "ours".to_owned());
        let text = serde_json::value::to_raw_value(&params).unwrap();
        let mut params = Params::from(Some(&*text));
        check(method, &mut params, &Bounds { proxy, context, agent: Value::Null, share: None })?;
        Ok(serde_json::from_str(params.written().get()).unwrap())
    }

    #[test]
    fn what_leads_out_is_refused() {
        for method in [
            "Browser.close",
            "Browser.crash",
            "Browser.crashGpuProcess",
            "Browser.executeBrowserCommand",
            "Browser.getBrowserCommandLine",
            "DOM.setFileInputFiles",
            "DOM.getFileInfo",
            "Extensions.loadUnpacked",
            "FileSystem.getDirectory",
            "IO.resolveBlob",
            "Memory.simulatePressureNotification",
            "Network.loadNetworkResource",
            "PWA.install",
            "Page.crash",
            "SystemInfo.getInfo",
            "Target.exposeDevToolsProtocol",
            "Target.sendMessageToTarget",
            "Target.setRemoteLocations",
            "Tethering.bind",
            "Tracing.start",
            "",
            "Page",
            ".navigate",
        ] {
            assert!(checked(method, json!({})).is_err(), "{method}");
        }
    }

    #[test]
    fn only_the_web_can_be_opened() {
        for method in ["Page.navigate", "Target.createTarget"] {
            for url in ["https://example.com/", "http://127.0.0.1/", "about:blank", "data:text/html,x", ""] {
                assert!(checked(method, json!({ "url": url })).is_ok(), "{method} {url}");
            }
            for url in [
                "file:///etc/passwd",
                "FILE:///etc/passwd",
                " file:///etc/passwd",
                "\tfi\nle:///etc/passwd",
                "chrome://settings",
                "chrome-extension://a/b",
                "devtools://devtools/bundled/inspector.html",
                "view-source:file:///etc/passwd",
                "filesystem:http://x/",
                "javascript:1",
                "about:version",
                "/etc/passwd",
                "c:\\x",
            ] {
                assert!(checked(method, json!({ "url": url })).is_err(), "{method} {url}");
            }
        }
        assert!(checked("Fetch.continueRequest", json!({ "requestId": "1" })).is_ok());
        assert!(checked("Fetch.continueRequest", json!({ "url": "https://a.example/" })).is_ok());
        assert!(checked("Fetch.continueRequest", json!({ "url": "file:///etc/passwd" })).is_err());
    }

    #[test]
    fn what_can_be_put_right_is() {
        let context = json!({ "proxyServer": "http://evil.example", "proxyBypassList": "*", "disposeOnDetach": true,
            "originsWithUniversalNetworkAccess": ["https://a.example"] });
        let expect =
            json!({ "proxyServer": "http://127.0.0.1:9", "proxyBypassList": "<-loopback>", "disposeOnDetach": true });
        assert_eq!(checked("Target.createBrowserContext", context), Ok(expect));
        let download =
            json!({ "behavior": "allow", "downloadPath": "/root", "browserContextId": "c", "eventsEnabled": true });
        let denied = json!({ "behavior": "deny", "browserContextId": "c" });
        assert_eq!(checked("Browser.setDownloadBehavior", download), Ok(denied));
        assert_eq!(checked("Storage.getCookies", json!({})), Ok(json!({ "browserContextId": "ours" })));
        let page = json!({ "url": "about:blank", "browserContextId": null });
        assert_eq!(
            checked("Target.createTarget", page),
            Ok(json!({ "url": "about:blank", "browserContextId": "ours" }))
        );
        assert!(checked("Target.disposeBrowserContext", json!({ "browserContextId": "ours" })).is_err());
        assert!(checked("Target.disposeBrowserContext", json!({ "browserContextId": "c" })).is_ok());
        assert_eq!(checked("Target.attachToTarget", json!({ "flatten": false })), Ok(json!({ "flatten": true })));
        let drag = json!({ "data": { "items": [], "files": ["/etc/passwd"] } });
        assert_eq!(checked("Input.dispatchDragEvent", drag), Ok(json!({ "data": { "items": [], "files": [] } })));
    }

    #[test]
    fn what_pages_need_passes() {
        for method in
            ["Runtime.evaluate", "Page.captureScreenshot", "Network.enable", "Input.dispatchKeyEvent", "IO.read"]
        {
            assert_eq!(checked(method, json!({ "x": 1 })), Ok(json!({ "x": 1 })), "{method}");
        }
    }
}
