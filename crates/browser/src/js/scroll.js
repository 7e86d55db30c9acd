// Scrolls the page. Runs in an isolated world. `what`: "measure" returns whether elements are marked as loading lazily,
// "step" scrolls by one screen, "back" to the start. Returns {top, height, window, marks}.
async function (what) {
  const MARKS = '[loading="lazy"], [hx-trigger*="revealed"], [hx-trigger*="intersect"], [x-intersect], [v-intersect], ' +
    '[data-src], [data-srcset], [data-lazy], [data-bg], .lazyload, .lazy, .infinite-scroll, [infinite-scroll], .sentinel, [data-infinite]';
  const root = document.scrollingElement || document.documentElement;
  const overflows = (element) => element.scrollHeight > element.clientHeight + 10;
  // On some pages an element that fills the window scrolls instead of the document.
  const inner = () => {
    const all = document.elementsFromPoint(innerWidth / 2, innerHeight / 2);
    return all.find((element) => element !== root && overflows(element) && element.clientHeight > innerHeight / 2 &&
      /auto|scroll/.test(getComputedStyle(element).overflowY));
  };
  const scroller = root && root.scrollHeight > innerHeight + 10 ? root : inner() || root;
  if (!scroller) return { top: 0, height: 0, window: 0, marks: false };
  const window = scroller === root ? innerHeight : scroller.clientHeight;
  if (what === 'step') {
    const before = scroller.scrollTop;
    scroller.scrollTo({ top: before + window * 0.9, behavior: 'instant' });
    // At the end nothing moves, so the browser fires no event; pages that load more at their end listen for it.
    if (scroller.scrollTop === before) document.dispatchEvent(new Event('scroll', { bubbles: true }));
  }
  if (what === 'back') scroller.scrollTo({ top: 0, behavior: 'instant' });
  // Intersection observers are notified after the next frame.
  if (what !== 'measure') await new Promise((resolve) => setTimeout(resolve, 50));
  const marks = what === 'measure' && document.querySelector(MARKS) !== null;
  return { top: scroller.scrollTop, height: scroller.scrollHeight, window, marks };
}
