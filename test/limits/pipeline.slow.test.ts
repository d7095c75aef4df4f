import { afterAll, beforeAll } from 'vitest';
import { openTokenStore } from '../../edge/local/database/access-tokens.ts';
import { DATABASE_LIMITS } from '../../edge/local/database/database-limits.ts';
import { MAX_STORED_SQL_LENGTH } from '../../edge/local/database/open-streams.ts';
import { MAX_ARGUMENTS, MAX_CONDITION_DEPTH, MAX_CONDITIONS, MAX_STEPS } from '../../edge/local/database/read-pipeline.ts';
import { MAX_ERROR_LENGTH } from '../../edge/local/database/stream-plan.ts';
import { type DatabaseApp, startDatabaseApp } from '../edge/local/database/database-app.ts';
import { execute } from '../edge/local/database/pipeline-results.ts';
import { startWhole } from '../src/management/running-program.ts';
import { ask } from '../src/running-app.ts';
import { bytes, count, describeLimits, milliseconds, outcomeOf } from './limit-table.ts';

let app: DatabaseApp;

beforeAll(async () => {
  app = await startDatabaseApp();
});

afterAll(() => app.stop());

const MANY = (rows: number): string => `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT ${rows}) SELECT i FROM n`;

/** Returns the answer of the whole program, with its proxy before the database, to a body of so many bytes. */
async function bodyOf(size: number): Promise<string> {
  await using program = await startWhole();
  const tokens = openTokenStore(program.dataDir, Date.now);
  const [{ token } = { token: '' }] = tokens.generate();
  tokens.close();
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  return outcomeOf(await ask(program, '/v2/pipeline', { method: 'POST', headers, body: '{"requests":[{"type":"close"}]}'.padEnd(size) }));
}

/** Returns the status and code of a pipeline, or the first error of its requests. */
async function pipeline(requests: readonly unknown[]): Promise<string> {
  const { status, body } = await app.pipeline(app.full, { requests: [...requests, { type: 'close' }] });
  if (status !== 200) return `${status} ${body.code}`;
  const failed = body.results.find(({ error }: { error?: object }) => error !== undefined);
  return failed === undefined ? 'ok' : failed.error.code;
}

const ok = { type: 'ok', step: 0 };
const withCondition = (condition: unknown) => ({
  type: 'batch',
  batch: { steps: [{ stmt: { sql: 'SELECT 1' } }, { stmt: { sql: 'SELECT 2' }, condition }] },
});

function nested(depth: number): unknown {
  return depth === 0 ? ok : { type: 'not', cond: nested(depth - 1) };
}

const stores = (amount: number, sql: string) => Array.from({ length: amount }, (_, sql_id) => ({ type: 'store_sql', sql_id, sql }));

/** Texts that have so many bytes together, in as many streams as it takes; the streams are closed again. */
async function stored(size: number): Promise<string> {
  const batons: string[] = [];
  let [rest, outcome] = [size, 'ok'];
  while (rest > 0 && outcome === 'ok') {
    const lengths: number[] = [];
    for (; rest > 0 && lengths.length < DATABASE_LIMITS.storedSqls; rest -= lengths.at(-1) ?? 0)
      lengths.push(Math.min(rest, MAX_STORED_SQL_LENGTH));
    const requests = lengths.map((length, sql_id) => ({ type: 'store_sql', sql_id, sql: 'x'.repeat(length) }));
    const { body } = await app.pipeline(app.full, { requests });
    batons.push(body.baton);
    outcome = body.results.find(({ error }: { error?: object }) => error !== undefined)?.error.code ?? 'ok';
  }
  for (const baton of batons) await app.pipeline(app.full, { baton, requests: [{ type: 'close' }] });
  return outcome;
}

/** So many streams that are open at a time; they are closed again. */
async function streams(amount: number): Promise<string> {
  const answers = await Promise.all(Array.from({ length: amount }, () => app.pipeline(app.full, { requests: [] })));
  const refused = answers.find(({ status }) => status !== 200);
  for (const { body } of answers.filter(({ status }) => status === 200)) {
    await app.pipeline(app.full, { baton: body.baton, requests: [{ type: 'close' }] });
  }
  return refused === undefined ? 'ok' : `${refused.status} ${refused.body.code}`;
}

describeLimits('Pipeline', import.meta.filename, {
  'bytes of the body': { is: bytes(DATABASE_LIMITS.bodyBytes), ask: bodyOf },
  'requests of a pipeline': {
    is: count(DATABASE_LIMITS.requests),
    ask: (requests) => pipeline(Array.from({ length: requests - 1 }, () => ({ type: 'get_autocommit' }))),
  },
  'steps of a batch': {
    is: count(MAX_STEPS),
    // Only the first is run: the condition of the others does not hold.
    ask: (steps) =>
      pipeline([
        {
          type: 'batch',
          batch: {
            steps: Array.from({ length: steps }, (_, step) => ({
              stmt: { sql: 'SELECT 1' },
              ...(step > 0 && { condition: { type: 'error', step: 0 } }),
            })),
          },
        },
      ]),
  },
  'arguments of a statement': {
    is: count(MAX_ARGUMENTS),
    ask: (args) => pipeline([execute(`SELECT ?${MAX_ARGUMENTS}`, { args: Array.from({ length: args }, () => ({ type: 'null' })) })]),
  },
  'conditions inside one another': { is: count(MAX_CONDITION_DEPTH), ask: (depth) => pipeline([withCondition(nested(depth))]) },
  'conditions that one `and` or `or` joins': {
    is: count(MAX_CONDITIONS),
    ask: (length) => pipeline([withCondition({ type: 'and', conds: Array.from({ length }, () => ok) })]),
  },
  'bytes of one SQL text': { is: bytes(DATABASE_LIMITS.sqlBytes), ask: (size) => pipeline([execute('SELECT 1'.padEnd(size))]) },
  'SQL texts that a stream stores': { is: count(DATABASE_LIMITS.storedSqls), ask: (texts) => pipeline(stores(texts, 'SELECT 1')) },
  'characters of a stored SQL text': {
    is: count(MAX_STORED_SQL_LENGTH),
    ask: (length) => pipeline(stores(1, 'x'.repeat(length))),
  },
  'bytes that all streams of a token store': { is: bytes(DATABASE_LIMITS.storedBytes), ask: stored },
  'rows of a statement': { is: count(DATABASE_LIMITS.rows), ask: (rows) => pipeline([execute(MANY(rows))]) },
  'bytes of an answer': {
    is: bytes(DATABASE_LIMITS.answerBytes),
    elsewhere: 'a limit > of bytes counts the names of columns: the steps of a batch that would go past it are not run, and say so',
  },
  'characters of the message of an error': {
    is: count(MAX_ERROR_LENGTH),
    elsewhere: 'a limit > of characters of a message of an error holds for what repeats names or counts parameters',
  },
  'bytes of one text or blob, and of one row': {
    is: bytes(DATABASE_LIMITS.valueBytes),
    ask: (size) => pipeline([execute(`SELECT length(zeroblob(${size}))`)]),
  },
  "bytes of the database's file": {
    is: bytes(DATABASE_LIMITS.fileBytes),
    elsewhere: 'a limit > of the bytes in a table: the database is full for that, and for reading it is not',
  },
  'streams open at a time': { is: count(DATABASE_LIMITS.streams), ask: streams },
  'streams in a transaction at a time': {
    is: count(DATABASE_LIMITS.processes),
    elsewhere: 'too much at once > streams with %s, beyond the processes: 503 after a while, and a process as soon as one is done',
  },
  'time that a request waits for a process': {
    is: milliseconds(DATABASE_LIMITS.queueMs),
    elsewhere: 'too much at once > streams with %s, beyond the processes: 503 after a while, and a process as soon as one is done',
  },
  'time of a statement': {
    is: milliseconds(DATABASE_LIMITS.statementMs),
    elsewhere: 'a statement that never ends > is stopped, its transaction is undone, and the rest of its pipeline is not run',
  },
  'time of one request of a pipeline': {
    is: milliseconds(DATABASE_LIMITS.requestMs),
    elsewhere: 'statements that each end > may take longer in all than one may',
  },
  'time that a statement waits for a lock': {
    is: milliseconds(DATABASE_LIMITS.lockWaitMs),
    elsewhere: 'too much at once > two writers: the second is told that the database is locked',
  },
  'time of a transaction': {
    is: milliseconds(DATABASE_LIMITS.transactionMs),
    elsewhere: 'a transaction that is open for too long > is rolled back though it is used all the time (%s), and its stream is told so',
  },
  'bytes of the write-ahead log': {
    is: bytes(DATABASE_LIMITS.logBytes),
    elsewhere:
      'the write-ahead log > that a reader holds is limited: a write is told it is full, the reader is ended, and the next write is done',
  },
  'memory of a database process, with the temporary tables of its stream and what sorters and subqueries keep': {
    is: bytes(DATABASE_LIMITS.memoryBytes),
    elsewhere: 'a statement that takes too much memory > is stopped and told so, and other streams go on',
  },
  'time that a stream is unused': {
    is: milliseconds(DATABASE_LIMITS.idleMs),
    elsewhere: 'a stream > that nobody uses expires, and is undone',
  },
});
