/** Bugs as partners make them, each a small change of a recipe or receiver in its own language, with the checks that must find it. */
import { EXPRESS, FLASK } from './framework-receivers.ts';
import { GO, JAVA, PHP } from './published-receivers.ts';
import type { ReceiverProgram } from './receiver-programs.ts';

interface Bug {
  readonly program: ReceiverProgram;
  readonly bug: string;
  /** Any of these: a bug may show in several ways. */
  readonly finds: readonly string[];
  readonly change: readonly (readonly [from: string, to: string])[];
}

const JAVA_OURS = 'boolean isOurs = Carteiro.verify(rawBody,';
const JAVA_ANSWER = 'exchange.sendResponseHeaders(isOurs ? 204 : 401, -1);';
const javaStatus = (status: string) =>
  [[JAVA_ANSWER, `exchange.sendResponseHeaders(!isOurs ? 401 : ${status}, -1);`]] as const;
const JAVA_EVENT = 'exchange.getRequestHeaders().getFirst("X-Webhook-Event")';
const PHP_VERIFY = 'Carteiro\\verify($rawBody,';
const PHP_LAST = 'http_response_code(204);';
const PHP_DATA = "$data = json_decode($rawBody, true)['data'];";
const GO_LAST = 'w.WriteHeader(http.StatusNoContent)';
const FLASK_LAST = 'return "", 204';
const EXPRESS_LAST = 'return response.sendStatus(204);';

/** Four in each of five. */
export const PLANTED: readonly Bug[] = [
  {
    program: EXPRESS,
    bug: 'verifies what express.json() has parsed',
    finds: ['reserializado_node'],
    change: [
      ["express.raw({ type: () => true, limit: '1mb' })", 'express.json()'],
      ['verify(request.body,', 'verify(Buffer.from(JSON.stringify(request.body)),'],
    ],
  },
  { program: EXPRESS, bug: 'takes 16 KiB', finds: ['corpo_64_kib'], change: [["'1mb'", "'16kb'"]] },
  {
    program: EXPRESS,
    bug: 'verifies only where the header is there',
    finds: ['sem_assinatura'],
    change: [['if (!verify(', "if (request.headers['webhook-signature'] && !verify("]],
  },
  {
    program: EXPRESS,
    bug: 'answers a conflict to what it has',
    finds: ['duplicata'],
    change: [
      ['const app = express();', 'const app = express();\nconst seen = new Set();'],
      [
        EXPRESS_LAST,
        "const id = request.get('X-Webhook-Delivery');\n  const has = seen.has(id);\n  seen.add(id);\n  return response.sendStatus(has ? 409 : 204);",
      ],
    ],
  },
  {
    program: FLASK,
    bug: 'verifies json.dumps of what it has parsed',
    finds: ['reserializado_python'],
    change: [['request.get_data()', '__import__("json").dumps(request.get_json()).encode()']],
  },
  {
    program: FLASK,
    bug: 'takes an hour-old delivery',
    finds: ['horario_velho'],
    change: [['TOLERANCE_S = 300', 'TOLERANCE_S = 3600']],
  },
  {
    program: FLASK,
    bug: 'reads parceiro_id as if it were always there',
    finds: ['sem_parceiro_id'],
    change: [[FLASK_LAST, 'request.get_json()["parceiro_id"]\n    return "", 204']],
  },
  {
    program: FLASK,
    bug: 'computes with a percentage that is null',
    finds: ['nulo'],
    change: [[FLASK_LAST, 'request.get_json()["data"].get("margem_percentual", 0) * 100\n    return "", 204']],
  },
  {
    program: PHP,
    bug: 'verifies json_encode of what it has parsed',
    finds: ['reserializado_php'],
    change: [[PHP_VERIFY, 'Carteiro\\verify(json_encode(json_decode($rawBody)),']],
  },
  {
    program: PHP,
    bug: 'compares as far as the header goes',
    finds: ['assinatura_cortada'],
    change: [['hash_equals($expected, $signature) ||', 'str_starts_with($expected, $signature) ||']],
  },
  {
    program: PHP,
    bug: 'takes the secret without decoding it',
    finds: ['propria'],
    change: [["base64_decode(str_starts_with($secret, 'whsec_') ? substr($secret, 6) : $secret, true)", '$secret']],
  },
  {
    program: PHP,
    bug: 'wants digits in a CNPJ',
    finds: ['cnpj_alfanumerico'],
    change: [[PHP_LAST, `${PHP_DATA}\nhttp_response_code(ctype_digit($data['cnpj_empregador'] ?? '0') ? 204 : 422);`]],
  },
  {
    program: JAVA,
    bug: 'reads the body as text of Latin 1',
    finds: ['acentos'],
    change: [
      [
        JAVA_OURS,
        'rawBody = new String(rawBody, java.nio.charset.StandardCharsets.ISO_8859_1).getBytes(java.nio.charset.StandardCharsets.UTF_8);\n            boolean isOurs = Carteiro.verify(rawBody,',
      ],
    ],
  },
  {
    program: JAVA,
    bug: 'answers 404 to an event that it does not know',
    finds: ['evento_desconhecido'],
    change: javaStatus(`${JAVA_EVENT}.startsWith("homologacao.") ? 404 : 204`),
  },
  {
    program: JAVA,
    bug: 'answers a conflict to an older version',
    finds: ['fora_de_ordem'],
    change: [
      ...javaStatus('isOlder(exchange.getRequestHeaders().getFirst("X-Webhook-Loan-Version")) ? 409 : 204'),
      [
        'public static void main',
        'static int newest = 0;\n\n    static boolean isOlder(String given) {\n        int version = given == null ? newest : Integer.parseInt(given);\n        boolean isOlder = version < newest;\n        newest = Math.max(newest, version);\n        return isOlder;\n    }\n\n    public static void main',
      ],
    ],
  },
  {
    program: JAVA,
    bug: 'answers a page',
    finds: ['resposta_simples'],
    change: [
      [
        JAVA_ANSWER,
        'byte[] page = "<!DOCTYPE html><title>Login</title>".getBytes();\n            exchange.sendResponseHeaders(isOurs ? 200 : 401, page.length);\n            exchange.getResponseBody().write(page);',
      ],
    ],
  },
  {
    program: GO,
    bug: 'redirects to the path with a slash',
    finds: ['propria'],
    change: [['"/carteiro"', '"/carteiro/"']],
  },
  {
    program: GO,
    bug: 'verifies the trimmed body',
    finds: ['corpo_alterado'],
    change: [['carteiro.Verify(rawBody,', 'carteiro.Verify([]byte(strings.TrimSpace(string(rawBody))),']],
  },
  {
    program: GO,
    bug: 'reads the first signature of the list',
    finds: ['rotacao_anterior'],
    change: [
      ['r.Header, secrets', 'first(r.Header), secrets'],
      [
        'func main() {',
        'func first(h http.Header) http.Header {\n\th.Set("webhook-signature", strings.Split(h.Get("webhook-signature"), " ")[0])\n\treturn h\n}\n\nfunc main() {',
      ],
    ],
  },
  {
    program: GO,
    bug: 'takes no field that it does not know',
    finds: ['chave_desconhecida'],
    change: [
      [
        GO_LAST,
        'if strings.Contains(string(rawBody), "campo_novo") {\n\t\t\tw.WriteHeader(http.StatusBadRequest)\n\t\t\treturn\n\t\t}\n\t\tw.WriteHeader(http.StatusNoContent)',
      ],
    ],
  },
];

/** The program with the bug in it, and the changes that found no text to change. */
export function planted({ program, change }: Bug) {
  const left = new Set(change);
  const plant = (given: string) => {
    let text = given;
    for (const one of left) {
      if (!text.includes(one[0])) continue;
      text = text.replace(one[0], () => one[1]);
      left.delete(one);
    }
    return text;
  };
  return { program: { ...program, plant }, left };
}
