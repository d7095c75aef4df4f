import { describe, expect, test } from 'vitest';
import { headerValue, logDetails } from '../../../src/formats/log-details.ts';

const NOTHING = { message: undefined, remoteIp: undefined, headers: [], matchKey: undefined, matchValue: undefined };

describe('of a log only texts in the members of the platform are read:', () => {
  test.each<[what: string, log: unknown, found: object]>([
    [
      'a log of the platform',
      { Message: 'm', RemoteIp: '::1', TriggerMatch: { Key: 'k', Value: 'v' } },
      { message: 'm', remoteIp: '::1', matchKey: 'k', matchValue: 'v' },
    ],
    ['numbers where texts are due', { Message: 1, RemoteIp: 2, TriggerMatch: { Key: 3, Value: 4 } }, {}],
    ['empty texts', { Message: '', RemoteIp: '', TriggerMatch: { Key: '', Value: '' } }, {}],
    ['a match that is a list', { TriggerMatch: ['Key'] }, {}],
    [
      'headers of which some are none',
      {
        Headers: [
          null,
          [],
          'Host',
          { Name: 'a' },
          { Value: 'b' },
          { Name: 'n', Value: 1 },
          { Name: 1, Value: 'v' },
          { Name: 'n', Value: '' },
        ],
      },
      { headers: [{ name: 'n', value: '' }] },
    ],
    ['headers that are an object', { Headers: { Name: 'n', Value: 'v' } }, {}],
    ['a list', [], {}],
    ['null', null, {}],
    ['nothing', undefined, {}],
  ])('%s', (_, log, found) => {
    expect(logDetails(log)).toEqual({ ...NOTHING, ...found });
  });
});

test('the first header of a name counts, in any case', () => {
  const headers = [
    { name: 'Hosts', value: 'other' },
    { name: 'HOST', value: 'first' },
    { name: 'host', value: 'second' },
  ];
  expect([headerValue(headers, 'host'), headerValue(headers, 'referer')]).toEqual(['first', undefined]);
});
