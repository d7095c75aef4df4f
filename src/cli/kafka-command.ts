import { INT32, INT64 } from '../../query/integer-ranges.ts';
import { membersIn, refusedAnswer } from '../sinks/http-exchange.ts';
import { DeliveryError } from '../sinks/sink.ts';
import { type Command, CommandFailed, type CommandIo, type ExitStatus, parseCommandLine, UsageError } from './command.ts';
import { programOf } from './search/search-options.ts';
import { ACCESS_KEY_FLAGS, ACCESS_KEY_HELP, DEFAULT_URL } from './server-flags.ts';

const HELP = `Usage: shieldlog kafka skip TOPIC PARTITION OFFSET [flags]

Lets a running program go past a batch of Kafka that cannot be decoded. The log and /readyz name the topic, the partition and the offset
that waits; no other offset is taken. The bytes of the batch are kept as a dead letter, and reading goes on behind its last offset. Where
the batch can be decoded by then, its events are stored and nothing is skipped.

  --to N
      The offset to go on from. Needed where the header of the batch is damaged, too, and allowed only there.
  --url URL
      The program (default ${DEFAULT_URL}).
  --ca FILE
      The authorities of its certificate, as PEM.
${ACCESS_KEY_HELP}
      The key needs all zones.

Exit status: 0 done, 1 failed, 2 wrong usage.
`;

/** How long the program may take: it fetches the batch once more, and stores the dead letter. */
const SILENCE_MS = 60_000;
const MAX_ANSWER_BYTES = 64 * 1024;

const WHAT = 'kafka skip needs TOPIC PARTITION OFFSET, as /readyz names them';

function wholeNumber(name: string, text: string, max: bigint): bigint {
  if (/^\d{1,19}$/.test(text) && BigInt(text) <= max) return BigInt(text);
  throw new UsageError(`${name} "${text}" is not allowed; allowed: a whole number 0 to ${max}`);
}

function skipBody(positionals: readonly string[], to: string | undefined): string {
  const [action, topic, partition, offset, extra] = positionals;
  if (action !== 'skip') throw new UsageError(action === undefined ? WHAT : `'${action}' is not skip; ${WHAT}`);
  if (topic === undefined || partition === undefined || offset === undefined) throw new UsageError(WHAT);
  if (extra !== undefined) throw new UsageError(`Unexpected argument '${extra}'; ${WHAT}`);
  const members = [
    `"topic":${JSON.stringify(topic)}`,
    `"partition":${wholeNumber('PARTITION', partition, INT32.max)}`,
    `"offset":${wholeNumber('OFFSET', offset, INT64.max)}`,
    ...(to === undefined ? [] : [`"to":${wholeNumber('--to', to, INT64.max)}`]),
  ];
  return `{${members.join()}}`;
}

async function run(args: readonly string[], io: CommandIo): Promise<ExitStatus> {
  const { flags, positionals } = parseCommandLine(args, ['url', ...ACCESS_KEY_FLAGS, 'ca', 'to']);
  const body = Buffer.from(skipBody(positionals, flags['to']));
  const { url: base, accessKey, client } = programOf(flags, io.env);
  const url = new URL(`${base.pathname.replace(/\/$/, '')}/ingest/kafka/skip`, base);
  const headers = { 'content-type': 'application/json', ...(accessKey === null ? {} : { accesskey: accessKey }) };
  const limits = { signal: new AbortController().signal, silenceMs: SILENCE_MS, maxAnswerBytes: MAX_ANSWER_BYTES };
  try {
    const answer = await client.exchange({ method: 'POST', url, headers, body, ...limits });
    if (answer.status !== 200) throw refusedAnswer(base.origin, answer, Date.now());
    const { skipped, next } = membersIn(answer.body);
    if (typeof skipped !== 'boolean') throw new CommandFailed(`${base.origin} is no shieldlog`);
    const done = `skipped; its bytes are a dead letter, and reading goes on at offset ${String(next)}`;
    io.stderr.write(skipped ? `${done}\n` : 'nothing is skipped: the batch could be decoded\n');
    return 0;
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error;
    throw new CommandFailed(error.message, { cause: error });
  } finally {
    client.close();
  }
}

export const kafkaCommand: Command = {
  name: 'kafka',
  summary: 'go past a batch of Kafka that cannot be decoded',
  help: () => HELP,
  run,
};
