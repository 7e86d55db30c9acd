//! Command-line flags of Chromium.

use std::ffi::OsString;
use std::path::Path;

/// Flags that do not depend on the settings.
const FLAGS: &[&str] = &[
    // Debugging over the file descriptors 3 and 4, never over a port.
    "--remote-debugging-pipe",
    // All traffic must use the proxy of a visit. This default proxy is for traffic of no visit and leads nowhere.
    // Without `<-loopback>` traffic to this machine and to 169.254.0.0/16 would bypass every proxy.
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--no-pings",
    // All frames of a page share a process, and thus a session: the page is captured in one call, and frames cost no
    // processes. The price is the isolation between the sites of one page. Pages of different visits never share a
    // process, because they have different contexts.
    "--disable-site-isolation-trials",
    "--disable-features=IsolateOrigins,site-per-process,Translate,MediaRouter,OptimizationHints,BackForwardCache,\
     AcceptCHFrame,DialMediaRouteProvider,InterestFeedContentSuggestions,CertificateTransparencyComponentUpdater,\
     AutofillServerCommunication,PaintHolding,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,GlobalMediaControls,\
     ProcessPerSiteUpToMainFrameThreshold,WebGPUService",
    // Pop-up windows are blocked.
    "--block-new-web-contents",
    // No background services.
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-notifications",
    "--disable-prompt-on-repost",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-service-autorun",
    "--password-store=basic",
    "--use-mock-keychain",
    // Pages without a visible window are not throttled.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-hang-monitor",
    "--disable-renderer-backgrounding",
    // Reproducible rendering.
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--mute-audio",
    "--disable-gpu",
    "--window-size=1920,1080",
    "--lang=en-US",
    // Default for requests that cannot be overridden per page: the script of a service worker is fetched before it is
    // announced.
    "--accept-lang=en-US,en",
    // In containers /dev/shm is often too small for a page.
    "--disable-dev-shm-usage",
    // Makes `navigator.webdriver` false, as for ordinary visitors.
    "--disable-blink-features=AutomationControlled",
    // Heap limit of scripts, in MiB: a page that needs more dies before the machine runs out of memory.
    "--js-flags=--max-old-space-size=768",
];

/// Returns all command-line arguments.
pub(super) fn all(program: &Path, version: &str, without_sandbox: bool, profile: &Path) -> Vec<OsString> {
    let mut flags: Vec<OsString> = FLAGS.iter().map(Into::into).collect();
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    if !name.contains("headless") {
        flags.push("--headless=new".into());
        flags.push("--no-startup-window".into());
    }
    if without_sandbox {
        flags.push("--no-sandbox".into());
    }
    flags.push(format!("--user-agent={}", user_agent(version, false)).into());
    let mut folder = OsString::from("--user-data-dir=");
    folder.push(profile);
    flags.push(folder);
    flags
}

/// Returns the user agent of a version in Chromium's reduced form, without anything specific to this machine.
pub(crate) fn user_agent(version: &str, is_phone: bool) -> String {
    let major = version.split('.').next().unwrap_or(version);
    let (system, phone) = if is_phone { ("Linux; Android 10; K", " Mobile") } else { ("X11; Linux x86_64", "") };
    format!("Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0{phone} Safari/537.36")
}
