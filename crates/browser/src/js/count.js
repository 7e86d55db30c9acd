// Keeps all matches of a selector for js/click.js. Returns their number.
async function run(selector) {
  globalThis.quarryMatches = find(selector);
  return globalThis.quarryMatches.length;
}
