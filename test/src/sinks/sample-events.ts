import { FEED_FORMATS, type FeedFormatName } from '../../../src/formats/feed-formats.ts';
import type { FeedBatch } from '../../../src/sinks/sink.ts';
import type { FeedEvent } from '../../../store/feed-event.ts';
import { feedEvent } from '../formats/feed-events.ts';

/** Unix ms UTC of the first sample. */
export const SAMPLE_TIME = Date.UTC(2026, 4, 12, 15, 30, 0, 42);

/** Events `e0`, `e1`… a second apart, with text that is hard to pass on. */
function sampleEvents(count: number, first = 0): FeedEvent[] {
  return Array.from({ length: count }, (_, index) =>
    feedEvent({
      sequence: BigInt(first + index + 1),
      zoneId: 7,
      timestamp: SAMPLE_TIME + (first + index) * 1_000,
      ingestedAtMs: SAMPLE_TIME + 3_600_000,
      logId: `e${first + index}`,
      fields: { ip: '192.0.2.7', url: 'https://www.example.com/ä?q=日本|rt=1', ruleName: 'rt=5 | "quoted" \\ \u2028', action: 'blocked' },
      logJson: '{"Message":"a b","Big":12345678901234567890}',
    }),
  );
}

export function sampleBatch(count: number, format: FeedFormatName = 'native', first = 0): FeedBatch {
  const writeEvent = FEED_FORMATS[format].createWriter();
  const lines = sampleEvents(count, first).map((event) => `${writeEvent(event)}\n`);
  return { bytes: Buffer.from(lines.join('')), count };
}

/** The ids of native lines, in order. */
export function idsIn(text: string): string[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { readonly logId: string }).logId);
}

export function expectedIds(count: number, first = 0): string[] {
  return Array.from({ length: count }, (_, index) => `e${first + index}`);
}
