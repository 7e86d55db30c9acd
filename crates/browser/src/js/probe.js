// Collects upcoming changes that only the page's own document knows. Runs in an isolated world.
// Returns {animation, fading, refresh, parsed, worker}: see `Answer` in wait/ahead.rs.
async function () {
  const MAX_ANIMATIONS = 50;
  const documents = [document];
  for (const frame of document.querySelectorAll('iframe')) {
    if (documents.length < 10 && frame.contentDocument) documents.push(frame.contentDocument);
  }
  const hasText = (node) => !!node && /\S/.test((node.textContent || '').slice(0, 5000));

  // Milliseconds until the last finite animation of text ends.
  let animation = 0;
  for (const doc of documents) {
    for (const one of doc.getAnimations().slice(0, MAX_ANIMATIONS)) {
      const effect = one.effect;
      if (one.playState !== 'running' || !effect || !hasText(effect.target)) continue;
      const end = effect.getComputedTiming().endTime;
      const rest = (end - one.currentTime) / Math.abs(one.playbackRate || 1);
      if (Number.isFinite(rest)) animation = Math.max(animation, rest);
    }
  }

  // Scripts that fade elements set their opacity repeatedly.
  let fade = globalThis.quarryFade;
  if (!fade || fade.document !== document) {
    fade = globalThis.quarryFade = { document, at: -Infinity };
    new MutationObserver((records) => {
      for (const { target } of records.slice(0, 20)) {
        const opacity = target.style && target.style.opacity;
        if (opacity && opacity > 0 && opacity < 1 && hasText(target)) fade.at = performance.now();
      }
    }).observe(document, { attributes: true, attributeFilter: ['style'], subtree: true });
  }

  const metas = Array.from(document.querySelectorAll('meta[http-equiv="refresh" i]')).slice(0, 3);
  const timing = performance.getEntriesByType('navigation')[0];
  const parsed = timing ? timing.domContentLoadedEventEnd : 0;

  // A service worker that does not control this document yet: pages often reload themselves when it does.
  let worker = false;
  try {
    const none = new Promise((resolve) => setTimeout(resolve, 100, []));
    const found = navigator.serviceWorker && (await Promise.race([navigator.serviceWorker.getRegistrations(), none]));
    worker = !!found && found.length > 0 && !navigator.serviceWorker.controller;
  } catch {
    // Service workers are not allowed here.
  }

  return {
    animation,
    fading: performance.now() - fade.at < 150,
    refresh: metas.map((meta) => meta.content),
    parsed: parsed > 0 ? performance.now() - parsed : 0,
    worker,
  };
}
