// Runtime of the code: calls to the host, timers, start and end of a run, and hints for missing globals. Runs in the
// embedded interpreter; `host` is its only access to the outside.
(host) => {
  'use strict';
  const global = globalThis;
  // Saved, as the code may replace them.
  const { parse, stringify } = JSON;
  const define = (name, value) => Object.defineProperty(global, name, { value, writable: true, configurable: true });

  // ---- calls: only some go to the host at a time, the others are queued
  const MAX_OPEN = 8;
  // In characters, each of which may become three bytes.
  const MAX_CALL = 1 << 20;
  let calls = new Map();
  let waiting = [];
  let open = 0;
  let number = 0;
  host.place = { url: '' };
  // Lone surrogates are not valid text outside of JavaScript.
  const wellFormed = (_, value) => (typeof value === 'string' ? value.toWellFormed() : value);
  const send = () => {
    while (open < MAX_OPEN && waiting.length > 0) {
      open += 1;
      host.call(waiting.shift());
    }
  };
  host.ask = (verb, args) =>
    new Promise((resolve, reject) => {
      // Call site of the code, kept for errors: it is off the stack when the answer comes.
      const { stack } = new Error();
      number += 1;
      const line = stringify({ call: { id: number, verb, args: args ?? {} } }, wellFormed);
      if (line.length > MAX_CALL) throw new RangeError('the arguments of the call are too long');
      calls.set(number, { resolve, reject, stack });
      waiting.push(line);
      send();
    });
  // Returns whether the answer belongs to an open call.
  host.settle = (line) => {
    const { answer } = parse(line);
    const call = calls.get(answer.id);
    if (!call) return false;
    calls.delete(answer.id);
    open -= 1;
    send();
    host.place.url = answer.url;
    if (!answer.error) {
      call.resolve(answer.ok === undefined ? null : answer.ok);
      return true;
    }
    const error = new Error(answer.error.message);
    Object.defineProperty(error, 'name', { value: answer.error.name, writable: true, configurable: true });
    Object.defineProperty(error, 'stack', { value: call.stack, writable: true, configurable: true });
    call.reject(error);
    return true;
  };

  // ---- timers
  let timers = new Map();
  let lastTimer = 0;
  const MAX_TIMERS = 10000;
  const timer =
    (repeats) =>
    (work, wait = 0, ...args) => {
      if (typeof work !== 'function') throw new TypeError('The "callback" argument must be of type function');
      if (timers.size >= MAX_TIMERS) throw new RangeError('too many timers');
      const every = Math.max(Number(wait) || 0, 1);
      lastTimer += 1;
      timers.set(lastTimer, { work, args, every, repeats, at: host.now() + every });
      return lastTimer;
    };
  const clear = (id) => {
    timers.delete(id);
  };
  define('setTimeout', timer(false));
  define('setInterval', timer(true));
  define('setImmediate', (work, ...args) => global.setTimeout(work, 0, ...args));
  for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) define(name, clear);
  if (!global.queueMicrotask)
    define('queueMicrotask', (work) => {
      Promise.resolve().then(work);
    });
  host.tick = () => {
    const now = host.now();
    const due = [...timers].filter(([, { at }]) => at <= now).sort((one, other) => one[1].at - other[1].at);
    for (const [id, each] of due) {
      if (!timers.has(id)) continue;
      if (each.repeats) each.at = now + each.every;
      else timers.delete(id);
      try {
        each.work(...each.args);
      } catch (error) {
        host.print(true, host.describe(error).stack + '\n');
      }
    }
    if (due.length > 0) return 0;
    // Repeating timers do not keep a finished run alive.
    const next = Math.min(
      ...[...timers.values()].filter(({ repeats }) => !host.through || !repeats).map(({ at }) => at),
    );
    return Number.isFinite(next) ? Math.max(next - now, 0.1) : -1;
  };

  // ---- start and end of a run
  host.begin = (url, code) => {
    [calls, waiting, open] = [new Map(), [], 0];
    timers = new Map();
    host.place.url = url;
    host.through = false;
    host.imports = /^\s*import\b/m.test(code);
  };
  // Unawaited work is finished first, as in a program; the event loop of the host does this.
  const end = (done) => {
    host.through = true;
    host.done(stringify(done, wellFormed));
  };
  host.watch = (isPromise, value) => {
    const failed = (error) => end({ error: host.describe(error).line, stack: host.describe(error).stack });
    if (!isPromise) return failed(value);
    Promise.resolve(value)
      .then(async (last) => {
        const final = await last?.value;
        end({ result: host.text(final) });
      })
      .catch(failed);
  };

  // ---- small polyfills
  if (!global.structuredClone) {
    define('structuredClone', (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value))));
  }
  if (!global.performance) define('performance', { now: () => host.now(), timeOrigin: Date.now() });
  define('global', global);

  // ---- missing globals, and their replacements
  const INSTEAD = {
    fetch: 'use `await page.evaluate(() => fetch(url).then((answer) => answer.text()))`, or `page.goto(url)`',
    XMLHttpRequest: 'use `page.evaluate` with `fetch` in it, or `page.goto(url)`',
    require: 'there are no modules; `page`, `context` and `console` are there already',
    module: 'there are no modules; the last expression is the result',
    exports: 'there are no modules; the last expression is the result',
    process: 'there is no host; the last expression is the result',
    Buffer: 'use `TextEncoder`, `atob` and `btoa`',
    document: 'use `page.evaluate(() => document…)`',
    window: 'use `page.evaluate(() => window…)`',
    chromium: 'the page is open already: use `page`',
    playwright: 'the page is open already: use `page`',
    puppeteer: 'the page is open already: use `page`',
    fs: 'there are no files',
  };
  host.hint = (error) => {
    const name = /^'?([\w$]+)'? is not defined/.exec(error?.message ?? '')?.[1];
    if (error instanceof ReferenceError && INSTEAD[name]) return `: ${INSTEAD[name]}`;
    if (
      (host.imports && error instanceof SyntaxError) ||
      /could not (load|resolve) module|resolving module|loading module/i.test(error?.message ?? '')
    )
      return `: ${INSTEAD.require}`;
    return '';
  };
};
