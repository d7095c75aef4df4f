import { describe, expect, test } from 'vitest';
import type { EngineClient } from '../../../bench/engines/engine-client.ts';
import { compareAnswers } from '../../../bench/modes/workload.ts';

const WORKLOAD = { name: '01-page', title: 'page', zone: 1, body: {} };

/** Answers every search with the same text. */
function engine(name: string, answer: object): EngineClient {
  return { name, search: async () => ({ elapsedMs: 1, answer: JSON.stringify(answer) }) } as unknown as EngineClient;
}

describe('the answers of engines', () => {
  test('are equal whatever the order of the members', async () => {
    const engines = [engine('one', { total: 2, rows: [{ a: 1, b: 2 }] }), engine('two', { rows: [{ b: 2, a: 1 }], total: 2 })];
    expect(await compareAnswers(engines, WORKLOAD)).toEqual({ total: 2, differences: [] });
  });

  test('that differ are told with the path and both values', async () => {
    const engines = [engine('one', { total: 2, rows: [{ a: 1 }] }), engine('two', { total: 2, rows: [{ a: 3 }] })];
    expect((await compareAnswers(engines, WORKLOAD)).differences).toEqual(['01-page: two and one differ at $.rows.0.a: 3, not 1']);
  });

  test('that lack something differ', async () => {
    const engines = [engine('one', { total: 0, rows: [] }), engine('two', { total: 0 })];
    expect((await compareAnswers(engines, WORKLOAD)).differences).toEqual(['01-page: two and one differ at $.rows: nothing, not []']);
  });
});
