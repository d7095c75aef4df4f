import { createReadStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FoldNews } from '../../alerts/alert-book.ts';
import { type AlertRule, SETTLE_MS } from '../../alerts/rule.ts';
import { readRule } from '../../alerts/rule-file.ts';
import { RuleFold } from '../../alerts/rule-fold.ts';
import { RuleSet } from '../../alerts/rule-set.ts';
import { readYaml, WrongYaml } from '../../ingest/mapping/yaml-tree.ts';
import { decompressed } from '../../ingest/upload/decompress.ts';
import { takeInEvents } from '../../ingest/upload/event-intake.ts';
import type { IntakeReport } from '../../ingest/upload/intake-report.ts';
import { DAY_MS } from '../../query/durations.ts';
import { matchSubject } from '../../query/match/match-event.ts';
import { searchLineNotes } from '../../query/request/search-line-notes.ts';
import { printable } from '../../query/search-line.ts';
import type { EventStore } from '../../store/event-store.ts';
import { type FeedEvent, readFields } from '../../store/feed-event.ts';
import { openStore } from '../../store/open-store.ts';
import { alertLine } from '../alerts/backtest.ts';
import { loadConfig } from '../config/config.ts';
import { RECEIVERS_FLAG, sendTest } from './alerts-send-test.ts';
import { BACKTEST_FLAGS, BACKTEST_HELP, testOnProgram } from './alerts-test.ts';
import { type Command, type CommandIo, type ExitStatus, parseAction, unreadable } from './command.ts';

const HELP = `Usage: shieldlog alerts check FILE [EXAMPLES…]
       shieldlog alerts test FILE [--last 24h]
       shieldlog alerts send-test RECEIVER

check says whether the file of a rule is right, and which alerts it makes of examples. No program has to run for this. What a search line
says otherwise than it looks is told, such as action=blocked, which is a text and no filter.

EXAMPLES are files of events as they are sent in: lines, arrays, or objects over several lines, plain, gzip or zstd. Each event is taken to
come in at its own time, or with the one before it where that is later, so that late events stand behind others. A line of JSON comes for
each alert that is told, and for each that is resolved, with the time of the intake at which that is.

test has the running program say which alerts the rule would have made of the events that it has, and delivers nothing. The lines are the
same; at its end it says how many hits there were, and how many of them quiet held back, because an alert was there already.

send-test sends a made-up alert to a receiver, as messages about alerts are sent, and prints what it answers. A receiver that keeps alerts
open is told that it is resolved, too. No program has to run for this.

  --retention-hours N, RETENTION_HOURS
      Of check: for how long events are kept (default 72).
  --${RECEIVERS_FLAG} FILE, ALERT_RECEIVERS
      Of send-test: the YAML file of the receivers.
${BACKTEST_HELP}
Exit status: 0 done, 1 the file is wrong, an event is none, or the program or the receiver does not do it, 2 wrong usage.
`;

/** Examples are often older than any retention. */
const KEPT_MS = 3_650 * DAY_MS;
const MEMORY_LIMIT_MB = 512;
const PAGE_EVENTS = 10_000;

/** Reads the rule of a file, and tells on stderr what its search lines say otherwise than they look. Undefined, told, where it is wrong. */
function checkedRule(file: string, { stderr }: CommandIo): AlertRule | undefined {
  try {
    const text = readFileSync(file, 'utf8');
    const rule = readRule(text);
    for (const { note } of searchLinesIn(text).flatMap((line) => searchLineNotes(line))) {
      stderr.write(`shieldlog: ${file}: ${printable(note)}\n`);
    }
    return rule;
  } catch (error) {
    if (!(error instanceof WrongYaml)) throw unreadable(file, error);
    for (const fault of error.faults) stderr.write(`shieldlog: ${file}, ${fault}\n`);
    return undefined;
  }
}

/** The search lines of a rule that is right. */
function searchLinesIn(text: string): readonly string[] {
  const rule = readYaml(text);
  const members = rule.kind === 'map' ? rule.members.filter(({ key }) => key === 'search' || key === 'part') : [];
  return members.flatMap(({ value }) => (value.kind === 'text' ? [value.text] : []));
}

/** Runs `work` with a store of its own, which is gone afterwards. */
async function withStore<T>(work: (store: EventStore) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'shieldlog-alerts-'));
  try {
    const store = await openStore({ kind: 'embedded', dataDir, memoryLimitMb: MEMORY_LIMIT_MB, retentionMs: KEPT_MS, now: Date.now });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function takeIn(file: string, store: EventStore): Promise<IntakeReport> {
  try {
    const chunks = decompressed(createReadStream(file), 'detected');
    return await takeInEvents(chunks, { store, source: 'file', now: Date.now, retentionMs: KEPT_MS });
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** The events of the store that the rules may be about, in the order of the feed. */
async function* eventsFor({ wanted }: RuleSet, store: EventStore): AsyncGenerator<FeedEvent, void> {
  let after = await store.positions.oldest();
  for (let more = true; more; ) {
    const page = await store.readFeed({ ...wanted, logs: false, after, limit: PAGE_EVENTS });
    for (const line of page.lines) yield readFields(line);
    after = page.end;
    more = page.more;
  }
}

/** What alerts the rule makes of the events of the store. */
async function newsOf(rule: AlertRule, store: EventStore, retentionMs: number): Promise<readonly FoldNews[]> {
  const fold = new RuleFold(rule, { retentionMs });
  const rules = new RuleSet([rule]);
  const news: FoldNews[] = [];
  let timeMs = 0;
  let lastMs = 0;
  for await (const event of eventsFor(rules, store)) {
    timeMs = Math.max(timeMs, event.timestamp);
    lastMs = Math.max(lastMs, event.timestamp);
    const subject = matchSubject(event.fields);
    if (rules.matching(event.zoneId, subject).length > 0) news.push(...fold.count({ ...event, ingestedAtMs: timeMs }, subject));
  }
  // By then every alert is resolved.
  news.push(...fold.completeTo(lastMs + rule.windowMs + SETTLE_MS + rule.quietMs));
  return news;
}

async function check(file: string, examples: readonly string[], retentionMs: number, io: CommandIo): Promise<ExitStatus> {
  const rule = checkedRule(file, io);
  if (rule === undefined) return 1;
  if (examples.length === 0) {
    io.stderr.write(`${file} is right\n`);
    return 0;
  }
  if (rule.kind.kind === 'silence') io.stderr.write(`${file} is of kind silence, of which the clock decides: examples make no alerts\n`);
  return await withStore(async (store) => {
    let [accepted, rejected] = [0, 0];
    for (const example of examples) {
      const report = await takeIn(example, store);
      for (const { index, reason } of report.rejected) io.stderr.write(`shieldlog: ${example}, event ${index + 1}: ${reason}\n`);
      accepted += report.accepted;
      rejected += report.rejectedCount;
    }
    const news = await newsOf(rule, store, retentionMs);
    for (const alert of news.map((one) => alertLine(one, rule))) if (alert !== null) io.stdout.write(`${JSON.stringify(alert)}\n`);
    const count = (kind: FoldNews['kind']) => news.filter((one) => one.kind === kind).length;
    io.stderr.write(`events ${accepted}, rejected ${rejected}, hits ${count('hit')}, alerts told ${count('told')}\n`);
    return rejected === 0 ? 0 : 1;
  });
}

const ACTIONS = {
  check: { flags: ['retention-hours'], takes: [1, Number.POSITIVE_INFINITY], needs: 'the FILE of a rule' },
  test: { flags: BACKTEST_FLAGS, takes: [1, 1], needs: 'the FILE of a rule' },
  'send-test': { flags: [RECEIVERS_FLAG], takes: [1, 1], needs: 'the name of a RECEIVER' },
} as const;

async function run(args: readonly string[], io: CommandIo): Promise<ExitStatus> {
  const { action, flags, rest } = parseAction('alerts', args, ACTIONS);
  const [file = '', ...others] = rest;
  if (action === 'send-test') return await sendTest(file, flags, io);
  if (action === 'test') return checkedRule(file, io) === undefined ? 1 : await testOnProgram(file, flags, io);
  const hours = flags['retention-hours'];
  const config = loadConfig({ RETENTION_HOURS: io.env['RETENTION_HOURS'] }, hours === undefined ? {} : { 'retention-hours': hours });
  return await check(file, others, config.retentionMs, io);
}

export const alertsCommand: Command = {
  help: () => HELP,
  run,
};
