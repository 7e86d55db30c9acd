// Part of `styles.js`: finds logos and icons.

const LOGO = /logo|(^|[\s_-])brand(ing)?($|[\s_-])|site-?title|wordmark/i;
const SVG = 'http://www.w3.org/2000/svg';
const SHAPES = new Set(('svg g path rect circle ellipse line polyline polygon defs linearGradient radialGradient stop'
  + ' clipPath mask use symbol text tspan title').split(' '));
const KEPT = new Set(('id d x y x1 x2 y1 y2 cx cy r rx ry fx fy width height points viewBox preserveAspectRatio transform'
  + ' offset gradientTransform gradientUnits clipPathUnits maskUnits clip-path clip-rule fill-rule mask opacity'
  + ' fill-opacity stroke-width stroke-linecap stroke-linejoin font-size font-family font-weight'
  + ' text-anchor').split(' '));
const MAX_SHAPES = 300;

/** Copies computed fill and stroke: a colour, `none`, or a gradient of the same drawing. */
function paint(from, to) {
  const style = getComputedStyle(from);
  if (from.localName === 'stop') to.setAttribute('stop-color', hex(style.stopColor) ?? '#000000');
  for (const name of from.localName === 'stop' ? [] : ['fill', 'stroke']) {
    const inside = /^url\("?(#[\w:.-]{1,80})"?\)/.exec(style[name])?.[1];
    to.setAttribute(name, inside ? `url(${inside})` : hex(style[name]) ?? 'none');
  }
}

/** Returns the shape that a `<use>` refers to, within the same document. */
function shownBy(use) {
  const id = /^#([\w:.-]{1,80})$/.exec(use.getAttribute('href') ?? use.getAttribute('xlink:href') ?? '')?.[1];
  return id ? use.getRootNode().getElementById(id) : null;
}

/** Converts a drawing to a standalone file of shapes and paint, without scripts or links. Empty if it is too large. */
function drawing(svg) {
  let left = MAX_SHAPES;
  let box = svg.getAttribute('viewBox');
  const copy = (from, depth, uses) => {
    left -= 1;
    if (left < 0 || depth > 40 || !SHAPES.has(from.localName)) return null;
    // Limited, because a shape can refer to itself, directly or indirectly.
    const source = from.localName === 'use' && uses < 4 ? shownBy(from) : null;
    if (from.localName === 'use' && !source) return null;
    if (source?.localName === 'symbol') box = box ?? source.getAttribute('viewBox');
    const to = call('createElementNS', SVG, source || from.localName === 'symbol' ? 'g' : from.localName);
    for (const { name, value } of from.attributes) {
      if (KEPT.has(name) && value.length < MAX_EMBEDDED && !/url\((?!["']?#)/i.test(value)) to.setAttribute(name, value);
    }
    paint(from, to);
    for (const child of source ? [source] : from.childNodes) {
      const made = child.nodeType === Node.ELEMENT_NODE ? copy(child, depth + 1, uses + (source ? 1 : 0)) : null;
      if (made) to.append(made);
      const isText = child.nodeType === Node.TEXT_NODE && ['text', 'tspan', 'title'].includes(from.localName);
      if (isText) to.append(child.data.slice(0, 200));
    }
    return to;
  };
  const made = copy(svg, 0, 0);
  if (!made || left < 0) return '';
  const seen = svg.getBoundingClientRect();
  made.setAttribute('width', String(Math.round(seen.width)));
  made.setAttribute('height', String(Math.round(seen.height)));
  if (box) made.setAttribute('viewBox', box);
  const text = new XMLSerializer().serializeToString(made);
  return text.length <= MAX_EMBEDDED ? text : '';
}

const pictureOf = (image) => /url\("?([^")]+)"?\)/.exec(image.slice(0, MAX_EMBEDDED))?.[1] ?? '';
const whole = (url) => (url.startsWith('data:') ? url.length <= MAX_EMBEDDED : url.length <= MAX_URL) ? url : '';

/** Classifies a link: `home`, `away` from this site, or elsewhere on the `site`. */
function leads(link) {
  try {
    const to = new URL(link.href);
    if (to.origin !== location.origin) return 'away';
    const folder = to.pathname.replace(/index\.\w+$/, '');
    const isAbove = folder.endsWith('/') && location.pathname.startsWith(folder) && !to.search;
    return folder === '/' || isAbove ? 'home' : 'site';
  } catch { return 'site'; }
}

const TOP = 'header, nav, [role=banner], [class*=header i], [class*=navbar i], [class*=topbar i]';

/** Returns the text alternatives of a picture. */
function saidOf(element) {
  const words = [element.getAttribute('alt'), element.getAttribute('aria-label')];
  if (element.localName === 'svg') words.push(element.querySelector('title')?.textContent);
  return cut(words.filter(Boolean).map((word) => cut(word, MAX_TEXT)).join(' '), MAX_TEXT);
}

function logoOf(element, box, style) {
  const tag = element.localName;
  const background = pictureOf(style.backgroundImage) || pictureOf(style.maskImage ?? '');
  if (tag !== 'img' && tag !== 'svg' && !(background && named(element, LOGO))) return null;
  const link = element.closest('a[href]');
  const near = [element, element.parentElement, link, link?.parentElement].filter(Boolean);
  const text = saidOf(element);
  const picture = tag === 'img' ? element.currentSrc || element.src : background;
  const url = tag === 'svg' ? '' : whole(picture);
  const file = url.startsWith('data:') ? '' : url.slice(-MAX_TEXT);
  const top = Boolean(element.closest(TOP));
  const hint = near.some((one) => LOGO.test(nameOf(one))) || LOGO.test(text) || LOGO.test(file);
  const where = link ? leads(link) : '';
  if (!hint && where !== 'home' && !(top && box.y < 200 && box.width > 40)) return null;
  const svg = tag === 'svg' && logos.length < MAX_DRAWINGS ? drawing(element) : '';
  return { tag, url, svg, text, box, top, hint, leads: where };
}

const FONT_ICON = /(^|\s)(fa[bsrl]?|bi|icon|material-icons|material-symbols-\w+|glyphicon|ti|ri|mdi|octicon)([\s-]|$)/;
const PRINTED = new Set(['i', 'span']);

function iconOf(element, box, style) {
  if (box.width < 8 || box.width > 64 || box.height < 8 || box.height > 64) return null;
  if (PRINTED.has(element.localName)) {
    const isIcon = FONT_ICON.test(element.getAttribute('class') ?? '') && !element.firstElementChild;
    return isIcon ? { style: 'font', color: hex(style.color) } : null;
  }
  if (element.localName !== 'svg') return null;
  const shape = element.querySelector('path, circle, rect, line, polyline, polygon, use') ?? element;
  const { fill, stroke } = getComputedStyle(shape);
  const outline = hex(stroke) && !hex(fill);
  return { style: outline ? 'outline' : 'filled', color: hex(outline ? stroke : fill) };
}
