import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import urlsplit

from carteiro import verify

SECRETS = os.environ["CARTEIRO_SECRETS"].split(",")  # the new one and, while a rotation lasts, the one before


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        raw_body = self.rfile.read(int(self.headers["Content-Length"]))  # before any parsing
        if urlsplit(self.path).path != "/carteiro":
            self.send_response(404)
        elif not verify(raw_body, self.headers, SECRETS):
            self.send_response(401)
        else:
            # Store it, once for each X-Webhook-Delivery, then answer; work on it afterwards.
            self.send_response(204)
        self.end_headers()


HTTPServer(("", int(os.environ.get("PORT", "8080"))), Receiver).serve_forever()
