// Build options of pages that need more than their main script bundled, and the files they copy from packages.

// `files`: entries besides main; `asItIs`: scripts are copied; `options`: for esbuild.
export const ENTRIES = {
  alpine: { asItIs: true },
  "comlink-worker": { files: ["main.js", "worker.js"] },
  "consent-klaro": { asItIs: true },
  "cookie-wall": { asItIs: true },
  docsify: { asItIs: true },
  iframes: { files: ["main.jsx", "one.jsx"] },
  knockout: { asItIs: true },
  "petite-vue": { asItIs: true },
  "react-lazy": { options: { splitting: true, chunkNames: "chunks/[name]-[hash]" } },
  "redoc-swagger": { asItIs: true },
  riot: { asItIs: true },
};

// For each page: the name in the built page, and the file or folder in node_modules.
export const VENDOR = {
  alpine: { "alpine.js": "alpinejs/dist/cdn.min.js" },
  "consent-cc": { "cookieconsent.css": "vanilla-cookieconsent/dist/cookieconsent.css" },
  "consent-klaro": { "klaro.js": "klaro/dist/klaro-no-css.js", "klaro.css": "klaro/dist/klaro.css" },
  "cookie-wall": { tarteaucitron: "tarteaucitronjs" },
  docsify: { "docsify.js": "docsify/dist/docsify.min.js", "theme.css": "docsify/dist/themes/core.css" },
  "htmx-load": { "htmx.js": "htmx.org/dist/htmx.min.js" },
  "htmx-sse": { "htmx.js": "htmx.org/dist/htmx.min.js", "hx-sse.js": "htmx.org/dist/ext/hx-sse.min.js" },
  "katex-mermaid": { "mermaid.js": "mermaid/dist/mermaid.min.js", katex: "katex/dist" },
  knockout: { "knockout.js": "knockout/build/output/knockout-latest.js" },
  "petite-vue": { "petite-vue.js": "petite-vue/dist/petite-vue.iife.js" },
  "redoc-swagger": {
    "swagger-ui.js": "swagger-ui-dist/swagger-ui-bundle.js",
    "swagger-ui.css": "swagger-ui-dist/swagger-ui.css",
  },
  riot: { "riot.js": "riot/riot+compiler.min.js" },
  "shoelace-tabs": { "light.css": "@shoelace-style/shoelace/dist/themes/light.css" },
  steps: {
    "quill.css": "quill/dist/quill.snow.css",
    "photoswipe.css": "photoswipe/dist/photoswipe.css",
    "sweetalert2.css": "sweetalert2/dist/sweetalert2.min.css",
  },
  "swiper-lazy": { "swiper.css": "swiper/swiper-bundle.min.css" },
  workbox: {
    "worker/workbox-sw.js": "workbox-sw/build/workbox-sw.js",
    "worker/workbox-core.prod.js": "workbox-core/build/workbox-core.prod.js",
    "worker/workbox-routing.prod.js": "workbox-routing/build/workbox-routing.prod.js",
    "worker/workbox-strategies.prod.js": "workbox-strategies/build/workbox-strategies.prod.js",
  },
};
