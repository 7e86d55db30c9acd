// Part of `styles.js`: limits, and conversion of values.

const MAX_MS = 120;
const MAX_WALKED = 6000;
const MAX_DEPTH = 256;
const MAX_VARIABLES = 150;
const MAX_FACES = 60;
const MAX_LOGOS = 12;
const MAX_DRAWINGS = 6;
const MAX_ICONS = 40;
const MAX_RULES = 4000;
const MAX_TEXT = 80;
const MAX_NAME = 120;
const MAX_URL = 2048;
const MAX_EMBEDDED = 16384;
const MAX_BYTES = 220000;
// Maximum number of sampled elements per kind.
const MOST = {
  heading: 40, paragraph: 60, link: 60, button: 50, input: 15, card: 30, surface: 60, nav: 4, header: 4, footer: 4,
  code: 12, small: 10, notice: 24, container: 20, grid: 20,
};

// Reads a property of the document from its prototype: elements can shadow properties such as `document.body`.
const own = (name) => Reflect.get(Document.prototype, name, document);
const call = (name, ...values) => own(name).apply(document, values);
const root = own('documentElement');
const body = own('body') ?? root;
const width = root.clientWidth || innerWidth;
const height = innerHeight;
// The clock starts here, after the layout that the lines above have forced.
const start = performance.now();
const late = (share = 1) => performance.now() - start > MAX_MS * share;
// What is read on a busy machine as well, where MAX_MS alone would leave out a small page: so many elements or rules,
// as long as the time is not over that many times.
const MIN_READ = 100;
const PATIENCE = 6;
const isOver = (read) => late(read < MIN_READ ? PATIENCE : 1);

// --- conversion of values

const canvas = call('createElement', 'canvas');
canvas.width = canvas.height = 1;
const pen = canvas.getContext('2d', { willReadFrequently: true });
const colors = new Map();
const two = (number) => Math.round(number).toString(16).padStart(2, '0');
const solid = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/;

/** Converts a CSS colour to hex; null if it is invisible. */
function hex(css) {
  if (!css || css === 'transparent' || css === 'none') return null;
  if (colors.has(css)) return colors.get(css);
  const parts = solid.exec(css);
  let found = parts && [+parts[1], +parts[2], +parts[3], parts[4] === undefined ? 255 : +parts[4] * 255];
  if (!found && pen && CSS.supports('color', css)) {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = '#000';
    pen.fillStyle = css;
    pen.fillRect(0, 0, 1, 1);
    found = [...pen.getImageData(0, 0, 1, 1).data];
  }
  const text = found && found[3] >= 1
    ? `#${two(found[0])}${two(found[1])}${two(found[2])}${found[3] < 254.5 ? two(found[3]) : ''}` : null;
  if (colors.size < 2000) colors.set(css, text);
  return text;
}

const px = (css) => {
  const number = parseFloat(css);
  return Number.isFinite(number) ? Math.round(number * 100) / 100 : 0;
};
const cut = (text, most) => String(text ?? '').slice(0, most);
const sides = (style, what, end = '') => ['Top', 'Right', 'Bottom', 'Left'].map((side) => px(style[what + side + end]));

/** Returns attributes that hint at the purpose of an element. */
function nameOf(element) {
  const names = ['id', 'class', 'aria-label', 'data-testid'].map((name) => element.getAttribute(name));
  return cut(names.filter(Boolean).map((name) => cut(name, MAX_NAME)).join(' ').replace(/\s+/g, ' '), MAX_NAME);
}

const SILENT = new Set(['style', 'script', 'title']);

/** Returns the beginning of an element's text, without that of drawings. */
function textOf(element) {
  if (element instanceof HTMLInputElement) return cut(element.value || element.placeholder, MAX_TEXT).trim();
  const walker = call('createTreeWalker', element, NodeFilter.SHOW_TEXT);
  let text = '';
  for (let seen = 0; seen < 40 && text.length < 4 * MAX_TEXT && walker.nextNode(); seen += 1) {
    const parent = walker.currentNode.parentElement?.localName;
    if (!SILENT.has(parent)) text += walker.currentNode.data.slice(0, 4 * MAX_TEXT);
  }
  return cut(text.replace(/\s+/g, ' ').trim(), MAX_TEXT);
}

function boxOf(element) {
  const box = element.getBoundingClientRect();
  const [x, y, wide, tall] = [box.left + scrollX, box.top + scrollY, box.width, box.height].map(Math.round);
  return { x, y, width: wide, height: tall };
}

/** Whether the element is visible: neither hidden nor moved off the page, like skip links and closed menus. */
function isSeen(element, box) {
  if (box.width < 2 || box.height < 2) return false;
  if (box.x + box.width <= 0 || box.x >= width || box.y + box.height <= 0) return false;
  return element.checkVisibility?.({ opacityProperty: true, visibilityProperty: true }) ?? true;
}

function above(element) {
  if (element.parentElement) return element.parentElement;
  const top = element.getRootNode();
  return top instanceof ShadowRoot ? top.host : null;
}

/** Returns the colours of a gradient. */
function gradient(image) {
  if (!image.includes('gradient(')) return [];
  const found = image.slice(0, 2000).match(/(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color)\([^()]*\)/g) ?? [];
  return [...new Set(found.slice(0, 12).map(hex).filter(Boolean))].slice(0, 4);
}

// --- background behind a text

const dark = (() => {
  const scheme = getComputedStyle(root).colorScheme;
  return scheme.includes('dark') && (!scheme.includes('light') || matchMedia('(prefers-color-scheme: dark)').matches);
})();
const plain = dark ? [18, 18, 18] : [255, 255, 255];
const grounds = new Map();
const channels = (text) => [1, 3, 5, 7].map((at) => (at < text.length ? parseInt(text.slice(at, at + 2), 16) : 255));

function groundOf(element) {
  const layers = [];
  let at = element;
  let below = plain;
  for (let depth = 0; at && depth < MAX_DEPTH; depth += 1, at = above(at)) {
    if (grounds.has(at)) { below = grounds.get(at); break; }
    const style = getComputedStyle(at);
    const color = hex(style.backgroundColor);
    const [first] = gradient(style.backgroundImage);
    layers.push([at, color, first]);
    if ((color && color.length === 7) || (first && first.length === 7)) break;
  }
  if (!at) below = plain;
  for (const [layer, ...seen] of layers.reverse()) {
    for (const color of seen.filter(Boolean)) {
      const [r, g, b, a] = channels(color);
      below = below.map((old, place) => old + ([r, g, b][place] - old) * (a / 255));
    }
    if (grounds.size < 5000) grounds.set(layer, below);
  }
  return `#${below.map(two).join('')}`;
}
