// Returns a value, or throws a RangeError that names the limit if it is too large, before the browser serializes it.
// Very
// deep or cyclic values are left to the browser, which refuses them.
(value, mostValues, mostText) => {
  let [values, text] = [0, 0];
  const around = new Set();
  const fail = (limit) => { throw new RangeError(`the value is too large: it has more than ${limit}; return less`); };
  const count = (more) => { if ((values += more) > mostValues) fail(`${mostValues} values`); };
  const read = (more) => { if ((text += more) > mostText) fail(`${mostText >> 20} MiB of text`); };
  const walk = (value, depth) => {
    count(1);
    if (typeof value === 'string') return read(value.length);
    if (typeof value !== 'object' || value === null || depth > 200 || around.has(value)) return;
    if (Array.isArray(value) || ArrayBuffer.isView(value)) {
      if (value.length > mostValues - values) fail(`${mostValues} values`);
      if (ArrayBuffer.isView(value)) return count(value.length ?? 0);
    }
    around.add(value);
    for (const key in value) {
      if (!Object.hasOwn(value, key)) continue;
      read(key.length);
      let member;
      try { member = value[key]; } catch { return; }
      walk(member, depth + 1);
    }
    around.delete(value);
  };
  walk(value, 0);
  return value;
}
