/** The loan's two dimensions as a picture: every state there is, those that it went through, and the one that it is in. */
import { html } from 'hono/html';
import type { LoanStatus } from '../../contract/statuses.ts';
import type { Html } from '../env.ts';
import type { Texts } from '../language/choose.ts';
import type { LoanStep } from '../../contract/resources/loan-resource.ts';

type Documents = 'nenhuma' | 'aguardando' | 'recebido';
/** The two dimensions right after one event. */
type Step = Pick<LoanStep, 'versao' | 'status' | 'situacao_documentos'>;

const documentsOf = (step: Step | undefined): Documents => step?.situacao_documentos ?? 'nenhuma';

interface Place {
  readonly x: number;
  readonly y: number;
}

const BOX = { width: 158, height: 44 };
const ROW = { way: 40, closed: 130, documents: 230 };

const PLACES: Readonly<Record<LoanStatus, Place>> = {
  emitindo: { x: 10, y: ROW.way },
  em_assinatura: { x: 190, y: ROW.way },
  aguardando_averbacao: { x: 370, y: ROW.way },
  averbada: { x: 550, y: ROW.way },
  desembolsada: { x: 730, y: ROW.way },
  cancelada: { x: 10, y: ROW.closed },
  encerrada_desligamento: { x: 550, y: ROW.closed },
};

const ARROWS: readonly (readonly [LoanStatus, LoanStatus])[] = [
  ['emitindo', 'em_assinatura'],
  ['em_assinatura', 'aguardando_averbacao'],
  ['aguardando_averbacao', 'averbada'],
  ['averbada', 'desembolsada'],
  ['emitindo', 'cancelada'],
  ['em_assinatura', 'encerrada_desligamento'],
  ['aguardando_averbacao', 'encerrada_desligamento'],
  ['averbada', 'encerrada_desligamento'],
  ['desembolsada', 'encerrada_desligamento'],
];

const DOCUMENTS: Readonly<Record<Documents, Place>> = {
  nenhuma: { x: 10, y: ROW.documents },
  aguardando: { x: 190, y: ROW.documents },
  recebido: { x: 370, y: ROW.documents },
};

/** `steps` up to the version that is shown. */
export function diagram(t: Texts, steps: readonly Step[]): Html {
  const statuses = entries(steps, ({ status }) => status);
  const documents = entries(steps, documentsOf);
  const now = steps.at(-1);
  const taken = new Set(steps.map(({ status }, index) => `${steps[index - 1]?.status} ${status}`));
  const moved = new Set(steps.map((step, index) => `${documentsOf(steps[index - 1])} ${documentsOf(step)}`));
  const label = t.loans.pictureLabel(
    [...statuses.keys()].map((status) => t.loanStatus[status]).join(', '),
    t.documents[documentsOf(now)],
  );
  return html`<div class="scroll picture" tabindex="0" role="region" aria-label="${t.loans.picture}">
    <svg viewBox="0 0 890 290" width="890" height="290" role="img" aria-label="${label}">
      <text class="row-name" x="10" y="24">${t.loans.statusDimension}</text>
      ${ARROWS.map(([from, to]) => arrow(PLACES[from], PLACES[to], taken.has(`${from} ${to}`)))}
      ${(Object.keys(PLACES) as LoanStatus[]).map((status) =>
        box(PLACES[status], t.loanStatus[status], statuses.get(status), now?.status === status),
      )}
      <text class="row-name" x="10" y="${ROW.documents - 14}">${t.loans.documentsDimension}</text>
      ${arrow(DOCUMENTS.nenhuma, DOCUMENTS.aguardando, moved.has('nenhuma aguardando'))}
      ${arrow(DOCUMENTS.aguardando, DOCUMENTS.recebido, moved.has('aguardando recebido'))}
      ${(Object.keys(DOCUMENTS) as Documents[]).map((situation) =>
        box(DOCUMENTS[situation], t.documents[situation], documents.get(situation), documentsOf(now) === situation),
      )}
    </svg>
  </div>`;
}

/** The versions at which each state was entered, in order; a state that was never entered is absent. */
export function entries<S extends string>(steps: readonly Step[], pick: (step: Step) => S | null): Map<S, number[]> {
  const entered = new Map<S, number[]>();
  let before: S | null = null;
  for (const step of steps) {
    const state = pick(step);
    if (state !== null && state !== before) entered.set(state, [...(entered.get(state) ?? []), step.versao]);
    before = state;
  }
  return entered;
}

function box({ x, y }: Place, label: string, entered: readonly number[] | undefined, isNow: boolean): Html {
  const kind = isNow ? 'now' : entered === undefined ? 'never' : 'been';
  const versions = entered === undefined ? '' : entered.map((version) => `v${version}`).join(' ');
  return html`<g class="state state-${kind}">
    <rect x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="6" />
    <text x="${x + BOX.width / 2}" y="${y + (versions === '' ? 27 : 20)}" text-anchor="middle">${label}</text>
    ${versions === '' ? '' : html`<text class="versions" x="${x + BOX.width / 2}" y="${y + 36}" text-anchor="middle">${versions}</text>`}
  </g>`;
}

/** Beside each other from edge to edge; else from the lower edge to the upper one. */
function arrow(from: Place, to: Place, isTaken: boolean): Html {
  const isBeside = from.y === to.y;
  const start = isBeside
    ? { x: from.x + BOX.width, y: from.y + BOX.height / 2 }
    : { x: from.x + BOX.width / 2, y: from.y + BOX.height };
  const end = isBeside ? { x: to.x, y: to.y + BOX.height / 2 } : { x: to.x + BOX.width / 2, y: to.y };
  const head = isBeside
    ? `${end.x - 7},${end.y - 5} ${end.x},${end.y} ${end.x - 7},${end.y + 5}`
    : `${end.x - 5},${end.y - 7} ${end.x},${end.y} ${end.x + 5},${end.y - 7}`;
  return html`<g class="arrow${isTaken ? ' arrow-taken' : ''}">
    <line x1="${start.x}" y1="${start.y}" x2="${end.x}" y2="${end.y}" /><polyline points="${head}" />
  </g>`;
}
