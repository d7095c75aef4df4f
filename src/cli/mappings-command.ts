import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { BatchBuilder } from '../../ingest/event/batch-builder.ts';
import type { Mapping } from '../../ingest/mapping/mapping.ts';
import { loadMapping, loadMappings, type NamedMappings } from '../../ingest/mapping/named-mappings.ts';
import { type MappedRecord, RecordMapper } from '../../ingest/mapping/record-mapper.ts';
import { WrongYaml } from '../../ingest/mapping/yaml-tree.ts';
import { decompressed } from '../../ingest/upload/decompress.ts';
import { mapRecords } from '../../ingest/upload/mapped-records.ts';
import { DAY_MS } from '../../query/durations.ts';
import { loadConfig } from '../config/config.ts';
import { configuredMappings } from '../config/configured-mappings.ts';
import { type Command, type CommandIo, type ExitStatus, parseAction, UsageError, unreadable } from './command.ts';
import { optional, zoneNumber } from './flag-values.ts';

const HELP = `Usage: shieldlog mappings list [flags]
       shieldlog mappings show NAME [flags]
       shieldlog mappings check FILE [EXAMPLES…] [flags]
       shieldlog mappings try --mapping NAME [flags] < RECORDS

A mapping turns the records of another product into events. No program has to run for this.

  list    the names of the mappings, each with its file
  show    the file of one; that of a preset begins one of your own
  check   whether a mapping file is right, and a line of JSON for each record of EXAMPLES: record, and event, reason or leftOut
  try     the events that the records on standard input become, a line each; reasons go to standard error

EXAMPLES and standard input are lines, arrays, or objects over several lines, plain, gzip or zstd. An event that is too old is shown, too.

  --mapping NAME
      Of try: the mapping.
  --zone N
      Of check and try: the zone of all records, whatever the mapping says.
  --mappings DIR, MAPPINGS
      The folder of your own mappings; unset: presets only.

Exit status: 0 done, 1 the file is wrong, or a record has a reason, 2 wrong usage.
`;

const ACTIONS = {
  list: {},
  show: { takes: [1, 1], needs: 'the NAME of a mapping' },
  check: { flags: ['zone'], takes: [1, Number.POSITIVE_INFINITY], needs: 'the FILE of a mapping' },
  try: { flags: ['mapping', 'zone'], needs: '--mapping NAME' },
} as const;

/** Examples are often older than any retention. */
const RETENTION_MS = 3_650 * DAY_MS;

interface Counts {
  events: number;
  rejected: number;
  leftOut: number;
  /** Of the events those whose id is made of the bytes of their record. */
  withoutId: number;
}

const NO_RECORDS = (): Counts => ({ events: 0, rejected: 0, leftOut: 0, withoutId: 0 });

function named(mappings: NamedMappings, name: string): NonNullable<ReturnType<NamedMappings['get']>> {
  const found = mappings.get(name);
  if (found === undefined) {
    const there = [...mappings.keys()].join(', ');
    throw new UsageError(`there is no mapping '${name}'; there are: ${there}; --mappings or MAPPINGS names the folder of your own`);
  }
  return found;
}

/** Reads the mapping of a file. Undefined, told on stderr, where it is wrong. */
function checkedMapping(file: string, { stderr }: CommandIo): Mapping | undefined {
  try {
    return loadMapping(file, basename(file, '.yaml'), loadMappings(null)).mapping;
  } catch (error) {
    if (!(error instanceof WrongYaml)) throw error;
    for (const fault of error.faults) stderr.write(`shieldlog: ${fault}\n`);
    return undefined;
  }
}

/** Judges events as the intake does. Returns the reason for which one is rejected; null where it is not. */
function intake(): (event: Buffer) => string | null {
  const builder = new BatchBuilder({ now: Date.now, retentionMs: RETENTION_MS });
  return (event) => {
    const verdict = builder.tryEvent(event);
    builder.release(builder.take());
    return verdict.kind === 'rejected' ? verdict.reason : null;
  };
}

/** Maps all records of an input, and writes what `tell` makes of each. `name` is that of the input for messages. */
async function mapInput(
  name: string,
  input: AsyncIterable<Uint8Array>,
  mapper: RecordMapper,
  counts: Counts,
  { stdout, stderr }: CommandIo,
  tell: (mapped: MappedRecord, reason: string | null) => { readonly out?: string; readonly error?: string },
): Promise<void> {
  const rejects = intake();
  let isFull = false;
  const receive = (mapped: MappedRecord): void => {
    const reason = mapped.kind === 'event' ? rejects(mapped.event) : mapped.kind === 'rejected' ? mapped.reason : null;
    if (reason !== null) counts.rejected += 1;
    else if (mapped.kind === 'leftOut') counts.leftOut += 1;
    else counts.events += 1;
    if (mapped.kind === 'event' && reason === null && !mapped.hasOwnId) counts.withoutId += 1;
    const { out, error } = tell(mapped, reason);
    if (out !== undefined) isFull = !stdout.write(`${out}\n`);
    if (error !== undefined) stderr.write(`${error}\n`);
  };
  const drained = async (): Promise<void> => {
    if (isFull) await once(stdout, 'drain');
    isFull = false;
  };
  await mapRecords(decompressed(input, 'detected'), mapper, receive, drained).catch((error) => Promise.reject(unreadable(name, error)));
}

/** A record as JSON, which it is if it can be an event. */
function jsonOf(record: Uint8Array): string {
  const text = Buffer.from(record).toString();
  try {
    JSON.parse(text);
    return text.replaceAll(/[\r\n]+/g, ' ');
  } catch {
    return JSON.stringify(text);
  }
}

function sideBySide(mapped: MappedRecord, reason: string | null): { readonly out: string } {
  const record = `"record":${jsonOf(mapped.record)}`;
  const event = mapped.kind === 'event' ? `,"event":${jsonOf(mapped.event)}` : '';
  const rest = reason === null ? (mapped.kind === 'leftOut' ? ',"leftOut":true' : '') : `,"reason":${JSON.stringify(reason)}`;
  return { out: `{${record}${event}${rest}}` };
}

function eventOrReason(mapped: MappedRecord, reason: string | null): { readonly out?: string; readonly error?: string } {
  if (reason !== null) return { error: `${reason}: ${JSON.stringify(Buffer.from(mapped.record).toString().slice(0, 200))}` };
  return mapped.kind === 'event' ? { out: jsonOf(mapped.event) } : {};
}

function summary({ events, rejected, leftOut, withoutId }: Counts): string {
  const same = withoutId === 0 ? '' : `; without an id by the mapping ${withoutId}, of which equal ones are one event`;
  return `events ${events}, rejected ${rejected}, left out ${leftOut}${same}\n`;
}

/** Other settings are not read, because they may be set only for the program. */
function configured({ env }: CommandIo, folder: string | undefined): NamedMappings {
  return configuredMappings(loadConfig({ MAPPINGS: env['MAPPINGS'] }, folder === undefined ? {} : { mappings: folder }).mappings);
}

/** Tells what became of all records. */
function ended(counts: Counts, { stderr }: CommandIo): ExitStatus {
  stderr.write(summary(counts));
  return counts.rejected === 0 ? 0 : 1;
}

async function tryRecords(mapping: Mapping, zone: number | null, io: CommandIo): Promise<ExitStatus> {
  const counts = NO_RECORDS();
  const mapper = new RecordMapper(mapping, { given: zone, fallback: null, opens: () => true });
  await mapInput('standard input', io.stdin, mapper, counts, io, eventOrReason);
  return ended(counts, io);
}

async function check(file: string, examples: readonly string[], zone: number | null, io: CommandIo): Promise<ExitStatus> {
  const mapping = checkedMapping(file, io);
  if (mapping === undefined) return 1;
  const counts = NO_RECORDS();
  const mapper = new RecordMapper(mapping, { given: zone, fallback: null, opens: () => true });
  for (const example of examples) await mapInput(example, createReadStream(example), mapper, counts, io, sideBySide);
  if (examples.length > 0) return ended(counts, io);
  io.stderr.write(`${file} is right\n`);
  return 0;
}

async function run(args: readonly string[], io: CommandIo): Promise<ExitStatus> {
  const { action, flags, rest } = parseAction('mappings', args, ACTIONS, ['mappings']);
  const [first = '', ...others] = rest;
  const zone = optional(flags, 'zone', zoneNumber);
  const { mappings: folder, mapping: name } = flags;
  switch (action) {
    case 'list':
      for (const [name, { file, isPreset }] of configured(io, folder)) io.stdout.write(`${name}\t${isPreset ? 'preset' : file}\n`);
      return 0;
    case 'show':
      io.stdout.write(named(configured(io, folder), first).text);
      return 0;
    case 'try':
      if (name === undefined) throw new UsageError(`mappings try needs ${ACTIONS.try.needs}`);
      return await tryRecords(named(configured(io, folder), name).mapping, zone, io);
    case 'check':
      return await check(first, others, zone, io);
  }
}

export const mappingsCommand: Command = {
  help: () => HELP,
  run,
};
