import { describe, expect, test } from 'vitest';
import { DefectLog } from './raw-bytes/defect-log.ts';
import { newEvents } from './raw-bytes/taken-in-events.ts';

describe('the log of the watched program', () => {
  test('tells a line that comes in two parts once it is whole, and only if it is a defect', () => {
    const log = new DefectLog();
    log.add('{"level":30,"msg":"well"}\n{"level":3');
    expect(log.take()).toEqual([]);
    log.add('0,"msg":"well too"}\n{"level":50,');
    expect(log.take()).toEqual([]);
    log.add('"msg":"bad"}\n');
    expect(log.take()).toEqual(['{"level":50,"msg":"bad"}']);
    expect(log.take()).toEqual([]);
  });

  test('tells what an ended program wrote last, also without the end of the line', () => {
    const log = new DefectLog();
    log.add('Error: no\nat once');
    expect(log.takeAll()).toEqual(['Error: no', 'at once']);
    expect(log.takeAll()).toEqual([]);
  });
});

describe('the number of new events that an answer of the intake tells', () => {
  const upload = { operationId: 'ingestEvents', isForRoute: true } as const;
  const answered = (status: number, body: unknown) =>
    ({ answers: [{ status, text: JSON.stringify(body) }], gaveUp: false }) as unknown as Parameters<typeof newEvents>[1];

  test.each([
    ['those that were not there before', 202, { accepted: 5, duplicates: 2 }, 3],
    ['none for a refused key', 401, { code: 'access.unauthorized' }, 0],
    ['unknown for a denied zone, because events before it may be stored', 403, { code: 'access.zone_denied' }, null],
  ])('%s', (_, status, body, count) => {
    expect(newEvents(upload, answered(status, body))).toBe(count);
  });
});
