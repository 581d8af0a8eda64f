"""A bridge to the registry: Python 3, standard library alone. Copy it, and put the real registry where it says REAL."""
import json
import os
import sqlite3
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

TOKEN = os.environ.get("BRIDGE_TOKEN")  # what Carteiro has in REGISTRY_TOKEN_FILE; unset: everybody may call
LOCK = Lock()  # one registration at a time: the same averbacao_id has one effect
DB = sqlite3.connect(os.environ.get("BRIDGE_DB", "bridge.db"), check_same_thread=False)
DB.execute("create table if not exists averbacoes (id text primary key, status int, corpo text)")


class Bridge(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def handle_call(self, handler, *given):
        if TOKEN and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.answer(401, {"erro": "o token não é o deste serviço"})
        self.answer(*handler(*given))

    def do_GET(self):
        path = self.path.split("?")[0]
        if path == "/saude":
            return self.handle_call(lambda: (200, {}))
        if path.startswith("/averbacoes/"):
            row = DB.execute("select status, corpo from averbacoes where id = ?", (path[12:],)).fetchone()
            return self.handle_call(lambda: (row[0], json.loads(row[1])) if row else (404, {"erro": "nunca pedida"}))
        if path in ("/vinculos/desligamentos", "/vinculos/novos"):  # REAL: what the registry learned in [desde, ate)
            return self.handle_call(lambda: (200, {"itens": [], "proximo_cursor": None}))
        self.handle_call(lambda: (404, {"erro": "rota não encontrada"}))

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        routes = {"/margens": self.margin, "/averbacoes": self.register}
        self.handle_call(routes.get(self.path, lambda _: (404, {"erro": "rota não encontrada"})), body)

    def margin(self, body):  # REAL: 422 {"erro"} where the registry refuses
        return 200, {"valor_total_vencimentos": 5000, "valor_margem_disponivel": 1750}

    def register(self, body):
        with LOCK:
            made = (200, {"protocolo_registry": f"PY-{body['averbacao_id']}"})  # REAL: under averbacao_id as its key
            DB.execute("insert or ignore into averbacoes values (?, ?, ?)", (body["averbacao_id"], made[0], json.dumps(made[1])))
            DB.commit()
            row = DB.execute("select status, corpo from averbacoes where id = ?", (body["averbacao_id"],)).fetchone()
        return row[0], json.loads(row[1])


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("BRIDGE_PORT", "8000"))), Bridge).serve_forever()
