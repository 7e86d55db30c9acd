// Samples the look of a page: computed styles of typical elements, by their role in the page.
//
// Runs in an isolated world, so functions that the page has put on prototypes are never called. Named elements of a
// form or document can still shadow properties; that affects only the element concerned. Changes nothing, stops after
// MAX_MS, or PATIENCE times that for the first MIN_READ elements, and limits the number and length of its results.
// Colours are `#rrggbb` or `#rrggbbaa` in sRGB, lengths are numbers of CSS pixels, positions are relative to the page.
// Read by `branding::Sample`.
//
// This is the end of a function that begins with the files in the folder `styles`, in the order of `styles.rs`.

// --- declarations of the page itself

const ROLE = new RegExp('primary|secondary|accent|brand|success|warning|danger|error|link|background|(^|-)bg|text|(^|-)fg'
  + '|foreground|theme', 'i');
const OTHERS = /hover|active|focus|-rgb|subtle|emphasis|shadow|border|mermaid|transparent|-code/i;
const NO_COLOR = /^(inherit|initial|unset|revert|revert-layer|currentcolor)$/i;

/** Custom properties whose name is a role and whose value is a colour in any notation. */
function variables() {
  const found = [];
  let seen = 0;
  for (const [name, value] of body.computedStyleMap?.() ?? []) {
    seen += 1;
    if (found.length >= MAX_VARIABLES || seen > 6000 || (seen % 64 === 0 && late(0.6))) break;
    if (!name.startsWith('--') || name.length > 64 || !ROLE.test(name) || OTHERS.test(name)) continue;
    const text = String(value[0] ?? '').trim();
    if (!text || text.length > 80) continue;
    const color = [text, `hsl(${text})`, `rgb(${text})`].find((one) => CSS.supports('color', one) && !NO_COLOR.test(one));
    if (color && hex(color)) found.push({ name, color: hex(color) });
  }
  return found;
}

/** Families of loaded web fonts. */
function loadedFaces() {
  const families = new Set();
  let seen = 0;
  for (const face of own('fonts')) {
    seen += 1;
    if (families.size >= MAX_FACES || seen > 1000) break;
    if (face.status === 'loaded') families.add(cut(face.family.replace(/^["']|["']$/g, ''), 80));
  }
  return [...families].map((family) => ({ family }));
}

// Sampled first, because they reveal most in the least time.
const faces = loadedFaces();
const roles = variables();

// --- traversal of the elements

const elements = [];
const logos = [];
const icons = [];
const containers = [];
const grids = [];
const count = {};
const room = (kind) => (count[kind] ?? 0) < (MOST[kind] ?? MOST_FRAMED[kind.slice('framed '.length)]);
const add = (kind) => { count[kind] = (count[kind] ?? 0) + 1; };
const encoder = new TextEncoder();
let left = MAX_BYTES;

/** Adds an entry if the size limit allows it. */
function put(list, one) {
  const size = encoder.encode(JSON.stringify(one)).length;
  if (size > left) return;
  left -= size;
  list.push(one);
}

function note(element, box, style) {
  if (style.display.endsWith('grid') && room('grid')) {
    const columns = cut(style.gridTemplateColumns, 2000).split(' ').filter((part) => /^[\d.]+px$/.test(part)).length;
    if (columns > 1) {
      put(grids, { columns, gap: px(style.columnGap), width: box.width });
      add('grid');
    }
  }
  const centred = Math.abs(box.x - (width - box.x - box.width)) < 40 && box.width < width - 16 && box.height > 100;
  if (centred && px(style.maxWidth) > 300 && style.maxWidth.endsWith('px') && room('container')) {
    put(containers, { maxWidth: px(style.maxWidth), width: box.width, height: box.height });
    add('container');
  }
}

const FRAME = 'nav, header, footer, aside, [role=navigation], [role=banner], [role=contentinfo]';
// Limits for elements in the frame of the page, which comes first and is repetitive.
const MOST_FRAMED = { link: 25, paragraph: 15, button: 20 };

/** Whether the element belongs to the frame of the page. A wide element with "sidebar" in its class is the page itself. */
function isFramed(element) {
  const side = element.closest('[class*=sidebar i]');
  return Boolean(element.closest(FRAME)) || (side !== null && side.getBoundingClientRect().width < width * 0.4);
}

function look(element) {
  const box = boxOf(element);
  if (!isSeen(element, box)) return;
  const style = getComputedStyle(element);
  const drawn = element.localName === 'svg' || PRINTED.has(element.localName);
  const logo = logos.length < MAX_LOGOS ? logoOf(element, box, style) : null;
  if (logo && left > MAX_BYTES / 2) put(logos, logo);
  const icon = !logo && drawn && icons.length < MAX_ICONS ? iconOf(element, box, style) : null;
  if (icon) put(icons, icon);
  if (element.namespaceURI !== 'http://www.w3.org/1999/xhtml') return;
  note(element, box, style);
  const kind = kindOf(element, box, style);
  if (!kind) return;
  const framed = kind in MOST_FRAMED && isFramed(element);
  const counted = framed ? `framed ${kind}` : kind;
  if (!room(counted)) return;
  put(elements, { ...styleOf(element, kind, box, style), framed });
  add(counted);
}

// The traversal may end before the footer of a long page, so that is sampled first.
const foot = call('querySelector', 'footer, [role=contentinfo]');
try { if (foot) look(foot); } catch { /* Left out like any other. */ }

const stack = [body];
const SKIPPED = new Set(['script', 'style', 'template', 'noscript', 'iframe', 'object', 'video', 'canvas']);
let walked = 0;
while (stack.length && walked < MAX_WALKED && !isOver(walked)) {
  const element = stack.pop();
  walked += 1;
  // An element whose properties are shadowed by its own fields is skipped.
  try { if (element !== body) look(element); } catch { continue; }
  if (element.localName === 'svg') continue;
  const below = [];
  for (const inside of [element, element.shadowRoot]) {
    let child = inside?.firstElementChild;
    for (; child && stack.length + below.length < 2 * MAX_WALKED; child = child.nextElementSibling) {
      if (!SKIPPED.has(child.localName)) below.push(child);
    }
  }
  stack.push(...below.reverse());
}

// --- other values

const FIELD = 'input:not([type=hidden], [type=checkbox], [type=radio], [type=submit], [type=button]), textarea';
const FOCUS = /:focus(-visible)?\s*$/;

/** Reduces a list of selectors to those that match a focused element, without their `:focus`. */
function focused(selectors) {
  const ends = selectors.split(',').filter((one) => FOCUS.test(one)).map((one) => one.replace(FOCUS, '').trim());
  return ends.filter((one) => /[\w\]]$/.test(one)).join(',');
}

/** Returns the first colour in values such as `2px solid red`. */
function colorIn(values) {
  const words = values.flatMap((value) => value.match(/[a-z]+\([^()]*\)|#[0-9a-f]+|[a-z]+/gi) ?? []);
  return words.slice(0, 20).map((word) => (NO_COLOR.test(word) ? null : hex(word))).find(Boolean);
}

/** Returns the colour of a focused field, as far as same-origin style sheets define it. */
function focusColor() {
  const field = elements.some((one) => one.kind === 'input') && call('querySelector', FIELD);
  if (!field) return null;
  const style = getComputedStyle(field);
  const value = (name) => style.getPropertyValue(name).trim() || 'x';
  const filled = (css) => cut(css, 200).replace(/var\(\s*(--[\w-]+)[^)]*\)/g, (_, name) => value(name));
  let rulesRead = 0;
  let found = null;
  for (const sheet of [...own('styleSheets')].slice(0, 40)) {
    let rules = [];
    try { rules = sheet.cssRules; } catch { continue; }
    for (let at = 0; at < rules.length && rulesRead < MAX_RULES && !isOver(rulesRead); at += 1, rulesRead += 1) {
      const selectors = rules[at].selectorText;
      if (!selectors?.includes(':focus') || selectors.length > 1000) continue;
      const bare = focused(selectors);
      try { if (!bare || !field.matches(bare)) continue; } catch { continue; }
      const { border, borderColor, outline, outlineColor } = rules[at].style;
      found = colorIn([borderColor, border, outlineColor, outline].map(filled)) ?? found;
    }
  }
  return found;
}

const bodyStyle = getComputedStyle(body);
const rootGround = hex(getComputedStyle(root).backgroundColor);
return {
  viewport: { width, height },
  dark,
  ground: rootGround?.length === 7 && !hex(bodyStyle.backgroundColor) ? rootGround : groundOf(body),
  body: styleOf(body, 'body', boxOf(body), bodyStyle),
  variables: roles,
  faces,
  elements,
  logos,
  icons,
  containers,
  grids,
  focusColor: focusColor(),
  walked,
  milliseconds: Math.round(performance.now() - start),
};
