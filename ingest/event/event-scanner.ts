import { type BatchColumn, columnIndex } from '../../query/batch-columns.ts';
import { type EventField, type FieldRule, NUMBER_FIELDS, ruleOf, TEXT_FIELDS } from '../../query/event-fields.ts';
import { PACKED_FIELDS } from '../../query/packed-log.ts';
import { STORED_TEXT_BYTES } from '../../query/text-bytes.ts';
import type { ColumnWriter } from './column-writer.ts';
import type { EventCollector } from './event-collector.ts';
import {
  allowedTimes,
  type EventRules,
  type EventVerdict,
  LARGEST_EVENT_BYTES,
  LARGEST_LINE_BYTES,
  LARGEST_REST_BYTES,
  tooLong,
  tooLongLog,
  tooLongRepaired,
  tooLongRest,
} from './event-verdict.ts';
import { isNumber, type MemberRange } from './json-skipper.ts';
import { digestId } from './log-id.ts';
import { MemberScanner } from './member-scanner.ts';
import { packLog } from './pack-log.ts';
import { storedBytes } from './stored-text.ts';
import { WireEvent } from './wire-event.ts';

const ACCEPTED = { kind: 'accepted' } as const;
const REPAIRED = { kind: 'accepted', isRepaired: true } as const;
const EXPIRED: EventVerdict = { kind: 'expired' };

const COMMA = Buffer.from(',');
const CLOSE_BRACE = Buffer.from('}');

const LOW_64 = (1n << 64n) - 1n;

/**
 * Turns events of every form into columns and packed logs, and says of the others which rule they break. All rules about the
 * text of an event are here and in `WireEvent`.
 */
export class EventScanner {
  readonly #rules: EventRules;
  readonly #scanner = new MemberScanner();
  readonly #event = new WireEvent();

  constructor(rules: EventRules) {
    this.#rules = rules;
  }

  /** Does the same as `EventConverter.convert`. */
  convert(bytes: Uint8Array, sourceId: (() => string) | null, events: EventCollector): EventVerdict {
    if (bytes.length > LARGEST_LINE_BYTES) {
      return rejected(tooLong(bytes.length));
    }
    const scanner = this.#scanner;
    const event = this.#event;
    if (!scanner.scan(bytes)) {
      return { kind: 'rejected', reason: scanner.reason(), zoneId: null, isJson: false };
    }
    const now = this.#rules.now();
    const times = allowedTimes(this.#rules, now);
    const wrong = event.read(scanner, times);
    if (wrong !== null) {
      return rejected(wrong, event.zoneId);
    }
    if (event.timestampMs > times.latestMs) {
      const written = scanner.quoteValue(event.fields.get('timestamp')!);
      return rejected(`timestamp is ${written}: at most 10 minutes after now, which is ${now}, is allowed`, event.zoneId);
    }
    if (event.timestampMs < times.earliestMs) {
      return EXPIRED;
    }
    const derivedLogId = event.fields.has('logId')
      ? null
      : (sourceId?.() ?? digestId(bytes.subarray(scanner.sourceStart, scanner.sourceEnd)));
    const long = longTexts(scanner, event);
    const hasRepairedIp = event.ip?.isRepaired === true;
    const log = canonicalLog(scanner, event, hasRepairedIp ? [...long, event.fields.get('ip')!] : long);
    const tooMuch = sizeFault(scanner, event, derivedLogId, log.length);
    if (tooMuch !== null) {
      return rejected(tooMuch, event.zoneId);
    }
    writeFields(scanner, event, derivedLogId, events.fields);
    packLog(log, packedValues(scanner, event), events.logs);
    events.count += 1;
    const verdict = scanner.isRepaired || hasRepairedIp ? REPAIRED : ACCEPTED;
    const hasUnknownIp = event.ip !== null && event.ip.address === null && event.ip.text.length > 0;
    return long.length === 0 && !hasUnknownIp
      ? verdict
      : { ...verdict, ...(long.length > 0 && { cutTexts: long.length }), ...(hasUnknownIp && { hasUnknownIp }) };
  }
}

function rejected(reason: string, zoneId: number | null = null): EventVerdict {
  return { kind: 'rejected', reason, zoneId };
}

/**
 * The reason for which an event is too long, null where it is not. The rest beside a log is counted as the native feed writes it: the line
 * that comes out is never longer than what was allowed to come in.
 */
function sizeFault(scanner: MemberScanner, event: WireEvent, derivedLogId: string | null, logBytes: number): string | null {
  const { sizeBytes, sourceBytes } = scanner;
  const log = event.fields.get('log');
  if (log === undefined) {
    const isTooLong = sizeBytes > LARGEST_EVENT_BYTES;
    return isTooLong ? (sizeBytes > sourceBytes ? tooLongRepaired(sourceBytes, sizeBytes) : tooLong(sizeBytes)) : null;
  }
  if (logBytes > LARGEST_EVENT_BYTES) {
    return tooLongLog(logBytes);
  }
  const restBytes = sizeBytes - (log.valueEnd - log.valueStart) + grownBytes(event, derivedLogId);
  return restBytes > LARGEST_REST_BYTES ? tooLongRest(restBytes) : null;
}

const NUMBERS_AS_TEXTS = [...NUMBER_FIELDS, 'asn'] as readonly EventField['name'][];

/**
 * By how many bytes the native feed writes members longer than they came: texts never, whose escapes it writes in their shortest form, but
 * numbers that are texts there.
 */
function grownBytes({ fields, timestampMs }: WireEvent, derivedLogId: string | null): number {
  const id = derivedLogId === null ? 0 : '"logId":"",'.length + Buffer.byteLength(derivedLogId);
  const time = fields.get('timestamp')!;
  const quotes = 2 * NUMBERS_AS_TEXTS.map((name) => fields.get(name)).filter((member) => member !== undefined && isNumber(member)).length;
  return id + quotes + Math.max(0, String(timestampMs).length - (time.valueEnd - time.valueStart));
}

/** The text fields, each with what its rule makes of it and the column that it is stored in; a url has two columns. */
const TEXTS = TEXT_FIELDS.map((name) => ({ name, rule: ruleOf(name), column: columnIndex(name as BatchColumn) }));

/** Writes the fields of an event that was checked. `derivedLogId` is null where the event has an id of its own. */
function writeFields(scanner: MemberScanner, event: WireEvent, derivedLogId: string | null, columns: ColumnWriter): void {
  columns.shieldZoneId(event.zoneId as number);
  columns.timestamp(event.timestampMs);
  const id = derivedLogId === null ? scanner.textOf(event.fields.get('logId')!) : Buffer.from(derivedLogId);
  columns.logId(id, 0, id.length);
  for (const { name, rule, column } of TEXTS) {
    const member = event.fields.get(name);
    if (member !== undefined) {
      writeText(rule, column, storedBytes(wholeText(scanner, event, { rule, member })), columns);
    }
  }
  const address = event.ip?.address ?? null;
  if (address !== null) {
    columns.address(address >> 64n, address & LOW_64);
  }
  columns.endEvent();
}

/** The members of the text fields that are longer than what is stored of a text. */
function longTexts(scanner: MemberScanner, event: WireEvent): MemberRange[] {
  return TEXTS.flatMap(({ name, rule }) => {
    const member = event.fields.get(name);
    // A text is never longer than it is written.
    const mayBeLong = member !== undefined && member.valueEnd - member.valueStart > STORED_TEXT_BYTES;
    return mayBeLong && wholeText(scanner, event, { rule, member }).length > STORED_TEXT_BYTES ? [member] : [];
  });
}

/** The text of the member of a text field, as its rule has it. */
function wholeText(
  scanner: MemberScanner,
  { asn, ip }: WireEvent,
  { rule, member }: { readonly rule: FieldRule; readonly member: MemberRange },
): Buffer {
  switch (rule) {
    case 'asNumber':
      return Buffer.from(asn!);
    case 'address':
      return ip!.text;
    default:
      return scanner.textOf(member);
  }
}

function writeText(rule: FieldRule, column: number, text: Buffer, columns: ColumnWriter): void {
  if (rule === 'url') {
    columns.url(text, 0, text.length);
  } else if (rule === 'address') {
    columns.ip(text, 0, text.length);
  } else {
    columns.text(column, text, 0, text.length);
  }
}

/**
 * The event's log with the members that are no fields added to it, and the `shortened` ones, which the columns do not have whole; the
 * whole event where it has no log. It is copied as it is written. Good until the next scan.
 */
function canonicalLog(scanner: MemberScanner, event: WireEvent, shortened: readonly MemberRange[]): Buffer {
  const { text } = scanner;
  const log = event.fields.get('log');
  if (log === undefined) {
    return text.subarray(scanner.openAt, scanner.closeAt + 1);
  }
  const { valueStart, valueEnd } = log;
  if (event.others.length + shortened.length === 0) {
    return text.subarray(valueStart, valueEnd);
  }
  // The last of several members with the same name counts.
  const added = new Map([...event.others, ...shortened].map((member) => [scanner.keyOf(member), member]));
  const logMembers = scanner.membersAt(valueStart);
  for (const member of logMembers) {
    added.delete(scanner.keyOf(member));
  }
  const pieces = [text.subarray(valueStart, valueEnd - 1)];
  for (const member of added.values()) {
    if (logMembers.length > 0 || pieces.length > 1) {
      pieces.push(COMMA);
    }
    // The key's quotes, the colon and the blanks around it are copied, too.
    pieces.push(text.subarray(member.keyStart - 1, member.valueEnd));
  }
  pieces.push(CLOSE_BRACE);
  return Buffer.concat(pieces);
}

/** The stored values by which the event's log is packed, as `packLog` takes them. */
function packedValues(scanner: MemberScanner, event: WireEvent): (Buffer | null)[] {
  return PACKED_FIELDS.map((name) => {
    const member = event.fields.get(name);
    const isPlain = member !== undefined && !member.valueHasEscapes;
    return isPlain ? storedBytes(wholeText(scanner, event, { rule: ruleOf(name), member })) : null;
  });
}
