"""A mail server for experiments: STARTTLS and a login are demanded, letters are stored as files.

server.py PORT CERTIFICATE KEY FOLDER
Login: user, secret. Recipients that begin with "gone" are refused, and those that begin with "busy" are put off.
"""
import asyncio
import itertools
import json
import pathlib
import ssl
import sys

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult


class Store:
    """Writes each letter and its envelope."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.numbers = itertools.count(1)

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("gone"):
            return "550 5.1.1 no such user"
        if address.startswith("busy"):
            return "451 4.7.1 try again later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        name = f"{next(self.numbers):04}"
        (self.folder / f"{name}.eml").write_bytes(envelope.original_content)
        told = {"to": envelope.rcpt_tos, "from": envelope.mail_from, "tls": session.ssl is not None}
        (self.folder / f"{name}.json").write_text(json.dumps(told))
        return "250 stored"


def is_known(server, session, envelope, mechanism, login):
    return AuthResult(success=(login.login, login.password) == (b"user", b"secret"))


def main():
    port, certificate, key, folder = sys.argv[1:]
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    controller = Controller(
        Store(folder),
        hostname="127.0.0.1",
        port=int(port),
        tls_context=context,
        require_starttls=True,
        authenticator=is_known,
        auth_required=True,
        auth_require_tls=True,
    )
    controller.start()
    asyncio.new_event_loop().run_forever()


main()
