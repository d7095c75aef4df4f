import { join, resolve } from 'node:path';
import { countsText } from '../../../ingest/upload/intake-report.ts';
import { printable } from '../../../query/search-line.ts';
import { RETRY_TIMES } from '../../sinks/feed-retry.ts';
import type { CommandIo, ExitStatus } from '../command.ts';
import { stateFileName } from '../state-file.ts';
import { stopInSteps } from '../stop-signals.ts';
import { followLines } from './follow-lines.ts';
import { FollowedFile } from './followed-file.ts';
import { FollowedStream } from './followed-stream.ts';
import { addedCounts, tellRejected } from './intake-counts.ts';
import type { LineSource } from './line-batch.ts';
import { type RecordsSent, type UploadTarget, uploadEvents } from './upload-events.ts';

export interface FollowingOptions extends UploadTarget {
  /** The names of the files, each once; `-` is standard input. */
  readonly names: readonly string[];
  readonly records: RecordsSent | null;
  /** Where it is kept how far each file was sent. */
  readonly stateFolder: string;
}

/** What is written to a file after it was renamed is still sent for so long. */
const LINGER_MS = 60_000;

/** The program may be silent for so long, while it waits for its disk. */
const SILENCE_MS = 120_000;

async function openSources(options: FollowingOptions, io: CommandIo, tell: (message: string) => void): Promise<readonly LineSource[]> {
  const sources: LineSource[] = [];
  try {
    for (const name of options.names) {
      if (name === '-') {
        sources.push(new FollowedStream(io.stdin));
        continue;
      }
      const [path, url] = [resolve(name), options.url.href];
      const statePath = join(resolve(options.stateFolder), stateFileName('ingest', [url, path]));
      // Not the clock, whose steps would end the time that a renamed file has.
      const now = () => performance.now();
      sources.push(await FollowedFile.open({ name, path, statePath, url, lingerMs: LINGER_MS, now, tell }));
    }
  } catch (error) {
    for (const source of sources) await source.close();
    throw error;
  }
  return sources;
}

/** Sends what the files have and what is appended to them, until a signal comes or standard input has ended. */
export async function ingestFollowing(options: FollowingOptions, io: CommandIo): Promise<ExitStatus> {
  const { url, accessKey, trust, records } = options;
  const target = { url, accessKey, trust };
  const tell = (message: string): void => void io.stderr.write(`shieldlog ingest: ${printable(message)}\n`);
  const sources = await openSources(options, io, tell);
  const { stopping, givenUp, dispose } = stopInSteps();
  try {
    const counts = await followLines({
      sources,
      upload: ({ bytes: body }, signal) =>
        uploadEvents({
          ...target,
          records,
          encoding: 'identity',
          source: 'file',
          body,
          areLines: true,
          silenceMs: SILENCE_MS,
          signal,
        }),
      onReport: (source, batch, report) => tellRejected(source.name, report, io.stderr, batch.linesBefore),
      stopping: stopping.signal,
      givenUp: givenUp.signal,
      retry: { ...RETRY_TIMES, stopping: stopping.signal, tell },
    });
    for (const source of sources) tell(await source.position());
    for (const [{ name }, count] of counts) io.stdout.write(`${counts.size === 1 ? '' : `${printable(name)}: `}${countsText(count)}\n`);
    if (counts.size > 1) io.stdout.write(`${counts.size} files: ${countsText([...counts.values()].reduce(addedCounts))}\n`);
    const hasRejected = [...counts.values()].some(({ rejectedCount }) => rejectedCount > 0);
    return hasRejected && !stopping.signal.aborted ? 1 : 0;
  } finally {
    dispose();
    for (const source of sources) await source.close();
  }
}
