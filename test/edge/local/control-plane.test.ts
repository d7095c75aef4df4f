import { rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { LocalResource } from '../../../edge/local/local-resource.ts';
import { scriptVariables } from '../../../edge/local/script-variables.ts';
import { exampleOf, send } from '../example-requests.ts';
import { startFacade } from './resource-calls.ts';
import { startPlane } from './running-plane.ts';

const throwing = (error: Error): LocalResource => ({
  name: 'throwing',
  migrations: [],
  routes(app) {
    app.get('/mc/nodes', () => {
      throw error;
    });
  },
});

describe('the local control plane', () => {
  test.each([
    ['without the secret', {}],
    ['with a wrong secret of the right length', { 'x-control-plane-secret': '0'.repeat(64) }],
    ['with a part of it', { 'x-control-plane-secret': 'a' }],
  ])('answers nothing %s', async (_what, headers) => {
    await using running = await startPlane({ resources: [scriptVariables] });
    const answer = await send(running.plane.url, exampleOf(2), headers);
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ ErrorKey: 'access.denied' });
  });

  test('listens on loopback only', async () => {
    await using running = await startPlane({ resources: [scriptVariables] });
    expect(new URL(running.plane.url).hostname).toBe('127.0.0.1');
  });

  test('checks its input by itself', async () => {
    await using running = await startPlane({ resources: [scriptVariables] });
    const answer = await send(running.plane.url, { ...exampleOf(2), body: { Name: '' } }, running.plane.headers);
    expect([answer.status, await answer.json()]).toMatchObject([400, { ErrorKey: 'request.invalid', Field: 'Name' }]);
  });

  test('answers a fault of its own in the shape of the operation, and logs it', async () => {
    await using facade = await startFacade([throwing(new Error('disk on fire'))]);
    const answer = await facade.call(exampleOf(11));
    expect([answer.status, answer.body.detail]).toEqual([500, 'The request failed; the program has logged why']);
    expect(facade.plane.errors).toMatchObject([{ err: { message: 'disk on fire' }, path: '/mc/nodes' }]);
  });

  test('answers 503 in that shape where its state is found damaged, and logs it', async () => {
    const found = Object.assign(new Error('database disk image is malformed'), { errcode: 267 });
    await using facade = await startFacade([throwing(found)]);
    const answer = await facade.call(exampleOf(11));
    expect([answer.status, answer.body.detail]).toEqual([503, expect.stringMatching(/^The control plane's state is damaged: put/)]);
    expect(facade.plane.errors).toMatchObject([{ err: { message: found.message }, path: '/mc/nodes' }]);
  });

  test('keeps its state over a restart, and seeds it once', async () => {
    const first = await startPlane({ resources: [scriptVariables] });
    const set = { ...exampleOf(2), body: { Name: 'KEPT', Required: true, DefaultValue: 'yes' } };
    const before = await (await send(first.plane.url, set, first.plane.headers)).json();
    await first.plane.stop();
    const second = await startPlane({ resources: [scriptVariables], dataDir: first.dataDir });
    const again = await send(second.plane.url, { ...set, body: { Name: 'KEPT' } }, second.plane.headers);
    expect(await again.json()).toEqual(before);
    await second.plane.stop();
    rmSync(first.dataDir, { recursive: true });
  });

  test('two of them side by side have nothing to do with each other: the proxy differs by its upstream only', async () => {
    await using one = await startFacade([scriptVariables]);
    await using other = await startFacade([scriptVariables]);
    const set = (value: string): { number: number; method: string; path: string; body: object } => ({
      ...exampleOf(2),
      body: { Name: 'WHO', DefaultValue: value },
    });
    await one.call(set('one'));
    await other.call(set('other'));
    const ask = { ...exampleOf(2), body: { Name: 'WHO' } };
    expect([(await one.call(ask)).body.DefaultValue, (await other.call(ask)).body.DefaultValue]).toEqual(['one', 'other']);
  });
});
