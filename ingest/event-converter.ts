import { hash } from 'node:crypto';
import { AddressMembers } from './address-members.ts';
import { writeCanonicalLine } from './canonical-line.ts';
import type { EventVerdict } from './event-verdict.ts';
import type { LineBuffer } from './line-buffer.ts';
import { MemberScanner } from './member-scanner.ts';
import { WireEvent } from './wire-event.ts';
import { LOG_ID } from './wire-fields.ts';

const LARGEST_EVENT_BYTES = 1024 * 1024;
/** How far ahead of the clock here an event may be. */
const CLOCK_TOLERANCE_MS = 10 * 60_000;

export interface ConverterOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly retentionMs: number;
}

const ACCEPTED: EventVerdict = { kind: 'accepted' };
const EXPIRED: EventVerdict = { kind: 'expired' };

/** Turns events as they come over the wire into canonical lines. */
export class EventConverter {
  readonly #now: () => number;
  readonly #retentionMs: number;
  readonly #scanner = new MemberScanner();
  readonly #event = new WireEvent();
  readonly #addresses = new AddressMembers();

  constructor({ now, retentionMs }: ConverterOptions) {
    this.#now = now;
    this.#retentionMs = retentionMs;
  }

  /**
   * Adds an accepted event to `lines`; any other leaves them alone. An event without an id gets `place`, where it stands in Kafka,
   * or the start of the SHA-256 over its bytes if that is null.
   */
  convert(bytes: Uint8Array, place: (() => string) | null, lines: LineBuffer): EventVerdict {
    if (bytes.length > LARGEST_EVENT_BYTES) {
      return rejected(`the event has ${bytes.length} bytes: at most ${LARGEST_EVENT_BYTES} are allowed`);
    }
    const scanner = this.#scanner;
    const event = this.#event;
    if (!scanner.scan(bytes)) {
      return rejected(scanner.reason());
    }
    const wrong = event.read(scanner);
    if (wrong !== null) {
      return rejected(wrong);
    }
    const now = this.#now();
    if (event.timestampMs > now + CLOCK_TOLERANCE_MS) {
      return rejected(`timestamp is ${event.timestampMs}: at most 10 minutes after now, which is ${now}, is allowed`);
    }
    if (event.timestampMs < now - this.#retentionMs) {
      return EXPIRED;
    }
    const derivedLogId = event.memberOf[LOG_ID]! < 0 ? (place?.() ?? digestOf(bytes.subarray(scanner.openAt, scanner.closeAt + 1))) : null;
    writeCanonicalLine(scanner, event, derivedLogId, this.#addresses, lines);
    return ACCEPTED;
  }
}

function rejected(reason: string): EventVerdict {
  return { kind: 'rejected', reason };
}

function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex').slice(0, 32);
}
