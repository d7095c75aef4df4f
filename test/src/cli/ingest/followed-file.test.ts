import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FollowedFile } from '../../../../src/cli/ingest/followed-file.ts';
import { assertAsyncProperty } from '../../../random/assert-property.ts';

const LINGER_MS = 60_000;

let folder: string;
let path: string;
let told: string[];
let now: number;
let open: FollowedFile | null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shieldlog-follow-'));
  path = join(folder, 'app.log');
  [told, now, open] = [[], 0, null];
});

afterEach(async () => {
  await open?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function follow(): Promise<FollowedFile> {
  await open?.close();
  const statePath = join(folder, 'state', 'app.json');
  open = await FollowedFile.open({
    name: 'app.log',
    path,
    statePath,
    url: 'http://a',
    lingerMs: LINGER_MS,
    now: () => now,
    tell: (message) => told.push(message),
  });
  return open;
}

/** Everything that there is to send, which is accepted. */
async function sent(file: FollowedFile): Promise<string> {
  let text = '';
  for (let batch = await file.next(); batch !== null; batch = await file.next()) {
    for await (const bytes of batch.bytes) text += Buffer.from(bytes).toString();
    await file.accepted();
  }
  return text;
}

describe('a file that is followed', () => {
  /** A file that its writer goes on writing to at the offset where it was, although it was cut: what is before that is a hole. */
  const writeBehindHole = (offset: number, text: string): void => {
    truncateSync(path, offset);
    appendFileSync(path, text);
  };

  test('and was copied and cut gives what comes behind the hole, which may be longer than any line', async () => {
    writeFileSync(path, 'a\n');
    const file = await follow();
    expect(await sent(file)).toBe('a\n');
    truncateSync(path, 0);
    writeBehindHole(20 * 1024 * 1024, 'b\n');
    expect(await sent(file)).toBe('b\n');
    writeBehindHole(40 * 1024 * 1024, 'c\nd');
    expect(await sent(file)).toBe('c\n');
    expect(await file.position()).toBe(
      `app.log was sent up to byte ${40 * 1024 * 1024 + 2} (line 2); the 1 bytes behind it are no whole line yet`,
    );
    expect(told).toEqual(['app.log was cut or written anew; going on from its beginning']);
    expect(await sent(await follow())).toBe('');
  });

  test('and was made long before it is written gives its lines as they replace the NULs', async () => {
    const first = `${'a'.repeat(300)}\n`;
    writeFileSync(path, Buffer.concat([Buffer.from(first), Buffer.alloc(1000)]));
    const file = await follow();
    expect(await sent(file)).toBe(first);
    writeFileSync(path, Buffer.concat([Buffer.from(`${first}b\n`), Buffer.alloc(998)]));
    expect(await sent(file)).toBe('b\n');
  });

  test('gives its lines, and those that are appended when they have their end', async () => {
    writeFileSync(path, 'a\nb\r\nc');
    const file = await follow();
    expect(await sent(file)).toBe('a\nb\r\n');
    expect(await sent(file)).toBe('');
    appendFileSync(path, 'c\n\n');
    expect(await sent(file)).toBe('cc\n\n');
    appendFileSync(path, 'd');
    expect(await sent(file)).toBe('');
    expect(await file.position()).toBe('app.log was sent up to byte 9 (line 4); the 1 bytes behind it are no whole line yet');
  });

  test('says how much of it is not sent, whether or not it was asked for it', async () => {
    writeFileSync(path, 'a\nb\n');
    const file = await follow();
    const unsent = 'app.log was sent up to byte 0 (line 0); the 4 bytes behind it are not sent';
    expect(await file.position()).toBe(unsent);
    await file.next();
    expect(await file.position()).toBe(unsent);
    expect(await sent(file)).toBe('a\nb\n');
    expect(await file.position()).toBe('app.log was sent up to byte 4 (line 2)');
  });

  test('counts lines, so that what is rejected can be named', async () => {
    writeFileSync(path, 'a\nb\n');
    const file = await follow();
    await sent(file);
    appendFileSync(path, 'c\nd\n');
    expect(await file.next()).toMatchObject({ linesBefore: 2, lines: 2, end: 8 });
  });

  test('gives a batch again until it is accepted', async () => {
    writeFileSync(path, 'a\n');
    const file = await follow();
    expect(await file.next()).toMatchObject({ end: 2 });
    appendFileSync(path, 'b\n');
    expect(await file.next()).toMatchObject({ linesBefore: 0, end: 4 });
  });

  test('that is renamed is read to its end beside the one that takes its name, also what is written to it late', async () => {
    writeFileSync(path, 'a\n');
    const file = await follow();
    await sent(file);
    appendFileSync(path, 'b\n');
    renameSync(path, `${path}.1`);
    expect(await sent(file)).toBe('b\n');
    writeFileSync(path, 'c\n');
    appendFileSync(`${path}.1`, 'late\nno end');
    expect(await sent(file)).toBe('late\nc\n');
    now += LINGER_MS - 1;
    appendFileSync(path, 'd\n');
    expect(await sent(file)).toBe('d\n');
    now += 1;
    expect(await sent(file)).toBe('no end');
    appendFileSync(`${path}.1`, 'too late\n');
    expect([await sent(file), told]).toEqual(['', []]);
  });

  test('that is renamed several times while nothing can be sent loses nothing', async () => {
    writeFileSync(path, '0\n');
    const file = await follow();
    for (let round = 1; round <= 3; round += 1) {
      renameSync(path, `${path}.${round}`);
      writeFileSync(path, `${round}\n`);
      await file.look();
    }
    expect(await sent(file)).toBe('0\n1\n2\n3\n');
  });

  test('that is renamed away and back is not sent twice', async () => {
    writeFileSync(path, 'a\n');
    const file = await follow();
    await sent(file);
    renameSync(path, `${path}.1`);
    writeFileSync(path, 'b\n');
    await file.look();
    renameSync(path, `${path}.2`);
    renameSync(`${path}.1`, path);
    appendFileSync(path, 'c\n');
    expect((await sent(file)).split('\n').sort()).toEqual(['', 'b', 'c']);
    now += LINGER_MS;
    appendFileSync(path, 'd\n');
    expect(await sent(file)).toBe('d\n');
  });

  test.each([
    ['shorter', 'x\n'],
    ['as long', 'xx\nyy\n'],
    ['longer', 'x, and much more than was there\n'],
  ])('that is cut and written anew, %s than before, is read from its beginning', async (_what, text) => {
    writeFileSync(path, 'aa\nbb\n');
    const file = await follow();
    await sent(file);
    truncateSync(path);
    appendFileSync(path, text);
    expect([await sent(file), told]).toEqual([text, ['app.log was cut or written anew; going on from its beginning']]);
  });

  test('that is not there yet is waited for, and told once', async () => {
    const file = await follow();
    expect([await sent(file), await sent(file)]).toEqual(['', '']);
    expect(told).toEqual([expect.stringMatching(/^app\.log cannot be read, and is waited for: ENOENT/)]);
    expect(await file.position()).toBe('app.log is not there yet');
    writeFileSync(path, 'a\n');
    expect(await sent(file)).toBe('a\n');
  });

  test('whose name a folder takes is waited for, and told once', async () => {
    writeFileSync(path, 'a\n');
    const file = await follow();
    renameSync(path, `${path}.1`);
    mkdirSync(path);
    appendFileSync(`${path}.1`, 'b\n');
    expect(await sent(file)).toBe('a\nb\n');
    expect(told).toEqual(['app.log cannot be read, and is waited for: it is no file']);
    rmSync(path, { recursive: true });
    writeFileSync(path, 'c\n');
    expect(await sent(file)).toBe('c\n');
  });

  test('whose name nothing can be found by is waited for, and not said to be missing', async () => {
    symlinkSync('app.log', path);
    const file = await follow();
    expect(told).toEqual([expect.stringMatching(/^app\.log cannot be read, and is waited for: ELOOP/)]);
    expect(await file.position()).toBe('app.log could not be read yet');
  });

  test('with a line that is longer than a batch gives it as one, without holding it', async () => {
    const long = `${'x'.repeat(20_000_000)}\n`;
    writeFileSync(path, `a\n${long.slice(0, -1)}`);
    const file = await follow();
    expect((await sent(file)).length).toBe(2);
    appendFileSync(path, '\nb\n');
    expect((await sent(file)) === `${long}b\n`).toBe(true);
  });

  test('with many short lines gives no more at once than an upload may have rejected', async () => {
    writeFileSync(path, 'x\n'.repeat(25_000));
    const file = await follow();
    expect(await file.next()).toMatchObject({ lines: 10_000 });
    expect((await sent(file)).length).toBe(50_000);
  });
});

describe('after a restart', () => {
  test('goes on behind what was accepted', async () => {
    writeFileSync(path, 'a\nb\n');
    await sent(await follow());
    appendFileSync(path, 'c\n');
    const file = await follow();
    expect(await file.next()).toMatchObject({ linesBefore: 2, end: 6 });
    expect(await sent(file)).toBe('c\n');
  });

  test('finds the file that was renamed meanwhile, and the one that has the name now', async () => {
    writeFileSync(path, 'a\n');
    await sent(await follow());
    appendFileSync(path, 'b\n');
    renameSync(path, `${path}-20261201`);
    writeFileSync(path, 'c\n');
    expect([await sent(await follow()), told]).toEqual(['b\nc\n', []]);
    expect(await sent(await follow())).toBe('');
  });

  test('finds a file that was renamed before any of it was sent', async () => {
    writeFileSync(path, 'a\n');
    await follow();
    renameSync(path, `${path}.1`);
    writeFileSync(path, 'b\n');
    expect(await sent(await follow())).toBe('a\nb\n');
  });

  test.each([
    ['is gone', () => rmSync(path)],
    ['was written anew', () => writeFileSync(path, 'other\n')],
    ['was cut', () => truncateSync(path, 2)],
  ])('of a file that %s says so, and sends what has the name from its beginning', async (_what, change) => {
    writeFileSync(path, 'first\nsecond\n');
    await sent(await follow());
    change();
    appendFileSync(path, 'new\n');
    const content = readFileSync(path, 'utf8');
    expect(await sent(await follow())).toBe(content);
    expect(told).toEqual([expect.stringMatching(/^what was app\.log is gone or was written anew, after 13 bytes of it were sent: /)]);
  });

  test('a state that another process uses, or that is none, is refused', async () => {
    writeFileSync(path, 'a\n');
    const file = await follow();
    open = null;
    await expect(follow()).rejects.toThrow('another shieldlog ingest --follow is sending this file');
    await sent(file);
    await file.close();
    for (const text of ['', '{}', JSON.stringify({ path, files: [{ device: 1 }] })]) {
      writeFileSync(join(folder, 'state', 'app.json'), text);
      await expect(follow()).rejects.toThrow(/is not one of .*app\.log; remove it to send the file from its beginning/);
    }
  });
});

test.each([
  ['is compressed with gzip', Buffer.from([0x1f, 0x8b, 8, 0])],
  ['is compressed with zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
  ['is a JSON array', Buffer.from(' \n[{')],
])('a file that %s is refused', async (wrong, content) => {
  writeFileSync(path, content);
  await expect(follow()).rejects.toThrow(`app.log ${wrong}; allowed with --follow: a file of lines`);
});

test('a folder is refused', async () => {
  path = folder;
  await expect(follow()).rejects.toThrow('app.log is no file; allowed with --follow: a file, or - for standard input');
});

/** What writers and rotations do to a file, and what the follower does meanwhile. */
type Step = 'line' | 'part' | 'rename' | 'cut' | 'look' | 'send' | 'restart' | 'linger';

test('whatever is done to a file, every line is sent once, in the order of its file', { timeout: 60_000 }, async () => {
  const steps = fc.array(fc.constantFrom<Step>('line', 'line', 'part', 'rename', 'cut', 'look', 'send', 'restart', 'linger'), {
    maxLength: 30,
  });
  await assertAsyncProperty(
    fc.asyncProperty(steps, async (taken) => {
      await open?.close();
      open = null;
      rmSync(folder, { recursive: true, force: true });
      folder = mkdtempSync(join(tmpdir(), 'shieldlog-follow-'));
      path = join(folder, 'app.log');
      writeFileSync(path, '');
      let [lines, files, hasPart, isCut, got] = [0, 0, false, false, ''];
      let file = await follow();
      // Where nobody looks, a file that is renamed away twice, or cut while it has lines to send, is lost; so is one that was cut and is
      // renamed before any line is asked for, if the next to ask is another process.
      const look = () => file.look();
      const send = async () => {
        got += await sent(file);
        isCut = false;
      };
      const actions: Record<Step, () => unknown> = {
        line: () => appendFileSync(path, `line ${lines++} of file ${files}\n`),
        part: () => {
          hasPart = true;
          appendFileSync(path, 'part of ');
        },
        rename: async () => {
          await (isCut ? send() : look());
          renameSync(path, `${path}.${++files}`);
          writeFileSync(path, '');
          await look();
        },
        cut: async () => {
          await send();
          truncateSync(path);
          [files, isCut] = [files + 1, true];
        },
        look,
        send,
        restart: async () => {
          file = await follow();
        },
        linger: () => {
          now += LINGER_MS;
        },
      };
      for (const step of taken) await actions[step]();
      now += LINGER_MS;
      await send();
      const seen = [...got.matchAll(/line (\d+) of file (\d+)/g)].map(([, line, of]) => [Number(of), Number(line)] as const);
      expect(seen.map(([, line]) => line).sort((a, b) => a - b)).toEqual(Array.from({ length: lines }, (_, index) => index));
      for (let of = 0; of <= files; of += 1) {
        const inFile = seen.filter(([found]) => found === of).map(([, line]) => line);
        expect(inFile).toEqual([...inFile].sort((a, b) => a - b));
      }
      if (!hasPart) expect(got.replaceAll(/line \d+ of file \d+\n/g, '')).toBe('');
    }),
    { numRuns: 30, examples: [[['line', 'cut', 'line', 'rename', 'restart']]] },
  );
});
