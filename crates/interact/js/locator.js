// Locators with the API of Playwright: finding elements and acting on them. Each is a list of steps for
// crates/browser/src/hands/hands.js. Runs in the embedded interpreter.
(host) => {
  'use strict';
  const { ask } = host;

  // ---- arguments
  const pattern = (value) => (value instanceof RegExp ? { re: value.source, flags: value.flags } : value);
  const waits = (options) => (options?.timeout === undefined ? {} : { timeout: Number(options.timeout) });
  const code = (work) => {
    if (typeof work === 'function') {
      const text = Function.prototype.toString.call(work);
      // Method shorthand has no `function` keyword, so it is added.
      return {
        function: true,
        code: /^(async\b\s*)?(function|class|\(|[\w$]+\s*=>)/.test(text)
          ? text
          : text.replace(/^(async\s+)?/, '$1function '),
      };
    }
    return { function: false, code: String(work) };
  };
  const given = (arg) => {
    if (arg === undefined) return null;
    const text = JSON.stringify(arg, (_, value) => {
      if (value instanceof Locator) throw new TypeError('an element cannot be an argument; use `locator.evaluate`');
      return value;
    });
    return text === undefined ? null : JSON.parse(text);
  };

  // ---- finding
  const byRole = (role, options = {}) => ({ role: String(role), ...options, name: pattern(options.name) });
  const byText = (text, options = {}) => ({ text: pattern(text), exact: options.exact });
  const byAttribute =
    (attribute) =>
    (value, options = {}) => ({ attribute, value: pattern(value), exact: options.exact });
  const FINDERS = {
    locator: (selector) => ({ css: String(selector) }),
    getByRole: byRole,
    getByText: byText,
    getByLabel: (label, options = {}) => ({ label: pattern(label), exact: options.exact }),
    getByPlaceholder: byAttribute('placeholder'),
    getByAltText: byAttribute('alt'),
    getByTitle: byAttribute('title'),
    getByTestId: (id) => ({ attribute: 'data-testid', value: pattern(id), exact: true }),
  };
  const filters = (options = {}) => [
    ...(options.hasText === undefined ? [] : [{ hasText: pattern(options.hasText) }]),
    ...(options.hasNotText === undefined ? [] : [{ hasNotText: pattern(options.hasNotText) }]),
    ...(options.has === undefined ? [] : [{ has: options.has.steps }]),
    ...(options.visible === undefined ? [] : [{ visible: options.visible }]),
  ];

  class Locator {
    constructor(steps) {
      Object.defineProperty(this, 'steps', { value: steps });
    }
    #do(op, arg, options) {
      return ask('element', { steps: this.steps, op, arg: arg ?? null, ...waits(options) });
    }
    #with(...steps) {
      return new Locator([...this.steps, ...steps]);
    }
    page() {
      return host.page;
    }
    first() {
      return this.nth(0);
    }
    last() {
      return this.nth(-1);
    }
    nth(at) {
      return this.#with({ nth: Number(at) });
    }
    filter(options) {
      return this.#with(...filters(options));
    }
    or(other) {
      return this.#with({ or: other.steps });
    }
    and(other) {
      return this.#with({ and: other.steps });
    }
    frameLocator(selector) {
      return new FrameLocator([...this.steps, { frame: String(selector) }]);
    }
    contentFrame() {
      return new FrameLocator([...this.steps.slice(0, -1), { frame: this.steps.at(-1).css ?? 'iframe' }]);
    }
    async all() {
      return Array.from({ length: await this.count() }, (_, at) => this.nth(at));
    }
    count() {
      return this.#do('count');
    }
    click(options = {}) {
      return this.#do('click', { button: options.button, count: options.clickCount, force: options.force }, options);
    }
    dblclick(options = {}) {
      return this.#do('click', { button: options.button, count: 2, force: options.force }, options);
    }
    tap(options = {}) {
      return this.click(options);
    }
    hover(options = {}) {
      return this.#do('hover', { force: options.force }, options);
    }
    fill(text, options) {
      return this.#do('fill', String(text), options);
    }
    clear(options) {
      return this.fill('', options);
    }
    type(text, options) {
      return this.#do('type', String(text), options);
    }
    pressSequentially(text, options) {
      return this.type(text, options);
    }
    press(key, options) {
      return this.#do('press', String(key), options);
    }
    check(options = {}) {
      return this.#do('check', { checked: true, force: options.force }, options);
    }
    uncheck(options = {}) {
      return this.#do('check', { checked: false, force: options.force }, options);
    }
    setChecked(checked, options = {}) {
      return this.#do('check', { checked: Boolean(checked), force: options.force }, options);
    }
    selectOption(values, options) {
      return this.#do(
        'select',
        [values].flat().map((each) => (each instanceof Locator ? null : each)),
        options,
      );
    }
    focus(options) {
      return this.#do('focus', null, options);
    }
    blur(options) {
      return this.#do('blur', null, options);
    }
    scrollIntoViewIfNeeded(options) {
      return this.#do('scroll', null, options);
    }
    textContent(options) {
      return this.#do('text', null, options);
    }
    innerText(options) {
      return this.#do('inner_text', null, options);
    }
    innerHTML(options) {
      return this.#do('html', null, options);
    }
    inputValue(options) {
      return this.#do('value', null, options);
    }
    getAttribute(name, options) {
      return this.#do('attribute', String(name), options);
    }
    allTextContents() {
      return this.#do('texts');
    }
    allInnerTexts() {
      return this.#do('inner_texts');
    }
    isVisible() {
      return this.#do('visible');
    }
    isHidden() {
      return this.#do('hidden');
    }
    isEnabled(options) {
      return this.#do('enabled', null, options);
    }
    isDisabled(options) {
      return this.#do('disabled', null, options);
    }
    isEditable(options) {
      return this.#do('editable', null, options);
    }
    isChecked(options) {
      return this.#do('checked', null, options);
    }
    boundingBox(options) {
      return this.#do('box', null, options);
    }
    waitFor(options = {}) {
      return this.#do('wait', options.state ?? 'visible', options).then(() => {});
    }
    evaluate(work, arg, options) {
      return this.#do('evaluate', { code: this.#function(work), arg: given(arg) }, options);
    }
    evaluateAll(work, arg) {
      return this.#do('evaluate', { code: this.#function(work), arg: given(arg), all: true });
    }
    #function(work) {
      const { function: isFunction, code: text } = code(work);
      return isFunction ? text : `() => (${text}\n)`;
    }
    screenshot(options = {}) {
      return ask('screenshot', {
        type: options.type,
        quality: options.quality,
        element: { steps: this.steps, op: 'box' },
        ...waits(options),
      });
    }
    $(selector) {
      return this.locator(selector).elementHandle();
    }
    $$(selector) {
      return this.locator(selector).all();
    }
    async elementHandle() {
      return (await this.count()) > 0 ? this.first() : null;
    }
    elementHandles() {
      return this.all();
    }
    toString() {
      return `Locator@${JSON.stringify(this.steps)}`;
    }
  }
  class FrameLocator {
    constructor(steps) {
      Object.defineProperty(this, 'steps', { value: steps });
    }
    frameLocator(selector) {
      return new FrameLocator([...this.steps, { frame: String(selector) }]);
    }
    owner() {
      return new Locator([...this.steps.slice(0, -1), { css: this.steps.at(-1).frame }]);
    }
  }
  for (const [name, step] of Object.entries(FINDERS)) {
    const find = function (what, options) {
      return new Locator([...(this.steps ?? []), step(what, options), ...filters(name === 'locator' ? options : {})]);
    };
    for (const kind of [Locator, FrameLocator]) Object.defineProperty(kind.prototype, name, { value: find });
  }

  Object.assign(host, { Locator, FrameLocator, FINDERS, pattern, waits, code, given });
};
