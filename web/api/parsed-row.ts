import { membersOf, memberText } from '../../query/json-text.ts';

/** A row of an answer or of the live tail. */
export interface ParsedRow {
  readonly logId: string;
  /** Unix milliseconds, UTC. */
  readonly timestamp: number;
  readonly shieldZoneId: number;
  readonly fields: Readonly<Record<string, string>>;
  /** The log as it was answered, byte for byte. */
  readonly logText: string;
}

/** Reads a row from its JSON text. */
export function readRow(text: string): ParsedRow {
  const parts = new Map(membersOf(text).map((member) => [member.name, member.text]));
  const part = (name: string): string => {
    const found = parts.get(name);
    if (found === undefined) throw new Error(`a row has no member ${name}: ${text.slice(0, 200)}`);
    return found;
  };
  return {
    logId: JSON.parse(part('logId')),
    timestamp: JSON.parse(part('timestamp')),
    shieldZoneId: JSON.parse(part('shieldZoneId')),
    fields: JSON.parse(part('fields')),
    logText: part('log'),
  };
}

/** The rows of an answer's text; none where it has groups or was asked for neither. */
export function readRows(answerText: string): readonly ParsedRow[] {
  return membersOf(memberText(answerText, 'rows') ?? 'null').map((member) => readRow(member.text));
}

/** Names a row among those of all zones. A log id may have any character, a zone and a time only digits. */
export function rowKey({ shieldZoneId, timestamp, logId }: ParsedRow): string {
  return `${shieldZoneId} ${timestamp} ${logId}`;
}
