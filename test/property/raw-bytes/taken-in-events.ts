import { expect } from 'vitest';
import { DESCRIBED_OPERATIONS } from '../../src/openapi/document-check.ts';
import type { Case } from './arbitrary-wire-request.ts';
import { KEY_OF_ALL_ZONES, KEY_OF_ZONE_1 } from './watched-program.ts';
import type { Exchange } from './wire-exchange.ts';

const HOUR_MS = 3_600_000;

interface FeedLine {
  readonly shieldZoneId: number;
  readonly logId: string;
  readonly timestamp: number;
}

/** The operations of other products' shippers, whose success does not say how many events were new. */
const DOORS = DESCRIBED_OPERATIONS.filter(({ tags }) => tags.includes('Doors')).map(({ operationId }) => operationId);

/** How many events the answers say are new; null where one does not say so. */
export function newEvents(
  { operationId, isForRoute }: Pick<Case, 'operationId' | 'isForRoute'>,
  { answers, gaveUp }: Exchange,
): number | null {
  const [answer] = answers;
  if (gaveUp || answer === undefined || answers.length > 1 || !isForRoute) return null;
  if (operationId === 'replayDeadLetters') return answer.status === 200 && JSON.parse(answer.text).replayed === 0 ? 0 : null;
  if (DOORS.includes(operationId)) return answer.status === 200 || /\bwas stored|were stored/.test(answer.text) ? null : 0;
  if (operationId !== 'ingestEvents') return 0;
  // The events before the break may be duplicates, and those before an event of a foreign zone may be stored.
  if (answer.status !== 202) return /events were stored|access\.zone_denied/.test(answer.text) ? null : 0;
  const { accepted, duplicates } = JSON.parse(answer.text) as { readonly accepted: number; readonly duplicates: number | null };
  return duplicates === null ? null : accepted - duplicates;
}

/** Keeps count of what the program has taken in, and holds that against what it gives back. */
export class TakenInEvents {
  readonly #url: string;
  readonly #nowMs: number;
  #cursor: string | undefined;
  readonly #times = new Map<string, number>();

  constructor(port: number, nowMs: number) {
    this.#url = `http://127.0.0.1:${port}/shield/event-logs`;
    this.#nowMs = nowMs;
  }

  get count(): number {
    return this.#times.size;
  }

  /**
   * Reads on in the feed: every event is of zone 1 and was not there before, and there are as many as the answers said, where they all said
   * so.
   */
  async expectNew(exchanges: readonly (readonly [Case, Exchange])[]): Promise<void> {
    const told = exchanges.map(([one, exchanged]) => newEvents(one, exchanged));
    if (told.includes(null)) told.push(await this.#awaitStored());
    const lines = await this.#readOn();
    for (const { shieldZoneId, logId, timestamp } of lines) {
      expect(shieldZoneId, `an event of the key of zone 1 is in zone ${shieldZoneId}: ${logId}`).toBe(1);
      const identity = JSON.stringify([timestamp, logId]);
      expect(this.#times.has(identity), `the event ${identity} is there twice`).toBe(false);
      this.#times.set(identity, timestamp);
    }
    const known = told.reduce<number>((sum, count) => sum + (count ?? 0), 0);
    if (told.includes(null)) expect(lines.length).toBeGreaterThanOrEqual(known);
    else expect(lines.length, 'as many new events are in the feed as the answers said').toBe(known);
  }

  /** A search finds each event of the feed once, those of the last hours. */
  async expectSearchable(): Promise<void> {
    const [from, to] = [this.#nowMs - 71 * HOUR_MS, this.#nowMs + 30_000];
    const answer = await fetch(`${this.#url}/1/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accesskey: KEY_OF_ALL_ZONES },
      body: JSON.stringify({ from, to, pageSize: 1 }),
    });
    const { total } = (await answer.json()) as { readonly total: number };
    expect(total).toBe([...this.#times.values()].filter((time) => time >= from && time < to).length);
  }

  /** Sends an event, before which the events of clients that have gone are stored. Returns the number of events sent: one. */
  async #awaitStored(): Promise<number> {
    const event = { shieldZoneId: 1, timestamp: this.#nowMs, logId: `later-${this.#times.size}` };
    const answer = await fetch(new URL('/ingest/events', this.#url), {
      method: 'POST',
      headers: { accesskey: KEY_OF_ZONE_1 },
      body: new Blob([JSON.stringify(event)]),
    });
    expect(await answer.json()).toMatchObject({ accepted: 1, duplicates: 0 });
    return 1;
  }

  async #readOn(): Promise<readonly FeedLine[]> {
    const events: FeedLine[] = [];
    for (;;) {
      const cursor = this.#cursor === undefined ? '' : `&cursor=${this.#cursor}`;
      const answer = await fetch(`${this.#url}/all/feed?limit=100000${cursor}`, { headers: { accesskey: KEY_OF_ALL_ZONES } });
      const text = await answer.text();
      expect(answer.status, text.slice(0, 1_000)).toBe(200);
      const lines = text.trimEnd().split('\n');
      const end = JSON.parse(lines.pop() ?? '') as { readonly cursor: string; readonly more: boolean };
      for (const line of lines) events.push(JSON.parse(line) as FeedLine);
      this.#cursor = end.cursor;
      if (!end.more) return events;
    }
  }
}
