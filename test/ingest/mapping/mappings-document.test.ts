import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { mapped, mappingOf, outcomeOf, PRESETS } from './mapped.ts';

const documentOf = (name: string): string => readFileSync(join(import.meta.dirname, '../../../docs', name), 'utf8');
const mappingsIn = (markdown: string): string[] => [...markdown.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = '']) => text);

const DOCUMENT = documentOf('mappings.md');
const MAPPINGS = mappingsIn(DOCUMENT);

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

// The other blocks of the page are settings of shippers.
const MAPPINGS_OF_SOURCES = mappingsIn(documentOf('waf-logs.md')).filter((text) => text.includes('preset: '));

it.each(MAPPINGS_OF_SOURCES)('the mapping of docs/waf-logs.md does what it is for: %s', (text) => {
  const { preset, leaveOut } = parse(text) as { readonly preset: string; readonly leaveOut?: unknown };
  const [{ record }] = parse(readFileSync(join(import.meta.dirname, 'presets', `${preset}.yaml`), 'utf8')) as [{ readonly record: string }];
  // Its example has no labels, by one of which the document tells zones apart.
  const labelled = record.replace('"labels":{}', '"labels":{"backend_service_name":"shop"}');
  const outcomes = mapped(mappingOf(text), labelled, { given: null, fallback: null, opens: () => true }).map(outcomeOf);
  expect(outcomes).toEqual([leaveOut === undefined ? expect.objectContaining({ shieldZoneId: 7 }) : 'left out']);
});
