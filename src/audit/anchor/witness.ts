/** A C2SP tlog-witness: it cosigns a checkpoint that extends the last one it saw of this log; 409 states that one's size. */
import { openCosignature } from '../checkpoint/cosignature.ts';
import type { Verifier } from '../checkpoint/note.ts';
import { type Anchor, ask, said } from './anchor.ts';

const REFUSED: Readonly<Record<number, string>> = {
  403: 'it does not trust the key that signs our checkpoints: give it the public key',
  404: 'it does not know our log: let its operator add the name and the public key',
  422: 'it does not accept that this log grew out of the one that it saw: run audit verify',
};

/** `url`: the submission prefix, without a slash at its end. */
export function witnessAnchor({ url, key }: { readonly url: string; readonly key: Verifier }): Anchor {
  return {
    kind: 'testemunha',
    place: key.name,
    async put({ size, note }, prove) {
      const submit = async (old: number) => {
        const path = old === 0 || old === size ? [] : await prove(old);
        const proof = path.map((hash) => `${hash.toString('base64')}\n`).join('');
        return ask(`${url}/add-checkpoint`, { method: 'POST', body: `old ${old}\n${proof}\n${note}` });
      };
      let old = 0;
      let answer = await submit(old);
      // It may see another checkpoint between two tries, so there is more than one.
      for (let tries = 0; answer.status === 409 && tries < 3; tries += 1) {
        const [, known] = /^(0|[1-9]\d{0,14})\n?$/.exec(answer.body.toString()) ?? [];
        if (known === undefined) throw new Error(`it answers 409${said(answer.body)}`);
        if (Number(known) > size)
          throw new Error(`it saw ${known} seals of this log, which has ${size}: run audit verify`);
        if (Number(known) === old) throw new Error(`it holds another root of ${known} seals: the log was made anew`);
        old = Number(known);
        answer = await submit(old);
      }
      const lines = answer.body.toString();
      if (answer.status !== 200)
        throw new Error(REFUSED[answer.status] ?? `it answers ${answer.status}${said(answer.body)}`);
      if (openCosignature(note, lines, key) === null)
        throw new Error(`its key ${key.name} has not cosigned${said(answer.body)}`);
      return Buffer.from(lines);
    },
  };
}
