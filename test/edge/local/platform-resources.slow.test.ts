import { describe, expect, test } from 'vitest';
import { nodes } from '../../../edge/local/containers/nodes.ts';
import { openState } from '../../../edge/local/control-plane-state.ts';
import { findHostname, pullZones, setCertificate } from '../../../edge/local/pull-zones.ts';
import { scriptVariables } from '../../../edge/local/script-variables.ts';
import { exampleOf } from '../example-requests.ts';
import { type Answer, type Facade, startFacade } from './resource-calls.ts';

function setVariable(facade: Facade, body: unknown, script: number | string = 2): Promise<Answer> {
  return facade.call({ ...exampleOf(2), path: `/compute/script/${script}/variables`, body });
}

describe('a script variable', () => {
  test('is added, then changed by its name; what is left out stays', async () => {
    await using facade = await startFacade([scriptVariables]);
    const added = await setVariable(facade, { Name: 'A' });
    expect(added).toMatchObject({ status: 200, body: { Name: 'A', Required: false, DefaultValue: null } });
    const id = added.body.Id;
    const changed = await setVariable(facade, { Name: 'A', Required: true, DefaultValue: 'x' });
    expect(changed).toMatchObject({ status: 200, body: { Id: id, Name: 'A', Required: true, DefaultValue: 'x' } });
    expect((await setVariable(facade, { Name: 'A' })).body).toEqual(changed.body);
    expect((await setVariable(facade, { Name: 'A', DefaultValue: null })).body).toEqual({ ...changed.body, DefaultValue: null });
    expect((await setVariable(facade, { Name: 'a' })).body.Id).not.toBe(id);
    expect((await setVariable(facade, { Name: 'A' }, 3)).body.Id).not.toBe(id);
  });

  test.each([
    ['a name of 256 characters', { Name: 'é'.repeat(256) }, 200],
    ['a name of 257', { Name: 'é'.repeat(257) }, 400],
    ['an empty name', { Name: '' }, 400],
    ['no name', { Required: true }, 400],
    ['a value of 4096 characters', { Name: 'A', DefaultValue: '\u{1F600}'.repeat(4096) }, 200],
    ['a value of 4097', { Name: 'A', DefaultValue: 'x'.repeat(4097) }, 400],
    ['a number as its value', { Name: 'A', DefaultValue: 1 }, 400],
    ['Required as a text', { Name: 'A', Required: 'true' }, 400],
    ['a name that reads like SQL', { Name: "'); DROP TABLE script; --" }, 200],
  ])('with %s is answered as it should be', async (_what, body, status) => {
    await using facade = await startFacade([scriptVariables]);
    expect((await setVariable(facade, body)).status).toBe(status);
  });

  test('of an unknown script is 404', async () => {
    await using facade = await startFacade([scriptVariables]);
    expect(await setVariable(facade, { Name: 'A' }, 99)).toMatchObject({
      status: 404,
      body: { ErrorKey: 'script.not_found', Field: 'id' },
    });
  });

  test('past the 128th is refused; those that are there can still be changed', async () => {
    await using facade = await startFacade([scriptVariables]);
    for (let n = 1; n <= 128; n += 1) expect((await setVariable(facade, { Name: `V${n}` })).status).toBe(200);
    expect(await setVariable(facade, { Name: 'V129' })).toMatchObject({
      status: 400,
      body: { ErrorKey: 'script.too_many_variables', Message: 'Script 2 has 128 variables, "V129" would be one more; allowed: 128' },
    });
    expect((await setVariable(facade, { Name: 'V128', DefaultValue: 'x' })).body.DefaultValue).toBe('x');
  });
});

function removeHostname(facade: Facade, Hostname: string, zone: number | string = 1): Promise<Answer> {
  return facade.call({ ...exampleOf(8), path: `/pullzone/${zone}/removeHostname`, body: { Hostname } });
}

describe('a hostname of a pull zone', () => {
  test('is removed once, in whatever case it is written', async () => {
    await using facade = await startFacade([pullZones]);
    expect(await removeHostname(facade, 'WWW.Example.COM.')).toEqual({ status: 204, contentType: null, body: '' });
    expect(await removeHostname(facade, 'www.example.com')).toMatchObject({
      status: 400,
      body: { ErrorKey: 'pullZone.hostname_not_found' },
    });
    expect((await removeHostname(facade, 'shop.example.com')).status).toBe(204);
  });

  test.each([
    ['an unknown pull zone', 'www.example.com', 99, 404, 'pullZone.not_found', 'id'],
    ['another pull zone', 'www.example.com', 2, 400, 'pullZone.hostname_not_found', 'Hostname'],
    ['an unknown name', 'nobody.example.com', 1, 400, 'pullZone.hostname_not_found', 'Hostname'],
    ['a text that is no name', 'not a name', 1, 400, 'pullZone.hostname_not_found', 'Hostname'],
    ["the zone's own name", 'shop.cdn.example.net', 1, 400, 'pullZone.hostname_not_custom', 'Hostname'],
    ['an empty name', '', 1, 400, 'request.invalid', 'Hostname'],
  ])('is not removed for %s', async (_what, name, zone, status, ErrorKey, Field) => {
    await using facade = await startFacade([pullZones]);
    expect(await removeHostname(facade, name, zone)).toMatchObject({ status, body: { ErrorKey, Field, Message: expect.any(String) } });
    expect((await removeHostname(facade, 'www.example.com')).status).toBe(204);
  });

  test('is found for its certificate as it is kept', async () => {
    await using facade = await startFacade([pullZones]);
    const db = openState(facade.plane.dataDir);
    try {
      const found = findHostname(db, 'CDN.example.com');
      expect(found).toEqual({ pullZoneId: 1, name: 'cdn.example.com' });
      expect(findHostname(db, 'none.example.com')).toBeNull();
      if (found !== null) setCertificate(db, found, 1234);
      expect(db.prepare('SELECT name FROM hostname WHERE certificate_not_after_ms = 1234').all()).toEqual([{ name: 'cdn.example.com' }]);
    } finally {
      db.close();
    }
  });
});

describe('the node list', () => {
  const list = (facade: Facade, query = ''): Promise<Answer> => facade.call({ ...exampleOf(11), path: `/mc/nodes${query}` });

  test.each(['', '?limit=1', '?limit=7', '?limit=47', '?limit=48', '?limit=49', '?limit=1000'])(
    'read page by page with "%s" has every node once',
    async (query) => {
      await using facade = await startFacade([nodes]);
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const join = query === '' ? '?' : '&';
        const page = await list(facade, cursor === null ? query : `${query}${join}nextCursor=${cursor}`);
        expect(page).toMatchObject({ status: 200, body: { meta: { totalItems: 48 } } });
        expect(page.body.items.length).toBeGreaterThan(0);
        seen.push(...page.body.items);
        cursor = page.body.cursor;
      } while (cursor !== null);
      expect(seen).toHaveLength(48);
      expect(new Set(seen).size).toBe(48);
    },
  );

  test.each(['', '?limit=', '?nextCursor=', '?other=1', '?Limit=5'])('has 20 a page where no limit is given: "%s"', async (query) => {
    await using facade = await startFacade([nodes]);
    expect((await list(facade, query)).body.items).toHaveLength(20);
  });

  test.each([
    '?limit=0',
    '?limit=1001',
    '?limit=-1',
    '?limit=&limit=5',
    '?nextCursor=bm9kZTp4',
    '?nextCursor=~~~',
    '?nextCursor=bm9kZTox!',
  ])('asked with %s is refused', async (query) => {
    await using facade = await startFacade([nodes]);
    const answer = await list(facade, query);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ field: expect.any(String) }], id: expect.any(String) } });
  });
});
