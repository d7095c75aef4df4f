import { columnIndex } from '../../query/batch-columns.ts';
import { TEXT_FIELDS, type TextField } from '../../query/event-fields.ts';
import type { ColumnWriter } from './column-writer.ts';
import type { IpNumbers } from './ip-numbers.ts';
import { KIND } from './scan/json-skipper.ts';
import type { MemberScanner } from './scan/member-scanner.ts';
import type { WireEvent } from './scan/wire-event.ts';
import { ASN, FIRST_TEXT, IP, LOG_ID, URL } from './scan/wire-fields.ts';

/** Of each of the `TEXT_FIELDS` its place in `BATCH_COLUMNS`; a url has two, of which this is the first. */
const PLACES = TEXT_FIELDS.map((name: TextField) => columnIndex(name === 'url' ? 'urlHead' : name));

/**
 * Writes the fields of an event of which everything was checked. Texts are written as they are meant, their escapes resolved.
 * `derivedLogId` is used where the event has no id of its own.
 */
export function writeFields(
  scanner: MemberScanner,
  event: WireEvent,
  derivedLogId: string | null,
  numbers: IpNumbers,
  columns: ColumnWriter,
): void {
  columns.shieldZoneId(event.zoneId as number);
  columns.timestamp(event.timestampMs);
  writeText(LOG_ID, scanner, event, derivedLogId, numbers, columns);
  for (let field = FIRST_TEXT; field < FIRST_TEXT + PLACES.length; field++) {
    if (event.memberOf[field]! >= 0) {
      writeText(field, scanner, event, field === ASN && event.asn !== '' ? event.asn : null, numbers, columns);
    }
  }
  columns.endEvent();
}

/** `derived` is written in the place of what the event has, unless it is null. */
function writeText(
  field: number,
  scanner: MemberScanner,
  event: WireEvent,
  derived: string | null,
  numbers: IpNumbers,
  columns: ColumnWriter,
): void {
  const member = event.memberOf[field]!;
  const { kind, valueStart, valueEnd } = scanner.members;
  if (derived === null && kind[member] === KIND.string) {
    writeBytes(field, scanner.text, valueStart[member]! + 1, valueEnd[member]! - 1, numbers, columns);
  } else {
    const text = Buffer.from(derived ?? scanner.stringOf(member));
    writeBytes(field, text, 0, text.length, numbers, columns);
  }
}

function writeBytes(field: number, text: Buffer, start: number, end: number, numbers: IpNumbers, columns: ColumnWriter): void {
  switch (field) {
    case LOG_ID:
      columns.logId(text, start, end);
      return;
    case URL:
      columns.url(text, start, end);
      return;
    case IP: {
      columns.ip(text, start, end);
      const number = numbers.of(text, start, end);
      if (number !== null) {
        columns.address(number.high, number.low);
      }
      return;
    }
    default:
      columns.text(PLACES[field - FIRST_TEXT]!, text, start, end);
  }
}
