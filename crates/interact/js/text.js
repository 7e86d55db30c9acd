// Conversion of text and bytes: `TextEncoder`, `TextDecoder`, `btoa`, `atob`. Runs in the embedded interpreter.
() => {
  'use strict';
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });

  const encode = (text) => {
    const bytes = [];
    for (const character of String(text)) {
      let code = character.codePointAt(0);
      if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd;
      if (code < 0x80) bytes.push(code);
      else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
      else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
      else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    }
    return new Uint8Array(bytes);
  };
  const decode = (bytes) => {
    const parts = [];
    for (let at = 0; at < bytes.length;) {
      const first = bytes[at];
      const length =
        first < 0x80
          ? 1
          : first >= 0xc2 && first < 0xe0
            ? 2
            : first >= 0xe0 && first < 0xf0
              ? 3
              : first >= 0xf0 && first < 0xf5
                ? 4
                : 0;
      let code = length === 1 ? first : first & (0x7f >> length);
      let good = length > 0 && at + length <= bytes.length;
      for (let next = 1; good && next < length; next += 1) {
        good = (bytes[at + next] & 0xc0) === 0x80;
        code = (code << 6) | (bytes[at + next] & 63);
      }
      good &&=
        code <= 0x10ffff &&
        !(code >= 0xd800 && code <= 0xdfff) &&
        (length < 3 || code >= (length === 3 ? 0x800 : 0x10000));
      parts.push(good ? String.fromCodePoint(code) : '\ufffd');
      at += good ? length : 1;
    }
    return parts.join('');
  };
  define(
    'TextEncoder',
    class TextEncoder {
      get encoding() {
        return 'utf-8';
      }
      encode(text = '') {
        return encode(text);
      }
    },
  );
  define(
    'TextDecoder',
    class TextDecoder {
      constructor(label = 'utf-8') {
        if (!/^utf-?8$/i.test(label)) throw new RangeError(`the encoding "${label}" is not supported`);
      }
      get encoding() {
        return 'utf-8';
      }
      decode(data = new Uint8Array()) {
        return decode(
          data instanceof ArrayBuffer
            ? new Uint8Array(data)
            : new Uint8Array(data.buffer, data.byteOffset, data.byteLength),
        );
      }
    },
  );
  const SIGNS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const pack = (bytes) => {
    const out = [];
    for (let at = 0; at < bytes.length; at += 3) {
      const [one, two, three] = [bytes[at], bytes[at + 1], bytes[at + 2]];
      out.push(
        SIGNS[one >> 2],
        SIGNS[((one & 3) << 4) | (two >> 4)],
        at + 1 < bytes.length ? SIGNS[((two & 15) << 2) | (three >> 6)] : '=',
        at + 2 < bytes.length ? SIGNS[three & 63] : '=',
      );
    }
    return out.join('');
  };
  const unpack = (text) => {
    const clean = String(text)
      .replace(/[\t\n\f\r ]/g, '')
      .replace(/={1,2}$/, '');
    if (clean.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(clean))
      throw new TypeError('The string to be decoded is not correctly encoded.');
    const bytes = new Uint8Array(Math.floor((clean.length * 3) / 4));
    let [bits, count, at] = [0, 0, 0];
    for (const sign of clean) {
      bits = (bits << 6) | SIGNS.indexOf(sign);
      count += 6;
      if (count >= 8) {
        count -= 8;
        bytes[at] = (bits >> count) & 255;
        at += 1;
      }
    }
    return bytes;
  };
  define('btoa', (text) =>
    pack(
      Array.from(String(text), (character) => {
        const code = character.charCodeAt(0);
        if (code > 255 || character.length > 1) throw new TypeError('Invalid character');
        return code;
      }),
    ),
  );
  define('atob', (text) => Array.from(unpack(text), (byte) => String.fromCharCode(byte)).join(''));
};
