/**
 * The checks of a receiver, from outside: the POSTs of each, and the answers that it requires.
 *
 * A check sends rounds of POSTs, each round in parallel. `accepted`: each must be answered 2xx; `refused`: none may be.
 * `slowest` and `strangest` look at all accepted POSTs. A POST to be refused is wrong in both schemes (the contract's header,
 * Standard Webhooks), because a receiver may read either. Only one scheme signs the time, so `binds` uses the results of the
 * probes.
 */
import type { CheckCode } from '../contract/conformance/words.ts';
import { envelopeOf, exampleOf, type Kit, type Post, postOf, withSignatures } from './post.ts';

/** A body that changes when re-serialized: escapes, an escaped slash, letters beyond ASCII and a trailing zero. */
export function unusualBody(kit: Kit) {
  const { event, body } = exampleOf(kit, 'trabalhador.vinculo_novo', {
    novo_empregador: { cnpj: '11444777000161', nome: 'Café / São João' },
    margem_disponivel: 1750.5,
  });
  return { event, body: body.replace('Café / ', String.raw`Caf\u00e9 \/ `).replace('1750.5', '1750.50') };
}

type Write = (value: unknown) => string;

const escapeUnicode = (text: string) =>
  text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** `json.dumps` with its separators; the values of {@link unusualBody} are alike in all else. */
function writeSpaced(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${writeSpaced(member)}`);
  return `{${members.join(', ')}}`;
}

/** What the usual writers make of a parsed body, by the language whose default it is. */
export const WRITERS = {
  node: [JSON.stringify],
  python: [(value) => escapeUnicode(writeSpaced(value)), writeSpaced, (value) => escapeUnicode(JSON.stringify(value))],
  php: [(value) => escapeUnicode(JSON.stringify(value)).replaceAll('/', String.raw`\/`)],
} satisfies Record<string, readonly Write[]>;

/** The signatures that the receiver reads, as shown by two POSTs with only one right signature each. */
export interface Schemes {
  readonly standardAlone: boolean;
  readonly contractAlone: boolean;
}

type Rounds = readonly (readonly Post[])[];

interface Sending {
  readonly expects: 'accepted' | 'refused';
  readonly rounds: (kit: Kit, schemes: Schemes) => Rounds;
  /** True: a minute passes between the rounds. */
  readonly idles?: true;
  /** Whether the receiver has to do what is expected; where not, a check that finds otherwise does not apply. */
  readonly binds?: (schemes: Schemes) => boolean;
  /** True: it may tell why not even our own delivery was accepted. */
  readonly explains?: true;
}

export type Check = Sending | { readonly expects: 'slowest' | 'strangest' };

const AT_ONCE = 10;
const BODY_BYTES = 65_536;
const STALE_MS = 600_000;

const expecting =
  (expects: Sending['expects']) =>
  (rounds: Sending['rounds'], more: Partial<Sending> = {}): Sending => ({ expects, rounds, ...more });
const [accepted, refused] = [expecting('accepted'), expecting('refused')];
const own = (kit: Kit): Post => postOf(kit, exampleOf(kit));

/** One character is another; the rest is right. */
const spoiled = (signature: string) => signature.replace(/(?<=^sha256=|^v1,)./, (first) => (first === '0' ? '1' : '0'));
const half = (signature: string) => signature.slice(0, Math.ceil(signature.length / 2));
const empty = (signature: string) => signature.replace(/[=,].*/, (rest) => rest.slice(0, 1));
const missing = () => null;

/** The signature of what a writer makes of the body. */
function rewritten(writers: (typeof WRITERS)['python'] | (typeof WRITERS)['node']): Sending {
  return refused(
    (kit) =>
      writers.map((write) => {
        const sent = unusualBody(kit);
        return [postOf(kit, sent, { over: write(JSON.parse(sent.body)) })];
      }),
    { explains: true },
  );
}

const named = (kit: Kit, nome: string) => [
  [postOf(kit, exampleOf(kit, 'trabalhador.desligado', { nome_trabalhador: nome }))],
];

/** In the order in which they run: our own delivery first, the minute of silence last. */
export const CHECKS = {
  propria: accepted((kit) => [[own(kit)]]),
  assinatura_errada: refused((kit) => [[withSignatures(own(kit), spoiled)]]),
  outro_segredo: refused((kit) => [[postOf(kit, exampleOf(kit), { keys: [kit.strange, null] })]], { explains: true }),
  assinatura_cortada: refused((kit) => [[withSignatures(own(kit), half)]]),
  assinatura_vazia: refused((kit) => [[withSignatures(own(kit), empty)]]),
  sem_assinatura: refused((kit) => [[withSignatures(own(kit), missing)]]),
  corpo_alterado: refused((kit) => {
    const { event, body } = exampleOf(kit, 'desembolso.liquidado');
    const raised = exampleOf(kit, 'desembolso.liquidado', { valor_liberado: 999_999.99 });
    return [
      [postOf(kit, { event, body: raised.body }, { over: body })],
      [postOf(kit, { event, body: `${body} ` }, { over: body })],
    ];
  }),
  reserializado_node: rewritten(WRITERS.node),
  reserializado_python: rewritten(WRITERS.python),
  reserializado_php: rewritten(WRITERS.php),
  horario_velho: refused(
    (kit, { contractAlone }) => {
      const post = postOf(kit, exampleOf(kit), { at: new Date(kit.now().getTime() - STALE_MS) });
      return [[contractAlone ? withSignatures(post, spoiled, String) : post]];
    },
    { binds: ({ standardAlone, contractAlone }) => standardAlone || !contractAlone },
  ),
  bytes_exatos: accepted((kit) => [[postOf(kit, unusualBody(kit))]]),
  rotacao_atual: accepted((kit) => [[postOf(kit, exampleOf(kit), { keys: [kit.key, kit.strange] })]]),
  rotacao_anterior: accepted((kit) => [[postOf(kit, exampleOf(kit), { keys: [kit.strange, kit.key] })]], {
    binds: ({ standardAlone }) => standardAlone,
  }),
  duplicata: accepted((kit) => {
    const post = own(kit);
    return [[post], [post]];
  }),
  duplicata_simultanea: accepted((kit) => {
    const post = own(kit);
    return [[post, post]];
  }),
  fora_de_ordem: accepted((kit) => [
    [postOf(kit, { ...exampleOf(kit, 'desembolso.liquidado'), loanVersion: 5 })],
    [postOf(kit, { ...exampleOf(kit, 'averbacao.concluida'), loanVersion: 4 })],
  ]),
  chave_desconhecida: accepted((kit) => [
    [postOf(kit, exampleOf(kit, kit.event, { campo_novo: { de: 'uma versão futura', lista: [1, null] } }))],
  ]),
  nulo: accepted((kit) => [
    [
      postOf(
        kit,
        exampleOf(kit, 'margem.concluida', { salario_bruto: 0, margem_disponivel: 0, margem_percentual: null }),
      ),
    ],
  ]),
  corpo_64_kib: accepted((kit) => {
    const { event, body } = exampleOf(kit, 'averbacao.falhou', { erro: '' });
    return [[postOf(kit, exampleOf(kit, event, { erro: 'x'.repeat(BODY_BYTES - Buffer.byteLength(body)) }))]];
  }),
  acentos: accepted((kit) => named(kit, 'Conceição Muñoz Ünal 😀')),
  separador_u2028: accepted((kit) => named(kit, 'Maria\u2028de\u2029Souza')),
  cnpj_alfanumerico: accepted((kit) => [
    [postOf(kit, exampleOf(kit, 'margem.falhou', { cnpj_empregador: '12ABC34501DE35' }))],
    [
      postOf(
        kit,
        exampleOf(kit, 'trabalhador.vinculo_novo', { novo_empregador: { cnpj: '12ABC34501DE35', nome: 'Nova Ltda' } }),
      ),
    ],
  ]),
  sem_parceiro_id: accepted((kit) => {
    const { event, body } = exampleOf(kit);
    return [[postOf(kit, { event, body: body.replace(/"parceiro_id":"[^"]*",/, '') })]];
  }),
  evento_desconhecido: accepted((kit) => {
    const event = 'homologacao.evento_novo';
    return [[postOf(kit, { event, body: envelopeOf(kit, event, { de: 'uma versão futura' }) })]];
  }),
  dez_ao_mesmo_tempo: accepted((kit) => [Array.from({ length: AT_ONCE }, () => own(kit))]),
  conexao_ociosa: accepted((kit) => [[own(kit)], [own(kit)]], { idles: true }),
  resposta_simples: { expects: 'strangest' },
  prazo: { expects: 'slowest' },
} as const satisfies Record<CheckCode, Check>;

export const CHECK_CODES = Object.keys(CHECKS) as CheckCode[];

/** A right signature of Standard Webhooks beside a wrong one of the contract's header, and the other way round. */
export const PROBES = {
  standardAlone: (kit: Kit) => withSignatures(own(kit), spoiled, String),
  contractAlone: (kit: Kit) => withSignatures(own(kit), String, spoiled),
};
