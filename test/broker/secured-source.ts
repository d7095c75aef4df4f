import { expect } from 'vitest';
import { loadConfig } from '../../src/config/config.ts';
import { kafkaConnection } from '../../src/config/kafka-config.ts';
import { storeIn, temporaryFolder } from '../fixtures/temporary-store.ts';
import { ask, startApp } from '../src/running-app.ts';
import { USERS } from './secured-broker.ts';
import type { Settings } from './secured-ways.ts';
import { type SourceUnderTest, sourceUnderTest } from './source-under-test.ts';
import { uniqueName } from './test-topic.ts';
import { until } from './until.ts';

/** A source with these settings and a consumer group of its own, and the store that it fills. */
export async function sourceOf(
  settings: Settings,
): Promise<{ readonly source: SourceUnderTest; readonly store: Awaited<ReturnType<typeof storeIn>> }> {
  const config = loadConfig(settings);
  const kafka = kafkaConnection(config);
  if (kafka === null) throw new Error('no brokers are set');
  const store = await storeIn(temporaryFolder());
  return { store, source: sourceUnderTest({ store, kafka, topics: config.kafkaTopics, groupId: uniqueName(config.kafkaGroupId) }) };
}

/** Asks until a reason holds the words, in `/readyz` and in a warning of one line. */
export async function expectTrouble(settings: Settings, words: string | RegExp): Promise<string> {
  const { source } = await sourceOf(settings);
  const app = await startApp({ kafka: source });
  try {
    const body = await until(
      `/readyz to name ${words}`,
      async () => (await ask(app, '/readyz')).body as { readonly status: string; readonly reasons: readonly string[] },
      ({ reasons }) => reasons.some((reason) => reason.match(words) !== null),
    );
    expect(body.status).toBe('not ready');
    const told = source.complaints.filter((line) => line.match(words) !== null);
    expect(told.length).toBeGreaterThan(0);
    for (const line of [...body.reasons, ...source.complaints]) expect(line).not.toMatch(/\n| at .*\.js:/);
    for (const secret of Object.values(USERS)) expect(`${body.reasons}${source.complaints}`).not.toContain(secret);
    return told[0] ?? '';
  } finally {
    await app.stop();
  }
}
