import { printable } from '../../query/search-line.ts';
import type { ParsedRow } from '../api/parsed-row.ts';
import type { ExplorerState } from '../state/explorer-state.ts';
import { shownByClock, zoneOffset } from '../widgets/wall-clock.ts';

/** A value of a ticket that is longer is cut: the link has all of it. */
const LONGEST_VALUE = 500;

interface TicketPlace {
  readonly clock: ExplorerState['clock'];
  /** The name of the browser's time zone. */
  readonly timeZone: string;
  /** The name of the event's rule where the event itself has none; empty where nobody knows it. */
  readonly ruleName: string;
  readonly link: string;
}

/**
 * An event as text for a ticket, a line each for what happened, when, by which rule, from where, and where it is seen. A value keeps within
 * its line, and what would change the direction of text is an escape.
 */
export function ticketText(
  { fields, timestamp, shieldZoneId, logId }: ParsedRow,
  { clock, timeZone, ruleName, link }: TicketPlace,
): string {
  const value = (text: string): string => {
    const shown = printable(text);
    return shown.length > LONGEST_VALUE ? `${shown.slice(0, LONGEST_VALUE)}…` : shown;
  };
  const some = (...texts: readonly (string | undefined)[]): string =>
    texts
      .filter((text) => text !== undefined && text !== '')
      .map((text) => value(text ?? ''))
      .join(' ');
  const asn = fields['asn'] === undefined || fields['asn'] === '' ? undefined : `AS${fields['asn']}`;
  const lines: readonly (readonly [name: string, text: string])[] = [
    ['What', some(fields['action'], fields['feature'], fields['url'])],
    ['When', `${timeWithZone(timestamp, clock, timeZone)}, ${new Date(timestamp).toISOString()}`],
    ['Rule', some(fields['ruleId'], fields['ruleName'] || ruleName)],
    ['Address', some(fields['ip'], fields['country'], asn)],
    ['User agent', some(fields['ua'])],
    ['Event', `${value(logId)} of zone ${shieldZoneId}`],
    ['Link', link],
  ];
  return lines.map(([name, text]) => `${name}: ${text === '' ? '(none)' : text}\n`).join('');
}

/** `2026-11-24 13:05:59.123 +01:00 (Europe/Berlin)`. */
function timeWithZone(ms: number, clock: ExplorerState['clock'], timeZone: string): string {
  const text = shownByClock(ms, clock).replace('T', ' ').replace('Z', '');
  return clock === 'utc' ? `${text} UTC` : `${text} ${zoneOffset(ms, clock)} (${timeZone})`;
}
