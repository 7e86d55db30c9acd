import Dexie from "dexie";

const db = new Dexie("notes");
db.version(1).stores({ notes: "++id, name, written" });
await db.notes.clear();
await db.notes.bulkAdd([
  { name: "tar", written: 1 },
  { name: "oakum", written: 2 },
  { name: "rope", written: 3 },
]);
const count = await db.notes.count();
const newest = await db.notes.orderBy("written").last();
document.getElementById("root").innerHTML = `<p>Stored ${count} notes, newest: ${newest.name}</p>`;
