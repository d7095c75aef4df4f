import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { COMPANIONS, OPERATIONS } from '../../../edge/operations/operations.ts';
import { COMPANION_DRIVERS } from './companion-drivers.ts';
import { DESCRIBED_OPERATIONS, undescribed } from './document-check.ts';
import { DOOR_DRIVERS } from './door-drivers.ts';
import type { Drivers } from './driver.ts';
import { EVENT_DRIVERS } from './event-drivers.ts';
import { OPERATION_DRIVERS } from './operation-drivers.ts';
import { PROGRAM_DRIVERS } from './program-drivers.ts';
import { startSite } from './site.ts';
import { type Sites, startSites } from './sites.ts';
import { STREAM_DRIVERS } from './stream-drivers.ts';
import { toldBy } from './told-settings.ts';

const DRIVERS: Drivers = {
  ...EVENT_DRIVERS,
  ...STREAM_DRIVERS,
  ...OPERATION_DRIVERS,
  ...COMPANION_DRIVERS,
  ...PROGRAM_DRIVERS,
  ...DOOR_DRIVERS,
};

const DESCRIBED = DESCRIBED_OPERATIONS.flatMap((operation) =>
  Object.keys(operation.responses).map((status) => [operation.operationId, Number(status), operation] as const),
);

let sites: Sites;

beforeAll(async () => {
  sites = await startSites();
});

afterAll(() => sites.stop());

test('every status that is described has a driver, and every driver is of a status that is described', () => {
  const driven = Object.entries(DRIVERS).flatMap(([name, drivers]) => Object.keys(drivers).map((status) => `${name} ${status}`));
  expect(driven.toSorted()).toEqual(DESCRIBED.map(([name, status]) => `${name} ${status}`).toSorted());
});

describe.concurrent('the program answers as the document says', () => {
  test.each(DESCRIBED)('%s: %i', async (name, status, operation) => {
    const drive = DRIVERS[name]?.[status];
    if (drive === undefined) throw new Error(`nothing drives ${name} to ${status}`);
    const answer = await drive(sites);
    expect([answer.status, undescribed(operation, answer)], answer.text.slice(0, 500)).toEqual([status, []]);
    // The program answers the error that the table has for such a request.
    const row = [...OPERATIONS, ...COMPANIONS].find((candidate) => candidate.name === name);
    const own = row?.errors[status];
    if (own?.request !== undefined && row?.errorShape !== 'status') expect(answer.text).toContain(JSON.stringify(own.message).slice(1, -1));
    const all = [sites.open, sites.keyed, sites.broken, sites.crowded, sites.unreachable, sites.deaf, sites.forgetful];
    expect(
      toldBy(
        name,
        answer,
        all.flatMap(({ hidden }) => hidden),
        all.flatMap(({ log }) => log),
      ),
    ).toEqual([]);
    const { headers } = answer;
    expect([headers.get('x-content-type-options'), headers.get('content-security-policy')]).toEqual([
      'nosniff',
      "default-src 'none'; sandbox",
    ]);
  });
});

test('no answer tells of the folder where the store has lost it', async () => {
  const site = await startSite();
  onTestFinished(() => site.stop());
  for (const name of readdirSync(site.dataDir)) rmSync(join(site.dataDir, name), { recursive: true });
  for (const operation of DESCRIBED_OPERATIONS) {
    const drive = Object.entries(DRIVERS[operation.operationId] ?? {}).find(([status]) => Number(status) < 300)?.[1];
    const answer = await drive?.({ ...sites, open: site });
    if (answer === undefined) throw new Error(`nothing drives ${operation.operationId} to a success`);
    expect([operation.operationId, toldBy(operation.operationId, answer, site.hidden, site.log)]).toEqual([operation.operationId, []]);
  }
});
