import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { memoizeByText } from '../../../src/formats/memoize.ts';
import { parseAuthority, urlParts } from '../../../src/formats/url-parts.ts';

/** Bytes of the heap once all garbage is gone. */
function bytesInUse(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

test('a host that is kept keeps no more of a long URL than itself', () => {
  const authorities = memoizeByText(1_000, (text) => parseAuthority(text) ?? null);
  const rest = 'x'.repeat(500_000);
  const before = bytesInUse();
  for (let number = 0; number < 200; number += 1) {
    const url = Buffer.from(`https://user-${number}:pass@host-number-${number}.example.com/${rest}`).toString();
    expect(urlParts(url, (text) => authorities(text) ?? undefined).host?.name).toBe(`host-number-${number}.example.com`);
  }
  expect(bytesInUse() - before).toBeLessThan(20_000_000);
  expect(authorities('host-number-0.example.com')?.host.name).toBe('host-number-0.example.com');
});

test('texts are told apart letter by letter, also where they are no Unicode', () => {
  const computed: string[] = [];
  const read = memoizeByText(10, (text) => {
    computed.push(text);
    return text.length;
  });
  for (const text of ['a', '\ud800', '\ud800', '\udfff', '\ufffd', '\0', 'a', '"\\', 'x'.repeat(257), 'x'.repeat(257)])
    expect(read(text)).toBe(text.length);
  expect(computed).toEqual(['a', '\ud800', '\udfff', '\ufffd', '\0', '"\\', 'x'.repeat(257), 'x'.repeat(257)]);
});
