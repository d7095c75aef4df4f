import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { accessLists, checksumOf, entryCount } from '../../../edge/local/access-lists.ts';
import { apiGuardianMetrics } from '../../../edge/local/api-guardian/guardian-metrics.ts';
import { botCategorization } from '../../../edge/local/bot-categorization.ts';
import { openState } from '../../../edge/local/control-plane-state.ts';
import type { GuardianCounts } from '../../../edge/local/local-resource.ts';
import { exampleOf } from '../example-requests.ts';
import { type Answer, type Facade, startFacade } from './resource-calls.ts';

const SUCCESS = { success: true, message: null, errorKey: null };

describe('the action of a bot', () => {
  const set = (facade: Facade, bot: number | string, action: unknown, zone = 7): Promise<Answer> =>
    facade.call({ ...exampleOf(5), path: `/shield/shield-zone/${zone}/bot-categorization/bots/${bot}`, body: { action } });

  test.each([0, 1, 2, 3])('is set to %i', async (action) => {
    await using facade = await startFacade([botCategorization]);
    expect(await set(facade, 1, action)).toEqual({
      status: 200,
      contentType: 'application/json; charset=utf-8',
      body: { error: SUCCESS, data: { botId: 1, userAgentMatch: 'Googlebot', isVerifiable: true, category: 1, action } },
    });
  });

  test.each([
    [1, 'Googlebot', 1],
    [2, 'bingbot', 1],
    [3, 'DuckDuckBot', 1],
    [4, 'GPTBot', 2],
    [5, 'ClaudeBot', 2],
    [6, 'UptimeRobot', 4],
    [7, 'AhrefsBot', 1],
    [8, 'facebookexternalhit', 6],
  ])('of bot %i, %s, is answered with its category %i', async (botId, userAgentMatch, category) => {
    await using facade = await startFacade([botCategorization]);
    expect((await set(facade, botId, 0)).body.data).toMatchObject({ botId, userAgentMatch, category });
  });

  test('is kept for each zone by itself, and cleared by 0', async () => {
    await using facade = await startFacade([botCategorization]);
    await set(facade, 1, 1, 7);
    await set(facade, 1, 2, 7);
    await set(facade, 1, 3, -8);
    await set(facade, 2, 1, 7);
    await set(facade, 2, 0, 7);
    const db = openState(facade.plane.dataDir);
    const kept = db.prepare('SELECT * FROM bot_action ORDER BY shield_zone_id').all();
    db.close();
    expect(kept).toEqual([
      { shield_zone_id: -8, bot_id: 1, action: 3 },
      { shield_zone_id: 7, bot_id: 1, action: 2 },
    ]);
  });

  test('of an unknown bot is 404', async () => {
    await using facade = await startFacade([botCategorization]);
    expect(await set(facade, 99, 1)).toMatchObject({
      status: 404,
      contentType: 'application/problem+json; charset=utf-8',
      body: { type: 'about:blank', title: 'Not Found', status: 404, detail: 'There is no bot 99', errorKey: 'bot.not_found' },
    });
  });

  test.each([4, -1, 1.5, '1', null, true])('%j is refused', async (action) => {
    await using facade = await startFacade([botCategorization]);
    expect(await set(facade, 1, action)).toMatchObject({ status: 400, body: { errors: [{ field: 'action' }] } });
  });
});

describe('an access list', () => {
  const read = (facade: Facade, id: number, zone = 7): Promise<Answer> =>
    facade.call({ ...exampleOf(12), path: `/shield/shield-zone/${zone}/access-lists/${id}` });

  test('is read with its checksum and the number of its entries', async () => {
    await using facade = await startFacade([accessLists]);
    const ofZone7 = 10;
    const { status, body } = await read(facade, ofZone7);
    expect(status).toBe(200);
    expect(body).toMatchObject({ error: SUCCESS, data: { id: ofZone7, name: 'offices', type: 1, entryCount: 3 } });
    expect(body.data.checksum).toBe(createHash('sha256').update(body.data.content).digest('hex'));
  });

  test('ends in no newline, and neither does one of an earlier version', async () => {
    await using facade = await startFacade([accessLists]);
    const lists = async () => {
      const answers = await Promise.all([10, 11, 12].map((id) => read(facade, id)));
      return answers.map(({ body: { data } }) => [data.content, data.entryCount, data.checksum === checksumOf(data.content)]);
    };
    const expected = [
      ['192.0.2.0/24\n198.51.100.0/24\n2001:db8:10::/48', 3, true],
      ['KP\nSY', 2, true],
      ['203.0.113.7\n203.0.113.66\n2001:db8::bad', 3, true],
    ];
    expect(await lists()).toEqual(expected);
    const db = openState(facade.plane.dataDir);
    expect(db.prepare("SELECT count(*) AS n FROM access_list WHERE content LIKE '%' || char(10)").get()).toEqual({ n: 0 });
    db.exec('UPDATE access_list SET content = content || char(10)');
    db.close();
    expect(await lists()).toEqual(expected);
  });

  test('without a description has an empty one', async () => {
    await using facade = await startFacade([accessLists]);
    expect((await read(facade, 12)).body.data).toMatchObject({ name: 'scanners', description: '' });
  });

  test.each([
    [10, 1],
    [999, 7],
    [1, 8],
  ])('%i is not found in zone %i, which does not own it', async (id, zone) => {
    await using facade = await startFacade([accessLists]);
    expect(await read(facade, id, zone)).toMatchObject({ status: 404, body: { errorKey: 'accessList.not_found' } });
  });

  test.each([
    ['', 0],
    ['\n \n\r\n', 0],
    ['a', 1],
    ['a\r\n\r\nb\n', 2],
  ])('of content %j has %i entries', (content, count) => {
    expect(entryCount(content)).toBe(count);
  });

  test('of no content has the checksum of nothing', () => {
    expect(checksumOf('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });
});

test('API Guardian metrics are the sum of the days, and each of them under names of its own', async () => {
  const counts = {
    blockedRequests: 1,
    loggedRequests: 2,
    rateLimited: 3,
    requestsInspected: 10,
    failedRequestValidation: 4,
    failedAuthenticationEnforcement: 5,
  };
  const zones: number[] = [];
  const guardianCounts: GuardianCounts = (zoneId) => {
    zones.push(zoneId);
    return Promise.resolve([
      { day: '2026-01-30', counts },
      { day: '2026-01-31', counts: { ...counts, blockedRequests: 6 } },
    ]);
  };
  await using facade = await startFacade([apiGuardianMetrics], { guardianCounts });
  const { status, body } = await facade.call({ ...exampleOf(13), path: '/shield/metrics/shield-zone/-5/api-guardian' });
  expect([status, zones]).toEqual([200, [-5]]);
  expect(body).toEqual({
    error: SUCCESS,
    data: {
      totalBlockedRequests: 7,
      totalLoggedRequests: 4,
      totalRateLimited: 6,
      totalRequestsInspected: 20,
      totalFailedRequestValidation: 8,
      totalFailedAuthenticationEnforcement: 10,
      overviewPastTwentyEightDays: { '2026-01-30': counts, '2026-01-31': { ...counts, blockedRequests: 6 } },
    },
  });
});

test('API Guardian metrics of no days are zeros', async () => {
  await using facade = await startFacade([apiGuardianMetrics], { guardianCounts: () => Promise.resolve([]) });
  expect((await facade.call(exampleOf(13))).body.data).toEqual({
    totalBlockedRequests: 0,
    totalLoggedRequests: 0,
    totalRateLimited: 0,
    totalRequestsInspected: 0,
    totalFailedRequestValidation: 0,
    totalFailedAuthenticationEnforcement: 0,
    overviewPastTwentyEightDays: {},
  });
});
