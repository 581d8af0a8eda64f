/**
 * What every adapter of the registry must do (src/registry/port.ts). A real one is run against the operator's test
 * system; `start` says how to make that system answer what a test needs.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  MarginQuestion,
  MarginRegistry,
  RegistrationRegistry,
  RegistrationRequest,
} from '../../src/registry/port.ts';

export interface RegistryUnderTest {
  readonly registry: RegistrationRegistry & MarginRegistry;
  /** A registration that was never asked, of a loan that the registry may record. */
  newRegistration(): Promise<RegistrationRequest>;
  /** Another registration of the same loan. */
  nextRegistration(before: RegistrationRequest): RegistrationRequest;
  /** Makes the registry refuse the loan's next registration. */
  refuseNext(loanId: string, error: string): Promise<void>;
  /** A worker and employer that nothing was told of, under a reference of its own. */
  newQuestion(): MarginQuestion;
  /** Makes the registry answer with amounts, refuse, or be unable to answer. */
  tell(question: MarginQuestion, margin: { earningsCentavos: number; marginCentavos: number }): Promise<void>;
  refuseMargin(question: MarginQuestion, error: string): Promise<void>;
  breakMargin(question: MarginQuestion, error: string): Promise<void>;
  close(): Promise<void>;
}

const never = (): AbortSignal => new AbortController().signal;

/** Registers the tests of the port for one adapter. */
export function describeRegistry(name: string, start: () => Promise<RegistryUnderTest>): void {
  describe(`the registry port, as ${name} keeps it`, () => {
    let world: RegistryUnderTest;
    beforeAll(async () => {
      world = await start();
    });
    afterAll(() => world.close());
    describeRegistration(() => world);
    describeMargin(() => world);
  });
}

function describeRegistration(at: () => RegistryUnderTest): void {
  test('a registration concludes with a protocol', async () => {
    const answer = await at().registry.register(await at().newRegistration(), never());
    expect(answer).toEqual({ outcome: 'concluded', protocol: expect.stringMatching(/\S/) });
  });

  test('a refused registration is an answer, with words for the partner', async () => {
    const request = await at().newRegistration();
    await at().refuseNext(request.loanId, 'margem insuficiente');
    expect(await at().registry.register(request, never())).toEqual({ outcome: 'failed', error: 'margem insuficiente' });
  });

  test('one reference has one answer, whatever the registry would answer later', async () => {
    const request = await at().newRegistration();
    await at().refuseNext(request.loanId, 'recusada');
    const first = await at().registry.register(request, never());
    expect(await at().registry.register(request, never())).toEqual(first);
    await at().refuseNext(request.loanId, 'outra recusa');
    expect(await at().registry.register(request, never())).toEqual(first);
    const next = at().nextRegistration(request);
    expect(await at().registry.register(next, never())).toEqual({ outcome: 'failed', error: 'outra recusa' });
    const last = at().nextRegistration(request);
    expect(await at().registry.register(last, never())).toMatchObject({ outcome: 'concluded' });
  });

  test('calls with one reference at once get one answer', async () => {
    // Several rounds: connections that are open already are what makes calls meet.
    for (let round = 0; round < 4; round += 1) {
      const request = await at().newRegistration();
      await at().refuseNext(request.loanId, 'recusada uma vez');
      const answers = await Promise.all(Array.from({ length: 6 }, () => at().registry.register(request, never())));
      expect(answers).toEqual(answers.map(() => ({ outcome: 'failed', error: 'recusada uma vez' })));
    }
  });

  test('a registration whose signal has aborted is not made', async () => {
    const request = await at().newRegistration();
    await at().refuseNext(request.loanId, 'recusada');
    await expect(at().registry.register(request, AbortSignal.abort())).rejects.toThrow(/abort/i);
    expect(await at().registry.register(request, never())).toMatchObject({ outcome: 'failed' });
  });
}

function describeMargin(at: () => RegistryUnderTest): void {
  test('every worker with a valid CPF has a margin, in integer centavos', async () => {
    const answer = await at().registry.queryMargin(at().newQuestion(), never());
    if (answer.outcome !== 'answered') throw new Error(`no margin: ${answer.error}`);
    for (const centavos of [answer.earningsCentavos, answer.marginCentavos]) {
      expect(Number.isSafeInteger(centavos) && centavos >= 0).toBe(true);
    }
  });

  test('a margin is of one worker and employer, and the latest is told', async () => {
    const [one, other] = [at().newQuestion(), at().newQuestion()];
    await at().tell(one, { earningsCentavos: 1, marginCentavos: 0 });
    await at().tell(other, { earningsCentavos: 999_999_999_999, marginCentavos: 123_456_789_012 });
    const ask = (question: MarginQuestion) => at().registry.queryMargin(question, never());
    expect(await ask(one)).toEqual({ outcome: 'answered', earningsCentavos: 1, marginCentavos: 0 });
    await at().tell(one, { earningsCentavos: 0, marginCentavos: 0 });
    expect(await ask(one)).toEqual({ outcome: 'answered', earningsCentavos: 0, marginCentavos: 0 });
    expect(await ask(other)).toMatchObject({ earningsCentavos: 999_999_999_999, marginCentavos: 123_456_789_012 });
  });

  test('a refused query is an answer, with words for the partner', async () => {
    const question = at().newQuestion();
    await at().refuseMargin(question, 'vínculo não encontrado');
    expect(await at().registry.queryMargin(question, never())).toEqual({
      outcome: 'refused',
      error: 'vínculo não encontrado',
    });
  });

  test('a query that the registry cannot answer throws or says so, and never looks like a refusal', async () => {
    const question = at().newQuestion();
    await at().breakMargin(question, 'fora do ar');
    const outcome = await at()
      .registry.queryMargin(question, never())
      .then(({ outcome }) => outcome)
      .catch(() => 'unavailable');
    expect(outcome).toBe('unavailable');
  });

  test('a query whose signal has aborted is not made', async () => {
    await expect(at().registry.queryMargin(at().newQuestion(), AbortSignal.abort())).rejects.toThrow(/abort/i);
  });
}
