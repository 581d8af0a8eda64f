/** The log of seals: its newest ones, and the check of all of it. */
import { html } from 'hono/html';
import { readHead, writeHead } from '../../audit/checkpoint/heads.ts';
import { countSealedRows, readNewestSeals, readTreeHead } from '../../audit/seals/seal-log.ts';
import { readStanding, type Standing } from '../../audit/seals/verdicts.ts';
import { type Verification, verifySeals } from '../../audit/seals/verify.ts';
import type { Html, PainelDeps, Visit } from '../env.ts';
import { answerPage } from '../frame/page.ts';
import { copyable, formToken, moment, notice, table } from '../frame/parts.ts';
import { auditTabs } from './tabs.ts';

const SHOWN = 25;
/** A browser waits for so many rows; about four seconds a million. The command has no limit. */
const MAX_ROWS = 5_000_000;

/** What became of a check; `busy`: another one is under way in this process. */
type Checked = Verification | 'busy' | 'too many' | 'bad head';

let checking = false;

export async function verifyChain({ pool }: PainelDeps, given: string): Promise<Checked> {
  const anchor = given.trim() === '' ? null : readHead(given.trim());
  if (given.trim() !== '' && anchor === null) return 'bad head';
  if (checking) return 'busy';
  checking = true;
  try {
    if ((await pool.run(countSealedRows)) > MAX_ROWS) return 'too many';
    return await verifySeals(pool, { heads: anchor === null ? [] : [anchor] });
  } finally {
    checking = false;
  }
}

export async function showSeals(visit: Visit, { pool }: PainelDeps, checked: Checked | null): Promise<Response> {
  const { c, t } = visit;
  const { seals, head, standing } = await pool.run(async (sql) => ({
    seals: await readNewestSeals(sql, SHOWN),
    head: await readTreeHead(sql),
    standing: await readStanding(sql),
  }));
  return answerPage(c, {
    title: t.auditor.seals,
    body: html`${auditTabs(visit)} ${checked === null ? '' : verdict(visit, checked)}
      ${standing === null ? html`<p>${t.auditor.neverVerified}</p>` : lastVerdict(visit, standing)}
      <form class="stack narrow" method="post" action="/painel/auditoria/selos">
        ${formToken(visit)}
        <label for="cabeca">${t.auditor.head}</label>
        <input id="cabeca" name="cabeca" spellcheck="false" autocomplete="off" aria-describedby="head-hint" />
        <p id="head-hint" class="dim">${t.auditor.headHint}</p>
        <button class="primary">${t.auditor.verify}</button>
      </form>
      ${
        head === null
          ? html`<p>${t.auditor.noSeal}</p>`
          : html`<h2>${t.auditor.newestHead}</h2>
              ${copyable(t, 'head-text', t.auditor.newestHead, writeHead(head))}
              ${table(
                t.auditor.seals,
                [{ number: t.auditor.number }, t.auditor.sealed, { number: t.auditor.rows }, t.auditor.root],
                seals.map(
                  (seal) =>
                    html`<tr>
                      <td class="number">${seal.number}</td>
                      <td>${moment(visit, seal.sealedAt)}</td>
                      <td class="number">${seal.rows}</td>
                      <td><code>${seal.root.toString('hex').slice(0, 24)}…</code></td>
                    </tr>`,
                ),
              )}`
      }`,
  });
}

/** What the nightly check said last. */
function lastVerdict(visit: Visit, { holds, findings, head, checkedAt }: Standing): Html {
  const { auditor } = visit.t;
  const found = holds ? auditor.nightlyHolds(head?.size ?? 0) : auditor.nightlyBroken(findings);
  return html`<p>
    ${auditor.nightly} ${moment(visit, checkedAt)}: ${holds ? found : html`<strong>${found}</strong>`}
  </p>`;
}

function verdict({ t }: Visit, checked: Checked): Html {
  if (checked === 'busy') return notice('failed', t.auditor.busy);
  if (checked === 'too many') return notice('failed', t.auditor.tooMany);
  if (checked === 'bad head') return notice('failed', t.auditor.badHead);
  const { findings, seals, rows } = checked;
  const [first] = findings;
  if (first === undefined) return notice('done', t.auditor.unbroken(seals, rows));
  const where = [first.tipo, first.tabela, first.linha, first.colunas.join(', ')].filter(Boolean).join(' ');
  return notice('failed', t.auditor.broken(findings.length, `${where}: ${first.detalhe}`));
}
