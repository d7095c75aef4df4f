import { describe, expect, test } from 'vitest';
import { applications } from '../../../../edge/local/containers/applications.ts';
import type { ProgramMinute } from '../../../../edge/local/local-resource.ts';
import { exampleOf } from '../../example-requests.ts';
import { type Answer, type Facade, startFacade } from '../resource-calls.ts';
import { minute, NOW_MS, programOf } from '../running-plane.ts';

const MINUTE_MS = 60_000;
const THIS_MINUTE = Math.floor(NOW_MS / MINUTE_MS) * MINUTE_MS;

/** Two minutes in a row, and one of the hour before. */
const MINUTES: readonly ProgramMinute[] = [
  minute(THIS_MINUTE - 40 * MINUTE_MS, {
    cpuPercent: 90,
    memoryBytes: 900,
    requests: 0,
    latencyMs: null,
    volumeCapacityBytes: 4_000_000_000,
  }),
  minute(THIS_MINUTE - MINUTE_MS, {
    cpuPercent: 30,
    memoryBytes: 300,
    requests: 1,
    latencyMs: 400,
    sentBytes: 10,
    volumeCapacityBytes: 4_000_000_000,
  }),
  minute(THIS_MINUTE, {
    cpuPercent: 60,
    memoryBytes: 600,
    requests: 3,
    latencyMs: 100,
    sentBytes: 30,
    volumeUsedBytes: 1_000_000_000,
    volumeCapacityBytes: 4_000_000_000,
  }),
];

async function facadeOf(minutes: readonly ProgramMinute[]): Promise<Facade> {
  return startFacade([applications], { program: programOf(minutes) });
}

const ask = (facade: Facade, id: 9 | 10, app: string, query = ''): Promise<Answer> =>
  facade.call({ ...exampleOf(id), path: `/mc/apps/${app}/${id === 9 ? 'statistics' : 'overview'}${query}` });

describe('the overview', () => {
  test('of the program itself says what was measured', async () => {
    await using facade = await facadeOf(MINUTES);
    const { status, body } = await ask(facade, 10, 'shieldlog');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'active',
      averageCPU: { indicator: 60, statusGrade: 'doingGreat' },
      averageRAM: { indicator: 60, statusGrade: 'doingGreat' },
      averageVolumesUsage: { indicator: 25, statusGrade: 'doingGreat' },
      // 1 answer of 400 ms and 3 of 100 ms.
      currentLatency: { indicator: 175, statusGrade: 'notBad' },
      averageLatency: 175,
      totalVolumeSizeInGb: 4,
      monthlyCost: 0,
      latencyChart: { '2026-01-31T12:29:00.000Z': 400, '2026-01-31T12:30:00.000Z': 100 },
      regions: [{ region: 'local', instances: 1, requests: 4, anycastTraffic: 40, pods: [{ containers: [{ image: 'shieldlog' }] }] }],
    });
  });

  test.each(['shieldlog', 'demo-shop'])(
    'of %s has texts and numbers where there is nothing to say about a pod and its container',
    async (app) => {
      await using facade = await facadeOf(MINUTES);
      const [pod] = (await ask(facade, 10, app)).body.regions[0].pods;
      expect(pod.message).toBe('');
      expect(pod.containers[0]).toMatchObject({ reason: '', message: '', numberOfRestarts: 0, exitCode: 0 });
    },
  );

  test('of a program of which nothing is known yet grades nothing it does not know', async () => {
    await using facade = await facadeOf([]);
    const { body } = await ask(facade, 10, 'shieldlog');
    expect(body).toMatchObject({ status: 'unknown', currentLatency: { indicator: 0, statusGrade: null }, latencyChart: {} });
  });

  test('of the made-up application is the same whenever it is asked for', async () => {
    await using facade = await facadeOf([]);
    const first = await ask(facade, 10, 'demo-shop');
    expect(first.body).toMatchObject({ status: 'active', monthlyCost: 12.5 });
    expect((await ask(facade, 10, 'demo-shop')).body).toEqual(first.body);
  });
});

describe('the statistics', () => {
  test('by the minute have a number for each minute that is known', async () => {
    await using facade = await facadeOf(MINUTES);
    const { status, body } = await ask(facade, 9, 'shieldlog', '?granularity=Minute');
    expect(status).toBe(200);
    expect(body.cpuUsageChart).toEqual({
      '2026-01-31T11:50:00.000Z': 90,
      '2026-01-31T12:29:00.000Z': 30,
      '2026-01-31T12:30:00.000Z': 60,
    });
    expect(body.latencyChart).toEqual({ '2026-01-31T12:29:00.000Z': 400, '2026-01-31T12:30:00.000Z': 100 });
    expect(body.volumesSplitUsageChart.data['2026-01-31T12:30:00.000Z']).toBe(1_000_000_000);
  });

  test('by the hour and by the day are means and sums of their minutes', async () => {
    await using facade = await facadeOf(MINUTES);
    const hourly = (await ask(facade, 9, 'shieldlog', '?granularity=Hourly')).body;
    expect(hourly.cpuUsageChart).toEqual({ '2026-01-31T11:00:00.000Z': 90, '2026-01-31T12:00:00.000Z': 45 });
    expect(hourly.trafficChart).toEqual({ '2026-01-31T11:00:00.000Z': 0, '2026-01-31T12:00:00.000Z': 40 });
    const daily = (await ask(facade, 9, 'shieldlog', '?granularity=Daily')).body;
    expect(daily.latencyChart).toEqual({ '2026-01-31T00:00:00.000Z': 175 });
    expect(daily.ramUsageChart).toEqual({ '2026-01-31T00:00:00.000Z': 60 });
  });

  test('reach from fromDate up to, but not into, toDate', async () => {
    await using facade = await facadeOf(MINUTES);
    const window = '&fromDate=2026-01-31T12:29:00Z&toDate=2026-01-31T12:30:00Z';
    const { body } = await ask(facade, 9, 'shieldlog', `?granularity=Minute${window}`);
    expect(body.cpuUsageChart).toEqual({ '2026-01-31T12:29:00.000Z': 30 });
  });

  test('of the made-up application have seven days at most, whatever is asked for', async () => {
    await using facade = await facadeOf([]);
    const { body } = await ask(facade, 9, 'demo-shop', '?granularity=Minute&fromDate=1970-01-01T00:00:00Z');
    expect(Object.keys(body.cpuUsageChart)).toHaveLength(7 * 24 * 60);
    const future = await ask(facade, 9, 'demo-shop', '?granularity=Minute&fromDate=2990-01-01T00:00:00Z&toDate=2999-01-01T00:00:00Z');
    expect(future.body.cpuUsageChart).toEqual({});
  });

  test.each([
    '',
    '?granularity=Weekly',
    '?granularity=',
    '?granularity=Daily&fromDate=now',
    '?granularity=Daily&fromDate=2026-01-31T12:00:00Z&toDate=2026-01-31T12:00:00Z',
    '?granularity=Daily&fromDate=2026-02-30T12:00:00Z',
    '?granularity=Daily&toDate=2026-01-31',
  ])('asked with "%s" are refused', async (query) => {
    await using facade = await facadeOf(MINUTES);
    const { status, body } = await ask(facade, 9, 'shieldlog', query);
    expect([status, body.errors.length]).toEqual([400, 1]);
  });

  test.each([9, 10] as const)('and the overview of an unknown application are 404 (operation %i)', async (id) => {
    await using facade = await facadeOf(MINUTES);
    const answer = await ask(facade, id, 'nobody', id === 9 ? '?granularity=Daily' : '');
    expect(answer).toMatchObject({ status: 404, body: { detail: 'There is no application "nobody"', title: 'Not Found' } });
  });

  test('of the longest name there can be is unknown too, not refused for its length', async () => {
    await using facade = await facadeOf(MINUTES);
    expect((await ask(facade, 10, 'a'.repeat(128))).status).toBe(404);
    expect((await ask(facade, 10, 'a'.repeat(129))).status).toBe(400);
  });
});
