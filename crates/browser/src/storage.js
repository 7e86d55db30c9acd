async (task, given) => {
  'use strict';
  const MAX_DATABASES = 20;
  const MAX_RECORDS = 10000;
  // Parsed values take a multiple of their text in memory.
  const MAX_VALUES = 80000;
  let values = 0;
  const areas = { local: () => window.localStorage, session: () => window.sessionStorage };
  const done = (request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
      request.onblocked = () => reject(new Error('blocked'));
    });

  // Values without a JSON form are encoded with `$`; a value that cannot be encoded makes its record unfit.
  const pack = (value, depth = 0) => {
    if (depth > 50) throw new Error('too deep');
    if ((values += 1) > MAX_VALUES) throw new Error('too many');
    if (value === undefined) return { $: 'undefined' };
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number') return Number.isFinite(value) ? value : { $: 'number', v: String(value) };
    if (typeof value === 'bigint') return { $: 'bigint', v: String(value) };
    if (value instanceof Date) return { $: 'date', v: value.getTime() };
    if (value instanceof ArrayBuffer) return { $: 'buffer', v: bytes(new Uint8Array(value)) };
    if (value instanceof Uint8Array) return { $: 'bytes', v: bytes(value) };
    if (value instanceof Map) return { $: 'map', v: [...value].map((pair) => pair.map((one) => pack(one, depth + 1))) };
    if (value instanceof Set) return { $: 'set', v: [...value].map((one) => pack(one, depth + 1)) };
    if (Array.isArray(value)) return value.map((one) => pack(one, depth + 1));
    const plain = Object.getPrototypeOf(value);
    if (plain !== Object.prototype && plain !== null) throw new Error('not plain');
    const members = Object.entries(value).map(([key, one]) => [key, pack(one, depth + 1)]);
    return '$' in value ? { $: 'object', v: members } : Object.fromEntries(members);
  };
  const unpack = (value) => {
    if (value === null || typeof value !== 'object') return value;
    if (Array.isArray(value)) return value.map(unpack);
    switch (value.$) {
      case 'undefined': return undefined;
      case 'number': return Number(value.v);
      case 'bigint': return BigInt(value.v);
      case 'date': return new Date(value.v);
      case 'buffer': return unbytes(value.v).buffer;
      case 'bytes': return unbytes(value.v);
      case 'map': return new Map(value.v.map((pair) => pair.map(unpack)));
      case 'set': return new Set(value.v.map(unpack));
      case 'object': return Object.fromEntries(value.v.map(([key, one]) => [key, unpack(one)]));
      default: return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, unpack(one)]));
    }
  };
  const bytes = (array) => {
    let text = '';
    for (const byte of array) text += String.fromCharCode(byte);
    return btoa(text);
  };
  const unbytes = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));

  const readDatabase = async (name) => {
    const database = await done(indexedDB.open(name));
    try {
      const stores = [];
      for (const storeName of database.objectStoreNames) {
        const store = database.transaction(storeName).objectStore(storeName);
        const indexes = [...store.indexNames].map((indexName) => {
          const { name, keyPath, unique, multiEntry } = store.index(indexName);
          return { name, keyPath, unique, multiEntry };
        });
        const shape = { name: storeName, keyPath: store.keyPath, autoIncrement: store.autoIncrement, indexes };
        const [keys, values] = await Promise.all([done(store.getAllKeys(null, MAX_RECORDS)), done(store.getAll(null, MAX_RECORDS))]);
        const records = [];
        keys.forEach((key, at) => {
          try {
            records.push([pack(key), pack(values[at])]);
          } catch {
            // Values that cannot be encoded, such as files and crypto keys, are not saved.
          }
        });
        stores.push({ ...shape, records });
      }
      return { name, version: database.version, stores };
    } finally {
      database.close();
    }
  };
  // Everything is written within the upgrade transaction, so that a page that opens the database waits until it is
  // complete.
  const writeDatabase = async ({ name, version, stores }) => {
    const opening = indexedDB.open(name, version);
    opening.onupgradeneeded = (event) => {
      if (event.oldVersion > 0) {
        opening.transaction.abort();
        return;
      }
      for (const { name, keyPath, autoIncrement, indexes, records } of stores) {
        const store = opening.result.createObjectStore(name, { keyPath, autoIncrement });
        for (const index of indexes) store.createIndex(index.name, index.keyPath, index);
        for (const [key, value] of records) store.put(unpack(value), keyPath === null ? unpack(key) : undefined);
      }
    };
    (await done(opening)).close();
  };

  if (task === 'read') {
    if (!/^https?:/.test(location.protocol)) return null;
    const storage = { origin: location.origin, local: {}, session: {}, databases: [] };
    for (const [name, area] of Object.entries(areas)) {
      try {
        storage[name] = { ...area() };
      } catch {
        // The page may have no access.
      }
    }
    try {
      const known = (await indexedDB.databases()).slice(0, MAX_DATABASES);
      for (const { name } of known) {
        try {
          storage.databases.push(await readDatabase(name));
        } catch {
          // A locked database is skipped.
        }
      }
    } catch {
      // The page may have no access.
    }
    if (values > MAX_VALUES || JSON.stringify(storage.databases).length > given) storage.databases = [];
    return storage;
  }

  if (given.origin !== location.origin) return;
  for (const [name, area] of Object.entries(areas)) {
    try {
      for (const [key, value] of Object.entries(given[name] ?? {})) area().setItem(key, value);
    } catch {
      // The page may have no access.
    }
  }
  await Promise.allSettled((given.databases ?? []).map(writeDatabase));
}
