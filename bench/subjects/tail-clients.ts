import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';

/** A live tail that is watched: what came of it. */
export interface WatchedTail {
  readonly events: number;
  /** Events that it was told of as dropped. */
  readonly dropped: number;
  /** Which event was here when, Unix ms. */
  readonly arrivals: readonly { readonly logId: string; readonly atMs: number }[];
  close(): void;
}

const EVENT = 'data: {"logId":"';
const DROPPED = 'event: dropped\ndata: {"count":';

/**
 * Watches a tail without parsing more of it than it must, because it runs on the cores of the program that is measured. A `logId` has a
 * fixed length.
 */
export async function watchTail(url: string, idLength: number): Promise<WatchedTail> {
  const request = get(url, { agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${url} was answered ${response.statusCode}`);
  const arrivals: { readonly logId: string; readonly atMs: number }[] = [];
  let [events, dropped, rest] = [0, 0, ''];
  response.setEncoding('latin1');
  response.on('error', () => {});
  response.on('data', (chunk: string) => {
    const atMs = performance.timeOrigin + performance.now();
    const text = rest + chunk;
    const end = text.lastIndexOf('\n\n') + 2;
    if (end < 2) {
      rest = text;
      return;
    }
    const whole = text.slice(0, end);
    rest = text.slice(end);
    for (let at = whole.indexOf(EVENT); at !== -1; at = whole.indexOf(EVENT, at + EVENT.length)) {
      events += 1;
      arrivals.push({ logId: whole.slice(at + EVENT.length, at + EVENT.length + idLength), atMs });
    }
    for (let at = whole.indexOf(DROPPED); at !== -1; at = whole.indexOf(DROPPED, at + DROPPED.length)) {
      dropped += Number.parseInt(whole.slice(at + DROPPED.length), 10);
    }
  });
  return {
    get events() {
      return events;
    },
    get dropped() {
      return dropped;
    },
    arrivals,
    close: () => request.destroy(),
  };
}
