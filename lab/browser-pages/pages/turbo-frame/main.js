import * as Turbo from "@hotwired/turbo";

document.addEventListener("turbo:frame-load", async () => {
  const answer = await fetch("/api/turbo-frame/stream", { headers: { Accept: "text/vnd.turbo-stream.html" } });
  Turbo.renderStreamMessage(await answer.text());
});
