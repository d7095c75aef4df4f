import { describe, expect, test } from 'vitest';
import { dnsZones } from '../../../../edge/local/dns/dns-zones.ts';
import { RECORD_INPUT } from '../../../../edge/operations/dns-zones.ts';
import { exampleOf } from '../../example-requests.ts';
import { startFacade } from '../resource-calls.ts';

describe('a zone made through the facade', () => {
  test('is answered as the table of operations says, and is taken the second time', async () => {
    await using facade = await startFacade([dnsZones]);
    const body = { Domain: 'Example.com', Records: [{ Type: 3, Name: '@', Value: 'a "text"', EnviromentalVariables: [] }] };
    const made = await facade.call({ ...exampleOf(4), body });
    expect([made.status, made.body.Domain, made.body.Records.length]).toEqual([201, 'example.com', 1]);
    const again = await facade.call({ ...exampleOf(4), body });
    const Message = 'Domain: there is a zone of example.com already';
    expect([again.status, again.body]).toEqual([400, { ErrorKey: 'dnszone.name_taken', Field: 'Domain', Message }]);
  });

  test.each([
    ['a value that its type does not take', { Domain: 'example.com', Records: [{ Type: 1, Value: '192.0.2.1' }] }, 'Records[0].Value'],
    ['a public suffix', { Domain: 'co.uk' }, 'Domain'],
    [
      'a way to monitor that there is not',
      { Domain: 'example.com', Records: [{ Value: '192.0.2.1', MonitorType: 4 }] },
      'Records[0].MonitorType',
    ],
    [
      'a way to route that there is not',
      { Domain: 'example.com', Records: [{ Value: '192.0.2.1', SmartRoutingType: 3 }] },
      'Records[0].SmartRoutingType',
    ],
  ])('is refused with %s, and the field is named', async (_, body, field) => {
    await using facade = await startFacade([dnsZones]);
    const answer = await facade.call({ ...exampleOf(4), body });
    expect([answer.status, answer.body.Field]).toEqual([400, field]);
  });

  const A_RECORD = { Type: 0, Name: 'www', Value: '192.0.2.1' };
  const EMPTY = {
    ...{ Ttl: null, Weight: null, Priority: null, Flags: null, Tag: null, Port: null, PullZoneId: null, ScriptId: null },
    ...{ Accelerated: null, GeolocationLatitude: null, GeolocationLongitude: null, LatencyZone: null, Disabled: null },
    ...{ EnviromentalVariables: null, Comment: null, AutoSslIssuance: null, MonitorType: null, SmartRoutingType: null },
  };

  test.each([
    ['no more than that', A_RECORD, { MonitorType: 0, SmartRoutingType: 0 }],
    ['every field, null where there is none', { ...EMPTY, ...A_RECORD }, { Ttl: 300, MonitorType: 0, SmartRoutingType: 0 }],
    ['ways to monitor and to route', { ...A_RECORD, MonitorType: 2, SmartRoutingType: 1 }, { MonitorType: 2, SmartRoutingType: 1 }],
    ['the last of them', { ...A_RECORD, MonitorType: 3, SmartRoutingType: 2 }, { MonitorType: 3, SmartRoutingType: 2 }],
    [
      'fields that this program does not have',
      {
        ...A_RECORD,
        Id: 77,
        AcceleratedPullZoneId: 0,
        LinkName: '',
        IPGeoLocationInfo: { ASN: 0 },
        GeolocationInfo: null,
        MonitorStatus: 0,
      },
      { Id: 1, Value: '192.0.2.1' },
    ],
    [
      'variables with more than a name and a value',
      { ...A_RECORD, EnviromentalVariables: [{ Name: 'A', Value: 'b', Id: 3 }] },
      { EnviromentalVariables: [{ Name: 'A', Value: 'b' }] },
    ],
  ])('takes records of public clients with %s', async (_, record, kept) => {
    await using facade = await startFacade([dnsZones]);
    const { status, body } = await facade.call({ ...exampleOf(4), body: { Domain: 'example.com', Records: [record] } });
    expect([status, body.Records]).toEqual([201, [expect.objectContaining(kept)]]);
    expect(Object.keys(body.Records[0])).not.toContain('LinkName');
  });

  test('takes the whole answer of another zone', async () => {
    await using facade = await startFacade([dnsZones]);
    const { body } = await facade.call(exampleOf(4));
    const copied = await facade.call({ ...exampleOf(4), body: { ...body, Domain: 'example.net' } });
    expect([copied.status, copied.body.Id, copied.body.Domain]).toEqual([201, 2, 'example.net']);
    const withoutIds = (records: readonly { readonly Id: number }[]): unknown => records.map(({ Id, ...rest }) => rest);
    expect(withoutIds(copied.body.Records)).toEqual(withoutIds(body.Records));
  });

  test('holds 5,000 records', async () => {
    await using facade = await startFacade([dnsZones]);
    const Records = Array.from({ length: 5_000 }, (_, index) => ({ Type: 2, Name: `host-${index}`, Value: `target-${index}.example.net` }));
    const { status, body } = await facade.call({ ...exampleOf(4), body: { Domain: 'example.com', Records } });
    expect([status, body.Records.length, body.Records.at(-1).Value]).toEqual([201, 5_000, 'target-4999.example.net']);
  });

  test('holds 5,000 records that have every field', async () => {
    await using facade = await startFacade([dnsZones]);
    const every = Object.fromEntries(Object.keys(RECORD_INPUT['properties'] as object).map((name) => [name, null]));
    const Records = Array.from({ length: 5_000 }, (_, index) => ({
      ...every,
      Type: 2,
      Name: `host-${index}`,
      Value: 'target.example.net',
    }));
    const { status, body } = await facade.call({ ...exampleOf(4), body: { Domain: 'example.com', Records } });
    expect([status, body.Records?.length]).toEqual([201, 5_000]);
  });
});
