import type { ConvertedEvents } from './converted-events.ts';
import { digestId } from './digest-id.ts';
import { writeFields } from './event-columns.ts';
import { CLOCK_TOLERANCE_MS, type EventRules, LARGEST_EVENT_BYTES } from './event-rules.ts';
import type { EventVerdict } from './event-verdict.ts';
import { IpNumbers } from './ip-numbers.ts';
import { packLog } from './pack-log.ts';
import { canonicalLog, packedValues } from './scan/canonical-log.ts';
import { MemberScanner } from './scan/member-scanner.ts';
import { WireEvent } from './scan/wire-event.ts';
import { LOG_ID } from './scan/wire-fields.ts';

const ACCEPTED: EventVerdict = { kind: 'accepted' };
const EXPIRED: EventVerdict = { kind: 'expired' };

/**
 * Turns events of every form into columns and packed logs, and says of the others which rule they break: the one place that knows all
 * rules.
 */
export class ScannedEvents {
  readonly #rules: EventRules;
  readonly #scanner = new MemberScanner();
  readonly #event = new WireEvent();
  readonly #numbers = new IpNumbers();

  constructor(rules: EventRules) {
    this.#rules = rules;
  }

  /** As `EventConverter.convert`. */
  convert(bytes: Uint8Array, place: (() => string) | null, events: ConvertedEvents): EventVerdict {
    if (bytes.length > LARGEST_EVENT_BYTES) {
      return rejected(tooLong(bytes.length));
    }
    const scanner = this.#scanner;
    const event = this.#event;
    if (!scanner.scan(bytes)) {
      return rejected(scanner.reason());
    }
    const wrong = event.read(scanner);
    if (wrong !== null) {
      return rejected(wrong, event.zoneId);
    }
    const now = this.#rules.now();
    if (event.timestampMs > now + CLOCK_TOLERANCE_MS) {
      return rejected(`timestamp is ${event.timestampMs}: at most 10 minutes after now, which is ${now}, is allowed`, event.zoneId);
    }
    if (event.timestampMs < now - this.#rules.retentionMs) {
      return EXPIRED;
    }
    const derivedLogId = event.memberOf[LOG_ID]! < 0 ? (place?.() ?? digestId(bytes.subarray(scanner.openAt, scanner.closeAt + 1))) : null;
    writeFields(scanner, event, derivedLogId, this.#numbers, events.fields);
    packLog(canonicalLog(scanner, event), packedValues(scanner, event), events.logs);
    return ACCEPTED;
  }
}

/** Why an event of so many bytes is rejected. */
export function tooLong(sizeBytes: number): string {
  return `the event has ${sizeBytes} bytes: at most ${LARGEST_EVENT_BYTES} are allowed`;
}

function rejected(reason: string, zoneId: number | null = null): EventVerdict {
  return { kind: 'rejected', reason, zoneId };
}
