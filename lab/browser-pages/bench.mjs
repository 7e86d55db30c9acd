// Playwright on the same Chromium, for cargo xtask bench browser. Each input line is a round:
// {"pages": [{"url", "text"}], "together": 4, "wait": "text" or "networkidle"}; the answer is a line of figures.
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const browser = await chromium.launch({ executablePath: process.argv[2] });

// A new browser context for every page, as a service needs it to isolate untrusted pages.
async function visit({ url, text }, wait) {
  const started = performance.now();
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    if (wait === "networkidle") {
      await page.goto(url, { waitUntil: "networkidle" });
    } else {
      await page.goto(url, { waitUntil: "load" });
      // The expected text is known here, unlike in a service.
      await page.getByText(text).first().waitFor({ state: "attached" });
    }
    const html = await page.content();
    if (html.length === 0) {
      throw new Error(`${url} is empty`);
    }
  } finally {
    await context.close();
  }
  return performance.now() - started;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { pages, together, wait } = JSON.parse(line);
  const queue = [...pages];
  const times = [];
  const started = performance.now();
  const worker = async () => {
    for (let page = queue.shift(); page; page = queue.shift()) {
      times.push(await visit(page, wait));
    }
  };
  await Promise.all(Array.from({ length: together }, worker));
  console.log(JSON.stringify({ seconds: (performance.now() - started) / 1000, ms: times }));
}
await browser.close();
