import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openTokenStore } from '../../../edge/local/database/access-tokens.ts';
import { COMPANIONS } from '../../../edge/operations/operations.ts';
import { IncompatibleStore } from '../../../store/store-error.ts';
import { EXAMPLE_REQUESTS, requestOf, send } from '../../edge/example-requests.ts';
import { expectAnswer } from '../../edge/schema-check.ts';
import { ask, eventLine, ingest, lastHour, search } from '../running-app.ts';
import { startWhole } from './running-program.ts';

const STATE = 'control-plane.sqlite';

/** Ways to damage the state, of which the last one is found while the tables are read. */
const DAMAGES: Readonly<Record<string, (state: string) => void>> = {
  'is no database': (state) => writeFileSync(state, 'x'.repeat(9_000)),
  'has a page that was overwritten': (state) => {
    openTokenStore(join(state, '..'), Date.now).close();
    writeFileSync(state, readFileSync(state).fill(0xff, 4_096, 8_192));
  },
};

test('a state that a newer program wrote ends the start with a line that names it', async () => {
  const started = startWhole({}, (dataDir) => {
    openTokenStore(dataDir, Date.now).close();
    const state = new DatabaseSync(join(dataDir, STATE));
    state.exec('UPDATE schema_version SET version = 99');
    state.close();
  });
  const error = await started.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(IncompatibleStore);
  const known = '"[a-z-]+" has version 99, this program knows versions up to \\d+';
  expect((error as Error).message).toMatch(
    new RegExp(`^DATA_DIR: ".+": control-plane\\.sqlite: ${known}; run the newer program, or another DATA_DIR$`),
  );
});

test.each(Object.entries(DAMAGES))(
  'while the state of the control plane %s, its operations answer 503, and all else goes on',
  async (_, damage) => {
    await using program = await startWhole({}, (dataDir) => {
      damage(join(dataDir, STATE));
      copyFileSync(join(dataDir, STATE), join(dataDir, 'copy'));
    });
    const why =
      "The control plane's state is damaged: put control-plane.sqlite back from a copy and start again, or move it away to begin anew";
    for (const request of [...EXAMPLE_REQUESTS.filter(({ number }) => number > 1), ...COMPANIONS.map(requestOf)]) {
      const answer = await send(program.url, request, { authorization: 'Bearer some-token' });
      const text = await answer.text();
      // The shape of one operation has no message.
      const told = text === '{"statusCode":503}' ? text : expect.stringContaining(why);
      expect([request.path, answer.status, text]).toEqual([request.path, 503, told]);
      if (EXAMPLE_REQUESTS.includes(request)) expectAnswer(request.number, 503, JSON.parse(text));
    }
    expect((await ingest(program, eventLine())).body.accepted).toBe(1);
    expect((await search(program, lastHour())).body.total).toBe(1);
    expect(await ask(program, '/readyz')).toMatchObject({ status: 200, body: { reasons: [`control plane: ${why}`] } });
    expect(readFileSync(join(program.dataDir, STATE)).equals(readFileSync(join(program.dataDir, 'copy')))).toBe(true);
    expect(program.log.filter(({ level }) => Number(level) >= 50)).toMatchObject([{ msg: why, err: { type: 'Error' } }]);
  },
);
