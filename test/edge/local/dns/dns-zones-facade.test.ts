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
    ['a property that nothing reads', { Domain: 'example.com', Colour: 'red' }, 'Colour'],
  ])('is refused with %s, and the field is named', async (_, body, field) => {
    await using facade = await startFacade([dnsZones]);
    const answer = await facade.call({ ...exampleOf(4), body });
    expect([answer.status, answer.body.Field]).toEqual([400, field]);
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
