/** The loan's two dimensions as a picture: every state there is, those that it went through, and the one that it is in. */
import { html } from 'hono/html';
import type { LoanStatus } from '../../contract/statuses.ts';
import type { Html } from '../env.ts';
import type { Texts } from '../language/choose.ts';
import type { LoanStep } from '../../contract/resources/loan-resource.ts';

type Documents = 'nenhuma' | 'aguardando' | 'recebido';
type Step = Pick<LoanStep, 'versao' | 'status' | 'situacao_documentos'>;

const documentsOf = (step: Step | undefined): Documents => step?.situacao_documentos ?? 'nenhuma';

interface Place {
  readonly x: number;
  readonly y: number;
}

const BOX = { width: 158, height: 44 };

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

interface Layout {
  /** Of the page's style, which shows the one that fits. */
  readonly name: 'wide' | 'tall';
  readonly width: number;
  readonly height: number;
  readonly places: Readonly<Record<LoanStatus, Place>>;
  readonly documents: Readonly<Record<Documents, Place>>;
}

const WIDE: Layout = {
  name: 'wide',
  width: 898,
  height: 290,
  places: {
    emitindo: { x: 10, y: 40 },
    em_assinatura: { x: 190, y: 40 },
    aguardando_averbacao: { x: 370, y: 40 },
    averbada: { x: 550, y: 40 },
    desembolsada: { x: 730, y: 40 },
    cancelada: { x: 10, y: 130 },
    encerrada_desligamento: { x: 550, y: 130 },
  },
  documents: { nenhuma: { x: 10, y: 230 }, aguardando: { x: 190, y: 230 }, recebido: { x: 370, y: 230 } },
};

const TALL: Layout = {
  name: 'tall',
  width: 346,
  height: 580,
  places: {
    emitindo: { x: 2, y: 34 },
    em_assinatura: { x: 2, y: 104 },
    aguardando_averbacao: { x: 2, y: 174 },
    averbada: { x: 2, y: 244 },
    desembolsada: { x: 2, y: 314 },
    cancelada: { x: 186, y: 34 },
    encerrada_desligamento: { x: 186, y: 314 },
  },
  documents: { nenhuma: { x: 2, y: 410 }, aguardando: { x: 2, y: 470 }, recebido: { x: 2, y: 530 } },
};

/** `steps` up to the version that is shown; a phone shows the way from top to bottom. */
export function diagram(t: Texts, steps: readonly Step[]): Html {
  return html`<div class="scroll picture" tabindex="0" role="region" aria-label="${t.loans.picture}">
    ${[WIDE, TALL].map((layout) => drawn(t, steps, layout))}
  </div>`;
}

function drawn(t: Texts, steps: readonly Step[], { name, width, height, places, documents: situations }: Layout): Html {
  const statuses = entries(steps, ({ status }) => status);
  const documents = entries(steps, documentsOf);
  const now = steps.at(-1);
  const taken = new Set(steps.map(({ status }, index) => `${steps[index - 1]?.status} ${status}`));
  const moved = new Set(steps.map((step, index) => `${documentsOf(steps[index - 1])} ${documentsOf(step)}`));
  const label = t.loans.pictureLabel(
    [...statuses.keys()].map((status) => t.loanStatus[status]).join(', '),
    t.documents[documentsOf(now)],
  );
  const { nenhuma, aguardando, recebido } = situations;
  return html`<svg
    class="${name}"
    viewBox="0 0 ${width} ${height}"
    width="${width}"
    height="${height}"
    role="img"
    aria-label="${label}"
  >
    <text class="row-name" x="${nenhuma.x}" y="20">${t.deliveries.status}</text>
    ${ARROWS.map(([from, to]) => arrow(places[from], places[to], taken.has(`${from} ${to}`), name === 'tall'))}
    ${(Object.keys(places) as LoanStatus[]).map((status) =>
      box(places[status], t.loanStatus[status], statuses.get(status), now?.status === status),
    )}
    <text class="row-name" x="${nenhuma.x}" y="${nenhuma.y - 12}">${t.loans.documentsDimension}</text>
    ${arrow(nenhuma, aguardando, moved.has('nenhuma aguardando'))}
    ${arrow(aguardando, recebido, moved.has('aguardando recebido'))}
    ${(Object.keys(situations) as Documents[]).map((situation) =>
      box(situations[situation], t.documents[situation], documents.get(situation), documentsOf(now) === situation),
    )}
  </svg>`;
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

/** To what is beside or below; around one corner where it is both: aside and down on a tall picture, else down and aside. */
function arrow(from: Place, to: Place, isTaken: boolean, isTall = false): Html {
  const [dx, dy] = [Math.sign(to.x - from.x), Math.sign(to.y - from.y)];
  const center = ({ x, y }: Place) => ({ x: x + BOX.width / 2, y: y + BOX.height / 2 });
  const aside = ({ x, y }: Place, way: number) => ({ x: x + (way * BOX.width) / 2, y });
  const down = ({ x, y }: Place, way: number) => ({ x, y: y + (way * BOX.height) / 2 });
  const [start, end] = [center(from), center(to)];
  const isAsideFirst = dy === 0 || (isTall && dx !== 0);
  const isAsideLast = dy === 0 || (!isTall && dx !== 0);
  const first = isAsideFirst ? aside(start, dx) : down(start, dy);
  const last = isAsideLast ? aside(end, -dx) : down(end, -dy);
  const corner = isAsideFirst ? { x: last.x, y: first.y } : { x: first.x, y: last.y };
  const back = isAsideLast ? { x: -7 * dx, y: 0 } : { x: 0, y: -7 * dy };
  const wing = isAsideLast ? { x: 0, y: 5 } : { x: 5, y: 0 };
  const head = [1, -1].map((side) => `${last.x + back.x + side * wing.x},${last.y + back.y + side * wing.y}`);
  return html`<g class="arrow${isTaken ? ' arrow-taken' : ''}">
    <polyline points="${first.x},${first.y} ${corner.x},${corner.y} ${last.x},${last.y}" />
    <polyline points="${head[0]} ${last.x},${last.y} ${head[1]}" />
  </g>`;
}
