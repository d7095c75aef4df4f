import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../../../src/cli/run-command.ts';
import { safeOutput, styledOutput } from '../../../src/cli/terminal.ts';
import { temporaryFolder } from '../../fixtures/temporary-store.ts';
import { eventLine, ingest, type RunningApp, startApp } from '../running-app.ts';

/** A C1 control, which begins an escape sequence, and a mark that turns the direction of text. */
const ACTING = 'a\u009b31m\u202eb\u2066c';
/** Its end, since CEF leaves the control out by itself. */
const END = '\u202eb\u2066c';
const SHOWN = String.raw`\u202eb\u2066c`;

let app: RunningApp;

beforeAll(async () => {
  app = await startApp();
  await ingest(app, eventLine({ logId: 'one', shieldZoneId: 7, ua: ACTING, url: ACTING }));
});

afterAll(() => app.stop());

/** Runs a command whose standard output is a terminal, or a pipe. */
async function written(args: readonly string[], isTTY: boolean): Promise<string> {
  const [stdout, stderr] = [Object.assign(new PassThrough(), { isTTY, columns: 400 }), new PassThrough()];
  const all = text(stdout);
  await runCommand(args, {
    env: {},
    stdin: Readable.from([]),
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: stderr.resume() as unknown as NodeJS.WriteStream,
  });
  stdout.end();
  return all;
}

const at = (name: string, ...rest: readonly string[]): readonly string[] => [name, '--url', app.url, ...rest];
const feed = (format: string): readonly string[] =>
  at('feed', '--zone', '7', '--to', '-', '--once', '--format', format, '--state', join(temporaryFolder(), 'state'));

const COMMANDS: readonly (readonly [what: string, args: () => readonly string[]])[] = [
  ['feed --format native', () => feed('native')],
  ['feed --format cef', () => feed('cef')],
  ['feed --format ecs', () => feed('ecs')],
  ['feed --format ocsf', () => feed('ocsf')],
  ['search --ndjson', () => at('search', '--ndjson')],
  ['search --json', () => at('search', '--json')],
  ['search --table', () => at('search', '--table', '--columns', 'ua')],
  ['groups --ndjson', () => at('groups', '--group-by', 'ua', '--ndjson')],
  ['tail --ndjson', () => at('tail', '--last', '1h', '--limit', '1', '--ndjson')],
  ['export --csv', () => at('export', '--csv')],
  ['export --ndjson', () => at('export', '--ndjson')],
];

test.each(COMMANDS)('%s does nothing to a terminal that an attacker wrote', async (_what, args) => {
  const shown = await written(args(), true);
  expect(shown).toContain(SHOWN);
  expect(shown).not.toMatch(/[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/);
});

test.each(COMMANDS.filter(([what]) => !what.includes('--table')))('%s gives a pipe the bytes', async (_what, args) => {
  expect(await written(args(), false)).toContain(END);
});

test('a text may be cut anywhere, and tabs and line ends stay', async () => {
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  const shown = text(terminal);
  const output = safeOutput(terminal as unknown as NodeJS.WriteStream);
  for (const byte of Buffer.from('é\tx\r\n\u009b\n😀')) await new Promise((resolve) => output.write(Buffer.of(byte), resolve));
  output.write('\u001b[2J');
  terminal.end();
  expect(await shown).toBe('é\tx\\u000d\n\\u009b\n😀\\u001b[2J');
});

test('tables keep their own styles, which go to the terminal behind', () => {
  const terminal = Object.assign(new PassThrough(), { isTTY: true }) as unknown as NodeJS.WriteStream;
  expect(styledOutput(safeOutput(terminal))).toBe(terminal);
  const pipe = new PassThrough() as unknown as NodeJS.WriteStream;
  expect(safeOutput(pipe)).toBe(pipe);
});
