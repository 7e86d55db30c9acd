// Returns whether an element that accepts typed text has the focus.
async function run() {
  let at = document.activeElement;
  for (;;) {
    const inner = at && ((at.shadowRoot && at.shadowRoot.activeElement) || (at.contentDocument && at.contentDocument.activeElement));
    if (!inner) break;
    at = inner;
  }
  return !!at && at !== at.ownerDocument.documentElement && (at !== at.ownerDocument.body || at.isContentEditable);
}
