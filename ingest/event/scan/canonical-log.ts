import { PACKED_FIELDS } from '../../../query/packed-log.ts';
import { KIND } from './json-skipper.ts';
import type { MemberScanner } from './member-scanner.ts';
import type { WireEvent } from './wire-event.ts';
import { LOG, WIRE_FIELDS } from './wire-fields.ts';

const PACKED = PACKED_FIELDS.map((name) => WIRE_FIELDS.indexOf(name));
const COMMA = Buffer.from(',');
const CLOSE_BRACE = Buffer.from('}');

/**
 * The event's log with the members that have no other place added to it; the whole event where it has no log. It is copied as it is
 * written. Good until the next scan.
 */
export function canonicalLog(scanner: MemberScanner, event: WireEvent): Buffer {
  const { text, members } = scanner;
  const log = event.memberOf[LOG]!;
  if (log < 0) {
    return text.subarray(scanner.openAt, scanner.closeAt + 1);
  }
  const [start, end] = [members.valueStart[log]!, members.valueEnd[log]!];
  if (event.homeless.length === 0) {
    return text.subarray(start, end);
  }
  const homeless = homelessMembers(scanner, event);
  const logMembers = scanner.membersAt(start);
  for (let member = 0; member < logMembers.count; member++) {
    homeless.delete(scanner.keyOf(member, logMembers));
  }
  const pieces = [text.subarray(start, end - 1)];
  for (const member of homeless.values()) {
    if (logMembers.count > 0 || pieces.length > 1) {
      pieces.push(COMMA);
    }
    // The key's quotes, the colon and what is between them are copied as they are.
    pieces.push(text.subarray(members.keyStart[member]! - 1, members.valueEnd[member]!));
  }
  pieces.push(CLOSE_BRACE);
  return Buffer.concat(pieces);
}

/** By name, the members that are no field of an event; of those with the same name the last. */
function homelessMembers(scanner: MemberScanner, event: WireEvent): Map<string, number> {
  return new Map(event.homeless.map((member) => [scanner.keyOf(member), member]));
}

/** The values by which the event's log is packed, as `packLog` takes them. */
export function packedValues({ text, members }: MemberScanner, event: WireEvent): (Buffer | null)[] {
  return PACKED.map((field) => {
    const member = event.memberOf[field]!;
    const isPlain = member >= 0 && members.kind[member] === KIND.string;
    return isPlain ? text.subarray(members.valueStart[member]! + 1, members.valueEnd[member]! - 1) : null;
  });
}
