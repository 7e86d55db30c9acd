//! Decides whether a page must be loaded in a browser because it shows nothing, or not its main content, without
//! scripts.
//!
//! The decision uses the tree that the document was made from, in one walk that ends as soon as there is enough text:
//! an article with scripts beside it never needs a browser. A wrong decision costs time (an unneeded browser) or text
//! (a browser not used). So a page of very few words goes to the browser if it has any scripts, and one with some more
//! if something in it shows that scripts fill it.

mod lists;
mod look;

use formats::Page;
use page::local_name;

use look::{Look, Sign};

/// Words that show the main content, whatever the scripts may add.
const ENOUGH_WORDS: usize = 200;
/// A page with fewer words may still be loading.
const FEW_WORDS: usize = 100;
/// A page with at most this many words shows almost nothing.
const TINY_WORDS: usize = 15;
/// A page with at most this many words outside of navigation, header and footer has no main content.
const NO_WORDS: usize = 3;

/// Returns the reason why the scripts of a page have to run, as a word; `None` if the page is good as it is. `status`
/// is the HTTP status of the response.
pub(crate) fn needs_scripts(page: &Page, status: u16) -> Option<&'static str> {
    let look = Look::at(page);
    if look.has_enough() {
        return None;
    }
    if look.has(Sign::Refresh) {
        return Some("refresh");
    }
    if !look.has(Sign::Program) {
        // A frame needs a browser even without scripts.
        return (look.has(Sign::Frame) && look.is_tiny()).then_some("frame");
    }
    let hydrates = look.has(Sign::Hydration) && status < 400;
    // The first rule that applies names the reason in logs and metrics. A tiny page with a form is complete (a sign-in
    // page) unless something shows that scripts fill it.
    let rules = [
        ("stream", look.has(Sign::Stream)),
        ("root", look.has(Sign::EmptyRoot)),
        ("empty", look.is_tiny() && !(look.has(Sign::Control) && !look.has_any_filling() && !hydrates)),
        ("wall", look.words < ENOUGH_WORDS / 2 && look.is_wall()),
        ("noscript", look.has(Sign::Noscript)),
        ("island", look.has(Sign::Island)),
        ("skeleton", look.words < FEW_WORDS && look.has(Sign::Skeleton)),
        ("template", look.words < FEW_WORDS && look.has(Sign::Template)),
        ("placeholder", look.words < FEW_WORDS && look.has(Sign::Placeholder)),
        ("hydration", look.words < FEW_WORDS && hydrates),
    ];
    rules.into_iter().find(|(_, applies)| *applies).map(|(word, _)| word)
}

/// Whether a page has scripts at all.
pub(crate) fn has_scripts(page: &Page) -> bool {
    page.positions().any(|index| page.is(index, &local_name!("script")))
}

/// Whether the page's `noscript` texts only ask to enable scripts.
pub(crate) fn asks_for_scripts(page: &Page) -> bool {
    look::asks_for_scripts(page)
}

/// Whether a page shows almost nothing, but has a text for readers without scripts.
pub(crate) fn says_more_without_scripts(page: &Page) -> bool {
    look::words_without_scripts(page) > TINY_WORDS && Look::at(page).is_tiny()
}

impl Look<'_> {
    fn has_enough(&self) -> bool {
        self.words >= ENOUGH_WORDS
    }

    /// Whether the page shows almost nothing, or nothing between its navigation and its footer.
    fn is_tiny(&self) -> bool {
        self.words + self.words_apart <= TINY_WORDS || (self.words <= NO_WORDS && self.words_apart < FEW_WORDS / 2)
    }

    /// Whether something shows that scripts fill the page.
    fn has_any_filling(&self) -> bool {
        [Sign::Island, Sign::Skeleton, Sign::Template, Sign::Placeholder].into_iter().any(|sign| self.has(sign))
    }

    /// Whether the visible text is a consent wall or a bot check.
    fn is_wall(&self) -> bool {
        let text = self.shown.to_lowercase();
        lists::WALLS.iter().any(|words| text.contains(words))
    }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    const BUNDLE: &str = "<script type=module src=/app.js></script>";

    fn judge(status: u16, html: &str) -> Option<&'static str> {
        needs_scripts(&Page::parse(html, &Url::parse("https://a.test/p").unwrap()), status)
    }

    fn check(html: &str, expect: Option<&str>) {
        assert_eq!(judge(200, html), expect, "{html:.300}");
    }

    /// Returns a page with this body and a script bundle.
    fn with_bundle(body: &str) -> String {
        format!("<!doctype html><title>T</title><body>{body}{BUNDLE}")
    }

    fn text(words: usize) -> String {
        "granite ".repeat(words)
    }

    #[test]
    fn shells() {
        for id in ["root", "app", "__next", "__nuxt", "svelte", "___gatsby", "q-app"] {
            check(&with_bundle(&format!("<div id={id}></div>")), Some("root"));
            check(&with_bundle(&format!("<div id={id}> <noscript>x</noscript> </div>")), Some("root"));
        }
        check(&with_bundle("<app-root></app-root>"), Some("root"));
        check(&with_bundle("<app-root>Loading&hellip;</app-root>"), Some("root"));
        check(&with_bundle("<main></main>"), Some("root"));
        check(&with_bundle("<div data-reactroot></div>"), Some("root"));
        check(&with_bundle("<h1>Orchard</h1><p>Twelve crates of apples"), Some("empty"));
        check(&with_bundle(""), Some("empty"));
        check("<body onload=start()>", Some("empty"));
        check(&format!("{BUNDLE}<canvas></canvas>"), Some("empty"));
        // An empty main part between navigation and footer.
        let frame = format!("<nav>{}</nav><div id=content></div><footer>{}</footer>", text(40), text(90));
        check(&with_bundle(&frame), Some("root"));
        let frame = format!("<nav>{}</nav><div class=page></div>", text(30));
        check(&with_bundle(&frame), Some("empty"));
        assert_eq!(judge(404, &with_bundle("<div id=root></div>")), Some("root"));
    }

    #[test]
    fn what_shows_that_more_is_to_come() {
        let few = text(60);
        for (part, expect) in [
            ("<div class=list-skeleton></div>", "skeleton"),
            ("<p>Loading orchard…</p>", "skeleton"),
            ("<ul aria-busy=true></ul>", "skeleton"),
            ("<div id=prices></div>", "placeholder"),
            ("<section data-component=Prices></section>", "placeholder"),
            ("<p>{{ title }}</p>", "template"),
            ("<div x-data='{}' x-init='load()'><b x-text=name></b></div>", "template"),
            ("<p data-bind='text: name'></p>", "template"),
            ("<div hx-get=/part hx-trigger=revealed></div>", "island"),
            ("<div id=island data-island=gulls></div>", "island"),
            ("<astro-island client=load><p>still</p></astro-island>", "island"),
            ("<price-list></price-list>", "island"),
            ("<turbo-frame id=t src=/t>Frame is loading</turbo-frame>", "island"),
            ("<noscript>You need to enable JavaScript to run this app.</noscript>", "noscript"),
            ("<p>We use cookies. Before you continue, choose. <button>Accept all</button>", "wall"),
            ("<script type=application/json id=state>{\"members\": 11}</script>", "hydration"),
            ("<script>window.__INITIAL_STATE__={}</script>", "hydration"),
            ("<template id=B:0></template><div hidden id=S:0>late text</div>", "stream"),
        ] {
            check(&with_bundle(&format!("<p>{few}</p>{part}")), Some(expect));
            // With an article beside it, the same part does not matter.
            check(&with_bundle(&format!("<article><p>{}</p></article>{part}", text(300))), None);
        }
        let server = format!("<div id=root><p>{}Members: 10</p></div>", text(38));
        check(&with_bundle(&server), Some("hydration"));
        check(
            "<title>Just a moment...</title><h1>Checking your browser</h1><p>before you get to a.test, a site of ours \
            that is now protected and will let you in within five seconds<script>go()</script>",
            Some("wall"),
        );
    }

    #[test]
    fn pages_that_lead_on() {
        check("<meta http-equiv=refresh content='0;url=/next'>", Some("refresh"));
        check("<meta http-equiv=Refresh content=\"2; URL='https://b.test/'\"><p>You are led on.", Some("refresh"));
        check("<meta http-equiv=refresh content=5>One moment", Some("refresh"));
        check(&format!("<meta http-equiv=refresh content=300><p>{}", text(150)), None);
        check("<meta http-equiv=refresh content='300; url=/other'><p>News", None);
        check(&format!("<meta http-equiv=refresh content=5><p>{}", text(50)), None);
        check("<noscript><meta http-equiv=refresh content='0; url=/plain'></noscript><p>Text", None);
        check("<iframe src=/a></iframe><iframe srcdoc='<p>x'></iframe>", Some("frame"));
        check("<frameset><frame src=/a></frameset>", Some("frame"));
        check("<x-letter><template shadowrootmode=closed>Sealed</template></x-letter>", None);
        check(&format!("<p>{}<iframe src=/a></iframe>", text(50)), None);
        check("<p>hi<iframe src=/pixel width=1 height=1></iframe><iframe style='display: none' src=/a></iframe>", None);
    }

    #[test]
    fn pages_that_are_good_as_they_are() {
        check(&text(25), None);
        check("", None);
        check("<title>T</title><body></body>", None);
        check("<script type=application/ld+json>{}</script><p>Short", None);
        check("<script async src=https://www.googletagmanager.com/gtag/js?id=G></script><p>Short", None);
        let form = "<h1>Sign in</h1><form><label>Name<input name=n></label><label>Password<input type=password></label>\
            <button>Go</button></form>";
        check(form, None);
        check(&with_bundle(form), None);
        assert_eq!(judge(404, &with_bundle(&format!("<h1>Not found</h1><p>{}", text(18)))), None);
        assert_eq!(judge(404, &with_bundle(&format!("<div id=root><h1>Not found</h1><p>{}</div>", text(18)))), None);
        let links: String = (0..80).map(|n| format!("<li><a href=/{n}>Page {n}</a>")).collect();
        check(&with_bundle(&format!("<ul>{links}</ul>")), None);
        let figures: String =
            (0..40).map(|n| format!("<figure><img src=/{n}.jpg><figcaption>Kiln {n}</figcaption></figure>")).collect();
        check(&with_bundle(&format!("{figures}<div id=lightbox></div>")), None);
        let rows: String = (0..20).map(|n| format!("<tr><td>{n}<td>{n}.5<td>7")).collect();
        check(&with_bundle(&format!("<table>{rows}</table>")), None);
        check(&with_bundle(&format!("<pre><code>{}</code></pre>", text(30))), None);
    }

    #[test]
    fn full_text_stays_whatever_stands_beside() {
        let text = text(300);
        for body in [
            format!("<div id=root>{text}</div><script type=application/json id=s>{{}}</script>"),
            format!("<div id=__next>{text}</div><script>$RC('B:0','S:0')</script>"),
            format!("<div data-server-rendered=true ng-server-context=ssr>{text}</div>"),
            format!("<article>{text}</article><noscript>Please enable JavaScript for comments</noscript>"),
            format!("<noscript><img height=1 src=https://t.test/p></noscript><p>{text}"),
            format!("<amp-img><p>{text}</amp-img><my-chat></my-chat><div id=search></div>"),
            format!("<template>x</template><p>{text}<template>y</template>"),
            format!("<h1>Why {{{{ mustaches }}}}</h1><p>{text}"),
            format!("<meta http-equiv=refresh content='300'><p>{text}"),
        ] {
            check(&with_bundle(&body), None);
        }
    }

    #[test]
    fn text_without_spaces_is_text() {
        let body = format!("<p>{}</p><div id=comments-app></div>", "石灰岩は堆積岩の一種である。".repeat(40));
        check(&with_bundle(&body), None);
    }

    #[test]
    fn a_walk_that_nobody_waits_for_ends() {
        let (stop, url) = (base::Stop::new(), Url::parse("https://a.test/").unwrap());
        let page = Page::parse_until(&with_bundle("<p>x"), &url, &stop);
        stop.set();
        assert_eq!(needs_scripts(&page, 200), None);
    }
}
