import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** What a baton stands for: the next request of a stream, once. */
export interface BatonFacts {
  readonly streamId: string;
  readonly turn: number;
}

export interface Batons {
  seal(facts: BatonFacts): string;
  /** Null: this program gave no such baton. */
  open(baton: string): BatonFacts | null;
}

/** Batons that only this program, while it runs, can make: so one it gave for a stream that is gone is known from one made up. */
export function makeBatons(): Batons {
  const secret = randomBytes(32);
  const sign = (text: string): Buffer => createHmac('sha256', secret).update(text).digest();
  return {
    seal({ streamId, turn }) {
      const text = `${streamId}.${turn}`;
      return `${text}.${sign(text).toString('base64url')}`;
    },
    open(baton) {
      const [, text, streamId, turn, signature] = /^(([A-Za-z0-9-]+)\.(\d+))\.([A-Za-z0-9_-]+)$/.exec(baton) ?? [];
      if (text === undefined || streamId === undefined || signature === undefined) return null;
      const [given, own] = [Buffer.from(signature, 'base64url'), sign(text)];
      return given.length === own.length && timingSafeEqual(given, own) ? { streamId, turn: Number(turn) } : null;
    },
  };
}
