import { mkdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { ask, eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../running-app.ts';
import { type HttpListener, httpListener, type Reaction } from '../sinks/http-listener.ts';

const HOUR = 3_600_000;
const KEYS = {
  all: 'key-of-every-zone-00',
  seven: 'key-of-zone-seven-00',
  both: 'key-of-seven-and-eight',
  reader: 'key-of-one-who-reads',
};
const ACCESS_KEYS = `all:${KEYS.all}:*,seven:${KEYS.seven}:7,both:${KEYS.both}:7+8,reader:${KEYS.reader}:*:read`;

const RULES = {
  seven: 'name: seven\nzones: [7]\nby: ip\nkind: count\nat_least: 2\nwindow: 10m\nseverity: high\nlabels: { team: edge }\nreceivers: soc',
  both: 'name: both\nzones: [7, 8]\nkind: count\nat_least: 1\nwindow: 10m',
  everywhere: 'name: everywhere\nzones: all\nkind: count\nat_least: 1\nwindow: 10m',
};

/** An app with these rules, and a receiver `soc` that reacts so. */
async function appWith(
  rules: Readonly<Record<string, string>>,
  reaction: Reaction = { status: 200 },
  env: Readonly<Record<string, string>> = {},
  dataDir = temporaryFolder(),
) {
  const listener = await httpListener(() => reaction);
  onTestFinished(() => listener.stop());
  const folder = temporaryFolder();
  const [ALERTS, ALERT_RECEIVERS] = [join(folder, 'rules'), join(folder, 'receivers.yaml')];
  mkdirSync(ALERTS);
  for (const [name, text] of Object.entries(rules)) writeFileSync(join(ALERTS, `${name}.yaml`), text);
  writeFileSync(ALERT_RECEIVERS, `soc:\n  kind: webhook\n  url: ${listener.url}\n`);
  const app = await startApp({ dataDir, env: { ALERTS, ALERT_RECEIVERS, ...env } });
  onTestFinished(() => app.stop());
  return { app, listener };
}

const NO_REFUSALS = { ahead: 0, unknown: 0, expired: 0, damaged: 0, lost: 0, last: null };

const keyed = (accesskey: string) => ({ headers: { accesskey } });
const alertsOf = async (app: RunningApp, key?: string, query = '') =>
  (await ask(app, `/alerts${query}`, key === undefined ? {} : keyed(key))).body;
const post = (app: RunningApp, path: string, body: unknown, key?: string) => {
  const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { accesskey: key }) };
  return ask(app, path, { method: 'POST', headers, body: JSON.stringify(body) });
};
const messages = ({ received }: HttpListener) => received.map(({ body }) => JSON.parse(body));
const namesOf = (list: readonly { readonly rule: string }[]) => list.map(({ rule }) => rule).toSorted();

/** Ten events of an address, of which each makes the rules tell. */
const attack = (zone = 7, ip = '192.0.2.1') =>
  Array.from({ length: 10 }, (_, nth) => eventLine({ logId: `${ip}-${nth}`, shieldZoneId: zone, ip })).join('');

test('an attack is told to the receiver of its rule, and listed', async () => {
  const { app, listener } = await appWith({ seven: RULES.seven });
  await ingest(app, attack());
  await expect.poll(() => messages(listener)).toHaveLength(1);
  const [message] = messages(listener);
  expect(message).toMatchObject({ rule: 'seven', more: 0, alerts: [{ state: 'told', group: { ip: '192.0.2.1' }, link: null }] });
  // A search that takes longer than a message may wait for it is left out.
  expect([10, 'the search took too long']).toContain(message.alerts[0].count ?? message.alerts[0].withoutFacts);
  await expect
    .poll(() => alertsOf(app))
    .toMatchObject({
      rules: [
        {
          rule: 'seven',
          zones: [7],
          kind: 'count',
          severity: 'high',
          receivers: ['soc'],
          readsBack: false,
          tooLate: 0,
          bounded: 0,
          unreadable: 0,
          open: 1,
        },
      ],
      alerts: [
        {
          id: message.alerts[0].id,
          rule: 'seven',
          version: message.version,
          group: { ip: '192.0.2.1' },
          resolvedAt: null,
          kept: null,
          receivers: ['soc'],
          labels: { team: 'edge' },
        },
      ],
      deliveries: [{ receiver: 'soc', alertId: message.alerts[0].id, state: 'told', outcome: 'delivered', at: expect.any(Number) }],
      silences: [],
    });
});

test('a refusal is listed with its answer, and told by /readyz, which stays ready', async () => {
  const { app } = await appWith({ seven: RULES.seven }, { status: 400, body: 'no such channel' });
  await ingest(app, attack());
  await expect
    .poll(async () => (await alertsOf(app)).deliveries)
    .toMatchObject([
      {
        receiver: 'soc',
        rule: 'seven',
        state: 'told',
        outcome: 'refused',
        answer: expect.stringContaining('answered 400: no such channel'),
      },
    ]);
  const note = expect.stringMatching(/^alerts: receiver soc refused alerts of seven: /);
  await expect.poll(async () => (await ask(app, '/readyz')).body).toEqual({ status: 'ready', reasons: [note] });
});

test('a key sees a rule, and what is about it, when it opens all of its zones', async () => {
  const { app } = await appWith(RULES, { status: 400 }, { ACCESS_KEYS });
  await ingest(app, attack(7), { accesskey: KEYS.all });
  await expect.poll(async () => namesOf((await alertsOf(app, KEYS.all)).alerts)).toEqual(['both', 'everywhere', 'seven']);
  await expect.poll(async () => (await alertsOf(app, KEYS.all)).deliveries).toMatchObject([{ outcome: 'refused' }]);
  for (const rule of Object.keys(RULES)) await post(app, '/alerts/silences', { rule, to: Date.now() + HOUR, reason: 'test' }, KEYS.all);
  for (const [key, seen, deliveries] of [
    [KEYS.seven, ['seven'], 1],
    [KEYS.both, ['both', 'seven'], 1],
    [KEYS.reader, ['both', 'everywhere', 'seven'], 1],
  ] as const) {
    const isOfAllZones = key === KEYS.reader;
    const listed = await alertsOf(app, key);
    expect([namesOf(listed.rules), namesOf(listed.alerts), namesOf(listed.silences)]).toEqual([seen, seen, seen]);
    expect(listed.deliveries).toHaveLength(deliveries);
    // What a receiver said has its address, which is for those who run the program.
    const answer = isOfAllZones ? expect.stringContaining('answered 400') : null;
    expect(listed.deliveries).toMatchObject([{ receiver: 'soc', outcome: 'refused', answer }]);
  }
  expect((await alertsOf(app, KEYS.all, '?limit=2')).alerts).toHaveLength(2);
});

test('a silence keeps the alerts of its group from being sent, until it is removed', async () => {
  const { app, listener } = await appWith({ seven: RULES.seven });
  const to = Date.now() + HOUR;
  const silence = await post(app, '/alerts/silences', { rule: 'seven', group: { ip: '192.0.2.1' }, to, reason: 'a load test' });
  expect(silence).toMatchObject({
    status: 200,
    body: { id: 1, rule: 'seven', zones: [7], group: { ip: '192.0.2.1' }, to, reason: 'a load test' },
  });
  expect((await alertsOf(app)).silences).toEqual([silence.body]);
  await ingest(app, attack(7, '192.0.2.1') + attack(7, '192.0.2.2'));
  await expect.poll(() => messages(listener)).toMatchObject([{ alerts: [{ group: { ip: '192.0.2.2' } }] }]);
  await expect
    .poll(async () =>
      (await alertsOf(app)).alerts
        .map(({ group, kept }: { group: { ip: string }; kept: string | null }) => `${group.ip} ${kept}`)
        .toSorted(),
    )
    .toEqual(['192.0.2.1 silenced', '192.0.2.2 null']);
  expect((await post(app, '/alerts/silences/remove', { id: 1 })).body).toEqual({ removed: true });
  expect((await post(app, '/alerts/silences/remove', { id: 1 })).body).toEqual({ removed: false });
  expect((await alertsOf(app)).silences).toEqual([]);
});

test('a key neither silences a rule that it does not see, nor removes its silences', async () => {
  const { app } = await appWith(RULES, { status: 200 }, { ACCESS_KEYS });
  const silence = { to: Date.now() + HOUR, reason: 'test' };
  await expect.poll(async () => (await post(app, '/alerts/silences', { ...silence, rule: 'both' }, KEYS.both)).status).toBe(200);
  const refused = await post(app, '/alerts/silences', { ...silence, rule: 'both' }, KEYS.seven);
  expect([refused.status, refused.body.errors]).toEqual([400, [{ field: 'rule', message: 'must be the name of a rule, not "both"' }]]);
  expect((await post(app, '/alerts/silences/remove', { id: 1 }, KEYS.seven)).body).toEqual({ removed: false });
  expect((await post(app, '/alerts/silences/remove', { id: 1 }, KEYS.both)).body).toEqual({ removed: true });
});

test('alerts are events of ALERT_ZONE, which rules of all zones leave out', async () => {
  const { app } = await appWith({ everywhere: RULES.everywhere }, { status: 200 }, { ALERT_ZONE: '99' });
  await ingest(app, attack());
  const found = async () => (await search(app, lastHour(), {}, 99)).body;
  await expect
    .poll(async () => (await found()).rows)
    .toMatchObject([{ fields: { feature: 'alert', ruleId: 'everywhere', action: 'logged' } }]);
  const { alerts } = await alertsOf(app);
  expect([alerts.length, (await found()).rows[0].logId]).toEqual([1, alerts[0].id]);
});

test('a rule that names ALERT_ZONE, or a receiver that there is not, is refused and told', async () => {
  const { app } = await appWith(
    {
      zone: 'name: zone\nzones: [7, 99]\nkind: count\nat_least: 1\nwindow: 10m',
      receiver: `${RULES.everywhere}\nreceivers: nobody`,
      both: RULES.both,
    },
    { status: 200 },
    { ALERT_ZONE: '99' },
  );
  const reasons = async () => (await ask(app, '/readyz')).body.reasons.toSorted();
  await expect
    .poll(reasons)
    .toEqual([
      expect.stringMatching(/^alerts: a rule is wrong: .*receiver\.yaml, .*receivers names nobody; allowed: soc/),
      expect.stringMatching(/^alerts: a rule is wrong: .*zone\.yaml, zones names 99, which is ALERT_ZONE; allowed: other zones$/),
    ]);
});

test('without rules there are none, and nothing can be silenced', async () => {
  const app = await startApp();
  onTestFinished(() => app.stop());
  expect(await alertsOf(app)).toEqual({ rules: [], alerts: [], deliveries: [], silences: [], refusals: NO_REFUSALS });
  expect((await post(app, '/alerts/silences', { rule: 'seven', to: Date.now() + HOUR, reason: 'test' })).status).toBe(400);
  expect((await post(app, '/alerts/silences/remove', { id: 1 })).body).toEqual({ removed: false });
});

test('while `alerts.sqlite` cannot be opened, alerts and silences are unavailable, and the answer says why', async () => {
  const dataDir = temporaryFolder();
  mkdirSync(join(dataDir, 'alerts.sqlite'));
  const { app } = await appWith({ seven: RULES.seven }, { status: 200 }, {}, dataDir);
  for (const answer of [
    await ask(app, '/alerts'),
    await post(app, '/alerts/silences', { rule: 'seven', to: Date.now() + HOUR, reason: 'test' }),
    await post(app, '/alerts/silences/remove', { id: 1 }),
  ]) {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    const detail = 'the state of alerts, alerts.sqlite, cannot be used: unable to open database file';
    expect(answer.body).toMatchObject({ errorKey: 'store.unavailable', detail });
  }
  // It goes on by itself.
  rmdirSync(join(dataDir, 'alerts.sqlite'));
  await expect.poll(async () => (await ask(app, '/alerts')).status).toBe(200);
});

test('that rules could not go on from what was kept is listed with its reason, and /readyz and the log say it', async () => {
  const dataDir = temporaryFolder();
  const file = join(dataDir, 'alerts.sqlite');
  writeFileSync(file, 'no database '.repeat(1_000));
  const { app } = await appWith({ seven: RULES.seven }, { status: 200 }, {}, dataDir);
  // Whoever asks first finds the damage.
  await expect.poll(async () => (await alertsOf(app)).refusals).toEqual({ ...NO_REFUSALS, damaged: 1, last: 'damaged' });
  await expect.poll(async () => (await alertsOf(app)).rules).toMatchObject([{ rule: 'seven', readsBack: false }]);
  const note = /^alerts: the state of alerts is damaged, .*; its file is "damaged-\d+-alerts\.sqlite" now, and rules begin as new ones$/;
  await expect.poll(async () => (await ask(app, '/readyz')).body).toEqual({ status: 'ready', reasons: [expect.stringMatching(note)] });
  expect(app.log.filter(({ msg }) => note.test(`alerts: ${msg}`))).toHaveLength(1);
  await app.stop();
  {
    using database = new DatabaseSync(file);
    database.prepare("UPDATE progress SET progress = json_set(progress, '$.cursor', ?)").run('AQAAAAAAAAAAAAAAAAAAAAAAAAAA');
  }
  const { app: next } = await appWith({ seven: RULES.seven }, { status: 200 }, {}, dataDir);
  await expect.poll(async () => (await alertsOf(next)).refusals).toEqual({ ...NO_REFUSALS, damaged: 1, unknown: 1, last: 'unknown' });
});

test('that the state is gone is told by the next start alone, also where there is no rule any more', async () => {
  const note = 'alerts: the state of alerts, alerts.sqlite, is gone, and rules begin as new ones';
  for (const rules of [{ seven: RULES.seven }, {}]) {
    const dataDir = temporaryFolder();
    const { app } = await appWith({ seven: RULES.seven }, { status: 200 }, {}, dataDir);
    await expect.poll(async () => (await alertsOf(app)).rules).toMatchObject([{ readsBack: false }]);
    await app.stop();
    for (const beside of ['', '-wal', '-shm']) rmSync(join(dataDir, `alerts.sqlite${beside}`), { force: true });
    const { app: next } = await appWith(rules, { status: 200 }, {}, dataDir);
    await expect.poll(async () => (await alertsOf(next)).refusals).toEqual({ ...NO_REFUSALS, lost: 1, last: 'lost' });
    await expect.poll(async () => (await ask(next, '/readyz')).body).toEqual({ status: 'ready', reasons: [note] });
    expect(next.log.filter(({ msg }) => note === `alerts: ${msg}`)).toHaveLength(1);
    await next.stop();
    const { app: last } = await appWith(rules, { status: 200 }, {}, dataDir);
    await expect.poll(async () => (await ask(last, '/readyz')).body).toEqual({ status: 'ready', reasons: [] });
    expect((await alertsOf(last)).refusals).toEqual({ ...NO_REFUSALS, lost: 1, last: 'lost' });
  }
});

test('a wrong silence is refused with all that is wrong', async () => {
  const { app } = await appWith({ seven: RULES.seven });
  await expect.poll(async () => (await alertsOf(app)).rules).toHaveLength(1);
  const now = Date.now();
  const right = { rule: 'seven', to: now + HOUR, reason: 'test' };
  const faults = async (changed: object) => {
    const { status, body } = await post(app, '/alerts/silences', { ...right, ...changed });
    return [status, ...(body.errors ?? []).map(({ field, message }: { field: string; message: string }) => `${field} ${message}`)];
  };
  expect(await faults({ rule: 'other' })).toEqual([400, 'rule must be the name of a rule, not "other"']);
  expect(await faults({ to: now - HOUR, from: now - 2 * HOUR })).toEqual([400, expect.stringMatching(/^to must be greater than now/)]);
  expect(await faults({ from: now + 2 * HOUR })).toEqual([400, expect.stringMatching(/^to must be greater than from/)]);
  expect(await faults({ to: now + 91 * 24 * HOUR })).toEqual([400, 'to must be at most 90 days after from']);
  expect(await faults({ reason: ' ' })).toEqual([400, 'reason must have 1 to 500 characters, not 1']);
  expect(await faults({ group: { ua: 'curl' } })).toHaveLength(3);
  expect(await faults({ group: { ip: 5 } })).toEqual([400, expect.stringMatching(/^group\.ip must be/)]);
  expect(await faults({ until: 5 })).toEqual([400, expect.stringContaining('until')]);
  expect(await faults({ group: null, from: null })).toEqual([200]);
});
