// Keeps all matches of a selector for js/click.js. Returns how many there are.
async function run(selector) {
  globalThis.quarryMatches = find(selector);
  return globalThis.quarryMatches.length;
}
