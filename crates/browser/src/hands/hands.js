// Finds elements and reads or prepares them. Parameters: the steps of a locator, the operation, its argument, and the
// element to start from, if any. Returns { ok: value }, or { wait: reason } if a retry may succeed.
async (steps, op, arg, start) => {
  const norm = (text) => (text ?? '').replace(/[\u200b\u00ad]/g, '').replace(/\s+/g, ' ').trim();
  const SKIPPED = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD']);

  // ---- text matching
  const matcher = (wanted, exact) => {
    if (wanted && typeof wanted === 'object') {
      const pattern = new RegExp(wanted.re, wanted.flags.replace(/[gy]/g, ''));
      return (text) => pattern.test(text);
    }
    const want = norm(String(wanted));
    if (exact) return (text) => text === want;
    return (text) => text.toLowerCase().includes(want.toLowerCase());
  };
  const textOf = (element) => {
    if (element.tagName === 'INPUT' && /^(button|submit|reset)$/.test(element.type)) return norm(element.value);
    return norm(element.textContent);
  };

  // ---- tree traversal, including open shadow roots
  const roots = (root) => {
    const found = [root];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT);
    if (root.shadowRoot) found.push(...roots(root.shadowRoot));
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.shadowRoot) found.push(...roots(node.shadowRoot));
    }
    return found;
  };
  const query = (root, css) => roots(root).flatMap((each) => [...each.querySelectorAll(css)]);
  const parentOf = (node) => node.assignedSlot ?? node.parentNode ?? node.host ?? null;
  const contains = (outer, node) => {
    for (let at = node; at; at = parentOf(at) ?? at.host) if (at === outer) return true;
    return false;
  };

  // ---- roles and names
  const INPUT_ROLES = { button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox',
    radio: 'radio', range: 'slider', number: 'spinbutton', search: 'searchbox', hidden: null };
  const TAG_ROLES = { ARTICLE: 'article', ASIDE: 'complementary', BUTTON: 'button', DIALOG: 'dialog', DETAILS: 'group',
    FIELDSET: 'group', FIGURE: 'figure', FOOTER: 'contentinfo', FORM: 'form', H1: 'heading', H2: 'heading', H3: 'heading',
    H4: 'heading', H5: 'heading', H6: 'heading', HEADER: 'banner', HR: 'separator', IMG: 'img', LI: 'listitem',
    MAIN: 'main', MENU: 'list', METER: 'meter', NAV: 'navigation', OL: 'list', OPTION: 'option', OUTPUT: 'status',
    P: 'paragraph', PROGRESS: 'progressbar', SECTION: 'region', SUMMARY: 'button', TABLE: 'table', TBODY: 'rowgroup',
    TD: 'cell', TEXTAREA: 'textbox', TFOOT: 'rowgroup', TH: 'columnheader', THEAD: 'rowgroup', TR: 'row', UL: 'list' };
  const roleOf = (element) => {
    const given = element.getAttribute('role');
    if (given) return given.trim().split(/\s+/)[0].toLowerCase();
    if (element.tagName === 'INPUT') return element.type in INPUT_ROLES ? INPUT_ROLES[element.type] : 'textbox';
    if (element.tagName === 'A' || element.tagName === 'AREA') return element.hasAttribute('href') ? 'link' : 'generic';
    if (element.tagName === 'SELECT') return element.multiple || element.size > 1 ? 'listbox' : 'combobox';
    if (element.isContentEditable && element.getAttribute('contenteditable') !== null) return 'textbox';
    return TAG_ROLES[element.tagName] ?? 'generic';
  };
  const labelsOf = (element) => {
    const by = element.getAttribute('aria-labelledby');
    const scope = element.getRootNode();
    const named = by ? by.split(/\s+/).map((id) => scope.getElementById?.(id)).filter(Boolean) : [];
    return named.length > 0 ? named : [...(element.labels ?? [])];
  };
  const nameOf = (element) => {
    const labels = labelsOf(element);
    const direct = element.getAttribute('aria-label');
    if (!element.hasAttribute('aria-labelledby') && norm(direct)) return norm(direct);
    if (labels.length > 0) return norm(labels.map((label) => label.textContent).join(' '));
    if (element.tagName === 'IMG' || element.type === 'image') return norm(element.alt || element.title);
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName)) {
      return textOf(element.tagName === 'INPUT' ? element : document.createElement('i'))
        || norm(element.title || element.placeholder);
    }
    const pictures = [...element.querySelectorAll('img[alt], svg title, [aria-label]')];
    const inner = pictures.map((each) => each.alt ?? each.getAttribute('aria-label') ?? each.textContent).join(' ');
    return norm(element.textContent) || norm(inner) || norm(element.title);
  };

  // ---- visibility
  const visible = (element) => {
    if (!element.isConnected || !element.checkVisibility({ visibilityProperty: true })) return false;
    if (element.tagName === 'OPTION') return element.parentElement ? visible(element.parentElement) : false;
    const rect = element.getBoundingClientRect();
    return rect.width > 0 && rect.height > 0 || getComputedStyle(element).display === 'contents';
  };
  const enabled = (element) => !element.matches(':disabled') && !element.closest('[aria-disabled="true"]');

  // ---- locator steps
  const smallest = (candidates) => candidates.filter((one) => !candidates.some((other) => other !== one && one.contains(other)));
  const byText = (root, test) => smallest(query(root, '*').filter((element) =>
    !SKIPPED.has(element.tagName) && !element.closest('head, script, style, noscript, template') && test(textOf(element))));
  const byXpath = (root, path) => {
    const scope = root.nodeType === 9 ? root : root.ownerDocument;
    const found = scope.evaluate(path, root, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
    return Array.from({ length: found.snapshotLength }, (_, at) => found.snapshotItem(at)).filter((node) => node.nodeType === 1);
  };
  const unquote = (text) => text.trim().replace(/^(["'])(.*)\1$/s, '$2');
  const PSEUDO = /:(has-text|text-is|text|visible)(?:\(((?:"[^"]*"|'[^']*'|[^()"'])*)\))?(?![\w-])/;
  const byCss = (root, css) => {
    const special = PSEUDO.exec(css);
    if (!special) return query(root, css);
    const [whole, kind, inner = ''] = special;
    const before = css.slice(0, special.index) || '*';
    const after = css.slice(special.index + whole.length);
    let found = byCss(root, /[\s>+~]$/.test(before) ? before + '*' : before);
    if (kind === 'visible') found = found.filter(visible);
    else {
      const test = matcher(unquote(inner), kind === 'text-is');
      found = found.filter((element) => test(textOf(element)));
      if (kind !== 'has-text') found = smallest(found);
    }
    if (!after) return found;
    if (/^[\s>+~]/.test(after)) return found.flatMap((element) => byCss(element, ':scope' + after));
    return found.filter((element) => byCss(root, '*' + after).includes(element));
  };
  const ATTRIBUTES = { id: 'id', 'data-testid': 'data-testid', 'data-test-id': 'data-test-id', 'data-test': 'data-test' };
  const bySelector = (root, selector) => {
    const parts = selector.split(/\s*>>\s*/);
    if (parts.length > 1) return parts.reduce((found, part) => found.flatMap((each) => bySelector(each, part)), [root]);
    if (/^(\/\/|\.\.|xpath=)/.test(selector)) return byXpath(root, selector.replace(/^xpath=/, ''));
    const [, engine, rest] = /^([a-z-]+)=(.*)$/s.exec(selector) ?? [];
    if (engine === 'text') {
      const pattern = /^\/(.*)\/([a-z]*)$/s.exec(rest);
      if (pattern) return byText(root, matcher({ re: pattern[1], flags: pattern[2] }));
      return byText(root, matcher(unquote(rest), unquote(rest) !== rest.trim()));
    }
    if (engine === 'role') {
      const [, role, name] = /^([a-z]+)(?:\[name=(.*?)i?\])?$/is.exec(rest) ?? [];
      return step([root], { role: role ?? rest, name: name && unquote(name) });
    }
    if (engine in ATTRIBUTES) return query(root, `[${ATTRIBUTES[engine]}=${JSON.stringify(rest)}]`);
    return byCss(root, engine === 'css' ? rest : selector);
  };
  const unique = (found) => {
    const all = [...new Set(found)];
    return all.length < 2 ? all : all.sort((one, other) => {
      const order = one.compareDocumentPosition(other);
      return order & Node.DOCUMENT_POSITION_DISCONNECTED ? 0 : order & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
    });
  };
  const named = (root, one) => {
    const test = one.name === undefined || one.name === null ? () => true : matcher(one.name, one.exact);
    return query(root, '*').filter((element) => roleOf(element) === one.role
      && (one.role !== 'heading' || !one.level || element.tagName === 'H' + one.level || element.ariaLevel === String(one.level))
      && (one.checked === undefined || Boolean(element.checked ?? element.ariaChecked === 'true') === one.checked)
      && (one.includeHidden || visible(element)) && test(nameOf(element)));
  };
  const step = (from, one) => {
    const each = (find) => unique(from.flatMap(find));
    if ('css' in one) return each((root) => bySelector(root, one.css));
    if ('text' in one) return each((root) => byText(root, matcher(one.text, one.exact)));
    if ('role' in one) return each((root) => named(root, one));
    if ('label' in one) {
      const test = matcher(one.label, one.exact);
      return each((root) => query(root, '*').filter((element) => test(norm(element.getAttribute('aria-label')))
        || labelsOf(element).some((label) => test(norm(label.textContent)))));
    }
    if ('attribute' in one) {
      const test = matcher(one.value, one.exact);
      return each((root) => query(root, `[${one.attribute}]`).filter((element) => test(norm(element.getAttribute(one.attribute)))));
    }
    if ('frame' in one) return each((root) => bySelector(root, one.frame)).map((element) => element.contentDocument).filter(Boolean);
    if ('nth' in one) return from.slice(one.nth, one.nth === -1 ? undefined : one.nth + 1);
    if ('hasText' in one) return from.filter((element) => matcher(one.hasText)(textOf(element)));
    if ('hasNotText' in one) return from.filter((element) => !matcher(one.hasNotText)(textOf(element)));
    if ('has' in one) return from.filter((element) => one.has.reduce(step, [element]).length > 0);
    if ('visible' in one) return from.filter((element) => visible(element) === one.visible);
    if ('or' in one) return unique([...from, ...one.or.reduce(step, [document])]);
    if ('and' in one) { const both = new Set(one.and.reduce(step, [document])); return from.filter((element) => both.has(element)); }
    throw new TypeError('no such step: ' + Object.keys(one).join());
  };
  const found = steps.reduce(step, [start ?? document]).filter((node) => node.nodeType === 1);

  // ---- operations on zero or more elements
  const says = {
    count: () => found.length,
    texts: () => found.map((element) => element.textContent),
    inner_texts: () => found.map((element) => element.innerText ?? element.textContent),
    visible: () => found.length > 0 && visible(found[0]),
    hidden: () => found.length === 0 || !visible(found[0]),
    elements: () => found,
  };
  if (op in says) return op === 'elements' ? found : { ok: says[op]() };
  if (op === 'wait') {
    const shown = found.some(visible);
    const there = { attached: found.length > 0, detached: found.length === 0, visible: shown, hidden: !shown }[arg];
    return there ? { ok: true } : { wait: `it is not ${arg}` };
  }
  const element = found[0];
  if (!element) return { wait: 'nothing on the page matches it' };

  // ---- reading one element
  const field = element.tagName === 'LABEL' && element.control ? element.control : element;
  const reads = {
    text: () => element.textContent,
    inner_text: () => element.innerText ?? element.textContent,
    html: () => element.innerHTML,
    outer_html: () => element.outerHTML,
    value: () => field.value ?? field.textContent,
    attribute: () => element.getAttribute(arg),
    enabled: () => enabled(field),
    disabled: () => !enabled(field),
    editable: () => enabled(field) && !field.readOnly,
    checked: () => field.checked ?? field.ariaChecked === 'true',
    tag: () => element.tagName.toLowerCase(),
    role: () => roleOf(element),
    name: () => nameOf(element),
    box: () => { const { x, y, width, height } = element.getBoundingClientRect(); return visible(element) ? { x, y, width, height } : null; },
  };
  if (op in reads) return { ok: reads[op]() };

  // ---- preparing one element for input
  const frames = () => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); setTimeout(done, 200); });
  const offset = (node) => {
    let [x, y] = [0, 0];
    for (let view = node.ownerDocument.defaultView; view?.frameElement; view = view.parent) {
      const rect = view.frameElement.getBoundingClientRect();
      [x, y] = [x + rect.x + view.frameElement.clientLeft, y + rect.y + view.frameElement.clientTop];
    }
    return [x, y];
  };
  const hit = (scope, x, y) => {
    let at = scope.elementFromPoint(x, y);
    while (at?.shadowRoot) { const deeper = at.shadowRoot.elementFromPoint(x, y); if (!deeper || deeper === at) break; at = deeper; }
    return at;
  };
  const short = (node) => `<${node.tagName.toLowerCase()}${node.id ? ' id=' + node.id : ''}>`;
  if (op === 'point') {
    if (!visible(element)) return { wait: 'it is not visible' };
    if (!arg?.force && !enabled(element)) return { wait: 'it is disabled' };
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const before = element.getBoundingClientRect();
    await frames();
    const after = element.getBoundingClientRect();
    if (before.x !== after.x || before.y !== after.y) return { wait: 'it moves' };
    const rects = [...element.getClientRects()].filter((rect) => rect.width > 0 && rect.height > 0);
    const rect = rects[0] ?? after;
    const [x, y] = [Math.min(Math.max(rect.x + rect.width / 2, 0), innerWidth - 1), Math.min(Math.max(rect.y + rect.height / 2, 0), innerHeight - 1)];
    const top = hit(element.ownerDocument, x, y);
    const label = top?.closest?.('label');
    if (!arg?.force && !(top && (contains(element, top) || contains(top, element) && top.contains(element) && top === element.parentElement && getComputedStyle(element).display === 'contents' || label?.control === element))) {
      return { wait: top ? `${short(top)} covers it` : 'it is outside of the window' };
    }
    const [left, above] = offset(element);
    return { ok: { x: x + left, y: y + above } };
  }
  if (op === 'scroll') { element.scrollIntoView({ block: 'center', behavior: 'instant' }); return { ok: true }; }
  if (op === 'scroll_by') { element.scrollBy({ left: arg.x, top: arg.y, behavior: 'instant' }); return { ok: true }; }
  if (op === 'focus') { field.focus(); return { ok: true }; }
  if (op === 'blur') { field.blur(); return { ok: true }; }
  const changed = (node) => { for (const kind of ['input', 'change']) node.dispatchEvent(new Event(kind, { bubbles: true, composed: true })); };
  if (op === 'select') {
    if (field.tagName !== 'SELECT') throw new TypeError(`${short(field)} is not a <select>`);
    if (!visible(field)) return { wait: 'it is not visible' };
    const wants = (option, at, want) => want === null ? false : typeof want !== 'object' ? option.value === want || norm(option.label) === norm(want)
      : Object.entries(want).every(([key, value]) => key === 'index' ? at === value : key === 'label' ? norm(option.label) === norm(value) : option.value === value);
    const options = [...field.options];
    const chosen = options.filter((option, at) => arg.some((want) => wants(option, at, want)));
    if (chosen.length < Math.min(arg.length, 1)) return { wait: 'it has no such option' };
    const taken = field.multiple ? chosen : chosen.slice(0, 1);
    for (const option of options) option.selected = taken.includes(option);
    field.focus();
    changed(field);
    return { ok: taken.map((option) => option.value) };
  }
  if (op === 'fill') {
    if (!visible(field)) return { wait: 'it is not visible' };
    if (!enabled(field)) return { wait: 'it is disabled' };
    if (field.readOnly) return { wait: 'it is read-only' };
    const typed = field.tagName === 'TEXTAREA' || field.isContentEditable
      || field.tagName === 'INPUT' && /^(text|search|url|tel|email|password|number)$/.test(field.type);
    field.focus();
    if (typed) {
      if (field.isContentEditable) getSelection().selectAllChildren(field); else field.select();
      return { ok: 'insert' };
    }
    if (field.tagName !== 'INPUT' || /^(checkbox|radio|file|button|submit|reset|image)$/.test(field.type)) {
      throw new TypeError(`${short(field)} takes no text`);
    }
    field.value = arg;
    if (field.value !== arg) throw new TypeError(`${short(field)} of type ${field.type} does not take this value`);
    changed(field);
    return { ok: 'done' };
  }
  throw new TypeError('no such operation: ' + op);
}
