// Scrolls the page, or the first match of a selector, by one screen. Returns false if nothing matches.
async function run(selector, sign) {
  let target = selector === null ? null : find(selector)[0];
  if (selector !== null && !target) return false;
  const overflows = (element) => element.scrollHeight > element.clientHeight + 1;
  const scrolls = (element) => overflows(element) && /auto|scroll|overlay/.test(getComputedStyle(element).overflowY);
  const root = document.scrollingElement || document.documentElement;
  if (!target) {
    const inner = document.elementsFromPoint(innerWidth / 2, innerHeight / 2).find(scrolls);
    target = root.scrollHeight > innerHeight + 1 || !inner ? root : inner;
  }
  const isPage = target === root || target === document.body || target === document.documentElement;
  if (!isPage && !scrolls(target)) {
    target.scrollIntoView({ block: sign > 0 ? 'end' : 'start', behavior: 'instant' });
  } else {
    const screen = isPage ? innerHeight : target.clientHeight;
    (isPage ? root : target).scrollBy({ top: sign * screen, behavior: 'instant' });
  }
  await pause(60);
  return true;
}
