import { renameSync, rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { ask, startApp } from '../running-app.ts';

test.each([
  ['a key of all zones', { accesskey: 'key-of-every-zone-1' }, true],
  ['a key with the scope metrics', { accesskey: 'key-for-metrics-222' }, true],
  ['a key with the scope admin', { accesskey: 'key-for-admins-3333' }, true],
  ['a key with other scopes', { accesskey: 'key-of-zone-seven-4' }, false],
  ['a wrong key', { accesskey: 'key-of-every-zone-2' }, false],
  ['an empty key', { accesskey: '' }, false],
  ['two keys', { accesskey: 'key-of-every-zone-1, key-of-every-zone-1' }, false],
  ['no key', {}, false],
])('tells paths to whoever watches the program, and codes to others, once there are keys: %s', async (_who, headers, knowsWords) => {
  const app = await startApp({
    env: {
      ACCESS_KEYS:
        'all:key-of-every-zone-1:*,metrics:key-for-metrics-222:7:metrics,admin:key-for-admins-3333:7:admin,seven:key-of-zone-seven-4:7',
    },
  });
  onTestFinished(() => app.stop());
  expect((await ask(app, '/readyz', { headers })).body).toEqual({ status: 'ready', reasons: [] });
  renameSync(app.dataDir, `${app.dataDir}-moved`);
  onTestFinished(() => rmSync(`${app.dataDir}-moved`, { recursive: true, force: true }));
  const { status, text: answer, body } = await ask(app, '/readyz', { headers });
  expect([status, body.status]).toEqual([503, 'not ready']);
  expect(answer.includes(app.dataDir)).toBe(knowsWords);
  if (!knowsWords) expect(body.reasons).toEqual(['store.not_ready']);
});
