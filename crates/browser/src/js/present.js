// Waits for a visible match for `patience` ms; elements that are never drawn, such as `meta`, only have to exist.
async function run(selector, patience) {
  const isNeverDrawn = (element) => /^(head|meta|title|link|script|style|template|base)$/.test(element.localName) ||
    element.type === 'hidden' || !!element.closest('head');
  for (const end = performance.now() + patience; ; ) {
    if (find(selector).some((element) => isVisible(element) || isNeverDrawn(element))) return true;
    if (performance.now() >= end) return false;
    await pause(50);
  }
}
