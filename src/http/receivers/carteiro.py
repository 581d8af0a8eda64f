"""Verifies the signature of a delivery. A file to copy: it needs Python 3.9 or later and nothing else.

Give it the raw bytes of the body, before any parsing, and every secret in force: two while a rotation lasts.
`headers` is any mapping from names to values; the case of the names does not matter.
"""

import base64
import binascii
import hashlib
import hmac
import re
import time
from typing import Iterable, Mapping, Optional

# Older or newer deliveries are refused, so that nobody can send a recorded one again.
TOLERANCE_S = 300


def verify(raw_body: bytes, headers: Mapping[str, str], secrets: Iterable[str], now_s: Optional[float] = None) -> bool:
    """True when one of `secrets` signed exactly these bytes within five minutes of `now_s`.

    Reads the Standard Webhooks headers.
    """
    values = _lower(headers)
    message_id, timestamp = values.get("webhook-id"), values.get("webhook-timestamp")
    signatures = values.get("webhook-signature", "").split(" ")
    if message_id is None or timestamp is None or not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return False
    if abs((time.time() if now_s is None else now_s) - int(timestamp)) > TOLERANCE_S:
        return False
    signed = f"{message_id}.{timestamp}.".encode("utf-8", "replace") + raw_body
    return any(_is_same(given, _standard(secret, signed)) for secret in secrets for given in signatures)


def verify_body(raw_body: bytes, headers: Mapping[str, str], secrets: Iterable[str]) -> bool:
    """True when one of `secrets` signed exactly these bytes.

    Reads the contract's headers X-Webhook-Signature and, during a rotation, X-Webhook-Signature-Previous. They sign no
    time: a recorded delivery passes, so deduplicate by X-Webhook-Delivery, or use `verify`.
    """
    values = _lower(headers)
    given = [values.get("x-webhook-signature", ""), values.get("x-webhook-signature-previous", "")]
    return any(_is_same(signature, _contract(secret, raw_body)) for secret in secrets for signature in given)


def _standard(secret: str, signed: bytes) -> Optional[str]:
    """None for a secret that cannot be a key."""
    try:
        key = base64.b64decode(secret[len("whsec_") :] if secret.startswith("whsec_") else secret, validate=True)
    except (binascii.Error, ValueError):
        return None
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode() if key else None


def _contract(secret: str, raw_body: bytes) -> Optional[str]:
    return "sha256=" + hmac.new(secret.encode(), raw_body, hashlib.sha256).hexdigest() if secret else None


def _is_same(given: str, expected: Optional[str]) -> bool:
    """In constant time."""
    return expected is not None and hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def _lower(headers: Mapping[str, str]) -> "dict[str, str]":
    return {name.lower(): value for name, value in headers.items()}
