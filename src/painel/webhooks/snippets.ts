/**
 * A receiver for one webhook, in the partner's language: a small server with the webhook's path, and beside it the verifier that
 * src/http/receivers/ publishes, as it is. The secrets come from the environment, where they belong.
 */
import { readFileSync } from 'node:fs';
import { HEADER_DELIVERY } from '../../contract/delivery.ts';

interface SnippetFile {
  readonly name: string;
  readonly code: string;
}

export interface Snippet {
  readonly language: string;
  /** The server, then the verifier that it needs beside it. */
  readonly files: readonly [server: SnippetFile, verifier: SnippetFile];
}

const RECEIVERS = new URL('../../http/receivers/', import.meta.url);
const IN_FORCE = 'the new one and, while a rotation lasts, the one before';
const THEN = `Store it, once for each ${HEADER_DELIVERY}, then answer; work on it afterwards.`;

const node = (path: string) => `import { createServer } from 'node:http';
import { verify } from './carteiro.ts';

const secrets = process.env.CARTEIRO_SECRETS.split(','); // ${IN_FORCE}

createServer(async (request, response) => {
  if (new URL(request.url, 'http://x').pathname !== ${path}) return response.writeHead(404).end();
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const rawBody = Buffer.concat(chunks); // before any parsing
  if (!verify(rawBody, request.headers, secrets)) return response.writeHead(401).end();
  // ${THEN}
  response.writeHead(204).end();
}).listen(process.env.PORT ?? 8080);
`;

const python = (path: string) => `import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import urlsplit

from carteiro import verify

SECRETS = os.environ["CARTEIRO_SECRETS"].split(",")  # ${IN_FORCE}


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        raw_body = self.rfile.read(int(self.headers["Content-Length"]))  # before any parsing
        if urlsplit(self.path).path != ${path}:
            self.send_response(404)
        elif not verify(raw_body, self.headers, SECRETS):
            self.send_response(401)
        else:
            # ${THEN}
            self.send_response(204)
        self.end_headers()


HTTPServer(("", int(os.environ.get("PORT", "8080"))), Receiver).serve_forever()
`;

const go = (path: string) => `package main

import (
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"receiver/carteiro" // go mod init receiver
)

var secrets = strings.Split(os.Getenv("CARTEIRO_SECRETS"), ",") // ${IN_FORCE}

func main() {
	http.HandleFunc(${path}, func(w http.ResponseWriter, r *http.Request) {
		rawBody, err := io.ReadAll(r.Body) // before any parsing
		if err != nil || !carteiro.Verify(rawBody, r.Header, secrets, time.Now()) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		// ${THEN}
		w.WriteHeader(http.StatusNoContent)
	})
	http.ListenAndServe(":"+os.Getenv("PORT"), nil)
}
`;

const java = (path: string) => `import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.List;

public final class Receiver {
    // ${IN_FORCE}
    static final List<String> SECRETS = List.of(System.getenv("CARTEIRO_SECRETS").split(","));

    public static void main(String[] args) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(Integer.parseInt(System.getenv("PORT"))), 0);
        server.createContext(${path}, exchange -> {
            byte[] rawBody = exchange.getRequestBody().readAllBytes(); // before any parsing
            boolean isOurs = Carteiro.verify(rawBody, exchange.getRequestHeaders()::getFirst, SECRETS);
            // ${THEN}
            exchange.sendResponseHeaders(isOurs ? 204 : 401, -1);
            exchange.close();
        });
        server.start();
    }
}
`;

const published = (file: string) => readFileSync(new URL(file, RECEIVERS), 'utf8');

const LANGUAGES = [
  { language: 'Node', name: 'receiver.mjs', write: node, verifier: published('carteiro.ts'), beside: 'carteiro.ts' },
  { language: 'Python', name: 'receiver.py', write: python, verifier: published('carteiro.py'), beside: 'carteiro.py' },
  { language: 'Go', name: 'main.go', write: go, verifier: published('carteiro.go'), beside: 'carteiro/carteiro.go' },
  {
    language: 'Java',
    name: 'Receiver.java',
    write: java,
    verifier: published('Carteiro.java'),
    beside: 'Carteiro.java',
  },
];

/** For the webhook of this URL; its query is no part of a route. */
export function snippetsFor(url: string): readonly Snippet[] {
  const path = JSON.stringify(new URL(url).pathname);
  return LANGUAGES.map(({ language, name, write, verifier, beside }) => {
    return {
      language,
      files: [
        { name, code: write(path) },
        { name: beside, code: verifier },
      ],
    };
  });
}
