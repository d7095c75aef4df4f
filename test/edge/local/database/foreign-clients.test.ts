import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { type RecordedRequest, startForClients, withBatons, withoutBatons } from './recorded-requests.ts';

/**
 * What the clients of `.ci/clients/` have sent and were answered, in the order of the recording, which `.ci/database-clients --record`
 * makes anew.
 */
const recordingOf = (client: string): readonly RecordedRequest[] =>
  JSON.parse(readFileSync(new URL(`./recorded/${client}.json`, import.meta.url), 'utf8'));

test.each([
  ["Python's libsql", 'python', ['/v3/cursor', '/v3/pipeline']],
  ["Go's libsql-client-go", 'go', ['/v2/pipeline']],
])('the recorded requests of %s are answered as they were', async (_what, client, paths) => {
  const app = await startForClients();
  onTestFinished(() => app.stop());
  const recorded = recordingOf(client);
  const batons: (string | null)[] = [];
  for (const { path, isAuthorized, contentType, body, status, answer } of recorded) {
    const headers = {
      authorization: `Bearer ${isAuthorized ? app.full : 'wrong'}`,
      ...(contentType === null ? {} : { 'content-type': contentType }),
    };
    // Bytes, because `fetch` gives a text a type.
    const answered = await fetch(`${app.url}${path}`, { method: 'POST', headers, body: Buffer.from(withBatons(body, batons)) });
    const text = await answered.text();
    batons.push(answered.ok ? JSON.parse(text.split('\n', 1)[0] ?? '').baton : null);
    expect([answered.status, withoutBatons(text, batons)]).toEqual([status, answer]);
  }
  expect([...new Set(recorded.map(({ path }) => path))].toSorted()).toEqual(paths);
  expect(recorded.some(({ contentType }) => contentType === null)).toBe(true);
});
