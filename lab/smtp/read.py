"""Prints the letters of a folder as a JSON list, as Python's email reads them."""
import email
import email.policy
import json
import pathlib
import sys

letters = []
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.eml")):
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    parts = {kind: message.get_body((kind,)) for kind in ("plain", "html")}
    letters.append(
        {
            **json.loads(path.with_suffix(".json").read_text()),
            "headers": [[name, str(value)] for name, value in message.items()],
            "text": parts["plain"].get_content().replace("\r\n", "\n") if parts["plain"] else None,
            "html": parts["html"].get_content().replace("\r\n", "\n") if parts["html"] else None,
            "parts": [part.get_content_type() for part in message.walk()],
            "defects": [str(fault) for part in message.walk() for fault in part.defects]
            + [str(fault) for value in message.values() for fault in value.defects],
        }
    )
print(json.dumps(letters))
