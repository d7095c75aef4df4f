import { expect, test } from 'vitest';
import { externalCertificates } from '../../../../edge/local/certificates/external-certificates.ts';
import { openState } from '../../../../edge/local/control-plane-state.ts';
import { pullZones } from '../../../../edge/local/pull-zones.ts';
import { exampleOf } from '../../example-requests.ts';
import { startFacade } from '../resource-calls.ts';
import { NOW_MS } from '../running-plane.ts';

const RESOURCES = [pullZones, externalCertificates(null)];
const BODY = { Hostname: 'WWW.Example.com.' };

test('a hostname of a pull zone gets its certificate through the facade, and the pull zone knows until when', async () => {
  await using facade = await startFacade(RESOURCES);
  const requested = await facade.call({ ...exampleOf(6), body: BODY });
  expect([requested.status, requested.body.FilePath]).toEqual([200, expect.stringMatching(/^\/\.well-known\/acme-challenge\/[\w-]{43}$/)]);
  expect(await facade.call({ ...exampleOf(7), body: BODY })).toEqual({ status: 200, contentType: null, body: '' });
  expect(await facade.call({ ...exampleOf(7), body: BODY })).toMatchObject({ status: 400, body: { ErrorKey: 'certificate.no_challenge' } });
  const db = openState(facade.plane.dataDir);
  const row = db.prepare("SELECT certificate_not_after_ms AS ms FROM hostname WHERE name = 'www.example.com'").get();
  db.close();
  expect(row?.['ms']).toBe(Math.floor(NOW_MS / 1_000) * 1_000 + 90 * 86_400_000);
});

test('a hostname that was removed gets none, whatever was pending', async () => {
  await using facade = await startFacade(RESOURCES);
  await facade.call({ ...exampleOf(6), body: BODY });
  expect((await facade.call({ ...exampleOf(8), body: BODY })).status).toBe(204);
  for (const id of [6, 7]) {
    const answer = await facade.call({ ...exampleOf(id), body: BODY });
    expect([answer.status, answer.body.ErrorKey, answer.body.Field]).toEqual([404, 'hostname.not_found', 'Hostname']);
  }
});

test('the challenge is served to nobody without the secret of the control plane', async () => {
  await using facade = await startFacade(RESOURCES);
  const { url, headers } = facade.plane.plane;
  const { FilePath, FileContent } = (await facade.call({ ...exampleOf(6), body: BODY })).body;
  expect((await fetch(`${url}${FilePath}`)).status).toBe(403);
  expect(await (await fetch(`${url}${FilePath}`, { headers })).text()).toBe(FileContent);
});
