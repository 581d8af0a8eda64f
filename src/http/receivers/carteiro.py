"""Verifies the signature of a delivery, and the checkpoint that it carries. A file to copy: it needs Python 3.9 or later and nothing else.

Give it the raw bytes of the body, before any parsing, and every secret in force: two while a rotation lasts.
`headers` is any mapping from names to values; the case of the names does not matter.
"""

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
import urllib.error
import urllib.request
from typing import Iterable, List, Mapping, NamedTuple, Optional, Tuple, Union

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


class CheckedCheckpoint(NamedTuple):
    """What `verify_checkpoint` found, and what to keep for the next time: one line of text.

    ok: signed, and of one log with the kept one. forged: no key signed it. fork: the log and the kept line exclude each
    other: keep both lines, and tell the lender. parado: of the same log, and older than the kept one, or the same for more
    than a day while deliveries arrive; adiantado: of more seals than the API's log has, and held against it once it has
    them. Tell the lender where either stays so for an hour. unknown: there was no header, or the API gave no answer: try
    the next one.
    """

    verdict: str
    keep: str


def verify_checkpoint(
    header: Optional[str], keys: Iterable[str], kept: str, api: str, now_s: Optional[float] = None
) -> CheckedCheckpoint:
    """Checks the header X-Carteiro-Checkpoint against what was kept last ("" at first).

    `keys` are the log's public keys as /.well-known/carteiro-checkpoint-keys shows them: keep those when nothing is in
    dispute. Where the log has grown, the proof is asked of `api`, the base URL of Carteiro's API. A signature takes some
    10 ms here: call it once the delivery is answered.
    """
    if not header:
        return CheckedCheckpoint("unknown", kept)
    # What is kept: a line, the second at which it came, and the least line that was ahead.
    words, clock = kept.split(" "), int(time.time() if now_s is None else now_s)
    line, since, ahead = " ".join(words[:4]), int(words[4]) if len(words) > 4 else clock, " ".join(words[5:])
    if header == line:
        return CheckedCheckpoint("parado" if clock - since > _DAY_S else "ok", f"{line} {since} {ahead}".rstrip())
    now, before, later = _read_checkpoint(header), _read_checkpoint(line), _read_checkpoint(ahead)
    if now is None or not any(_is_signed(now, key) for key in keys):
        return CheckedCheckpoint("forged", kept)
    if kept == "":
        return CheckedCheckpoint("ok", f"{header} {clock}")
    if before is None or before.origin != now.origin:
        return CheckedCheckpoint("fork", kept)
    has_grown = now.size > before.size
    is_of = _is_one_log(api, before, now) if has_grown else _is_one_log(api, now, before)
    if is_of == "fewer":
        is_least = has_grown and (later is None or now.size < later.size)
        return CheckedCheckpoint("adiantado", f"{line} {since} {header}" if is_least else kept)
    if is_of is not True:
        return CheckedCheckpoint("unknown" if is_of is None else "fork", kept)
    if not has_grown:
        return CheckedCheckpoint("parado" if now.size < before.size else "ok", kept)
    if later is not None and later.size <= now.size:
        is_true, ahead = _is_one_log(api, later, now), ""
        if is_true is not True:
            return CheckedCheckpoint("fork" if is_true is False else "unknown", kept)
    return CheckedCheckpoint("ok", f"{header} {clock} {ahead}".rstrip())


_DAY_S = 86_400


def _is_one_log(api: str, old: "_Checkpoint", grown: "_Checkpoint") -> Union[bool, str, None]:
    """Whether one log has both. fewer: the API's log does not have so many seals. None: it gave no answer."""
    path = [] if old.size == grown.size else _ask_for_proof(api, old.size, grown.size)
    return _is_consistent(old, grown, path) if isinstance(path, list) else path


class _Checkpoint(NamedTuple):
    origin: str
    size: int
    root: bytes
    signature: bytes


def _read_checkpoint(line: str) -> Optional[_Checkpoint]:
    found = re.fullmatch(r"(\S+) ([1-9][0-9]{0,14}) ([A-Za-z0-9+/]{43}=) ([A-Za-z0-9+/]{91}=)", line)
    if found is None:
        return None
    origin, size, root, signature = found.groups()
    return _Checkpoint(origin, int(size), base64.b64decode(root), base64.b64decode(signature))


def _is_signed(checkpoint: _Checkpoint, key: str) -> bool:
    """A key is name, id and base64 behind a type byte, joined by +; a signature has the key's id in front."""
    found = re.fullmatch(r"([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})", key.strip())
    if found is None or found.group(1) != checkpoint.origin or checkpoint.signature[:4].hex() != found.group(2):
        return False
    data, root = base64.b64decode(found.group(3)), base64.b64encode(checkpoint.root).decode()
    text = f"{checkpoint.origin}\n{checkpoint.size}\n{root}\n".encode()
    return data[:1] == b"\x01" and _is_ed25519(data[1:], text, checkpoint.signature[4:])


def _ask_for_proof(api: str, old: int, new: int) -> Union[List[bytes], str, None]:
    """fewer: its log does not have so many seals. None: it gave no answer."""
    try:
        with urllib.request.urlopen(f"{api}/v1/evidencia/consistencia?de={old}&ate={new}", timeout=10) as answer:
            return [base64.b64decode(part) for part in json.load(answer)["caminho"]]
    except urllib.error.HTTPError as error:
        return "fewer" if error.code == 404 else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_consistent(old: _Checkpoint, grown: _Checkpoint, path: List[bytes]) -> bool:
    """RFC 9162, 2.1.4.2."""
    if old.size == grown.size:
        return not path and old.root == grown.root
    index, last = old.size - 1, grown.size - 1
    while index & 1:
        index, last = index >> 1, last >> 1
    if index == 0:
        path = [old.root, *path]
    if not path:
        return False
    before = after = path[0]
    for other in path[1:]:
        if last == 0:
            return False
        if index & 1 or index == last:
            before, after = _node(other, before), _node(other, after)
            while index and not index & 1:
                index, last = index >> 1, last >> 1
        else:
            after = _node(after, other)
        index, last = index >> 1, last >> 1
    return last == 0 and before == old.root and after == grown.root


def _node(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


# Ed25519, RFC 8032, which Python's own library lacks: a point is (x, y, z, t) on the curve of the field of 2^255 - 19.
_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_Point = Tuple[int, int, int, int]


def _is_ed25519(key: bytes, message: bytes, signature: bytes) -> bool:
    public, r, s = _decode(key), _decode(signature[:32]), int.from_bytes(signature[32:], "little")
    if public is None or r is None or s >= _ORDER:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % _ORDER
    base = _decode(((4 * pow(5, _P - 2, _P)) % _P).to_bytes(32, "little"))
    assert base is not None
    x1, y1, z1, _ = _times(s, base)
    x2, y2, z2, _ = _add(r, _times(h, public))
    return (x1 * z2 - x2 * z1) % _P == 0 and (y1 * z2 - y2 * z1) % _P == 0


def _decode(data: bytes) -> Optional[_Point]:
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    xx = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(xx, (_P + 3) // 8, _P)
    if (x * x - xx) % _P:
        x = x * pow(2, (_P - 1) // 4, _P) % _P
    if y >= _P or (x * x - xx) % _P or (x == 0 and sign):
        return None
    x = _P - x if x % 2 != sign else x
    return x, y, 1, x * y % _P


def _add(one: _Point, other: _Point) -> _Point:
    (x1, y1, z1, t1), (x2, y2, z2, t2) = one, other
    a, b = (y1 - x1) * (y2 - x2) % _P, (y1 + x1) * (y2 + x2) % _P
    c, d = 2 * t1 * t2 * _D % _P, 2 * z1 * z2 % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(number: int, point: _Point) -> _Point:
    result = (0, 1, 1, 0)
    while number:
        if number & 1:
            result = _add(result, point)
        point, number = _add(point, point), number >> 1
    return result
