import { TEXT_FIELDS } from '../query/event-fields.ts';
import type { AddressMembers } from './address-members.ts';
import { KIND } from './json-skipper.ts';
import type { LineBuffer } from './line-buffer.ts';
import type { MemberScanner } from './member-scanner.ts';
import type { WireEvent } from './wire-event.ts';
import { ASN, FIRST_TEXT, IP, LOG, LOG_ID } from './wire-fields.ts';

/**
 * Writes an event without its log as one canonical line (see `query/event-fields.ts`). Values are copied as they are written, never parsed and written
 * anew, so that no digit of a number is lost. `derivedLogId` is used where the event has no id of its own.
 */
export function writeCanonicalLine(
  scanner: MemberScanner,
  event: WireEvent,
  derivedLogId: string | null,
  addresses: AddressMembers,
  lines: LineBuffer,
): void {
  if (event.isPlain) {
    const logId = derivedLogId === null ? '' : `,"logId":${JSON.stringify(derivedLogId)}`;
    copyFields(scanner, event.memberOf[LOG]!, lines);
    lines.write(`${addressOf(scanner, event, addresses)}${logId}}`);
  } else {
    compose(scanner, event, derivedLogId, addresses, lines);
  }
  lines.endLine();
}

/** The event's text without its closing brace and without its log, which is never the only member. */
function copyFields(scanner: MemberScanner, log: number, lines: LineBuffer): void {
  const { text, openAt, closeAt, members } = scanner;
  if (log === 0) {
    lines.copy(text, openAt, openAt + 1);
    lines.copy(text, members.keyStart[1]! - 1, closeAt);
  } else {
    lines.copy(text, openAt, members.valueEnd[log - 1]!);
    lines.copy(text, members.valueEnd[log]!, closeAt);
  }
}

function copyValue({ text, members }: MemberScanner, member: number, lines: LineBuffer): void {
  lines.copy(text, members.valueStart[member]!, members.valueEnd[member]!);
}

function addressOf(scanner: MemberScanner, event: WireEvent, addresses: AddressMembers): string {
  const member = event.memberOf[IP]!;
  if (member < 0) {
    return '';
  }
  const { kind, valueStart, valueEnd } = scanner.members;
  return kind[member] === KIND.string
    ? addresses.ofBytes(scanner.text, valueStart[member]! + 1, valueEnd[member]! - 1)
    : addresses.of(scanner.stringOf(member));
}

function compose(
  scanner: MemberScanner,
  event: WireEvent,
  derivedLogId: string | null,
  addresses: AddressMembers,
  lines: LineBuffer,
): void {
  lines.write(`{"shieldZoneId":${event.zoneId},"timestamp":${event.timestampMs},"logId":`);
  if (derivedLogId === null) {
    copyValue(scanner, event.memberOf[LOG_ID]!, lines);
  } else {
    lines.write(JSON.stringify(derivedLogId));
  }
  for (const [place, name] of TEXT_FIELDS.entries()) {
    const field = FIRST_TEXT + place;
    const member = event.memberOf[field]!;
    if (member >= 0) {
      lines.write(`,"${name}":`);
      if (field === ASN && event.asn !== '') {
        lines.write(`"${event.asn}"`);
      } else {
        copyValue(scanner, member, lines);
      }
    }
  }
  lines.write(`${addressOf(scanner, event, addresses)}}`);
}
