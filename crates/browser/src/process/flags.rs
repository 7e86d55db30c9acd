//! How Chromium is started.

use std::ffi::OsString;
use std::path::Path;

/// Everything that it is told, whatever the settings.
const FLAGS: &[&str] = &[
    // Spoken to over the file descriptors 3 and 4, never over a port.
    "--remote-debugging-pipe",
    // Nothing leaves but through the proxy of a visit. This one is for what belongs to no visit, and leads nowhere. Without
    // `<-loopback>` everything on this machine and 169.254.0.0/16 would go past any proxy.
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--no-pings",
    // All frames of a page live in one process, and so in one session: the page is read at one go, and a frame costs no
    // process of its own. What it gives up is the wall between the sites of one page. Pages of different visits never share
    // a process, because their contexts do not.
    "--disable-site-isolation-trials",
    "--disable-features=IsolateOrigins,site-per-process,Translate,MediaRouter,OptimizationHints,BackForwardCache,\
     AcceptCHFrame,DialMediaRouteProvider,InterestFeedContentSuggestions,CertificateTransparencyComponentUpdater,\
     AutofillServerCommunication,PaintHolding,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,GlobalMediaControls,\
     ProcessPerSiteUpToMainFrameThreshold,WebGPUService",
    // Windows that pages open are not opened at all.
    "--block-new-web-contents",
    // Nothing that it does for itself.
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
    // Pages that nobody looks at work as fast as others.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-hang-monitor",
    "--disable-renderer-backgrounding",
    // Pictures look the same everywhere.
    "--force-color-profile=srgb",
    "--hide-scrollbars",
    "--mute-audio",
    "--disable-gpu",
    "--window-size=1920,1080",
    "--lang=en-US",
    // What is said where no page can be told otherwise: the script of a service worker is fetched before we hear of it.
    "--accept-lang=en-US,en",
    // In a container /dev/shm is often too small for a page.
    "--disable-dev-shm-usage",
    // `navigator.webdriver` says what it says to visitors.
    "--disable-blink-features=AutomationControlled",
    // A page that takes more memory dies before the machine does.
    "--js-flags=--max-old-space-size=768",
];

/// The arguments of the program.
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

/// The user agent of a version, as Chromium reduces it: the same for everybody.
pub(crate) fn user_agent(version: &str, is_phone: bool) -> String {
    let major = version.split('.').next().unwrap_or(version);
    let (system, phone) = if is_phone { ("Linux; Android 10; K", " Mobile") } else { ("X11; Linux x86_64", "") };
    format!("Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0{phone} Safari/537.36")
}
