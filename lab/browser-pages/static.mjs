// Pages that need no browser: their whole text is in the HTML, with scripts that might mislead the detection.
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { close, createIndex } from "pagefind";

const SENTENCES = [
  "The quarry opened in the spring of the year in which the canal reached the town.",
  "Stone went down the incline in trucks, and the weight of the full ones drew the empty ones up again.",
  "Two brothers kept the drum at the head of the incline for thirty years between them.",
  "The best beds lay under nine feet of clay, which was carted away to the brickfield.",
  "A good mason could tell from the ring of the hammer whether a block would split true.",
  "In wet winters the lower floor stood under water, and the men were sent to break road metal.",
  "The office kept one clock, and the whole of the works went by it, right or wrong.",
  "Blocks for the new bridge were cut to templates of thin oak that still hang in the shed.",
  "When the railway came, the basin was filled, and its walls now carry the goods yard.",
  "The last steam crane was sold for the price of its copper.",
  "Visitors may walk along the upper bench, where the old tool marks can be seen in the face.",
  "Swifts nest in the drill holes, and orchids grow on the spoil that nobody has moved for a century.",
  "The cottages in the lane were built of waste stone, each by the man who was to live in it.",
  "There was a reading room with four newspapers, and a fine for talking.",
  "Every block was numbered in red, and the numbers were entered in a book with a brass lock.",
  "The book for the years of the war is missing, and so we do not know where the large order went.",
  "Some say that the harbour wall is made of it, and the colour is certainly the same.",
  "Samples were sent to three universities, which gave three different ages for the upper beds.",
  "The weighbridge was tested twice a year by a man from the county, who always stayed for lunch.",
  "Children carried tea to the benches at ten and at three, in cans with a wire handle.",
  "The powder house stands apart from everything else and has walls a yard thick.",
  "After the slip of the winter the north face was left alone, and ivy has taken it since.",
  "A geologist drew the section in ink on linen, and the drawing hangs in the town hall.",
  "Orders came by post, by telegraph, and in one case by a pigeon that had lost its way.",
  "The wages were paid out at noon on Saturday through a window that is now a door.",
  "What the company paid for the land is not known, but the solicitor bought a carriage that summer.",
  "Today the floor is a lake of thirty metres, clear enough to see the rails on the ground.",
  "Divers must report to the keeper, who lends them a map and wants it back dry.",
];

function paragraphs(from, count) {
  const out = [];
  for (let index = 0; index < count; index += 4) {
    const some = Array.from({ length: 4 }, (_, step) => SENTENCES[(from + index + step) % SENTENCES.length]);
    out.push(`<p>${some.join(" ")}</p>`);
  }
  return out.join("\n");
}

// Returns an article of 300 words and more; `mark` is the expected text.
function article(mark, from = 0) {
  return `<article>\n<h1>${mark}</h1>\n${paragraphs(from, SENTENCES.length)}\n</article>`;
}

function page(title, body, head = "") {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
${head}
</head>
<body>
${body}
</body>
</html>
`;
}

const script = (name) => `<script defer src="${name}"></script>`;

function ssrRoot() {
  const rows = Array.from({ length: 2600 }, (_, id) => ({ id, name: `block ${id}`, bed: id % 9, weight: id * 1.5, sold: id % 3 === 0 }));
  const state = JSON.stringify({ rows }).replace(/</g, "\\u003c");
  const root = `<div id="root">${article("Blocks in the yard", 1)}</div>`;
  return page("Blocks", `${root}\n<script type="application/json" id="state">${state}</script>`, script("hydrate.js"));
}

function ssrNext() {
  const flight = (text) => `<script>(self.__next_f=self.__next_f||[]).push([1,${JSON.stringify(text)}])</script>`;
  const body = `<div id="__next"><!--$-->${article("Opening of the quarry", 2)}<!--/$--></div>
${flight('0:["$","main",null,{"children":"$L1"}]\n')}${flight("1:I[4821,[],\"Page\"]\n")}`;
  return page("Opening", body, script("chunk.js"));
}

function wpPost() {
  const images = Array.from({ length: 4 }, (_, n) => `<img src="blank.gif" data-src="photo-${n}.jpg" loading="lazy" class="lazyload" alt="The face ${n}">`);
  const body = `<div id="page" class="site"><div class="entry-content">${article("How the incline worked", 3)}${images.join("")}</div>
<div id="comments"><p class="loading">Comments load when you scroll.</p></div></div>`;
  return page("The incline", body, `${script("jquery.js")}${script("comments.js")}`);
}

function docsSearch() {
  const code = '<pre><code class="language-js">const block = yard.find((one) => one.bed === 4);</code></pre>';
  const body = `<nav><div id="docsearch"></div><div id="search"></div></nav><main>${article("Finding a block", 4)}${code}</main>`;
  return page("Docs", body, `${script("docsearch.js")}${script("prism.js")}${script("search.js")}`);
}

function noscriptPixel() {
  const body = `<noscript><img height="1" width="1" alt="" src="pixel.gif"></noscript>${article("The reading room", 5)}`;
  return page("Reading room", body, `${script("analytics.js")}${script("consent.js")}`);
}

function noscriptNote() {
  const note = '<section id="comments"><noscript>Please enable JavaScript for comments.</noscript></section>';
  return page("Weighbridge", article("The weighbridge", 6) + note, script("comments.js"));
}

function tablePage() {
  const row = (n) => `<tr><td>${1850 + n}</td><td>${n * 37}</td><td>${n * 11 + 5}</td><td>${(n * 7) % 40}</td></tr>`;
  const rows = Array.from({ length: 60 }, (_, n) => row(n)).join("\n");
  return page("Tons", `<table><tr><th>Year</th><th>Tons raised</th><th>Tons sold</th><th>Men</th></tr>${rows}</table>`, script("sort.js"));
}

function linkList() {
  const links = Array.from({ length: 80 }, (_, n) => `<li><a href="/p/${n}">Plan ${n}</a></li>`).join("\n");
  return page("Plans", `<ul>${links}</ul>`, script("filter.js"));
}

function gallery() {
  const figure = (n) => `<figure><img src="g${n}.jpg" alt=""><figcaption>Bench ${n}, looking north</figcaption></figure>`;
  return page("Gallery", Array.from({ length: 40 }, (_, n) => figure(n)).join("\n"), script("lightbox.js"));
}

function codePage() {
  const lines = Array.from({ length: 60 }, (_, n) => `let load_${n} = weigh(truck[${n}]); // truck ${n}`).join("\n");
  return page("Listing", `<pre><code class="language-js">${lines}</code></pre>`, script("highlight.js"));
}

function formPage() {
  const form = `<form method="post" action="/login"><label>Name <input name="name"></label>
<label>Password <input type="password" name="password"></label><button>Sign in</button></form>`;
  return page("Sign in", `<p>Keepers of the quarry sign in here with their badge number.</p>${form}`, script("form.js"));
}

function metaRefreshSlow() {
  return page("Water level", article("Water level of the lake", 7), '<meta http-equiv="refresh" content="300">');
}

function ampLike() {
  const image = '<amp-img src="lake.jpg" width="600" height="400" layout="responsive"><p>The lake from the south</p></amp-img>';
  return page("Lake", `<amp-story-like><h1>The lake</h1>${paragraphs(8, 28)}${image}</amp-story-like>`, script("amp.js"));
}

function templateRich() {
  const template = (n) => `<template id="widget-${n}"><div class="widget"><slot></slot>Widget ${n}</div></template>`;
  return page("Widgets", Array.from({ length: 10 }, (_, n) => template(n)).join("") + article("The drum house", 9), script("widgets.js"));
}

function widgetPage() {
  return page("Keeper", `${article("The keeper's day", 10)}<chat-widget></chat-widget>`, script("chat.js"));
}

function notFound() {
  const text = "<h1>No such bench</h1><p>The bench that you are looking for was worked out long ago. Please go back to the plan.</p>";
  return page("Not found", text, ["a", "b", "c", "d"].map((name) => script(`${name}.js`)).join(""));
}

function spaPrerender() {
  const marks = 'data-server-rendered="true" ng-server-context="ssg" data-astro-cid-abc123';
  const island = `<astro-island client="idle">${paragraphs(12, 4)}</astro-island>`;
  return page("Prerendered", `<app-root ${marks} ng-version="22.0.0">${article("Swifts in the drill holes", 11)}${island}</app-root>`, script("main.js"));
}

const PAGES = {
  "ssr-root": ssrRoot,
  "ssr-next": ssrNext,
  "wp-post": wpPost,
  "docs-search": docsSearch,
  "noscript-pixel": noscriptPixel,
  "noscript-note": noscriptNote,
  "short-note": () =>
    page("Note", "<p>The upper bench is closed until Easter because of loose stones near the old crane. Walkers should use the lower path along the lake and mind the steps.</p>"),
  "empty-page": () => page("", ""),
  "table-page": tablePage,
  "link-list": linkList,
  gallery,
  "code-page": codePage,
  "form-page": formPage,
  "meta-refresh-slow": metaRefreshSlow,
  "amp-like": ampLike,
  "template-rich": templateRich,
  "widget-page": widgetPage,
  "not-found": notFound,
  "spa-prerender": spaPrerender,
};

// Real scripts of npm packages.
const SCRIPTS = {
  "wp-post/jquery.js": "jquery/dist/jquery.min.js",
  "docs-search/docsearch.js": "@docsearch/js/dist/umd/index.js",
  "docs-search/prism.js": "prismjs/prism.js",
};

// Small scripts; every other one has a single line.
const LINES = {
  "wp-post/comments.js": 'jQuery(() => new IntersectionObserver(() => jQuery(".loading").text("No comments yet.")).observe(document.querySelector("#comments")));',
  "docs-search/search.js": 'import("./pagefind/pagefind.js").then((pagefind) => pagefind.init());',
  "noscript-note/comments.js": 'document.getElementById("comments").append("Be the first to comment.");',
  "table-page/sort.js": 'for (const head of document.querySelectorAll("th")) head.addEventListener("click", () => {});',
  "widget-page/chat.js": `customElements.define("chat-widget", class extends HTMLElement {
  connectedCallback() {
    this.attachShadow({ mode: "open" }).innerHTML = "<button>Chat with us</button>";
  }
});`,
};

// A PDF of one page with one line (ISO 32000-1, 7.5).
function pdf(text) {
  const content = `BT /F1 18 Tf 72 720 Td (${text}) Tj ET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  let file = "%PDF-1.4\n";
  const places = objects.map((object, index) => {
    const at = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, "0")} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join("")}`;
  return `${file}${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`;
}

// An image of one pixel.
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

const FEED = `<?xml version="1.0"?><rss version="2.0"><channel><title>News of the quarry</title><link>http://example.com/</link>
<description>What happened</description><item><title>Feed item: lake frozen</title><description>Ice of four inches</description></item></channel></rss>`;

async function plainKinds(out) {
  await writeFile(join(out, "note.txt"), "Plain note: the pump runs on Mondays.\n");
  await writeFile(join(out, "data.json"), JSON.stringify({ note: "JSON note: nine trucks" }));
  await writeFile(join(out, "feed.xml"), FEED);
  await writeFile(join(out, "sheet.pdf"), pdf("PDF note: incline of one in nine"), "latin1");
  await writeFile(join(out, "dot.png"), Buffer.from(PNG, "base64"));
}

async function scripts(html, id, out, modules) {
  for (const [, name] of html.matchAll(/src="([a-z]+\.js)"/g)) {
    const real = SCRIPTS[`${id}/${name}`];
    const line = LINES[`${id}/${name}`] ?? `console.log(${JSON.stringify(`${name} of ${id}`)});`;
    await (real ? cp(join(modules, real), join(out, name)) : writeFile(join(out, name), `${line}\n`));
  }
}

// Extras of documentation pages: highlighted code, and a search index.
async function extras(id, out, home) {
  if (id === "code-page") {
    const contents = 'import hljs from "highlight.js/lib/common"; hljs.highlightAll();';
    await build({ stdin: { contents, resolveDir: home }, outfile: join(out, "highlight.js"), bundle: true, minify: true, logLevel: "error" });
  } else if (id === "docs-search") {
    const { index } = await createIndex();
    await index.addDirectory({ path: out });
    await index.writeFiles({ outputPath: join(out, "pagefind") });
    await close();
  }
}

export async function buildStatic(home, to) {
  const known = JSON.parse(await readFile(join(home, "pages.json"), "utf8")).static;
  for (const { id } of known) {
    const out = join(to, id);
    await rm(out, { recursive: true, force: true });
    await mkdir(out, { recursive: true });
    if (id === "plain-kinds") {
      await plainKinds(out);
      continue;
    }
    const html = PAGES[id]();
    await writeFile(join(out, "index.html"), html);
    await scripts(html, id, out, join(home, "node_modules"));
    await extras(id, out, home);
  }
}
