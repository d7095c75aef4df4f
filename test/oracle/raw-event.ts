import { toAddress, toMasked } from './match-address.ts';

/** An event as a producer sends it: any JSON object, of which the oracle reads the fields it knows. */
export type RawEvent = Readonly<Record<string, unknown>>;

/** An event of the oracle. Every value is a text, spelled as in the answer. */
export interface OracleEvent {
  readonly zoneId: number;
  readonly timestamp: number;
  readonly logId: string;
  /** The nine dimensions and `ruleName`, as far as the event has them. */
  readonly fields: Readonly<Record<string, string>>;
  readonly log: unknown;
}

/** A number in these is the text of its digits. */
const NUMBER_FIELDS = ['feature', 'ruleId', 'ruleName', 'ja4', 'country', 'action'];

const TEXT_FIELDS = ['feature', 'ruleId', 'ruleName', 'ip', 'ja4', 'ua', 'url', 'country', 'action'];

/** The events that a correct store holds: each logId of a zone and a time once, the first that came. */
export function oracleEvents(raw: readonly RawEvent[]): OracleEvent[] {
  const kept = new Map<string, OracleEvent>();
  for (const event of raw.map(oracleEvent)) {
    const identity = JSON.stringify([event.zoneId, event.timestamp, event.logId]);
    if (!kept.has(identity)) {
      kept.set(identity, event);
    }
  }
  return [...kept.values()];
}

function oracleEvent(raw: RawEvent): OracleEvent {
  const fields: Record<string, string> = {};
  for (const name of TEXT_FIELDS) {
    const value = typeof raw[name] === 'number' && NUMBER_FIELDS.includes(name) ? JSON.stringify(raw[name]) : raw[name];
    if (typeof value === 'string') {
      fields[name] = storedText(name === 'ip' ? bareAddress(value) : value);
    }
  }
  // A number has digits: an empty text says that the event has none.
  const asn = raw['asn'] ?? '';
  if (asn !== '') {
    fields['asn'] = storedText(String(asn).replace(/^AS/, ''));
  }
  const time = raw['timestamp'];
  return {
    zoneId: Number(raw['shieldZoneId']),
    timestamp: typeof time === 'number' || /^\d+$/.test(String(time)) ? Number(time) : Date.parse(String(time)),
    logId: String(raw['logId']),
    fields,
    log: logOf(raw),
  };
}

/** An address without the blanks around it and its port, a masked one without the blanks; any other text as it is. */
function bareAddress(text: string): string {
  const trimmed = text.trim();
  if (toMasked(trimmed) !== null) {
    return trimmed;
  }
  const [, host = trimmed, port = '0'] = /^([^:]+|\[.*\]):(\d{1,5})$/.exec(trimmed) ?? [];
  const bare = host.startsWith('[') && host.includes(':') && host !== trimmed ? host.slice(1, -1) : host;
  return toAddress(bare) === null || Number(port) > 65_535 ? text : bare;
}

/** Of a text that is longer, the first letters whose bytes are together no more than 64 KiB. */
export function storedText(text: string): string {
  if (Buffer.byteLength(text) <= 65_536) {
    return text;
  }
  let [stored, bytes] = ['', 0];
  for (const letter of text) {
    bytes += Buffer.byteLength(letter);
    if (bytes > 65_536) {
      break;
    }
    stored += letter;
  }
  return stored;
}

/**
 * Without a log the whole event is the log; with one, what is no known field goes into it under its own name, and so does a text of which
 * only a part is stored, unless the log has that name.
 */
function logOf(raw: RawEvent): unknown {
  const { log, ...rest } = raw;
  if (log === undefined) {
    return raw;
  }
  const known = new Set([...TEXT_FIELDS, 'logId', 'shieldZoneId', 'timestamp', 'asn']);
  const isCut = (name: string, value: unknown): boolean =>
    typeof value === 'string' && (storedText(value) !== value || (name === 'ip' && bareAddress(value) !== value));
  const extra = Object.entries(rest).filter(([name, value]) => !known.has(name) || (TEXT_FIELDS.includes(name) && isCut(name, value)));
  return { ...Object.fromEntries(extra), ...(log as object) };
}
