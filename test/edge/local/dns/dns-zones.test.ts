import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { dnsZones } from '../../../../edge/local/dns/dns-zones.ts';
import { type ResourcePlane, startPlane } from './resource-plane.ts';

let plane: ResourcePlane;

beforeEach(async () => {
  plane = await startPlane([dnsZones]);
});

afterEach(() => plane.stop());

const create = (body: unknown) => plane.call(4, {}, body);

describe('a zone that is made', () => {
  test('is answered whole, with its records and their defaults', async () => {
    const { status, body } = await create({ Domain: 'example.com', Records: [{ Type: 0, Name: 'www', Value: '192.0.2.1', Ttl: 60 }] });
    expect(status).toBe(201);
    expect(body).toEqual({
      Id: 1,
      Domain: 'example.com',
      Records: [
        {
          Id: 1,
          Type: 0,
          Ttl: 60,
          Value: '192.0.2.1',
          Name: 'www',
          Weight: 100,
          Priority: 0,
          Flags: 0,
          Tag: '',
          Port: 0,
          PullZoneId: 0,
          ScriptId: 0,
          Accelerated: false,
          GeolocationLatitude: 0,
          GeolocationLongitude: 0,
          LatencyZone: '',
          Disabled: false,
          EnviromentalVariables: [],
          Comment: '',
          AutoSslIssuance: false,
          MonitorType: 0,
          SmartRoutingType: 0,
        },
      ],
      DateModified: '2026-01-31T12:00:00.000Z',
      DateCreated: '2026-01-31T12:00:00.000Z',
      NameserversDetected: false,
      CustomNameserversEnabled: false,
      Nameserver1: 'ns1.shieldlog.invalid',
      Nameserver2: 'ns2.shieldlog.invalid',
      SoaEmail: 'hostmaster@example.com',
      NameserversNextCheck: '2026-01-31T13:00:00.000Z',
      LoggingEnabled: false,
      LoggingIPAnonymizationEnabled: true,
      LogAnonymizationType: 0,
      DnsSecEnabled: false,
      CertificateKeyType: 0,
    });
  });

  test('keeps every field of a record as it was given', async () => {
    const record = {
      Type: 11,
      Ttl: 0,
      Value: 'my script',
      Name: '*.api',
      Weight: 0,
      Priority: 65_535,
      Flags: 255,
      Tag: 'x',
      Port: 65_535,
      PullZoneId: 7,
      ScriptId: 9_007_199_254_740_991,
      Accelerated: true,
      GeolocationLatitude: -89.5,
      GeolocationLongitude: 179.25,
      LatencyZone: 'DE',
      Disabled: true,
      EnviromentalVariables: [{ Name: 'A', Value: 'b' }],
      Comment: 'Größe 🙂',
      AutoSslIssuance: true,
      MonitorType: 3,
      SmartRoutingType: 2,
    };
    const { body } = await create({ Domain: 'example.com', Records: [record] });
    expect(body.Records).toEqual([{ ...record, Id: 1 }]);
  });

  test('needs nothing but a domain, and takes null for absent', async () => {
    expect((await create({ Domain: 'example.com' })).body.Records).toEqual([]);
    expect((await create({ Domain: 'example.org', Records: null })).body.Records).toEqual([]);
    const nulls = { Type: null, Value: '192.0.2.1', Name: null, Ttl: null, EnviromentalVariables: null };
    expect((await create({ Domain: 'example.net', Records: [nulls] })).body.Records[0]).toMatchObject({ Type: 0, Name: '', Ttl: 300 });
  });

  test('is still there after the program was started again', async () => {
    await create({ Domain: 'example.com' });
    const again = await startPlane([dnsZones], plane.dataDir);
    try {
      expect((await again.call(4, {}, { Domain: 'example.com' })).body.ErrorKey).toBe('dnszone.name_taken');
    } finally {
      await again.stop();
    }
  });
});

describe('the domain of a zone', () => {
  test.each([
    ['EXAMPLE.com.', 'example.com'],
    ['exämple.com', 'xn--exmple-cua.com'],
    ['faß。de', 'xn--fa-hia.de'],
    ['xn--exmple-cua.com', 'xn--exmple-cua.com'],
    ['shop.example.co.uk', 'shop.example.co.uk'],
    ['2.0.192.in-addr.arpa', '2.0.192.in-addr.arpa'],
    ['anything.test', 'anything.test'],
  ])('%j is kept as %j', async (given, kept) => {
    expect((await create({ Domain: given })).body.Domain).toBe(kept);
  });

  test.each([
    '',
    '.',
    'com',
    'co.uk',
    'localhost',
    '192.0.2.1',
    '0x7f.1',
    '[::1]',
    '2001:db8::1',
    'a b.com',
    'a..com',
    '.example.com',
    '-a.com',
    'a-.com',
    'under_score.com',
    '*.example.com',
    'ex%61mple.com',
    'example.com/x',
    'example.com:80',
    'u@example.com',
    'example.com?x',
    'xn--a.com',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(125)}example.com`,
    'a\u0000.com',
    'a\n.com',
  ])('%j is refused', async (given) => {
    const { status, body } = await create({ Domain: given });
    expect([status, body.ErrorKey, body.Field]).toEqual([400, 'dnszone.invalid', 'Domain']);
    expect(body.Message).toContain('allowed:');
  });

  test.each(['example.com', 'EXAMPLE.COM', 'example.com.'])('is taken once: %j after example.com', async (again) => {
    await create({ Domain: 'example.com', Records: [{ Value: '192.0.2.1' }] });
    const { status, body } = await create({ Domain: again, Records: [{ Value: '192.0.2.2' }] });
    expect([status, body.ErrorKey, body.Field]).toEqual([400, 'dnszone.name_taken', 'Domain']);
    expect(plane.db.prepare('SELECT count(*) AS n FROM dns_record').get()?.['n']).toBe(1);
  });

  test('is taken by one of many that ask at once', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({ Domain: 'example.com' })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 400, 400, 400, 400, 400, 400, 400]);
  });
});

describe('the body', () => {
  test.each([
    [null, 'body'],
    [['example.com'], 'body'],
    [{ Domain: 5 }, 'Domain'],
    [{ Domain: null }, 'Domain'],
    [{ Domain: ['example.com'] }, 'Domain'],
    [{ Domain: 'example.com', Records: {} }, 'Records'],
    [{ Domain: 'example.com', Records: [null] }, 'Records[0]'],
    [{ Domain: 'example.com', Records: [{ Value: '192.0.2.1' }, { Value: '192.0.2.1', Ttl: '60' }] }, 'Records[1].Ttl'],
    [{ Domain: 'example.com', Records: [{ Value: '192.0.2.1', MonitorType: 4 }] }, 'Records[0].MonitorType'],
    [{ Domain: 'example.com', Records: [{ Value: '192.0.2.1', SmartRoutingType: 'Latency' }] }, 'Records[0].SmartRoutingType'],
  ])('%j is refused, the fault is at %s', async (body, field) => {
    const answer = await create(body);
    expect([answer.status, answer.body.Field]).toEqual([400, field]);
  });

  test('holds 5,000 records and no more', async () => {
    const records = Array.from({ length: 5_001 }, (_, index) => ({ Name: `h${index}`, Value: '192.0.2.1' }));
    const refused = await create({ Domain: 'example.com', Records: records });
    expect([refused.status, refused.body.Field]).toEqual([400, 'Records']);
    const taken = await create({ Domain: 'example.com', Records: records.slice(1) });
    expect([taken.status, taken.body.Records.length]).toEqual([201, 5_000]);
  });

  test('keeps nothing of a zone whose last record is wrong', async () => {
    await create({ Domain: 'example.com', Records: [{ Value: '192.0.2.1' }, { Value: 'x' }] });
    expect((await create({ Domain: 'example.com' })).status).toBe(201);
  });
});
