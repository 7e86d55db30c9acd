"""SQLite's full-text search with its defaults. Its argument is a file of pages, its input has a question a line."""
import json
import re
import sqlite3
import sys

database = sqlite3.connect(":memory:")
database.execute("CREATE VIRTUAL TABLE page USING fts5(url UNINDEXED, title, description, text)")
with open(sys.argv[1], encoding="utf-8") as lines:
    pages = [json.loads(line) for line in lines]
rows = [(page["url"], page["title"], page["description"], page["text"]) for page in pages]
database.executemany("INSERT INTO page VALUES (?, ?, ?, ?)", rows)
for line in sys.stdin:
    asked = json.loads(line)
    words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", asked["query"]))
    found = database.execute("SELECT url FROM page WHERE page MATCH ? ORDER BY rank LIMIT ?", (words, asked["limit"]))
    print(json.dumps({"id": asked["id"], "results": [{"url": url} for (url,) in found]}))
