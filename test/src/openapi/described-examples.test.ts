import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPENAPI_DOCUMENT } from '../../../src/openapi/openapi-document.ts';
import { INGEST_GROUP } from '../../../src/openapi/openapi-ingest.ts';
import { SEARCH_GROUP } from '../../../src/openapi/openapi-search.ts';
import { ask, eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../running-app.ts';

let app: RunningApp;

beforeAll(async () => {
  app = await startApp();
  await ingest(app, eventLine({ logId: 'a', ip: '192.0.2.1', url: '/x', asn: 64_500 }));
});

afterAll(() => app.stop());

describe('/openapi.json', () => {
  /** Checks a value against a schema of the document. */
  function validate(name: string, value: unknown): unknown {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'https://shieldlog.test/openapi.json', ...OPENAPI_DOCUMENT });
    const check = ajv.compile({ $ref: `https://shieldlog.test/openapi.json#/components/schemas/${name}` });
    return check(value) ? null : check.errors;
  }

  test('tells what zones there are, and that the list of rejected events ends before their number does', () => {
    const [zone] = SEARCH_GROUP.paths['/shield/event-logs/{shieldZoneId}/search'].post.parameters;
    expect(zone).toMatchObject({ schema: { minimum: -2_147_483_648, maximum: 2_147_483_647 } });
    const { rejected, rejectedCount } = INGEST_GROUP.schemas.IntakeReport.properties;
    expect(rejected).toMatchObject({ maxItems: 10_000, description: expect.stringContaining('The first 1,000') });
    expect(rejectedCount.description).toContain('How many');
  });

  test('describes what a search takes and answers', async () => {
    for (const rest of [{}, { groupBy: ['ip', 'url'], buckets: 3 }, { filters: [{ field: 'ip', op: 'cidr', value: ['192.0.2.0/24'] }] }]) {
      expect(validate('EventLogsSearchRequest', JSON.parse(lastHour(rest)))).toBeNull();
      expect(validate('EventLogsSearchResponse', (await search(app, lastHour(rest))).body)).toBeNull();
    }
    expect(validate('EventLogsSearchRequest', { from: 1 })).not.toBeNull();
    expect(validate('ProblemDetails', (await search(app, '{}')).body)).toBeNull();
  });

  test('describes what the intake takes and answers', async () => {
    expect(validate('Event', JSON.parse(eventLine({ asn: 5, log: {} })))).toBeNull();
    expect(validate('IntakeReport', (await ingest(app, 'bad\n')).body)).toBeNull();
    expect(validate('DeadLetterList', (await ask(app, '/ingest/dead-letters')).body)).toBeNull();
  });
});
