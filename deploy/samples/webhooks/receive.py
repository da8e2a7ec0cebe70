"""Receives webhooks with Python 3.7 or later alone: python3 receive.py <secret file> [port]

Webhooks need HTTPS: put it behind a proxy that has a certificate.
"""

import base64
import hashlib
import hmac
import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MOST_BYTES = 1_048_576
MOST_IDS = 10_000
# The last events that were handled. Several processes need one store, such as a table with a unique key.
handled = {}
lock = threading.Lock()


def is_signed(key, headers, body):
    ident, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not re.fullmatch("[0-9]{1,11}", timestamp) or abs(time.time() - int(timestamp)) > 300:
        return False
    signed = f"{ident}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    # After a rotation of the secret there are two signatures for 24 hours.
    entries = headers.get("webhook-signature", "").split(" ")[:10]
    return any(hmac.compare_digest(entry.encode(), expected) for entry in entries)


def handle(event):
    print(f"received {event['type']}", flush=True)


class Receiver(BaseHTTPRequestHandler):
    timeout = 30

    def do_POST(self):
        self.send_response(self.receive())
        self.end_headers()

    def receive(self):
        length = self.headers.get("content-length", "")
        if not re.fullmatch("[0-9]{1,7}", length) or int(length) > MOST_BYTES:
            return 413
        # The signature is over these bytes: verify first, then parse.
        body = self.rfile.read(int(length))
        if not is_signed(self.server.key, self.headers, body):
            return 401
        ident = self.headers["webhook-id"]
        # If handle() fails, there is no answer, and the event is sent again.
        with lock:
            if ident not in handled:
                handle(json.loads(body))
            handled[ident] = True
            if len(handled) > MOST_IDS:
                del handled[next(iter(handled))]
        return 204


with open(sys.argv[1], encoding="utf-8") as file:
    secret = file.readline().strip()
server = ThreadingHTTPServer(("127.0.0.1", int((sys.argv[2:] or [8787])[0])), Receiver)
server.key = base64.b64decode(secret[6:]) if secret.startswith("whsec_") else secret.encode()
print(f"listening on port {server.server_port}", flush=True)
server.serve_forever()
