// `page`, `context` and `browser` with the API of Playwright; every method maps to a verb of the host
// (crates/browser/src/hands). Runs in the embedded interpreter.
(host) => {
  'use strict';
  const { ask, Locator, FrameLocator, FINDERS, pattern, waits, code, given } = host;

  const state = { load: 'load', domcontentloaded: 'domcontentloaded', networkidle: 'networkidle', commit: 'commit' };
  const stateOf = (name = 'load') => {
    if (!state[name]) throw new TypeError(`unknown load state: ${name}; use one of ${Object.keys(state).join(', ')}`);
    return name;
  };
  const missing = (what, instead) => () => {
    throw new Error(`${what} is not available here${instead ? ': ' + instead : ''}`);
  };
  const WAIT_FOR_SIGHT = 'wait for the visible result with `page.waitForSelector` or `page.waitForFunction`';
  const unheard = (event) => {
    host.print(true, `page.on: the event "${event}" is not supported here\n`);
    return page;
  };
  const response = (answer) =>
    answer && {
      url: () => answer.url,
      status: () => answer.status,
      ok: () => answer.status === 0 || (answer.status >= 200 && answer.status < 300),
      text: () => page.content(),
    };

  // ---- page
  const key =
    (op) =>
    (text, options = {}) =>
      ask('keyboard', { op, text: String(text), delay: options.delay });
  const keyboard = {
    press: key('press'),
    type: key('type'),
    insertText: key('insert'),
    down: key('down'),
    up: key('up'),
  };
  const mouse = {
    move: (x, y) => ask('mouse', { op: 'move', x, y }),
    click: (x, y, options = {}) =>
      ask('mouse', { op: 'click', x, y, button: options.button, count: options.clickCount }),
    dblclick: (x, y, options = {}) => ask('mouse', { op: 'click', x, y, button: options.button, count: 2 }),
    down: (options = {}) => ask('mouse', { op: 'down', button: options.button }),
    up: (options = {}) => ask('mouse', { op: 'up', button: options.button }),
    wheel: (x, y) => ask('mouse', { op: 'wheel', x, y }),
  };
  let size = { width: 1280, height: 720 };
  const page = {
    keyboard,
    mouse,
    goto: async (url, options = {}) =>
      response(await ask('goto', { url: String(url), wait: stateOf(options.waitUntil), ...waits(options) })),
    goBack: async (options) => response(await ask('back', waits(options))),
    goForward: async (options) => response(await ask('forward', waits(options))),
    reload: async (options) => response(await ask('reload', waits(options))),
    url: () => host.place.url,
    title: () => ask('title'),
    content: () => ask('content'),
    setContent: (html, options) => ask('set_content', { html: String(html), ...waits(options) }),
    waitForTimeout: (ms) => ask('sleep', { ms: Number(ms), timeout: 0 }),
    waitForLoadState: (name, options) => ask('wait_load', { state: stateOf(name), ...waits(options) }),
    waitForURL: (url, options = {}) => {
      if (typeof url === 'function')
        return page.waitForFunction(`() => true`).then(() => until(() => url(new URL(page.url())), options));
      return ask('wait_url', {
        url: url instanceof URL ? url.href : pattern(url),
        wait: stateOf(options.waitUntil),
        ...waits(options),
      });
    },
    waitForNavigation: (options) => {
      const before = page.url();
      return until(() => page.url() !== before, options).then(() => ask('wait_load', { state: 'load' }));
    },
    waitForFunction: (work, arg, options) =>
      ask('wait_function', { ...code(work), arg: given(arg), ...waits(options) }),
    waitForSelector: async (selector, options = {}) => {
      const found = page.locator(selector);
      await found.waitFor(options);
      return ['hidden', 'detached'].includes(options.state) ? null : found.first();
    },
    evaluate: (work, arg) => ask('evaluate', { ...code(work), arg: given(arg) }),
    $: (selector) => page.locator(selector).elementHandle(),
    $$: (selector) => page.locator(selector).all(),
    $eval: (selector, work, arg) => page.locator(selector).first().evaluate(work, arg),
    $$eval: (selector, work, arg) => page.locator(selector).evaluateAll(work, arg),
    frameLocator: (selector) => new FrameLocator([{ frame: String(selector) }]),
    screenshot: (options = {}) =>
      ask('screenshot', {
        full_page: Boolean(options.fullPage),
        type: options.type,
        quality: options.quality,
        ...waits(options),
      }),
    setViewportSize: async (wanted) => {
      await ask('viewport', wanted);
      size = { ...wanted };
    },
    viewportSize: () => ({ ...size }),
    snapshot: (options = {}) => ask('snapshot', { interactive: Boolean(options.interactive) }),
    context: () => context,
    mainFrame: () => page,
    isClosed: () => false,
    bringToFront: async () => {},
    close: async () => {},
    setDefaultTimeout: () => {},
    setDefaultNavigationTimeout: () => {},
    on: unheard,
    once: unheard,
    off: () => page,
    removeListener: () => page,
    route: missing('page.route', 'block or change requests with the options of the scrape'),
    exposeFunction: missing('page.exposeFunction'),
    addInitScript: missing('page.addInitScript', 'use `page.evaluate` after `page.goto`'),
    setInputFiles: missing('page.setInputFiles', 'there are no files'),
    waitForEvent: missing('page.waitForEvent', WAIT_FOR_SIGHT),
    waitForResponse: missing('page.waitForResponse', WAIT_FOR_SIGHT),
    waitForRequest: missing('page.waitForRequest', WAIT_FOR_SIGHT),
    pdf: missing('page.pdf', 'use the action `pdf` of a scrape'),
  };
  const until = async (test, options) => {
    const end = host.now() + (options?.timeout ?? 30000);
    while (!(await test())) {
      if (host.now() > end) {
        const error = new Error('timeout: the condition was not met in time');
        error.name = 'TimeoutError';
        throw error;
      }
      await ask('sleep', { ms: 50, timeout: 0 });
    }
  };
  for (const name of Object.keys(FINDERS))
    page[name] = (what, options) => Locator.prototype[name].call({ steps: [] }, what, options);
  const OF_FIRST =
    'click dblclick tap hover fill type press check uncheck setChecked selectOption focus textContent innerText ' +
    'innerHTML inputValue getAttribute isVisible isHidden isEnabled isDisabled isEditable isChecked';
  for (const name of OF_FIRST.split(' ')) {
    page[name] = (selector, ...rest) => {
      const first = page.locator(selector).first();
      return first[name](...rest);
    };
  }

  // ---- context
  const context = {
    pages: () => [page],
    newPage: async () => {
      await page.goto('about:blank');
      return page;
    },
    cookies: (urls) => ask('cookies', { urls: urls === undefined ? [] : [urls].flat().map(String) }),
    addCookies: (cookies) =>
      ask('add_cookies', {
        cookies: cookies.map(({ expires, ...rest }) => (expires > 0 ? { expires, ...rest } : rest)),
      }),
    clearCookies: () => ask('clear_cookies'),
    browser: () => browser,
    close: async () => {},
    setDefaultTimeout: () => {},
    setDefaultNavigationTimeout: () => {},
    route: page.route,
    addInitScript: page.addInitScript,
  };
  const browser = {
    contexts: () => [context],
    newPage: context.newPage,
    newContext: async () => context,
    isConnected: () => true,
    close: async () => {},
  };
  host.page = page;
  for (const [name, value] of Object.entries({ page, context, browser }))
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
};
