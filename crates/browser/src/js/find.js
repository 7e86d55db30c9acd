// Functions that all actions share: finds elements by selector, in open shadow roots and same-origin frames too.

// Returns `root` and the documents and shadow roots below it.
function roots(root) {
  const all = [root];
  for (let at = 0; at < all.length && all.length < 2000; at++) {
    for (const element of all[at].querySelectorAll('*')) {
      if (element.shadowRoot) all.push(element.shadowRoot);
      const inner = /^I?FRAME$/.test(element.tagName) && element.contentDocument;
      if (inner && isOurs(inner)) all.push(inner);
    }
  }
  return all;
}

function isOurs(doc) {
  return /^about:/.test(doc.URL) || doc.location.origin === document.location.origin;
}

// Returns all matches; throws if `selector` is invalid. A selector of plain descendants may cross from a host into its
// shadow root.
function find(selector) {
  const everywhere = roots(document);
  const found = everywhere.flatMap((root) => Array.from(root.querySelectorAll(selector)));
  const parts = selector.trim().split(/\s+/);
  if (found.length > 0 || parts.length < 2 || /[>+~,["'(]/.test(selector)) return found;
  let places = everywhere;
  for (const part of parts) {
    const next = new Set();
    for (const place of places) {
      for (const root of inside(place)) for (const element of root.querySelectorAll(part)) next.add(element);
    }
    places = Array.from(next);
  }
  return places;
}

function inside(place) {
  const own = place.shadowRoot ? [place, place.shadowRoot] : [place];
  return place.nodeType === 9 ? own : own.flatMap(roots);
}

function isVisible(element) {
  const box = element.getBoundingClientRect();
  return box.width > 0 && box.height > 0 && element.checkVisibility({ visibilityProperty: true });
}

// Describes the element for error messages.
function name(element) {
  const id = element.id ? '#' + element.id : '';
  const classes = Array.from(element.classList).slice(0, 3).map((one) => '.' + one).join('');
  return ('<' + element.localName + id + classes + '>').slice(0, 100);
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
