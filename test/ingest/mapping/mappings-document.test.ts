import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { mapped, mappingOf, outcomeOf, PRESETS } from './mapped.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../../docs/mappings.md'), 'utf8');
const MAPPINGS = [...DOCUMENT.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = '']) => text);

it.each(MAPPINGS)('the mapping of docs/mappings.md is right: %s', (text) => {
  expect(() => mappingOf(text)).not.toThrow();
});

it('docs/mappings.md names every preset', () => {
  const [, section = ''] = /^## Presets\n(.*?)^## /ms.exec(DOCUMENT) ?? [];
  const cells = [...section.matchAll(/^\| (`[^|]+) \|/gm)].map(([, cell = '']) => cell);
  expect(cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name)).sort()).toEqual([...PRESETS.keys()].sort());
});

it('its whole example does what is said of it', () => {
  const mapping = mappingOf(MAPPINGS.find((text) => text.includes('leaveOut')) ?? '');
  const request = '"request":{"id":"q","host":"h","path":"/p","query":"?a=1","headers":{"User-Agent":"curl"}}';
  const record = (members: string): string =>
    `{"time":"2026-11-28T04:04:21Z","site":"blog","kind":"alert",${members},${request},"rule":{"id":942100}}`;
  const event = {
    shieldZoneId: 8,
    timestamp: 1_795_838_661_000,
    logId: 'q-942100',
    feature: 'waf',
    ruleId: '942100',
    url: 'https://h/p?a=1',
    ua: 'curl',
  };
  expect(mapped(mapping, record('"verdict":"deny","client":"192.0.2.1:80"')).map(outcomeOf)).toEqual([
    { ...event, action: 'blocked', ip: '192.0.2.1' },
  ]);
  expect(mapped(mapping, record('"verdict":"deny","mode":"detection"')).map(outcomeOf)).toEqual([{ ...event, action: 'logged' }]);
  expect(mapped(mapping, record('"kind":"flow"')).map(outcomeOf)).toEqual(['left out']);
});
