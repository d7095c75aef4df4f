import { describe, expect, it } from 'vitest';
import { RecordMapper } from '../../../ingest/mapping/record-mapper.ts';
import { mapRecords } from '../../../ingest/upload/mapped-records.ts';
import { mappingOf, outcomeOf, ZONES } from '../mapping/mapped.ts';

const MAPPING = mappingOf('timestamp: {path: t, time: unix}\nua: a\nitems: records\nleaveOut: skip');
const record = (a: string): string => `{"t":1795838661558,"a":"${a}"}`;
const LONG = 'x'.repeat(3 * 1024 * 1024);

/** What becomes of the input, of an event its `ua`. */
async function becomes(input: string): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  async function* chunks(): AsyncIterable<Uint8Array> {
    for (let at = 0; at < input.length; at += 10_000) yield Buffer.from(input.slice(at, at + 10_000));
  }
  const receive = (one: Parameters<typeof outcomeOf>[0]): void => {
    const outcome = outcomeOf(one);
    all.push(typeof outcome === 'string' ? outcome : outcome['ua']);
  };
  await mapRecords(chunks(), new RecordMapper(MAPPING, ZONES), receive, async () => undefined);
  return all;
}

describe('the records of an input', () => {
  it.each<[string, string, readonly unknown[]]>([
    ['nothing', '', []],
    ['blank lines', '\n \r\n', []],
    ['lines', `${record('1')}\n${record('2')}\r\n\n${record('3')}`, ['1', '2', '3']],
    ['an array', `[${record('1')},\n${record('2')}]`, ['1', '2']],
    ['objects over several lines', record('1').replaceAll(',', ',\n') + record('2'), ['1', '2']],
    ['an envelope over several lines', `{"records":[\n${record('1')},\n${record('2')}\n]}`, ['1', '2']],
    ['what is left out', `{"skip":true}\n${record('1')}`, ['left out', '1']],
    ['a line that is cut off', `{"t":17\n${record('1')}`, ['rejected: the record is not JSON: it ends in the middle, after 7 bytes', '1']],
    ['a line that is no JSON', `what\n${record('1')}`, ['rejected: the record is not JSON: unexpected "what" at byte 0', '1']],
    ['a number in an array', `[5,${record('1')}]`, ['rejected: the record is 5: a JSON object is required', '1']],
    [
      'a line longer than any event',
      `${record(LONG)}\n${record('1')}`,
      ['rejected: the record has 3145754 bytes: at most 1048576 are allowed', '1'],
    ],
  ])('%s', async (_, input, outcomes) => {
    expect(await becomes(input)).toEqual(outcomes);
  });

  it('end with an error where an array ends in its middle', async () => {
    await expect(becomes(`[${record('1')},{"t":`)).rejects.toThrow('the input ends inside a JSON array, in element 1: "]" is missing');
  });
});
