importScripts("/workbox/worker/workbox-sw.js");
workbox.setConfig({ modulePathPrefix: "/workbox/worker/", debug: false });
workbox.loadModule("workbox-core");
workbox.loadModule("workbox-routing");
workbox.loadModule("workbox-strategies");

addEventListener("install", (event) => {
  skipWaiting();
  const fill = async () => {
    const cache = await caches.open("log");
    const answer = await fetch("/api/workbox/log");
    const pages = await answer.json();
    const html = (text) => new Response(text, { headers: { "content-type": "text/html; charset=utf-8" } });
    await Promise.all(pages.map((text, index) => cache.put(`/workbox/log/${index + 1}`, html(text))));
  };
  event.waitUntil(fill());
});
workbox.core.clientsClaim();
workbox.routing.registerRoute(
  ({ url }) => url.pathname.startsWith("/workbox/log/"),
  new workbox.strategies.CacheOnly({ cacheName: "log" }),
);
