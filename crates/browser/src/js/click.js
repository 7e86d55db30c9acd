// Waits until an element can be clicked, for at most `patience` ms, and returns its position. `nth` is null for the
// first
// match, otherwise an index in the list kept by js/count.js. Returns {x, y} in CSS pixels of the window, {problem}, or
// {skip: true}.
async function run(selector, nth, patience) {
  const end = performance.now() + patience;
  let problem = '';
  for (;;) {
    const element = nth === null ? pick(selector) : (globalThis.quarryMatches || [])[nth];
    if (nth !== null && !(element && element.isConnected && isVisible(element))) return { skip: true };
    if (!element) problem = 'no element matches';
    else if (!isVisible(element)) problem = 'the element cannot be seen';
    else {
      const spot = await aim(element, end);
      if (spot.x !== undefined) return spot;
      problem = spot.problem;
    }
    if (performance.now() >= end) return { problem };
    await pause(50);
  }
}

function pick(selector) {
  const found = find(selector);
  const first = found.find(isVisible) || found[0];
  // A hidden checkbox or radio button is clicked at its visible label.
  if (first && !isVisible(first) && first.labels) return Array.from(first.labels).find(isVisible) || first;
  return first;
}

async function aim(element, end) {
  element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
  let box = element.getBoundingClientRect();
  // Waits until the position is stable; an element that never stands still is clicked where it is.
  for (const restless = performance.now() + 1000; performance.now() < Math.min(restless, end); ) {
    await pause(30);
    const next = element.getBoundingClientRect();
    const isStill = next.x === box.x && next.y === box.y && next.width === box.width && next.height === box.height;
    box = next;
    if (isStill) break;
  }
  const line = Array.from(element.getClientRects()).find((one) => one.width > 0 && one.height > 0) || box;
  let cover = null;
  for (const [x, y] of [[0.5, 0.5], [0.25, 0.25], [0.75, 0.75], [0.25, 0.75], [0.75, 0.25]]) {
    const spot = { x: line.left + line.width * x, y: line.top + line.height * y };
    const hit = hits(element, spot);
    if (hit === true) return onScreen(element.ownerDocument.defaultView, spot);
    cover = cover || hit;
  }
  return { problem: cover ? 'the element is covered by ' + name(cover) : 'the element is outside of the window' };
}

// Returns true if a click at the spot, in the element's own window, reaches the element; otherwise what covers it, or
// null.
function hits(element, spot) {
  let view = element.ownerDocument.defaultView;
  let hit = deepest(view.document, spot);
  if (!hit) return null;
  const label = hit.closest && hit.closest('label');
  if (!contains(element, hit) && !(label && label.control === element)) return hit;
  for (let at = spot; view !== window; view = view.parent) {
    at = outside(view, at);
    hit = deepest(view.parent.document, at);
    if (hit !== view.frameElement) return hit;
  }
  return true;
}

function deepest(root, { x, y }) {
  let hit = root.elementFromPoint(x, y);
  while (hit && hit.shadowRoot) {
    const inner = hit.shadowRoot.elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
}

function contains(element, hit) {
  for (let at = hit; at; at = at.assignedSlot || at.parentNode || at.host) if (at === element) return true;
  return false;
}

// Converts a spot from a frame's window to the window around it.
function outside(view, { x, y }) {
  const frame = view.frameElement;
  const box = frame.getBoundingClientRect();
  const style = view.parent.getComputedStyle(frame);
  return { x: x + box.left + frame.clientLeft + parseFloat(style.paddingLeft), y: y + box.top + frame.clientTop + parseFloat(style.paddingTop) };
}

function onScreen(view, spot) {
  let at = spot;
  for (; view !== window; view = view.parent) at = outside(view, at);
  return at;
}
