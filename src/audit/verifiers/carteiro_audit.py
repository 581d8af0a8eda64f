#!/usr/bin/env python3
"""Checks Carteiro's evidence with the standard library alone; the formats are in ../seals/README.md.

  carteiro_audit.py check PROOF KEY...                    exit 0 true, 3 null, 1 false
  carteiro_audit.py consistency PROOF OLD NEW KEY...      two checkpoints, and what /v1/evidencia/consistencia answered
  carteiro_audit.py header LINE KEY...                    a delivery's X-Carteiro-Checkpoint; exit 0 signed, 1 not
  carteiro_audit.py vectors FILE                          vectors.json beside this file; exit 0: each is judged as it says

KEY is a public key, name+hash+base64, or a file of such keys. Speed is no aim: a signature takes some 10 ms.
"""
import base64
import hashlib
import json
import os
import re
import struct
import sys


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


# Ed25519, RFC 8032: a point is (x, y) on the curve of the field of 2^255 - 19.
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)


def recover(y, sign):
    xx = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(xx, (P + 3) // 8, P)
    if (x * x - xx) % P:
        x = x * ROOT % P
    if (x * x - xx) % P or (x == 0 and sign):
        return None
    return P - x if x % 2 != sign else x


def add(one, other):
    x1, y1, z1, t1 = one
    x2, y2, z2, t2 = other
    a, b = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    c, d = 2 * t1 * t2 * D % P, 2 * z1 * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(number, point):
    result = (0, 1, 1, 0)
    while number:
        if number & 1:
            result = add(result, point)
        point, number = add(point, point), number >> 1
    return result


def decode(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    x = recover(y, sign) if y < P else None
    return None if x is None else (x, y, 1, x * y % P)


BASE_Y = 4 * pow(5, P - 2, P) % P
BASE = (recover(BASE_Y, 0), BASE_Y, 1, recover(BASE_Y, 0) * BASE_Y % P)


def is_signature(key, message, signature):
    public, r = decode(key), decode(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or public is None or r is None or s >= ORDER:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % ORDER
    x1, y1, z1, _ = times(s, BASE)
    x2, y2, z2, _ = add(r, times(h, public))
    return (x1 * z2 - x2 * z1) % P == 0 and (y1 * z2 - y2 * z1) % P == 0


def read_key(text):
    name, key_id, key = text.strip().split("+", 2)
    data = base64.b64decode(key)
    if sha(name.encode() + b"\n" + data)[:4].hex() != key_id or data[:1] != b"\x01":
        raise SystemExit("a key is damaged")
    return name, bytes.fromhex(key_id), data[1:]


def read_keys(words):
    keys = []
    for word in words:
        lines = open(word).read().split("\n") if os.path.exists(word) else [word]
        keys += [read_key(line) for line in lines if line.strip()]
    return keys


def read_checkpoint(note, keys):
    """Size, root, and whether one of the keys signed the note."""
    text, signatures = note.split("\n\n", 1)
    text += "\n"
    origin, size, root = text.split("\n")[:3]
    signed = False
    for line in signatures.strip("\n").split("\n"):
        found = re.fullmatch(r"— (\S+) (\S+)", line)
        data = base64.b64decode(found.group(2)) if found else b""
        signed = signed or any(
            found and found.group(1) == name and data[:4] == key_id and is_signature(key, text.encode(), data[4:])
            for name, key_id, key in keys
        )
    return int(size), base64.b64decode(root), signed


def note_of(header):
    """The signed note that a delivery's X-Carteiro-Checkpoint stands for."""
    origin, size, root, signature = header.strip().split(" ")
    return f"{origin}\n{size}\n{root}\n\n— {origin} {signature}\n"


def is_signed_header(header, keys):
    try:
        return read_checkpoint(note_of(header), keys)[2]
    except ValueError:
        return False


def root_by_path(leaf, index, size, path):
    if not 0 <= index < size:
        return None
    last, root = size - 1, leaf
    for other in path:
        if last == 0:
            return None
        if index & 1 or index == last:
            root = sha(b"\x01", other, root)
            while index and not index & 1:
                index, last = index >> 1, last >> 1
        else:
            root = sha(b"\x01", root, other)
        index, last = index >> 1, last >> 1
    return root if last == 0 else None


def is_consistent(old_size, old_root, size, root, path):
    if old_size == size:
        return not path and old_root == root
    if not 0 < old_size < size:
        return False
    if old_size & (old_size - 1) == 0:
        path = [old_root, *path]
    if not path:
        return False
    index, last = old_size - 1, size - 1
    while index & 1:
        index, last = index >> 1, last >> 1
    before = after = path[0]
    for other in path[1:]:
        if last == 0:
            return False
        if index & 1 or index == last:
            before, after = sha(b"\x01", other, before), sha(b"\x01", other, after)
            while index and not index & 1:
                index, last = index >> 1, last >> 1
        else:
            after = sha(b"\x01", after, other)
        index, last = index >> 1, last >> 1
    return last == 0 and before == old_root and after == root


# The columns behind the table's name; an entry tells the types of its values itself.
COLUMNS = {
    "events": "position id stream version type family partner_id occurred_at actor request_id fan_out imported "
    "catalog_version loan_version snapshot traceparent commitment tx epoch",
    "attempts": "delivery_id number late event_id webhook_id partner_id outcome status_code started_at duration_ms url address "
    "key_id claim error body_digest commitment recorded_at tx epoch",
    "send_orders": "position kind webhook_id partner_id delivery_ids actor reason request_id ordered_at tx epoch",
    "erasure_orders": "position id court_order actor reason events pages ordered_at tx epoch",
    "erasure_pages": "position order_id number event_ids remains tx epoch",
}


def uuid(data):
    text = data.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


READ = {16: lambda data: data == b"\x01", 21: lambda data: struct.unpack(">h", data)[0], 25: bytes.decode, 2950: uuid}
READ[23] = lambda data: struct.unpack(">i", data)[0]


def read_entry(entry):
    count, at, values = struct.unpack(">i", entry[:4])[0], 4, []
    for _ in range(count):
        kind, length = struct.unpack(">ii", entry[at : at + 8])
        data = None if length < 0 else entry[at + 8 : at + 8 + length]
        at += 8 + max(length, 0)
        values.append(None if data is None else READ.get(kind, bytes)(data))
    table, *rest = values
    names = COLUMNS[table].split()
    if at != len(entry) or len(rest) != len(names):
        raise ValueError("no entry")
    return table, dict(zip(names, rest))


def check(proof, keys):
    """True, False or None, and why."""
    if proof.get("formato") != "carteiro-prova-2":
        return False, "the file is no proof of this format"
    delivery, open_parts = proof["entrega"], []
    if proof["evento"] is None:
        return False, "the event is missing"
    size, root, signed = read_checkpoint(proof["checkpoint"], keys) if proof["checkpoint"] else (0, b"", False)
    if proof["checkpoint"] and keys and not signed:
        return False, "the checkpoint is not signed by a key that was given"
    if not signed:
        open_parts.append("no key or no checkpoint")
    seals = {}
    for seal in proof["selos"]:
        entry = seal["entrada"].encode()
        lines = seal["entrada"].split("\n")
        if lines[0] != "carteiro/selo/1" or int(lines[1]) != seal["numero"]:
            return False, "no seal"
        seals[seal["numero"]] = (int(lines[3]), base64.b64decode(lines[4]), seal["caminho"] is not None)
        if seal["caminho"] is not None:
            first = proof["selos"][0]["caminho"] or []
            ending = first[max(len(first) - seal["iguais"], 0):]
            path = [base64.b64decode(part) for part in seal["caminho"] + ending]
            if root_by_path(sha(b"\x00", entry), seal["numero"] - 1, size, path) != root:
                return False, "seal %d does not lead to the checkpoint" % seal["numero"]
    erasure = proof.get("apagamento")
    rows = [proof["evento"], *proof["tentativas"], *proof["pedidos"]]
    if erasure:
        rows += [erasure["pedido"], erasure["pagina"]]
        order, page = fields_of(erasure["pedido"]), fields_of(erasure["pagina"])
        if proof["sal"] is not None or proof["corpo"] != "apagado":
            return False, "an erased event has a text"
        if page["order_id"] != order["id"] or not lists(page["event_ids"], delivery["evento_id"]):
            return False, "the order to erase is one of other events"
    elif proof["sal"] is None and proof["retido"] is None:
        return False, "the text was taken away, and no order to erase covers the event"
    for row in rows:
        if row["entrada"] is None:
            open_parts.append("masked")
            continue
        entry = base64.b64decode(row["entrada"])
        table, fields = read_entry(entry)
        if table != row["tabela"]:
            return False, "a row is of another table"
        if row["selo"] is None or not seals.get(row["selo"], (0, b"", False))[2]:
            open_parts.append("not sealed under the checkpoint yet")
        if row["selo"] is not None:
            count, seal_root, _ = seals[row["selo"]]
            path = [base64.b64decode(part) for part in row.get("caminho") or []]
            if "indice" not in row or root_by_path(sha(b"\x00", entry), row["indice"], count, path) != seal_root:
                return False, "a row does not lead to its seal"
        wanted = {
            "events": {"id": delivery["evento_id"], "partner_id": delivery["parceiro_id"]},
            "attempts": {
                "delivery_id": delivery["id"],
                "event_id": delivery["evento_id"],
                "webhook_id": delivery["webhook_id"],
                "partner_id": delivery["parceiro_id"],
            },
            "send_orders": {"webhook_id": delivery["webhook_id"]},
        }.get(table, {})
        if any(fields[name] != value for name, value in wanted.items()):
            return False, "a row is of another delivery, event, webhook or partner"
        if table == "send_orders" and not lists(fields["delivery_ids"], delivery["id"]):
            return False, "an order is of other deliveries"
        if proof["retido"] is not None:
            open_parts.append("the body is withheld")
            continue
        # Of an erased body the salted hash is left: each attempt sent the event's body, whatever it was.
        sent = fields_of(proof["evento"])["commitment"] if erasure else sha(base64.b64decode(proof["sal"]), proof["corpo"].encode())
        if table == "events" and fields["commitment"] != sent:
            return False, "the sealed event has another body"
        if table == "attempts" and fields["outcome"] != "desconhecido" and fields["body_digest"] != sent:
            return False, "an attempt sent another body"
        if table == "attempts" and fields["commitment"] is not None and not erasure:
            answer = sha(base64.b64decode(row["sal"] or ""), base64.b64decode(row["resposta"] or ""))
            if fields["commitment"] != answer:
                return False, "an attempt was answered otherwise"
    wrong = wrong_status(proof)
    if wrong:
        return False, wrong
    return (None, open_parts[0]) if open_parts else (True, None)


def lists(ids, one):
    """Whether an array of ids has one; of a masked row it is a list of texts."""
    return one in ids if isinstance(ids, list) else bytes.fromhex(one.replace("-", "")) in ids


def wrong_status(proof):
    """No seal covers the status: it must follow from the attempts, none of which may be missing."""
    status, orders = proof["entrega"]["status"], [fields_of(row) for row in proof["pedidos"]]
    attempts = [fields_of(row) for row in proof["tentativas"]]
    in_time = sorted((fields for fields in attempts if not fields["late"]), key=lambda fields: fields["number"])
    if [fields["number"] for fields in in_time] != list(range(1, len(in_time) + 1)):
        return "an attempt is missing"
    cancelled = any(fields["kind"] == "cancelamento" for fields in orders)
    if status == "erro" and not in_time and not cancelled:
        return "the delivery failed without an attempt"
    if status == "entregue":
        return None if any(fields["outcome"] == "entregue" for fields in attempts) else "the delivery arrived by no attempt"
    over = (status == "erro" and not cancelled) or not orders
    if over and in_time and in_time[-1]["outcome"] == "entregue":
        return "the delivery arrived, and its status says something else"
    return None


def fields_of(row):
    return row["campos"] if row["entrada"] is None else read_entry(base64.b64decode(row["entrada"]))[1]


def tree_root(leaves):
    if len(leaves) == 1:
        return leaves[0]
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return sha(b"\x01", tree_root(leaves[:half]), tree_root(leaves[half:]))


def judge(vectors):
    """Of each vector its name, what is found here, and what is published."""
    data, keys = base64.b64decode, [read_key(key) for key in vectors["keys"]]
    for row in vectors["rows"]:
        entry, salt = data(row["entry"]), row.get("salt")
        yield row["table"], sha(b"\x00", entry), data(row["leaf"])
        if salt is not None:
            found = read_entry(entry)[1]["commitment"].hex()
            yield row["table"] + "'s commitment", found, sha(data(salt), row["committed"].encode()).hex()
    yield "the turn", tree_root([data(leaf) for leaf in vectors["turn"]["leaves"]]), data(vectors["turn"]["root"])
    leaves = [sha(b"\x00", seal["entry"].encode()) for seal in vectors["seals"]]
    yield "the seals", leaves, [data(seal["leaf"]) for seal in vectors["seals"]]
    for one in vectors["roots"]:
        yield f"{one['size']} seals", tree_root(leaves[: one["size"]]), data(one["root"])
    for one in vectors["inclusion"]:
        found = root_by_path(data(one["leaf"]), one["index"], one["size"], [data(part) for part in one["path"]])
        yield one["name"], found == data(one["root"]), one["valid"]
    for one in vectors["consistency"]:
        path = [data(part) for part in one["path"]]
        found = is_consistent(one["old"], data(one["old_root"]), one["size"], data(one["root"]), path)
        yield one["name"], found, one["valid"]
    for one in vectors["checkpoints"]:
        yield one["name"], read_checkpoint(one["note"], keys)[2], one["valid"]
    for one in vectors["headers"]:
        if one["header"]:
            yield one["name"], is_signed_header(one["header"], keys), one["verdict"] != "forged"


def main(words):
    if len(words) >= 2 and words[0] == "check":
        try:
            fits, why = check(json.load(open(words[1])), read_keys(words[2:]))
        except (ValueError, KeyError, IndexError, TypeError, struct.error):
            fits, why = False, "the file is no proof of this format"
        print(json.dumps({"confere": fits, "motivo": why}))
        return {True: 0, None: 3, False: 1}[fits]
    if len(words) >= 5 and words[0] == "consistency":
        keys, proof = read_keys(words[4:]), json.load(open(words[1]))
        (old, old_root, one), (size, root, other) = (read_checkpoint(open(file).read(), keys) for file in words[2:4])
        path = [base64.b64decode(part) for part in proof["caminho"]]
        fits = one and other and is_consistent(old, old_root, size, root, path)
        print(json.dumps({"confere": fits}))
        return 0 if fits else 1
    if len(words) >= 3 and words[0] == "header":
        signed = is_signed_header(words[1], read_keys(words[2:]))
        print(json.dumps({"confere": signed}))
        return 0 if signed else 1
    if len(words) == 2 and words[0] == "vectors":
        judged = list(judge(json.load(open(words[1], encoding="utf-8"))))
        otherwise = [name for name, found, published in judged if found != published]
        print(json.dumps({"otherwise": otherwise, "vectors": len(judged)}))
        return 1 if otherwise else 0
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
