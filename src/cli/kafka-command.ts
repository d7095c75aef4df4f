import { INT32, INT64, wholeNumberIn } from '../../query/integer-ranges.ts';
import { membersIn } from '../sinks/http-exchange.ts';
import { type Command, CommandFailed, type CommandIo, type ExitStatus, parseAction, UsageError } from './command.ts';
import { pointInTime } from './flag-values.ts';
import { fetchAnswer, programOf } from './program-requests.ts';
import { PROGRAM_FLAGS, PROGRAM_HELP } from './server-flags.ts';

const HELP = `Usage: shieldlog kafka skip TOPIC PARTITION OFFSET [flags]
       shieldlog kafka rewind --topic TOPIC --since TIME [flags]

skip lets a running program go past a batch of Kafka that cannot be decoded. The log and /readyz name the topic, the partition and the
offset that waits; no other offset is taken. The bytes of the batch are kept as a dead letter, and reading goes on behind its last offset.
Where the batch can be decoded by then, its events are stored and nothing is skipped.

rewind has a topic read again from the messages of a time on, as after events were lost here that are still in Kafka. The time that Kafka
has of a message counts. Events that are stored already are duplicates, and those past the retention expire.

  --to N
      Of skip: the offset to go on from. Needed where the header of the batch is damaged, too, and allowed only there.
  --topic TOPIC
      Of rewind: a topic that the program reads.
  --since TIME
      Of rewind: Unix milliseconds, a date (of UTC), or a time with its zone, such as 2026-12-01T18:20:00Z.
${PROGRAM_HELP}
      The key needs all zones and the scope admin.

Exit status: 0 done, 1 failed, 2 wrong usage.
`;

/** How long the program may take: it asks the brokers, and stores where to go on. */
const SILENCE_MS = 60_000;

const ACTIONS = {
  skip: { flags: ['to'], takes: [3, 3], needs: 'TOPIC PARTITION OFFSET, as /readyz names them' },
  rewind: { flags: ['topic', 'since'], needs: '--topic TOPIC and --since TIME' },
} as const;

/** What a running program is asked for, and what its answer says to people. */
interface Errand {
  readonly path: string;
  readonly body: string;
  /** Null where the answer is that of no shieldlog. */
  readonly told: (answer: Readonly<Record<string, unknown>>) => string | null;
}

function numberUpTo(max: bigint, name: string, text: string): bigint {
  const value = wholeNumberIn(text, 0, max);
  if (value !== null) return value;
  throw new UsageError(`${name} "${text}" is not allowed; allowed: a whole number 0 to ${max}`);
}

function skipErrand([topic, partition = '', offset = '']: readonly string[], to: string | undefined): Errand {
  const members = [
    `"topic":${JSON.stringify(topic)}`,
    `"partition":${numberUpTo(INT32.max, 'PARTITION', partition)}`,
    `"offset":${numberUpTo(INT64.max, 'OFFSET', offset)}`,
    ...(to === undefined ? [] : [`"to":${numberUpTo(INT64.max, '--to', to)}`]),
  ];
  return {
    path: '/ingest/kafka/skip',
    body: `{${members.join()}}`,
    told: ({ skipped, next }) => {
      if (typeof skipped !== 'boolean') return null;
      const done = `skipped; its bytes are a dead letter, and reading goes on at offset ${String(next)}`;
      return skipped ? done : 'nothing is skipped: the batch could be decoded';
    },
  };
}

function rewindErrand({ topic, since }: Readonly<Record<string, string>>): Errand {
  if (topic === undefined || since === undefined) throw new UsageError(`kafka rewind needs ${ACTIONS.rewind.needs}`);
  return {
    path: '/ingest/kafka/rewind',
    body: JSON.stringify({ topic, since: pointInTime('since', since) }),
    told: ({ partitions }) => {
      if (!Array.isArray(partitions)) return null;
      const lines = partitions.map(({ partition, from, until }) => `partition ${partition} is read again from ${from} to ${until}`);
      return lines.length === 0 ? 'nothing is read again: no partition has read a message since then' : lines.join('\n');
    },
  };
}

async function run(args: readonly string[], io: CommandIo): Promise<ExitStatus> {
  const { action, flags, rest } = parseAction('kafka', args, ACTIONS, PROGRAM_FLAGS);
  const { path, body, told } = action === 'skip' ? skipErrand(rest, flags['to']) : rewindErrand(flags);
  const program = programOf(flags, io.env);
  try {
    const { bytes } = await fetchAnswer(program, { method: 'POST', path, body, accept: 'application/json', silenceMs: SILENCE_MS });
    const line = told(membersIn(bytes));
    if (line === null) throw new CommandFailed(`${program.url.origin} is no shieldlog`);
    io.stderr.write(`${line}\n`);
    return 0;
  } finally {
    program.client.close();
  }
}

export const kafkaCommand: Command = {
  help: () => HELP,
  run,
};
