/**
 * `GET /v1/auditoria/balanco`, the conservation law of the deliveries by partner and day; and the checks of the log: the nightly ones'
 * verdicts, a check now, and one delivery's evidence, shown or judged here.
 */
import { z } from 'zod';
import { readBalance } from '../../audit/balance.ts';
import {
  balance,
  type BalanceResource,
  MAX_BALANCE_DAYS,
  MAX_LISTED_DIFFERENCES,
  proof,
} from '../../contract/resources/audit-resource.ts';
import { TEST_NAME } from '../../contract/delivery.ts';
import { NOTICE_NAMES } from '../../contract/events.ts';
import { date } from '../../contract/values.ts';
import { daysBetween, FIRST_DAY, LAST_DAY } from '../../contract/calendar.ts';
import { findRemoved } from '../../audit/removed-days.ts';
import { writeBalance } from '../../audit/add-up-balance.ts';
import { answered, JsonStream } from '../answer.ts';
import { route, type Routes } from '../route.ts';
import { readBalanceStanding } from '../../audit/balance-verdicts.ts';
import { readHead, writeHead } from '../../audit/checkpoint/checkpoint.ts';
import { checkProof } from '../../audit/proof/check-proof.ts';
import { maskProof } from '../../audit/proof/mask-proof.ts';
import { requestProof } from '../../audit/proof/proof.ts';
import { countSealedRows, readTreeHead } from '../../audit/seals/seal-log.ts';
import { readStanding, viewVerification } from '../../audit/seals/verdicts.ts';
import { verifySeals } from '../../audit/seals/verify.ts';
import { whereToVerify } from '../../audit/seals/where-to-verify.ts';
import { workerDigest } from '../../contract/resources/audit-lists.ts';
import { auditVerdicts, checkedProof, verification } from '../../contract/resources/audit-verdicts.ts';
import { cpf } from '../../contract/tax-ids.ts';
import { digestOf } from '../../core/workers/worker-key.ts';

const isCounted = (day: string) => day >= FIRST_DAY && day <= LAST_DAY;
const day = date
  .refine(isCounted, `deve ser de ${FIRST_DAY} a ${LAST_DAY}`)
  .meta({ pattern: '^(19[7-9]|2[0-9]{2})[0-9]-' });

const balanceQuery = z
  .strictObject({ de: day, ate: day, recontar: z.enum(['true', 'false']).optional() })
  .refine(({ de, ate }) => de <= ate, { path: ['ate'], message: 'não pode ser um dia anterior ao do parâmetro `de`' })
  // zod runs this on invalid days too (daysBetween is NaN); the day's own rule reports those.
  .refine(({ de, ate }) => !(daysBetween(de, ate) >= MAX_BALANCE_DAYS), {
    path: ['ate'],
    message: `o período tem no máximo ${MAX_BALANCE_DAYS} dias; o comando audit balance não tem limite`,
  });

/** Rows that a request waits for; a few seconds a million. The command has no limit. */
const MAX_ROWS = 5_000_000;

const HEAD = 'não é uma cabeça: deve ser a linha de audit head, ou a de X-Carteiro-Checkpoint';

/** One at a time in a process. */
let isBusy = false;
const isHead = (text: string) => readHead(text.trim()) !== null;

export const auditVerdictRoutes: Routes = [
  route('GET /v1/auditoria/balanco', 'auditoria:read', {
    summary: {
      pt: 'Balanço das entregas por parceiro e dia, recalculado dos eventos e da história dos webhooks',
      en: 'The balance of deliveries by partner and day, computed anew from the events and the history of the webhooks',
    },
    description: {
      pt: `esperadas vem dos eventos e dos webhooks ativos na gravação de cada um, nunca das entregas. Lista até ${MAX_LISTED_DIFFERENCES} diferenças; total_diferencas conta todas. ${TEST_NAME} e os avisos (${NOTICE_NAMES.join(', ')}) ficam fora. importados são eventos do histórico: não têm entregas. fato_inesperado é um evento que o próprio serviço não gravaria naquele ponto do fluxo, como um desembolso liquidado sem averbação: foi enviado e vale no empréstimo como fato. A resposta vem enquanto é calculada, dia a dia, e um dia de muito movimento hora a hora: um JSON que não termina não está inteiro. Dias encerrados vêm como foram guardados pelo último balanço (guardados diz quantos e sobre que selos); recontar=true conta tudo outra vez. Um dia a contar que tem entregas só no arquivo de um mês é 409: restaure o mês antes.`,
      en: `esperadas comes from the events and the webhooks that were active when each was written, never from the deliveries. Up to ${MAX_LISTED_DIFFERENCES} differences are listed; total_diferencas counts all. ${TEST_NAME} and the notices (${NOTICE_NAMES.join(', ')}) are left out. importados are events of history: they make no delivery. fato_inesperado is an event that the service itself would not write at that point, as a disbursement settled without a registration: it was sent, and counts in the loan as a fact. The answer comes while it is computed, day by day, and a busy day hour by hour: a JSON that does not end is not whole. Settled days come as the last balance kept them (guardados says how many, and on which seals); recontar=true counts everything again. A day to be counted that has deliveries in the archive of a month alone is 409: restore the month first.`,
    },
    isReport: true,
    query: balanceQuery,
    answers: answered(200, balance, {
      pt: 'O balanço; fecha é verdadeiro quando nenhuma entrega falta ou sobra; fato_inesperado não o torna falso',
      en: 'The balance; fecha is true when no delivery is missing or too many; fato_inesperado does not make it false',
    }),
    errors: ['TRANSICAO_INVALIDA'],
  })(async ({ query: { de, ate, recontar }, reading: { pool } }) => {
    const how = { anew: recontar === 'true' };
    const removed = await findRemoved(pool, de, ate, how);
    if ('refused' in removed) return removed;
    const slices = readBalance(pool, de, ate, how);
    return { status: 200, body: new JsonStream<BalanceResource>(await writeBalance(slices, de, ate)) };
  }),
  route('GET /v1/auditoria/entregas/{id}/prova', 'auditoria:read', {
    summary: {
      pt: 'Uma entrega como prova: evento, bytes exatos, tentativas e o caminho de cada um a um checkpoint assinado',
      en: 'A delivery as evidence: event, exact bytes, attempts and the way from each to a signed checkpoint',
    },
    description: {
      pt:
        'O comando audit check confere o arquivo sem banco de dados. tamanho escolhe o checkpoint, pelo seu número de selos; sem ' +
        'ele, o mais novo. Com o escopo auditoria:cpf o arquivo traz o corpo como foi enviado, CPF incluído; sem ele vem ' +
        'mascarado, e não se confere por inteiro.',
      en: 'The command audit check checks the file without a database. tamanho chooses the checkpoint, by its number of seals; without it, the newest. With the scope auditoria:cpf the file brings the body as it was sent, CPF included; without it it is masked, and cannot be checked as a whole.',
    },
    isReport: true,
    query: z.strictObject({
      tamanho: z
        .string()
        .regex(/^[1-9]\d{0,14}$/, 'deve ser um número de selos')
        .optional(),
    }),
    answers: answered(200, proof, { pt: 'A prova', en: 'The evidence' }),
    errors: ['TRANSICAO_INVALIDA'],
  })(async ({ id, seesCpf, query: { tamanho }, reading }, { archives }) => {
    const size = tamanho === undefined ? null : Number(tamanho);
    const found = await requestProof(reading.pool, id, size, archives?.delivery);
    if ('refused' in found) return found;
    return { status: 200, body: seesCpf ? found : maskProof(found) };
  }),
  route('GET /v1/auditoria/vereditos', 'auditoria:read', {
    summary: {
      pt: 'O que as conferências de cada noite disseram por último, e a cabeça atual do registro',
      en: 'What the nightly checks said last, and the present head of the log',
    },
    description: {
      pt: 'Um balanço que não fecha fica aqui até que outro dos mesmos dias feche.',
      en: 'A balance that does not close stands here until another of the same days closes.',
    },
    isReport: true,
    answers: answered(200, auditVerdicts, { pt: 'Os vereditos', en: 'The verdicts' }),
  })(async ({ reading }) => {
    const [head, verified, balance] = await reading.pool.run((sql) =>
      Promise.all([readTreeHead(sql), readStanding(sql), readBalanceStanding(sql)]),
    );
    const body = {
      cabeca: head && writeHead(head),
      verificacao: verified && {
        confere: verified.holds,
        achados: verified.findings,
        selos: verified.head?.size ?? 0,
        em: verified.checkedAt.toISOString(),
      },
      balanco: balance && {
        fecha: balance.closes,
        total_diferencas: balance.differences,
        de: balance.from,
        ate: balance.to,
        em: balance.checkedAt.toISOString(),
      },
    };
    return { status: 200, body };
  }),
  route('POST /v1/auditoria/leituras/resumo', 'auditoria:read', {
    summary: {
      pt: 'O resumo de um CPF, pelo qual se acha quem o leu',
      en: 'The digest of a CPF, by which those who read it are found',
    },
    description: {
      pt: 'Pede também o escopo auditoria:cpf. O resumo vale em GET /v1/auditoria/leituras?resumo= e, em SQL, em carteiro_auditoria.trabalhadores. O CPF não é guardado.',
      en: 'Needs the scope auditoria:cpf, too. The digest serves in GET /v1/auditoria/leituras?resumo= and, in SQL, in carteiro_auditoria.trabalhadores. The CPF is not kept.',
    },
    body: z.strictObject({ cpf }),
    answers: answered(200, workerDigest, { pt: 'O resumo', en: 'The digest' }),
    errors: ['ESCOPO_INSUFICIENTE', 'INDISPONIVEL'],
  })(async ({ body, seesCpf }, { workers }) => {
    if (!seesCpf) return { refused: { kind: 'noCpfScope' } };
    if (workers === null) return { refused: { kind: 'noWorkerKey' } };
    return { status: 200, body: { resumo: digestOf(workers.key, body.cpf).toString('hex') } };
  }),
  route('POST /v1/auditoria/verificacao', 'auditoria:read', {
    summary: {
      pt: 'Confere o registro inteiro agora: lê tudo o que foi selado e calcula outra vez',
      en: 'Verifies the whole log now: reads all that was sealed and hashes it again',
    },
    description: {
      pt: `cabeca é uma que foi guardada fora, e mostra também um fim cortado. Uma conferência de cada vez, e até ${MAX_ROWS / 1e6} milhões de linhas; o comando audit verify não tem limite.`,
      en: `cabeca is one that was kept outside, and shows a tail that was cut off, too. One check at a time, and up to ${MAX_ROWS / 1e6} million rows; the command audit verify has no limit.`,
    },
    isReport: true,
    body: z.strictObject({
      cabeca: z
        .string()
        .max(1_000)
        .refine(isHead, HEAD)
        .optional()
        .meta({ examples: [`19:${'9f3c'.repeat(16)}`] }),
    }),
    isBodyOptional: true,
    answers: answered(200, verification, { pt: 'O que foi achado', en: 'What was found' }),
    errors: ['TRANSICAO_INVALIDA'],
  })(async ({ body: { cabeca }, reading }, deps) => {
    const { pool: primary, checkpointKeys: keys, archives, installation } = deps;
    const kept = cabeca === undefined ? null : readHead(cabeca.trim());
    if (isBusy) return { refused: { kind: 'verifying' } };
    isBusy = true;
    try {
      const pool = await whereToVerify(reading, primary, kept?.size ?? 0);
      if ((await pool.run(countSealedRows)) > MAX_ROWS) return { refused: { kind: 'tooManyToVerify' } };
      const archived = archives && { archived: archives.seals() };
      const heads = kept === null ? [] : [kept];
      const found = await verifySeals(pool, { heads, keys, installation, primary, ...archived });
      return { status: 200, body: viewVerification(found) };
    } finally {
      isBusy = false;
    }
  }),
  route('GET /v1/auditoria/entregas/{id}/conferencia', 'auditoria:read', {
    summary: {
      pt: 'A prova de uma entrega conferida aqui, com as chaves deste serviço',
      en: 'The evidence of a delivery checked here, with the keys of this service',
    },
    description: {
      pt: 'Quem não quer confiar neste serviço baixa a prova e usa audit check. Sem auditoria:cpf o corpo não se confere: confere é null.',
      en: 'Whoever does not want to trust this service takes the evidence and uses audit check. Without auditoria:cpf the body cannot be checked: confere is null.',
    },
    isReport: true,
    answers: answered(200, checkedProof, { pt: 'O veredito', en: 'The verdict' }),
    errors: ['TRANSICAO_INVALIDA'],
  })(async ({ id, seesCpf, reading }, { checkpointKeys: keys, archives }) => {
    const found = await requestProof(reading.pool, id, null, archives?.delivery);
    if ('refused' in found) return found;
    const { fits, reason, unsealed } = checkProof(JSON.stringify(seesCpf ? found : maskProof(found)), { keys });
    return { status: 200, body: { confere: fits, motivo: reason, sem_selo: unsealed } };
  }),
];
