import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { digestId } from '../../../ingest/event/log-id.ts';
import { logOf, mapped, mappingOf, outcomeOf, PRESETS } from './mapped.ts';

/** A record of a source, and what becomes of it: an event, `rejected: …`, `left out`, or a list of these. */
interface PresetCase {
  readonly is: string;
  readonly record: string;
  readonly becomes: Outcome | readonly Outcome[];
  /** Members of a mapping that begins with the preset. */
  readonly with?: string;
}

/** Of an event all members but log and zone; of a `timestamp` the ISO text; a `logId` that is made of the record is left out. */
type Outcome = string | Readonly<Record<string, string>>;

const FOLDER = join(import.meta.dirname, 'presets');
const CASES = readdirSync(FOLDER).map((file) => ({
  name: file.replace('.yaml', ''),
  cases: parse(readFileSync(join(FOLDER, file), 'utf8')) as readonly PresetCase[],
}));

it('each preset has ten examples or more', () => {
  expect(CASES.map(({ name }) => name).sort()).toEqual([...PRESETS.keys()].sort());
  for (const { name, cases } of CASES) expect([name, cases.length >= 10]).toEqual([name, true]);
});

describe.each(CASES)('$name', ({ name, cases }) => {
  it.each(cases)('$is', ({ record, becomes, with: members = '' }) => {
    const wanted = [becomes].flat();
    const found = mapped(mappingOf(`preset: ${name}\n${members}`), record);
    const outcomes = found.map((one) => {
      const outcome = outcomeOf(one);
      if (typeof outcome === 'string') return outcome;
      const { shieldZoneId, timestamp, logId, ...rest } = outcome;
      const isOfRecord = logId === digestId(one.record);
      const zone = /^zone:/m.test(members) ? { zone: String(shieldZoneId) } : {};
      return { ...zone, timestamp: new Date(Number(timestamp)).toISOString(), ...(isOfRecord ? {} : { logId }), ...rest };
    });
    expect(outcomes).toEqual(wanted);
    for (const one of found) if (one.kind === 'event') expect(logOf(one)).toBe(Buffer.from(one.record).toString());
  });
});
