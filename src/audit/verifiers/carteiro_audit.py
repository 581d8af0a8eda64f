#!/usr/bin/env python3
"""Checks Carteiro's evidence with the standard library alone; the formats are in ../seals/README.md.

  carteiro_audit.py check PROOF KEY...                    exit 0 true, 3 null, 1 false
  carteiro_audit.py consistency PROOF OLD NEW KEY...      two checkpoints, and what /v1/evidencia/consistencia answered
  carteiro_audit.py header LINE KEY...                    a delivery's X-Carteiro-Checkpoint; exit 0 signed, 1 not
  carteiro_audit.py vectors FILE                          vectors.json beside this file; exit 0: each is judged as it says

KEY is a public key, name+hash+base64, or a file of such keys. Speed is no aim: a signature takes some 10 ms.
"""
import base64
import datetime
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
    text, signatures = note.rsplit("\n\n", 1)
    text += "\n"
    head = re.match(r"[^\n]+\n(0|[1-9][0-9]{0,14})\n([A-Za-z0-9+/]{43}=)\n", text)
    require(head and signatures.endswith("\n"), "no checkpoint")
    signed = False
    for line in signatures[:-1].split("\n"):
        found = re.fullmatch(r"— ([^\s+]+) ([A-Za-z0-9+/]+=*)", line)
        require(found, "no checkpoint")
        for name, key_id, key in keys:
            if found.group(1) == name:
                data = base64.b64decode(found.group(2))
                signed = signed or (data[:4] == key_id and is_signature(key, text.encode(), data[4:]))
    return int(head.group(1)), base64.b64decode(head.group(2)), signed


def note_of(header):
    """The signed note that a delivery's X-Carteiro-Checkpoint stands for."""
    origin, size, root, signature = header.strip().split(" ")
    return f"{origin}\n{size}\n{root}\n\n— {origin} {signature}\n"


def is_signed_header(header, keys):
    try:
        return read_checkpoint(note_of(header), keys)[2]
    except (ValueError, Wrong):
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


def number(data):
    return int.from_bytes(data, "big", signed=True)


def instant(data):
    seconds, rest = divmod(number(data) // 1000, 1000)
    at = datetime.datetime(2000, 1, 1) + datetime.timedelta(seconds=seconds)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % rest


def array(data):
    if number(data[:4]) == 0:
        return []
    read, at, values = READ[number(data[8:12])], 20, []
    while at < len(data):
        length = number(data[at : at + 4])
        values.append(None if length < 0 else read(data[at + 4 : at + 4 + length]))
        at += 4 + max(length, 0)
    return values


def snapshot(data):
    lowest, highest, *rest = (str(number(data[at : at + 8])) for at in range(4, len(data), 8))
    return ":".join((lowest, highest, ",".join(rest)))


# By the OID of PostgreSQL's type.
READ = {
    16: lambda data: data == b"\x01",
    17: bytes.hex,
    20: number,
    21: number,
    23: number,
    25: bytes.decode,
    1001: array,
    1009: array,
    1184: instant,
    2950: uuid,
    2951: array,
    5038: snapshot,
    5069: lambda data: int.from_bytes(data, "big"),
}


def read_entry(entry):
    count, at, values = number(entry[:4]), 4, []
    for _ in range(count):
        kind, length = struct.unpack(">ii", entry[at : at + 8])
        values.append(None if length < 0 else READ[kind](entry[at + 8 : at + 8 + length]))
        at += 8 + max(length, 0)
    table, *rest = values
    names = COLUMNS[table].split()
    if at != len(entry) or len(rest) != len(names):
        raise Wrong("an entry is no row of its table")
    return table, dict(zip(names, rest))


class Wrong(Exception):
    """What makes a proof false."""


def require(holds, why):
    if not holds:
        raise Wrong(why)


# What each object of a file has, and nothing else; optional names end with a question mark.
ROW = "tabela campos entrada resposta? sal? selo indice? caminho?"
SHAPES = {
    "": "formato gerada_em entrega corpo sal evento tentativas pedidos apagamento selos checkpoint ancoras retido",
    "entrega": "id evento_id webhook_id parceiro_id status criada_em concluida_em",
    "evento": ROW,
    "tentativas": ROW,
    "pedidos": ROW,
    "pedido": ROW,
    "pagina": ROW,
    "apagamento": "pedido pagina",
    "selos": "numero entrada caminho iguais",
    "ancoras": "tipo onde checkpoint recibo ancorada_em caminho",
}
STATUSES = ("pendente", "entregue", "erro", "suspensa")
MAX_CHARACTERS, MAX_ROWS = 16 * 1024 * 1024, 10_000
TOO_LONG = "the file is too long to be checked"


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_time(value):
    return isinstance(value, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z", value)


def hold(value, name):
    """Each object has the names of its place, each once, and each value its kind."""
    if isinstance(value, list):
        for one in value:
            require(isinstance(one, dict), name)
            hold(one, name)
        return
    require(isinstance(value, dict), name)
    names = SHAPES[name].split()
    require(set(value) <= {one.rstrip("?") for one in names}, name + " has an unknown name")
    require(all(one in value for one in names if not one.endswith("?")), name + " lacks a name")
    for key, inner in value.items():
        if key == "campos":
            require(isinstance(inner, dict), key)
        elif key in SHAPES and not (key in ("evento", "apagamento") and inner is None):
            require(isinstance(inner, list) == (key in ("tentativas", "pedidos", "selos", "ancoras")), key)
            hold(inner, key)
        elif key == "caminho" and inner is not None:
            require(isinstance(inner, list) and all(len(data_of(one)) == 32 for one in inner), key)
        elif key in ("indice", "iguais"):
            require(is_integer(inner) and inner >= 0, key)
        elif key in ("numero", "selo") and not (key == "selo" and inner is None):
            require(is_integer(inner), key)
        elif key in ("gerada_em", "criada_em", "ancorada_em") or (key == "concluida_em" and inner is not None):
            require(is_time(inner), key)
        elif key == "sal" and inner is not None:
            require(len(data_of(inner)) == 16, "a salt has 16 bytes")
        elif key not in SHAPES and key not in ("caminho", "indice", "iguais", "numero", "selo"):
            may_lack = key in ("entrada", "resposta", "sal", "checkpoint", "retido", "concluida_em") and name != "ancoras"
            require(isinstance(inner, str) or (inner is None and may_lack), key)
            inner is not None and inner.encode()


def once(pairs):
    require(len({name for name, _ in pairs}) == len(pairs), "a name stands twice")
    return dict(pairs)


def data_of(text):
    """Base64 as it is written in one way only."""
    require(isinstance(text, str), "no base64")
    data = base64.b64decode(text, validate=True)
    require(base64.b64encode(data).decode() == text, "no base64")
    return data


def check(text, keys):
    """True, False or None, and why."""
    try:
        if len(text) > MAX_CHARACTERS:
            return None, TOO_LONG
        proof = json.loads(text, object_pairs_hook=once, parse_float=Wrong, parse_constant=Wrong)
        hold(proof, "")
        require(proof["formato"] == "carteiro-prova-2" and proof["entrega"]["status"] in STATUSES, "no proof")
        rows = rows_of(proof)
        if max(len(rows), len(proof["selos"])) > MAX_ROWS:
            return None, TOO_LONG
        return judge_proof(proof, rows, keys)
    except Wrong as wrong:
        return False, str(wrong)
    except (ValueError, KeyError, IndexError, TypeError, OverflowError, RecursionError, struct.error):
        return False, "the file is no proof of this format"


def rows_of(proof):
    erasure = proof["apagamento"]
    rows = [proof["evento"], *proof["tentativas"], *proof["pedidos"]]
    return [row for row in rows if row] + ([erasure["pedido"], erasure["pagina"]] if erasure else [])


SEAL = re.compile(r"carteiro/selo/1\n([1-9][0-9]{0,14})\n[0-9]+ [0-9]+ [0-9]+ [0-9]+\n([1-9][0-9]{0,9})\n([A-Za-z0-9+/]{43}=)\n[^\n]{24}\n(?:[A-Za-z0-9+/]{43}=\n)?")


def judge_proof(proof, rows, keys):
    """Starts at the checkpoint: seals that lead to its root, then rows that lead to such a seal's."""
    require(proof["evento"] is not None, "the event is missing")
    size, root, signed = read_checkpoint(proof["checkpoint"], keys) if proof["checkpoint"] is not None else (0, b"", False)
    require(not size or not keys or signed, "the checkpoint is not signed by a key that was given")
    seals, last, first = {}, 0, (proof["selos"] or [{"caminho": None}])[0]["caminho"] or []
    for seal in proof["selos"]:
        found = SEAL.fullmatch(seal["entrada"])
        require(found and int(found.group(1)) == seal["numero"] > last, "no seal, or one that stands twice")
        last = seal["numero"]
        seals[last] = None
        if seal["caminho"] is None:
            require(seal["iguais"] == 0, "a part of a way")
            continue
        path = [data_of(part) for part in seal["caminho"] + first[max(len(first) - seal["iguais"], 0) :]]
        leads = size and root_by_path(sha(b"\x00", seal["entrada"].encode()), last - 1, size, path) == root
        require(leads, "seal %d does not lead to the checkpoint" % last)
        seals[last] = int(found.group(2)), data_of(found.group(3))
    gaps = [] if signed else ["no key or no checkpoint"]
    gaps += [] if proof["retido"] is None else ["masked"]
    fields = [reach(row, seals, proof["retido"], gaps) for row in rows]
    require(set(seals) <= {row["selo"] for row in rows}, "no row is in a seal")
    attempts = len(proof["tentativas"])
    parts = fields[0], fields[1 : 1 + attempts], fields[1 + attempts : 1 + attempts + len(proof["pedidos"])]
    if not parts[1] + parts[2]:
        gaps.append("entrega.id, entrega.webhook_id: no row names the delivery")
    wrong_rows(proof, *parts)
    wrong_text(proof, parts[0], parts[1], fields[-2:])
    wrong_status(proof["entrega"]["status"], *parts)
    return (None, gaps[0]) if gaps else (True, None)


def reach(row, seals, withheld, gaps):
    """A row's columns, as they were sealed where it is reached."""
    selo = row["selo"]
    require(selo in seals if selo is not None else not {"indice", "caminho"} & set(row), "a seal is not in the file")
    require(row["tabela"] == "attempts" or not {"resposta", "sal"} & set(row), "no attempt has an answer")
    if selo is None or seals[selo] is None:
        gaps.append("not sealed under the checkpoint yet")
    if row["entrada"] is None:
        require(withheld is not None, "an entry is missing")
        return row["campos"]
    entry = data_of(row["entrada"])
    if selo is not None and seals[selo] is not None:
        count, root = seals[selo]
        path = [data_of(part) for part in row.get("caminho") or []]
        require(root_by_path(sha(b"\x00", entry), row.get("indice", count), count, path) == root, "a row does not lead to its seal")
    table, fields = read_entry(entry)
    same = fields == row["campos"] and all(type(value) is type(row["campos"][name]) for name, value in fields.items())
    require(table == row["tabela"] and same, "campos says something else than its entry")
    return fields


def wrong_rows(proof, event, attempts, orders):
    delivery = proof["entrega"]
    kinds = [row["tabela"] for row in [proof["evento"], *proof["tentativas"], *proof["pedidos"]]]
    require(kinds == ["events"] + ["attempts"] * len(attempts) + ["send_orders"] * len(orders), "a row is of another table")
    require(event["id"] == delivery["evento_id"] and event["partner_id"] == delivery["parceiro_id"], "another event or partner")
    born = instant(((int(delivery["evento_id"].replace("-", "")[:12], 16) - 946684800000) * 1000).to_bytes(8, "big", signed=True))
    require(delivery["criada_em"] == born, "entrega.criada_em: the event's id has another time")
    own = {"delivery_id": "id", "event_id": "evento_id", "webhook_id": "webhook_id", "partner_id": "parceiro_id"}
    require(all(one[name] == delivery[key] for one in attempts for name, key in own.items()), "an attempt is of another delivery")
    for order in orders:
        of = order["webhook_id"], order["partner_id"]
        require(of == (delivery["webhook_id"], delivery["parceiro_id"]), "an order is of another webhook")
        require(delivery["id"] in order["delivery_ids"], "an order is of other deliveries")
    for rows, list_ in ((proof["tentativas"], attempts), (proof["pedidos"], orders)):
        if all(row["entrada"] is not None for row in rows):
            order = [(one["epoch"], one["tx"], data_of(row["entrada"])) for one, row in zip(list_, rows)]
            require(order == sorted(set(order)), "a row stands twice, or behind a later one")
    places = [(one["tipo"], one["onde"]) for one in proof["ancoras"]]
    require(len(set(places)) == len(places), "a receipt of one place stands twice")


def wrong_text(proof, event, attempts, erasing):
    salt, erasure = proof["sal"], proof["apagamento"]
    if erasure:
        order, page = erasing
        tables = erasure["pedido"]["tabela"], erasure["pagina"]["tabela"]
        listed = page["order_id"] == order["id"] and proof["entrega"]["evento_id"] in page["event_ids"]
        require(tables == ("erasure_orders", "erasure_pages") and listed, "the order to erase is one of other events")
        require(salt is None and proof["corpo"] == "apagado", "an erased event has a text")
    require(erasure or salt is not None or proof["retido"] is not None, "the text was taken away without an order")
    if proof["retido"] is not None:
        return
    # Of an erased body the salted hash is left: each attempt sent the event's body, whatever it was. One that lost a CPF alone was
    # still sent behind the order, and no hash of what was left is kept.
    sent = event["commitment"] if salt is None else sha(data_of(salt), proof["corpo"].encode()).hex()
    require(event["commitment"] == sent, "the sealed event has another body")
    for row, fields in zip(proof["tentativas"], attempts):
        left = erasure and fields["body_digest"] == "0" * 64 and fields["recorded_at"] > order["ordered_at"]
        require(
            fields["outcome"] == "desconhecido" or fields["body_digest"] == sent or left, "an attempt sent another body"
        )
        if row["resposta"] is None or row["sal"] is None:
            gone = row["resposta"] is None and row["sal"] is None and (fields["commitment"] is None or erasure)
            require(gone, "an answer is missing")
        else:
            answer = sha(data_of(row["sal"]), data_of(row["resposta"])).hex()
            require(fields["commitment"] == answer, "an attempt was answered otherwise")


def wrong_status(status, event, attempts, orders):
    """No seal covers the status: it must follow from the attempts, none of which may be missing."""
    in_time = sorted((fields for fields in attempts if not fields["late"]), key=lambda fields: fields["number"])
    require([fields["number"] for fields in in_time] == list(range(1, len(in_time) + 1)), "an attempt is missing")
    test = event["type"] == "webhook.teste"
    cancelled = any(fields["kind"] == "cancelamento" for fields in orders)
    ordered = any(fields["kind"] != "teste" for fields in orders)
    arrived = any(fields["outcome"] == "entregue" for fields in attempts)
    failures = lost = 0
    for fields in in_time:
        lost = lost + 1 if fields["outcome"] == "desconhecido" else 0
        spent = test or lost == 5
        failures += spent if fields["outcome"] == "desconhecido" else fields["outcome"] != "entregue"
        lost = 0 if spent else lost
    spent = failures >= (1 if test else 6)
    if status == "entregue":
        return require(arrived, "the delivery arrived by no attempt")
    require(status != "erro" or cancelled or spent, "the delivery failed although attempts were left")
    last = bool(in_time) and in_time[-1]["outcome"] == "entregue"
    over = not ordered or (status == "erro" and not cancelled)
    require(not (over and (last if ordered else arrived)), "the delivery arrived, and its status says something else")
    require(status == "erro" or ordered or not spent, "the delivery failed, and its status says something else")


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
            found = read_entry(entry)[1]["commitment"]
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
    texts = {}
    for one in vectors["proofs"]:
        text = one.get("text") or texts[one["of"]]
        for old, new in one.get("edits", ()):
            text = text.replace(old, new, 1)
        texts[one["name"]] = text
        yield one["name"], check(text, keys)[0], one["verdict"]
    for one in vectors["headers"]:
        if one["header"]:
            yield one["name"], is_signed_header(one["header"], keys), one["verdict"] != "forged"


def main(words):
    if len(words) >= 2 and words[0] == "check":
        try:
            text = open(words[1], encoding="utf-8", newline="").read(MAX_CHARACTERS + 1)
        except ValueError:
            text = ""
        fits, why = check(text, read_keys(words[2:]))
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
