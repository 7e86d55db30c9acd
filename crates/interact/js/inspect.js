// `console`, errors, and values formatted as text in the style of Node. Runs in the embedded interpreter.
(host) => {
  'use strict';
  const MAX_ITEMS = 100;
  const WIDTH = 72;

  const quoted = (text) => {
    const mark = !text.includes("'")
      ? "'"
      : !text.includes('"')
        ? '"'
        : !text.includes('`') && !text.includes('${')
          ? '`'
          : "'";
    const inner = text
      .replace(/\\/g, '\\\\')
      .replace(/\n/g, '\\n')
      .replace(/\r/g, '\\r')
      .replace(/\t/g, '\\t')
      .replace(/[\x00-\x1f]/g, (sign) => '\\x' + sign.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase());
    return mark + (mark === "'" ? inner.replace(/'/g, "\\'") : inner) + mark;
  };
  const plain = (value) => {
    switch (typeof value) {
      case 'bigint':
        return `${value}n`;
      case 'number':
        return Object.is(value, -0) ? '-0' : String(value);
      case 'symbol':
        return value.toString();
      case 'function':
        return functionText(value);
      default:
        return String(value);
    }
  };
  const functionText = (value) => {
    const isClass = /^class\b/.test(Function.prototype.toString.call(value));
    const kind = isClass ? 'class' : value.constructor?.name || 'Function';
    return value.name ? `[${kind}${isClass ? ' ' : ': '}${value.name}]` : `[${kind} (anonymous)]`;
  };
  const keyText = (key) =>
    typeof key === 'symbol' ? `[${key.toString()}]` : /^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key);
  const more = (count) => (count > 0 ? [`... ${count} more item${count === 1 ? '' : 's'}`] : []);

  const inspect = (value, depth = 0, seen = []) => {
    if (typeof value === 'string') return quoted(value);
    if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return plain(value);
    if (seen.includes(value)) return '[Circular *1]';
    if (value instanceof Error) return errorText(value, depth, [...seen, value]);
    const name =
      Object.getPrototypeOf(value) === null ? '[Object: null prototype]' : (value.constructor?.name ?? 'Object');
    if (typeof value !== 'function' && depth > 2) return Array.isArray(value) ? '[Array]' : `[${name}]`;
    return body(value, name, depth, [...seen, value]);
  };
  const body = (value, name, depth, seen) => {
    const inner = (each) => inspect(each, depth + 1, seen);
    const keys = Reflect.ownKeys(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key));
    const pair = (key) => {
      const { get, set, value: own } = Object.getOwnPropertyDescriptor(value, key);
      const text = get && set ? '[Getter/Setter]' : get ? '[Getter]' : set ? '[Setter]' : inner(own);
      return `${keyText(key)}: ${text}`;
    };
    const named = (list) =>
      list
        .slice(0, MAX_ITEMS)
        .map(pair)
        .concat(more(list.length - MAX_ITEMS));
    if (Array.isArray(value) || (ArrayBuffer.isView(value) && value.length !== undefined)) {
      const items = Array.from(Array.prototype.slice.call(value, 0, MAX_ITEMS), (_, at) =>
        at in value ? inner(value[at]) : '<1 empty item>',
      ).concat(more(value.length - MAX_ITEMS));
      const others = keys.filter((key) => typeof key === 'symbol' || !/^\d+$/.test(key));
      const head = name === 'Array' ? '' : `${name}(${value.length}) `;
      return wrap(head, '[', items.concat(named(others)), ']');
    }
    if (value instanceof Map) {
      const items = [...value]
        .slice(0, MAX_ITEMS)
        .map(([key, each]) => `${inner(key)} => ${inner(each)}`)
        .concat(more(value.size - MAX_ITEMS));
      return wrap(`${name}(${value.size}) `, '{', items.concat(named(keys)), '}');
    }
    if (value instanceof Set) {
      const items = [...value]
        .slice(0, MAX_ITEMS)
        .map(inner)
        .concat(more(value.size - MAX_ITEMS));
      return wrap(`${name}(${value.size}) `, '{', items.concat(named(keys)), '}');
    }
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString();
    if (value instanceof RegExp) return String(value);
    if (value instanceof Promise) return 'Promise { <pending> }';
    if (typeof value === 'function')
      return keys.length > 0 ? wrap(functionText(value) + ' ', '{', named(keys), '}') : functionText(value);
    if (name === 'URL') return `URL ${quoted(String(value))}`;
    return wrap(name === 'Object' ? '' : `${name} `, '{', named(keys), '}');
  };
  const wrap = (head, open, items, close) => {
    if (items.length === 0) return `${head}${open}${close}`;
    const line = items.join(', ');
    if (line.length <= WIDTH && !line.includes('\n')) return `${head}${open} ${line} ${close}`;
    return `${head}${open}\n${items.map((item) => '  ' + item.replace(/\n/g, '\n  ')).join(',\n')}\n${close}`;
  };

  // ---- errors
  const frames = (error) =>
    String(error.stack ?? '')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line.startsWith('at ') && !/\bmachine:|\(native\)/.test(line));
  const headOf = (error) => `${error.name ?? 'Error'}${error.message ? ': ' + error.message : ''}`;
  const errorText = (error, depth, seen) => {
    const stack =
      depth > 0
        ? ''
        : frames(error)
            .map((line) => '\n    ' + line)
            .join('');
    const own = Object.keys(error).filter((key) => !['name', 'message', 'stack'].includes(key));
    const extra =
      own.length > 0
        ? ' ' +
          wrap(
            '',
            '{',
            own.map((key) => `${keyText(key)}: ${inspect(error[key], depth + 1, seen)}`),
            '}',
          )
        : '';
    const text = headOf(error) + stack;
    return (depth > 0 ? `[${text}]` : text) + extra;
  };
  host.describe = (error) => {
    if (!(error instanceof Error)) return { line: `Uncaught ${inspect(error)}`, stack: `Uncaught ${inspect(error)}` };
    const head = headOf(error) + host.hint(error);
    const at = frames(error);
    const line = /code\.js:(\d+)/.exec(at.join('\n'))?.[1];
    return {
      line: line ? `${head} (line ${line})` : head,
      stack: [head, ...at.map((each) => '    ' + each)].join('\n'),
    };
  };

  // ---- the result, and the console
  host.text = (value) => {
    if (value === undefined || value === null) return value === null ? 'null' : '';
    if (typeof value === 'string') return value;
    if (typeof value !== 'object' || value instanceof Error)
      return typeof value === 'object' ? inspect(value) : plain(value);
    if (value instanceof Map || value instanceof Set || value instanceof RegExp) return inspect(value);
    try {
      return JSON.stringify(value) ?? inspect(value);
    } catch {
      return inspect(value);
    }
  };
  const format = (args) => {
    const [first, ...rest] = args;
    if (typeof first !== 'string')
      return args.map((each) => (typeof each === 'string' ? each : inspect(each))).join(' ');
    const text = first.replace(/%([sdifjoOc%])/g, (whole, kind) => {
      if (kind === '%') return '%';
      if (rest.length === 0) return whole;
      const value = rest.shift();
      switch (kind) {
        case 's':
          return typeof value === 'object' && value !== null ? inspect(value, 2) : plain(value);
        case 'd':
          return typeof value === 'bigint' ? `${value}n` : String(Number(value));
        case 'i':
          return typeof value === 'bigint' ? `${value}n` : String(parseInt(value, 10));
        case 'f':
          return String(parseFloat(value));
        case 'j':
          return JSON.stringify(value) ?? 'undefined';
        case 'c':
          return '';
        default:
          return inspect(value);
      }
    });
    return [text, ...rest.map((each) => (typeof each === 'string' ? each : inspect(each)))].join(' ');
  };
  let indent = '';
  const counts = new Map();
  const clocks = new Map();
  const print =
    (error) =>
    (...args) =>
      host.print(error, (indent + format(args)).replace(/\n/g, '\n' + indent).toWellFormed() + '\n');
  const [out, err] = [print(false), print(true)];
  const table = (rows) => {
    if (rows === null || typeof rows !== 'object') return out(rows);
    const entries = Object.entries(rows);
    const columns = [
      ...new Set(
        entries.flatMap(([, row]) => (row !== null && typeof row === 'object' ? Object.keys(row) : ['Values'])),
      ),
    ];
    const cell = (row, column) =>
      row !== null && typeof row === 'object'
        ? column in row
          ? inspect(row[column], 2)
          : ''
        : column === 'Values'
          ? inspect(row)
          : '';
    const lines = [
      ['(index)', ...columns],
      ...entries.map(([key, row]) => [key, ...columns.map((column) => cell(row, column))]),
    ];
    const widths = lines[0].map((_, at) => Math.max(...lines.map((line) => line[at].length)));
    for (const line of lines) out('│ ' + line.map((text, at) => text.padEnd(widths[at])).join(' │ ') + ' │');
  };
  const console = {
    log: out,
    info: out,
    debug: out,
    error: err,
    warn: err,
    table,
    trace: (...args) => err('Trace: ' + format(args)),
    dir: (value) => out(inspect(value)),
    assert: (truth, ...args) => {
      if (!truth) err(args.length > 0 ? 'Assertion failed: ' + format(args) : 'Assertion failed');
    },
    count: (label = 'default') => {
      counts.set(label, (counts.get(label) ?? 0) + 1);
      out(`${label}: ${counts.get(label)}`);
    },
    countReset: (label = 'default') => {
      counts.delete(label);
    },
    group: (...args) => {
      if (args.length > 0) out(...args);
      indent = (indent + '  ').slice(0, 40);
    },
    groupEnd: () => {
      indent = indent.slice(2);
    },
    time: (label = 'default') => {
      clocks.set(label, host.now());
    },
    timeLog: (label = 'default') => out(`${label}: ${(host.now() - (clocks.get(label) ?? host.now())).toFixed(3)}ms`),
    timeEnd: (label = 'default') => {
      console.timeLog(label);
      clocks.delete(label);
    },
    clear: () => {},
  };
  console.groupCollapsed = console.group;
  Object.defineProperty(globalThis, 'console', { value: console, writable: true, configurable: true });
  host.inspect = inspect;
};
