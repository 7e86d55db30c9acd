// `URL` and `URLSearchParams`; URLs are parsed by the host. Runs in the embedded interpreter.
(host) => {
  'use strict';
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });

  const PLUS = (text) => decodeURIComponent(text.replace(/\+/g, ' ').replace(/%(?![0-9a-f]{2})/gi, '%25'));
  const unescape = (text) => {
    try {
      return PLUS(text);
    } catch {
      return text;
    }
  };
  const escape = (text) =>
    encodeURIComponent(text)
      .replace(/%20/g, '+')
      .replace(/[!'()~]/g, (sign) => '%' + sign.charCodeAt(0).toString(16).toUpperCase());
  class URLSearchParams {
    #list = [];
    #changed;
    constructor(from = '', changed = () => {}) {
      if (typeof from === 'string') {
        for (const pair of from.replace(/^\?/, '').split('&').filter(Boolean)) {
          const [name, ...value] = pair.split('=');
          this.#list.push([unescape(name), unescape(value.join('='))]);
        }
      } else
        for (const [name, value] of from[Symbol.iterator] ? from : Object.entries(from))
          this.#list.push([String(name), String(value)]);
      this.#changed = changed;
    }
    get size() {
      return this.#list.length;
    }
    get(name) {
      return this.#list.find(([known]) => known === name)?.[1] ?? null;
    }
    getAll(name) {
      return this.#list.filter(([known]) => known === name).map(([, value]) => value);
    }
    has(name) {
      return this.#list.some(([known]) => known === name);
    }
    append(name, value) {
      this.#list.push([String(name), String(value)]);
      this.#changed();
    }
    delete(name) {
      this.#list = this.#list.filter(([known]) => known !== name);
      this.#changed();
    }
    set(name, value) {
      const at = this.#list.findIndex(([known]) => known === name);
      if (at < 0) return this.append(name, value);
      this.#list = this.#list.filter(([known], index) => known !== name || index === at);
      this.#list[at][1] = String(value);
      this.#changed();
    }
    sort() {
      this.#list.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
      this.#changed();
    }
    forEach(work) {
      for (const [name, value] of this.#list) work(value, name, this);
    }
    *entries() {
      yield* this.#list.map((pair) => [...pair]);
    }
    *keys() {
      for (const [name] of this.#list) yield name;
    }
    *values() {
      for (const [, value] of this.#list) yield value;
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    toString() {
      return this.#list.map(([name, value]) => `${escape(name)}=${escape(value)}`).join('&');
    }
  }
  class URL {
    #parts;
    #params;
    constructor(text, base) {
      const parts = host.url(String(text), base === undefined ? undefined : String(base));
      if (parts === undefined || parts === null) throw new TypeError('Invalid URL');
      this.#parts = JSON.parse(parts);
    }
    static canParse(text, base) {
      try {
        return Boolean(new URL(text, base));
      } catch {
        return false;
      }
    }
    static parse(text, base) {
      try {
        return new URL(text, base);
      } catch {
        return null;
      }
    }
    #replace(change) {
      const { protocol, username, password, host: at, pathname, search, hash } = { ...this.#parts, ...change };
      const user = username ? username + (password ? ':' + password : '') + '@' : '';
      this.#parts = JSON.parse(host.url(`${protocol}//${user}${at}${pathname}${search}${hash}`, undefined));
    }
    get href() {
      return this.#parts.href;
    }
    set href(text) {
      this.#parts = new URL(text).#parts;
      this.#params = undefined;
    }
    get protocol() {
      return this.#parts.protocol;
    }
    get username() {
      return this.#parts.username;
    }
    get password() {
      return this.#parts.password;
    }
    get host() {
      return this.#parts.host;
    }
    get hostname() {
      return this.#parts.hostname;
    }
    get port() {
      return this.#parts.port;
    }
    get origin() {
      return this.#parts.origin;
    }
    get pathname() {
      return this.#parts.pathname;
    }
    set pathname(path) {
      this.#replace({ pathname: String(path).replace(/^(?!\/)/, '/') });
    }
    get search() {
      return this.#parts.search;
    }
    set search(query) {
      this.#replace({ search: String(query) && String(query).replace(/^(?!\?)/, '?') });
      this.#params = undefined;
    }
    get hash() {
      return this.#parts.hash;
    }
    set hash(part) {
      this.#replace({ hash: String(part) && String(part).replace(/^(?!#)/, '#') });
    }
    get searchParams() {
      this.#params ??= new URLSearchParams(this.search, () => {
        const query = this.#params.toString();
        this.#replace({ search: query && '?' + query });
      });
      return this.#params;
    }
    toString() {
      return this.href;
    }
    toJSON() {
      return this.href;
    }
  }
  define('URL', URL);
  define('URLSearchParams', URLSearchParams);
};
