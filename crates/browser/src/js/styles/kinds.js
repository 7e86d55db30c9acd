// Part of `styles.js`: classifies elements and reads their styles.

// --- style of an element

/** Returns the border colour of the first side that is drawn. */
function borderOf(style) {
  const drawn = (side) => style[`border${side}Style`] !== 'none' && px(style[`border${side}Width`]) > 0;
  const side = ['Top', 'Left', 'Bottom'].find(drawn);
  return side ? hex(style[`border${side}Color`]) : null;
}

function styleOf(element, kind, box, style) {
  const size = px(style.fontSize);
  const ratio = size && style.lineHeight !== 'normal' ? px(style.lineHeight) / size : 0;
  return {
    kind,
    tag: cut(element.localName, MAX_NAME),
    name: nameOf(element),
    text: kind === 'body' ? '' : textOf(element),
    box,
    color: hex(style.color),
    background: hex(style.backgroundColor),
    gradient: gradient(style.backgroundImage),
    ground: groundOf(element),
    borderColor: borderOf(style),
    radius: cut(style.borderTopLeftRadius, 24),
    font: cut(style.fontFamily, 400),
    size,
    weight: Math.round(px(style.fontWeight)),
    lineHeight: Math.round(ratio * 100) / 100,
    padding: sides(style, 'padding'),
    margin: sides(style, 'margin'),
    gap: px(style.columnGap),
    duration: cut(style.transitionDuration.split(',')[0], 16),
    easing: cut(cut(style.transitionTimingFunction, 200).split(/,(?![^(]*\))/)[0], 60),
    underlined: style.textDecorationLine.includes('underline'),
  };
}

// --- kind of an element

const HEADINGS = /^h[1-6]$/;
const TEXTS = new Set(['p', 'li', 'dd', 'td', 'blockquote']);
const BLOCKS = new Set(('div section article aside main header footer nav ul li form a figure details table'
  + ' blockquote dl').split(' '));
const FIELDS = new Set(['text', 'email', 'search', 'password', 'url', 'tel', 'number', '']);
const named = (element, words) => words.test(`${element.id} ${element.getAttribute('class') ?? ''}`);
// Matches a word at the end of a class, so that parts of a card do not count as cards.
const BUTTON = /(^|[\s_-])(btn|button|cta)($|[\s_-])|Button/;
const CARD = /(^|[\s_-])(card|tile|panel|feature)s?($|\s)/i;
const NOTICE = new RegExp('(^|[\\s_-])(alert|admonition|callout|notice|toast|badge|label|tag|success|warning|danger|error'
  + '|caution)($|\\s)', 'i');
const HEADER = /(^|[\s_-])(header|navbar|topbar|masthead|topnav|site-header)($|\s)/i;
const FOOTER = /(^|[\s_-])(footer|site-footer|colophon)($|\s)/i;

const isPainted = (style) => Boolean(hex(style.backgroundColor)) || style.backgroundImage.includes('gradient(');

/** Whether a link looks like a button: padding on all sides, and a background or border of its own. */
function isPressable(style) {
  const padded = px(style.paddingLeft) >= 6 && px(style.paddingTop) >= 3 && style.display !== 'inline';
  const framed = px(style.borderTopWidth) > 0 && style.borderTopStyle !== 'none' && px(style.borderLeftWidth) > 0;
  return padded && (framed || isPainted(style));
}

function kindOfControl(element, style) {
  const tag = element.localName;
  const role = element.getAttribute('role');
  if (tag === 'button' || role === 'button') return 'button';
  if (tag === 'input') {
    if (['submit', 'button', 'reset'].includes(element.type)) return 'button';
    return FIELDS.has(element.type) ? 'input' : null;
  }
  if (tag === 'textarea' || tag === 'select') return 'input';
  if (tag !== 'a' || !element.hasAttribute('href')) return null;
  const shaped = named(element, BUTTON) || px(style.borderTopLeftRadius) > 0;
  return shaped && isPressable(style) ? 'button' : 'link';
}

function kindOfRegion(element, box) {
  const tag = element.localName;
  const role = element.getAttribute('role');
  const wide = box.width >= width * 0.6;
  const is = (name, part, words) => tag === name || role === part || (BLOCKS.has(tag) && named(element, words));
  if (wide && box.y < 250 && box.height < 400 && is('header', 'banner', HEADER)) return 'header';
  if (wide && is('footer', 'contentinfo', FOOTER)) return 'footer';
  return tag === 'nav' || role === 'navigation' ? 'nav' : null;
}

function kindOfBlock(element, box, style) {
  if (!BLOCKS.has(element.localName)) return null;
  const framed = style.boxShadow !== 'none' || (px(style.borderLeftWidth) > 0 && px(style.borderTopWidth) > 0);
  const sized = box.width > 100 && box.width < width * 0.8 && box.height > 60;
  if (sized && framed && (named(element, CARD) || px(style.borderTopLeftRadius) > 2)) return 'card';
  return isPainted(style) && box.width * box.height > width * 20 ? 'surface' : null;
}

function kindOf(element, box, style) {
  const tag = element.localName;
  if (HEADINGS.test(tag)) return 'heading';
  const found = kindOfControl(element, style) ?? kindOfRegion(element, box);
  if (found) return found;
  if (tag === 'code' || tag === 'pre' || tag === 'kbd') return 'code';
  if (tag === 'small') return 'small';
  if (named(element, NOTICE) && (hex(style.backgroundColor) || px(style.borderLeftWidth) > 0)) return 'notice';
  const block = kindOfBlock(element, box, style);
  return block ?? (TEXTS.has(tag) && room('paragraph') && textOf(element).length > 1 ? 'paragraph' : null);
}
