import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';
import { startProgram } from '../../../src/program.ts';
import { ruleText } from '../../alerts/evaluation/evaluated-feed.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { eventLine } from '../running-app.ts';

type Files = Readonly<Record<string, string>>;

function writeRules(folder: string, files: Files): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

/** The program in this process, until the test has ended or `stop` is called. */
async function startIn(dataDir: string, env: Readonly<Record<string, string>> = {}) {
  const log: { readonly level: number; readonly fault?: string; readonly msg: string }[] = [];
  const program = await startProgram({
    config: loadConfig({ MEMORY_LIMIT_MB: '512', PORT: '0', ...env, DATA_DIR: dataDir }),
    now: Date.now,
    logger: pino({ base: null }, { write: (line: string) => log.push(JSON.parse(line)) }),
    onFatal: (error) => {
      throw error;
    },
  });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= program.stop();
    return stopped;
  };
  onTestFinished(stop);
  const get = async (path: string) => (await fetch(`${program.address}${path}`)).text();
  return {
    log,
    stop,
    send: (lines: string) => fetch(`${program.address}/ingest/events`, { method: 'POST', body: lines }),
    told: async () => /^shieldlog_alerts_told_total (\d+)$/m.exec(await get('/metrics'))?.[1],
    metrics: () => get('/metrics'),
    reasons: async (): Promise<readonly string[]> => JSON.parse(await get('/readyz')).reasons,
  };
}

const EVENTS = [1, 2].map((nth) => eventLine({ logId: `${nth}`, country: 'DE' })).join('');

test('the rules of the folder `alerts` in DATA_DIR are followed, also by the next program', async () => {
  const dataDir = temporaryFolder();
  writeRules(join(dataDir, 'alerts'), { 'one.yaml': ruleText({ receivers: undefined }), 'README.md': 'no rule' });
  const first = await startIn(dataDir);
  await first.send(EVENTS);
  await expect.poll(first.told).toBe('1');
  expect(await first.metrics()).toMatch(/^shieldlog_alerts_rules 1$/m);
  expect(await first.metrics()).toMatch(/^shieldlog_alerts_lag_seconds \d/m);
  expect(await first.reasons()).toEqual([]);
  await first.stop();
  const second = await startIn(dataDir);
  await second.send(EVENTS + eventLine({ logId: 'another', country: 'NL' }) + eventLine({ logId: 'last', country: 'NL' }));
  await expect.poll(second.told).toBe('2');
});

test('a rule whose file is wrong goes on as it was before, and is told in the log and by /readyz', async () => {
  const dataDir = temporaryFolder();
  const folder = join(temporaryFolder(), 'rules');
  writeRules(folder, { 'one.yaml': ruleText({ receivers: undefined }) });
  const first = await startIn(dataDir, { ALERTS: folder });
  await expect.poll(first.metrics).toMatch(/^shieldlog_alerts_rules 1$/m);
  await first.stop();
  writeRules(folder, {
    'one.yaml': ruleText({ receivers: undefined, window: '1s' }),
    'two.yaml': ruleText({ receivers: undefined, name: 'two' }),
    'twice.yaml': ruleText({ receivers: undefined, name: 'two' }),
  });
  const second = await startIn(dataDir, { ALERTS: folder });
  await second.send(EVENTS);
  await expect.poll(second.told).toBe('2');
  const faults = [
    expect.stringMatching(/one\.yaml, line 5: window is "1s"; allowed: a time from 1m to 1d/),
    expect.stringMatching(/two\.yaml, name is "two", as in twice\.yaml; allowed: a name of its own$/),
  ];
  expect(second.log.flatMap(({ fault }) => fault ?? [])).toEqual(faults);
  const reasons = await second.reasons();
  expect(reasons).toEqual(faults.map(() => expect.stringMatching(/^alerts: a rule is wrong: /)));
});

test('where the folder of ALERTS cannot be read, rules go on as they were, and without any the program only tells it', async () => {
  const dataDir = temporaryFolder();
  const program = await startIn(dataDir, { ALERTS: '/nowhere' });
  expect(await program.reasons()).toEqual(['alerts: a rule is wrong: /nowhere cannot be read: no such file or directory']);
  expect(await program.metrics()).not.toContain('shieldlog_alerts_');
  expect((await program.send(EVENTS)).status).toBe(202);
});
