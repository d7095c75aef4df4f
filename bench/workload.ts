import { BENCH_NOW_MS } from './event-file.ts';

/** The zone with an eighth of all events: of 20 million it has 2.5 million. */
export const BIG_ZONE = 1;

export interface Workload {
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const WINDOW = { from: BENCH_NOW_MS - 72 * 3_600_000, to: BENCH_NOW_MS + 1 };

const search = (name: string, body: Readonly<Record<string, unknown>>): Workload => ({ name, body: { ...WINDOW, ...body } });

/** What is measured on the filled store, all of it in the big zone over the whole retention. */
export const WORKLOADS: readonly Workload[] = [
  search('first page', {}),
  search('page 1,000', { page: 1_000 }),
  search('first page of a filter', { filters: [{ field: 'action', op: 'eq', value: ['blocked'] }] }),
  search('first page of a range of addresses', { filters: [{ field: 'ip', op: 'cidr', value: ['203.0.0.0/8'] }] }),
  search('free text', { query: 'sqlmap checkout' }),
  search('wildcard', { filters: [{ field: 'url', op: 'wildcard', value: ['*/wp-admin/*.php?id=1*'] }] }),
  search('group by ip, 60 buckets', { groupBy: ['ip'], buckets: 60 }),
  search('group by country and action', { groupBy: ['country', 'action'], buckets: 60 }),
  search('group by url', { groupBy: ['url'] }),
];

/** What keeps running, one after the other, while events are taken in: what an open dashboard asks. */
export const BACKGROUND: readonly Workload[] = [
  search('first page', {}),
  search('group by action', { groupBy: ['action'], buckets: 60 }),
  search('group by ip', { groupBy: ['ip'], buckets: 60, pageSize: 10 }),
  search('text', { query: 'admin' }),
];
