import { statSync } from 'node:fs';
import { HOUR_MS } from '../../../query/durations.ts';
import { rowsNotStored } from '../../../sql/duplicate-statements.ts';
import { eventsRelation } from '../../../sql/events-relation.ts';
import type { StoreLogger } from '../../event-store.ts';
import type { StatementRunner } from '../duckdb/statement-runner.ts';
import type { CheckedSegment } from '../integrity/segment-checks.ts';
import { END_OF_SEQUENCE } from '../journal/journal.ts';
import { stemOfMerge } from '../segment/file-names.ts';
import { overlaps, type UnpublishedSegment } from '../segment/segment.ts';
import { planFlush } from '../segment/segment-plan.ts';
import { writeAsSegments } from '../segment/segment-writer.ts';
import { type PublishOptions, publishSegments } from '../snapshot/publish-segments.ts';

export interface ReturnOptions extends PublishOptions {
  readonly runner: StatementRunner;
  readonly logger: StoreLogger;
}

/**
 * Takes damaged segments back whose files are whole again, because somebody put them back from a backup. Their events are written into
 * segments of their own without those that were sent again and stored meanwhile.
 */
export async function returnWholeSegments(options: ReturnOptions): Promise<void> {
  const { aliases, checks, versions, logger } = options;
  for (const { segment } of versions.damaged) {
    try {
      const { size } = statSync(aliases.segmentPath(segment.file), { throwIfNoEntry: false }) ?? {};
      for (const whole of size === segment.bytes ? await checks.check([segment], 'all') : []) {
        const written = await writeAgain(whole, options);
        publishSegments({ written, growingSegments: [], segments: [segment] }, options);
        const events = written.reduce((sum, { rows }) => sum + rows, 0);
        logger.info(
          { segment: segment.file, events, duplicates: segment.rows - events },
          'a damaged segment is whole again, and used again',
        );
      }
    } catch (error) {
      logger.error({ err: error, segment: segment.file }, 'a damaged segment cannot be used again');
    }
  }
}

async function writeAgain(whole: CheckedSegment, options: ReturnOptions): Promise<UnpublishedSegment[]> {
  const { aliases, checks, versions, runner, now } = options;
  const { id, minTimestamp, maxTimestamp } = whole;
  const others = versions.segments.filter((segment) => overlaps(segment, minTimestamp, maxTimestamp + 1));
  const paths = (await checks.check(others, 'all')).map((segment) => aliases.segmentAlias(segment));
  const stored = eventsRelation([], paths, END_OF_SEQUENCE);
  const events = rowsNotStored(aliases.segmentAlias(whole), stored, minTimestamp, maxTimestamp);
  const rowsOf = () => ({ rows: events, inOrder: false });
  const source = { stem: stemOfMerge(id, now()), events, rowsOf, partitionMs: HOUR_MS, plan: planFlush };
  return await writeAsSegments(source, runner, aliases.segmentsFolder);
}
