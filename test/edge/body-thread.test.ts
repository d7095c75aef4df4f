import { afterEach, expect, test } from 'vitest';
import { BodyThread, MAX_LARGE_BODIES_BYTES } from '../../edge/body-thread.ts';
import { EdgeError } from '../../edge/edge-error.ts';
import { LARGE_BODY_BYTES } from '../../edge/operations/operation.ts';
import { operation } from '../../edge/operations/operations.ts';
import { ThreadEnded } from '../../work/worker-pool.ts';

const SCHEMA = operation(4).body ?? {};
const threads: BodyThread[] = [];

function start(module: URL): BodyThread {
  const thread = new BodyThread(module);
  threads.push(thread);
  return thread;
}

const checked = (): BodyThread => start(new URL('../../edge/proxy/checked-body-worker.ts', import.meta.url));
/** A buffer that has its memory to itself, as those of large bodies have. */
const padded = (text: string, bytes: number): Buffer => Buffer.alloc(bytes, text.padEnd(bytes));
const body = (bytes: number, domain: unknown = 'a.example'): Buffer => padded(JSON.stringify({ Domain: domain }), bytes);

async function refusal(work: Promise<unknown>): Promise<unknown> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof EdgeError)) return error;
  const { status, key, message, field, errors, headers } = error;
  return { status, key, message, field, errors, headers };
}

afterEach(() => Promise.all(threads.splice(0).map((thread) => thread.close())));

test('a body comes back byte for byte', async () => {
  const { bytes } = await checked().validate('addDnsZone', SCHEMA, body(1_000_000));
  expect(bytes.equals(body(1_000_000))).toBe(true);
});

test('a body that its schema does not take is refused with the path, the value and what is allowed', async () => {
  expect(await refusal(checked().validate('addDnsZone', SCHEMA, body(1_000_000, 7)))).toEqual({
    status: 400,
    key: 'request.invalid',
    message: 'Domain: 7 must be string',
    field: undefined,
    errors: [{ field: 'Domain', message: '7 must be string' }],
    headers: {},
  });
});

test('a body that is no JSON is refused as a small one is', async () => {
  expect(await refusal(checked().validate('addDnsZone', SCHEMA, padded('[', 1_000)))).toMatchObject({
    status: 400,
    key: 'request.malformed',
    field: 'body',
  });
});

test('as many bodies as are allowed wait for the thread; one more is refused for now, and taken once they are read', async () => {
  const thread = checked();
  const most = MAX_LARGE_BODIES_BYTES / LARGE_BODY_BYTES;
  const waiting = Array.from({ length: most }, () => thread.validate('addDnsZone', SCHEMA, body(LARGE_BODY_BYTES)));
  expect(await refusal(thread.validate('addDnsZone', SCHEMA, body(1_000)))).toMatchObject({
    status: 503,
    key: 'body.busy',
    headers: { 'retry-after': '1' },
  });
  expect(await Promise.all(waiting)).toHaveLength(most);
  await thread.validate('addDnsZone', SCHEMA, body(LARGE_BODY_BYTES));
});

test('a thread that ends in the middle of a body is an error, and the next body starts another', async () => {
  const thread = start(new URL('./sometimes-ending-worker.ts', import.meta.url));
  expect(await refusal(thread.validate('addDnsZone', SCHEMA, padded('end', 1_000)))).toBeInstanceOf(ThreadEnded);
  const { bytes } = await thread.validate('addDnsZone', SCHEMA, body(1_000));
  expect(bytes.equals(body(1_000))).toBe(true);
});

test('a thread that cannot start is an error for all that wait', async () => {
  const thread = start(new URL('no-such-worker.ts', import.meta.url));
  const both = [1, 2].map(() => refusal(thread.validate('addDnsZone', SCHEMA, body(1_000))));
  for (const error of await Promise.all(both)) expect(String((error as Error).cause)).toContain('no-such-worker');
});
