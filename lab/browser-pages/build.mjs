// Builds the pages of pages.json into a folder: node build.mjs FOLDER [ID…]
import { cp, mkdir, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { compile, compileModule } from "svelte/compiler";
import { buildStatic } from "./static.mjs";
import { ENTRIES, VENDOR } from "./recipes.mjs";

const HOME = dirname(fileURLToPath(import.meta.url));
const MODULES = join(HOME, "node_modules");
const require = createRequire(import.meta.url);
// Sources that are not copied: read by the build or by the site only.
const NOT_SERVED = [".jsx", ".ts", ".svelte", ".mjs", "server.json"];

const svelte = {
  name: "svelte",
  setup(builder) {
    const options = { generate: "client", dev: false, css: "injected" };
    const made = async (path, make) => {
      const { js } = make(await readFile(path, "utf8"), { ...options, filename: path });
      return { contents: js.code, loader: "js", resolveDir: dirname(path) };
    };
    builder.onLoad({ filter: /\.svelte$/ }, ({ path }) => made(path, compile));
    builder.onLoad({ filter: /\.svelte\.js$/ }, ({ path }) =>
      made(path, (source, { filename }) => compileModule(source, { filename, generate: "client", dev: false })),
    );
  },
};

function options(id, entry, out, format) {
  return {
    entryPoints: [entry],
    outdir: out,
    bundle: true,
    minify: true,
    target: "es2022",
    // Top-level await is allowed only in modules.
    format,
    jsx: "automatic",
    define: {
      "process.env.NODE_ENV": '"production"',
      __VUE_OPTIONS_API__: "true",
      __VUE_PROD_DEVTOOLS__: "false",
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
      ngDevMode: "false",
      ngServerMode: "false",
    },
    conditions: ["svelte", "browser", "production"],
    alias: { vue: require.resolve("vue/dist/vue.esm-bundler.js") },
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } },
    plugins: [svelte],
    loader: { ".svg": "dataurl" },
    logLevel: "error",
    ...ENTRIES[id]?.options,
  };
}

async function exists(path) {
  return stat(path).then(() => true, () => false);
}

async function entries(id, folder) {
  const named = ENTRIES[id]?.files;
  if (named) {
    return named.map((name) => join(folder, name));
  }
  const found = [];
  for (const ending of ["js", "jsx", "ts"]) {
    const path = join(folder, `main.${ending}`);
    if (await exists(path)) {
      found.push(path);
    }
  }
  return found;
}

async function copyRest(folder, out, built) {
  for (const name of await readdir(folder)) {
    const source = join(folder, name);
    if (!built.includes(source) && !NOT_SERVED.some((ending) => name.endsWith(ending))) {
      await cp(source, join(out, name));
    }
  }
}

async function copyVendor(id, out) {
  for (const [name, from] of Object.entries(VENDOR[id] ?? {})) {
    await cp(join(MODULES, from), join(out, name), { recursive: true });
  }
}

// Bundles a module for Node, so that the build can render pages like a server.
async function forNode(path, out) {
  const outfile = join(out, "..", ".node", `${Date.now()}.mjs`);
  const external = ["react", "react-dom", "react/jsx-runtime", "react-dom/server"];
  await build({ entryPoints: [path], outfile, bundle: true, format: "esm", platform: "node", jsx: "automatic", external, logLevel: "error" });
  // Node resolves packages from the folder of the module.
  const here = join(HOME, `.${Date.now()}.mjs`);
  await cp(outfile, here);
  try {
    return await import(pathToFileURL(here).href);
  } finally {
    await rm(here);
  }
}

// React's streamed HTML with two late parts, as pieces: [milliseconds after the previous one, text].
async function stream(folder, out) {
  process.env.NODE_ENV = "production";
  const { createElement } = require("react");
  const { renderToPipeableStream } = require("react-dom/server");
  const { Writable } = require("node:stream");
  const { default: Page } = await forNode(join(folder, "page.jsx"), out);
  const late = (ms, text) => new Promise((resolve) => setTimeout(() => resolve(text), ms));
  const pieces = [];
  const started = Date.now();
  await new Promise((resolve, reject) => {
    const sink = new Writable({
      write(chunk, _, next) {
        pieces.push([Date.now() - started, chunk.toString()]);
        next();
      },
      final(next) {
        resolve();
        next();
      },
    });
    const page = createElement(Page, { second: late(300, "Streamed part one arrived"), first: late(900, "Streamed part two arrived") });
    const { pipe } = renderToPipeableStream(page, { onShellReady: () => pipe(sink), onError: reject });
  });
  const whens = [0, 300, 900];
  const nearest = (at) => whens.reduce((best, when) => (Math.abs(when - at) < Math.abs(best - at) ? when : best));
  let before = 0;
  const steps = pieces.map(([at, text]) => {
    const when = nearest(at);
    const step = [when - before, text];
    before = when;
    return step;
  });
  await writeFile(join(out, "stream.json"), JSON.stringify(steps));
}

// Inserts the server's HTML at its placeholder in the page.
async function hydrated(folder, out) {
  process.env.NODE_ENV = "production";
  const { createElement } = require("react");
  const { renderToString } = require("react-dom/server");
  const { default: Page } = await forNode(join(folder, "page.jsx"), out);
  const index = join(out, "index.html");
  const html = await readFile(index, "utf8");
  await writeFile(index, html.replace("<!--page-->", renderToString(createElement(Page, { members: 10 }))));
}

async function buildPage(id, to) {
  const folder = join(HOME, "pages", id);
  const out = join(to, id);
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const built = ENTRIES[id]?.asItIs ? [] : await entries(id, folder);
  const html = await readFile(join(folder, "index.html"), "utf8").catch(() => "");
  const format = html.includes('type="module"') ? "esm" : "iife";
  for (const entry of built) {
    await build(options(id, entry, out, format));
  }
  await copyRest(folder, out, built);
  await copyVendor(id, out);
  if (id === "next-export") {
    await stream(folder, out);
  } else if (id === "hydrate-mismatch") {
    await hydrated(folder, out);
  }
}

const [to, ...only] = process.argv.slice(2);
if (!to) {
  throw new Error("say where to: node build.mjs FOLDER [ID…]");
}
const table = JSON.parse(await readFile(join(HOME, "pages.json"), "utf8"));
for (const { id } of table.pages) {
  if (only.length === 0 || only.includes(id)) {
    await buildPage(id, to);
  }
}
await buildStatic(HOME, to);
await rm(join(to, ".node"), { recursive: true, force: true });
