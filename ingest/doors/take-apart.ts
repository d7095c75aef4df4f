import { move, transferableSymbol, valueSymbol } from 'piscina';
import { takeBulk } from './bulk.ts';
import { type EnvelopeFault, type TakeApart, type TakenApart, TooLargeEnvelope } from './envelope.ts';
import { takeFirehose } from './firehose.ts';
import { takeOtlpJson } from './otlp-json.ts';
import { takeOtlpProtobuf } from './otlp-protobuf.ts';
import { takeHecEvents, takeHecLines } from './splunk-hec.ts';

/** The envelopes that doors take. */
const ENVELOPES = {
  bulk: takeBulk,
  firehose: takeFirehose,
  'hec events': takeHecEvents,
  'hec lines': takeHecLines,
  'otlp json': takeOtlpJson,
  'otlp protobuf': takeOtlpProtobuf,
} as const satisfies Readonly<Record<string, TakeApart>>;

export type EnvelopeName = keyof typeof ENVELOPES;

export interface EnvelopeTask {
  readonly envelope: EnvelopeName;
  /** As `TakeApart` takes it. */
  readonly body: Uint8Array<ArrayBuffer>;
}

export function takeApart({ envelope, body: { buffer, byteOffset, byteLength } }: EnvelopeTask): TakenApart | EnvelopeFault {
  try {
    return ENVELOPES[envelope](Buffer.from(buffer, byteOffset, byteLength));
  } catch (error) {
    if (error instanceof TooLargeEnvelope) return { kind: 'fault', index: error.index, reason: error.message, isTooLarge: true };
    throw error;
  }
}

/** The worker of a thread of `DoorThreads`: the bytes of the body, and what was found in them, are transferred back. */
export function startWork(): (task: EnvelopeTask) => TakenApart | EnvelopeFault {
  return (task) => {
    const taken = takeApart(task);
    if (taken.kind === 'fault') return taken;
    const { bytes, starts, ends } = taken.records;
    const { actions, indices } = taken.items ?? {};
    const arrays = [bytes, starts, ends, actions, indices].filter((array) => array !== undefined);
    const memory = [...new Set(arrays.map(({ buffer }) => buffer))];
    return move({ [transferableSymbol]: memory, [valueSymbol]: taken }) as unknown as TakenApart;
  };
}
