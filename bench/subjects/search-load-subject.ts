// Asks a running program heavy searches from a separate process, each client one after the other, until the time is up.
export interface SearchLoadOrder {
  readonly url: string;
  readonly accessKey: string;
  readonly clients: number;
  readonly seconds: number;
  /** The events lie in the window of so many milliseconds before now. */
  readonly spanMs: number;
}

export interface SearchLoadReport {
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

const { url, accessKey, clients, seconds, spanMs } = JSON.parse(process.argv[2] ?? '') as SearchLoadOrder;

/** Questions about all events that no cache answers, because the text that is looked for is another one each time. */
function question(number: number): { readonly path: string; readonly body: object } {
  const now = Date.now();
  const texts = ['a', 'e', 'i'].map((letter) => `${letter}${(number * 7919).toString(36)}`);
  const common = { from: now - spanMs, to: now, exclude: [{ field: 'url', op: 'contains', value: texts }], pageSize: 20 };
  const kinds = [{ groupBy: ['url'], buckets: 48 }, { groupBy: ['ip', 'ua'] }, { facets: [{ field: 'url' }, { field: 'ip' }] }];
  return { path: '/shield/event-logs/all/explore', body: { ...common, ...kinds[number % kinds.length] } };
}

const statuses: Record<string, number> = {};
const endMs = performance.now() + seconds * 1000;
let asked = 0;

async function client(): Promise<void> {
  while (performance.now() < endMs) {
    asked += 1;
    const { path, body } = question(asked);
    const headers = { 'content-type': 'application/json', accesskey: accessKey };
    const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    await response.arrayBuffer();
    statuses[response.status] = (statuses[response.status] ?? 0) + 1;
  }
}

await Promise.all(Array.from({ length: clients }, client));
process.send?.({ statuses } satisfies SearchLoadReport);
