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

/** Takes a body apart; `body` is as for `TakeApart`. */
export function takeApart(envelope: EnvelopeName, { buffer, byteOffset, byteLength }: Uint8Array<ArrayBuffer>): TakenApart | EnvelopeFault {
  try {
    return ENVELOPES[envelope](Buffer.from(buffer, byteOffset, byteLength));
  } catch (error) {
    if (error instanceof TooLargeEnvelope) return { kind: 'fault', index: error.index, reason: error.message, isTooLarge: true };
    throw error;
  }
}
