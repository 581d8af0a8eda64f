"""Runs carteiro.py on one case a line: see test/support/verifiers.ts."""

import base64
import json
import sys

from carteiro import verify, verify_body, verify_checkpoint



def clock(text):
    now, api = text.split(" ")
    return api, float(now)


for line in sys.stdin:
    function, now, secrets, body, *headers = line.rstrip("\n").split("\t")
    given = dict(header.split("=", 1) for header in headers)
    raw_body, keys = base64.b64decode(body), secrets.split(",")
    if function == "verify":
        print(str(verify(raw_body, given, keys, float(now))).lower())
    elif function == "verifyCheckpoint":
        print(json.dumps(list(verify_checkpoint(given.get("X-Carteiro-Checkpoint"), keys, raw_body.decode(), *clock(now)))))
    else:
        print(str(verify_body(raw_body, given, keys)).lower())
