// Playwright on a browser session: node connect.mjs CDP_URL PAGE_URL KIND WRONG_URL…, where KIND is `own` or `held`, and no
// WRONG_URL may be connected to. Prints each failure on a line.
import { chromium } from "playwright-core";

const [cdp, url, kind, ...wrong] = process.argv.slice(2);
const check = (isFine, what) => {
  if (!isFine) {
    console.log(what);
  }
};
const succeeds = (work) => work.then(() => true, () => false);

const browser = await chromium.connectOverCDP(cdp, { timeout: 20000 });
const context = browser.contexts()[0];
check(kind === "own" || context.pages().length === 1, `it begins with ${context.pages().length} pages`);
const page = context.pages()[0] ?? (await context.newPage());
await page.goto(url);
await page.fill("#name", "Granite");
await page.click("#go");
const said = await page.textContent("#said");
check(said === "Hello Granite", `it says ${said}`);
const picture = await page.screenshot();
check(picture.length > 1000 && picture.subarray(1, 4).toString() === "PNG", "the screenshot is no PNG");
const agent = await page.evaluate("navigator.userAgent");
check(!agent.includes("Headless"), `it calls itself ${agent}`);

const second = await context.newPage();
await second.goto(url);
check((await second.title()) === "Form", "a second page does not open");
await second.close();
await context.addCookies([{ name: "stone", value: "granite", url }]);
check((await context.cookies(url)).some(({ name }) => name === "stone"), "its cookies are lost");
check(context.pages().length === 1, `${context.pages().length} pages are open at the end`);

for (const place of ["file:///etc/passwd", "chrome://version", "view-source:file:///etc/passwd"]) {
  check(!(await succeeds(page.goto(place, { timeout: 5000 }))), `it goes to ${place}`);
}
const anew = await succeeds(
  browser.newContext({ proxy: { server: "http://127.0.0.1:1" } }).then(async (own) => {
    const third = await own.newPage();
    // The page loads because the proxy named by the client is not used.
    await third.goto(url, { timeout: 10000 });
    await own.close();
  }),
);
check(anew === (kind === "own"), `a context of its own ${anew ? "is" : "is not"} made`);
for (const stranger of wrong) {
  check(!(await succeeds(chromium.connectOverCDP(stranger, { timeout: 5000 }))), `it connects to ${stranger}`);
}
await browser.close();
