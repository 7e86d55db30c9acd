import { Workbox } from "workbox-window";

const root = document.getElementById("root");
const worker = new Workbox("worker/sw.js", { scope: "/workbox/" });

async function show() {
  const answer = await fetch("/workbox/log/2");
  root.innerHTML = await answer.text();
}

if (navigator.serviceWorker.controller) {
  show();
} else {
  root.textContent = "Installing";
  worker.addEventListener("controlling", () => location.reload());
}
worker.register();
