"""Runs carteiro.py on one case a line: see test/support/verifiers.ts."""

import base64
import sys

from carteiro import verify, verify_body

for line in sys.stdin:
    function, now, secrets, body, *headers = line.rstrip("\n").split("\t")
    given = dict(header.split("=", 1) for header in headers)
    raw_body, keys = base64.b64decode(body), secrets.split(",")
    if function == "verify":
        print(str(verify(raw_body, given, keys, float(now))).lower())
    else:
        print(str(verify_body(raw_body, given, keys)).lower())
