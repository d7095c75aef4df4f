import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DIMENSIONS } from '../../query/event-fields.ts';
import { OPENAPI_DOCUMENT } from '../../src/openapi/openapi-document.ts';
import { ask, eventLine, ingest, lastHour, type RunningApp, search, startApp } from '../src/running-app.ts';

const OPTIONS_MARK = '<!-- an option for each dimension -->';

const web = join(import.meta.dirname, '../../web');

let app: RunningApp;

beforeAll(async () => {
  app = await startApp();
  await ingest(app, eventLine({ logId: 'a', ip: '192.0.2.1', url: '/x', asn: 64_500 }));
});

afterAll(() => app.stop());

describe('the pages', () => {
  test.each([
    ['/', 'text/html', 'index.html'],
    ['/explorer.js', 'text/javascript', 'explorer.js'],
    ['/explorer.css', 'text/css', 'explorer.css'],
  ])('%s is served whole, under a policy that lets nothing else in', async (path, type, file) => {
    const { status, headers, text } = await ask(app, path);
    const served = text.replaceAll(/<option( selected)?>\w+<\/option>/g, '').replace('<select name="groupBy">', `$&${OPTIONS_MARK}`);
    const expected = [200, `${type}; charset=utf-8`, readFileSync(join(web, file), 'utf8')];
    expect([status, headers.get('content-type'), served]).toEqual(expected);
    expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('offer every dimension to group by, ip first', async () => {
    const { text } = await ask(app, '/');
    const options = [...text.matchAll(/<option( selected)?>(\w+)<\/option>/g)];
    expect(options.map(([, , name]) => name)).toEqual(DIMENSIONS);
    expect(options.filter(([, selected]) => selected !== undefined).map(([, , name]) => name)).toEqual(['ip']);
  });

  test('need nothing that the policy forbids, and link to nothing that is not there', async () => {
    for (const file of readdirSync(web).filter((name) => name.endsWith('.html'))) {
      const html = readFileSync(join(web, file), 'utf8');
      expect(html).not.toMatch(/\son\w+=|\sstyle=|<style|<script(?![^>]*\ssrc=)/);
      for (const [, path = ''] of html.matchAll(/(?:href|src)="([^"]+)"/g))
        expect([path, (await ask(app, path)).status]).toEqual([path, 200]);
    }
  });

  test('have every part that their script asks for', () => {
    const html = readFileSync(join(web, 'index.html'), 'utf8');
    const wanted = [...readFileSync(join(web, 'explorer.js'), 'utf8').matchAll(/'#(\w+)'/g)].map(([, id]) => id);
    expect(wanted.length).toBeGreaterThan(4);
    expect(wanted.filter((id) => !html.includes(` id="${id}"`))).toEqual([]);
  });

  test('never turn text into markup', () => {
    for (const file of readdirSync(web).filter((name) => name.endsWith('.js'))) {
      expect(readFileSync(join(web, file), 'utf8')).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write/);
    }
  });
});

describe('/openapi.json', () => {
  /** Checks a value against a schema of the document. */
  function validate(name: keyof typeof OPENAPI_DOCUMENT.components.schemas, value: unknown): unknown {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'https://shieldlog.test/openapi.json', ...OPENAPI_DOCUMENT });
    const check = ajv.compile({ $ref: `https://shieldlog.test/openapi.json#/components/schemas/${name}` });
    return check(value) ? null : check.errors;
  }

  test('tells what zones there are, and that the list of rejected events ends before their number does', () => {
    const [zone] = OPENAPI_DOCUMENT.paths['/shield/event-logs/{shieldZoneId}/search'].post.parameters;
    expect(zone).toMatchObject({ schema: { minimum: -2_147_483_648, maximum: 2_147_483_647 } });
    const { rejected, rejectedCount } = OPENAPI_DOCUMENT.components.schemas.IntakeReport.properties;
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
