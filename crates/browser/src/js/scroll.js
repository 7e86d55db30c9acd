// Scrolls the page. Runs in a world of its own. `what`: "measure" says whether something waits to be scrolled to,
// "step" goes one screen on, "back" to the start. Returns {top, height, window, marks}.
async function (what) {
  const MARKS = '[loading="lazy"], [hx-trigger*="revealed"], [hx-trigger*="intersect"], [x-intersect], [v-intersect], ' +
    '[data-src], [data-srcset], [data-lazy], [data-bg], .lazyload, .lazy, .infinite-scroll, [infinite-scroll], .sentinel, [data-infinite]';
  const root = document.scrollingElement || document.documentElement;
  const overflows = (element) => element.scrollHeight > element.clientHeight + 10;
  // Some pages scroll a part of themselves that fills the window.
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
    // Nothing is left to scroll, which a page that fetches more at its end learns by the event alone.
    if (scroller.scrollTop === before) document.dispatchEvent(new Event('scroll', { bubbles: true }));
  }
  if (what === 'back') scroller.scrollTo({ top: 0, behavior: 'instant' });
  // Observers of what comes into view are told after the next frame.
  if (what !== 'measure') await new Promise((resolve) => setTimeout(resolve, 50));
  const marks = what === 'measure' && document.querySelector(MARKS) !== null;
  return { top: scroller.scrollTop, height: scroller.scrollHeight, window, marks };
}
