import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FEED_FORMAT_NAMES } from '../../src/formats/feed-formats.ts';
import { freePorts } from '../broker/free-port.ts';
import { EXAMPLE_REQUESTS, send } from '../edge/example-requests.ts';
import { eventually } from '../fixtures/eventually.ts';
import { ask, eventLine, ingest, lastHour, search } from '../src/running-app.ts';
import { ImageLayout } from './image-layout.ts';

const checkout = join(import.meta.dirname, '../..');
const KEY = '0123456789abcdef';
const accesskey = { accesskey: KEY };

let image: ImageLayout;
let variables: Readonly<Record<string, string>>;
let url: string;
let log = '';
let ended: Promise<number | null>;
let stop: () => void;

interface Done {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in the image, like `docker compose exec shieldlog …`. */
async function execute(...command: string[]): Promise<Done> {
  const child = image.start(command, variables);
  const status = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout as NodeJS.ReadableStream), text(child.stderr as NodeJS.ReadableStream)]);
  return { status: await status, stdout, stderr };
}

beforeAll(async () => {
  image = new ImageLayout(checkout);
  const [port] = await freePorts(1);
  variables = { PORT: String(port), ACCESS_KEYS: `me:${KEY}:*:personal`, MEMORY_LIMIT_MB: '256' };
  url = `http://127.0.0.1:${port}`;
  const child = image.start(image.command, variables);
  child.stderr?.on('data', (chunk) => {
    log += String(chunk);
  });
  ended = new Promise((resolve) => child.on('close', resolve));
  stop = () => child.kill('SIGTERM');
  await eventually('the program listens', () => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${log}`);
    return log.includes('"started"');
  });
});

afterAll(async () => {
  stop?.();
  await ended;
  image?.remove();
});

describe('what the Dockerfile lays out, with its code read-only', () => {
  test('is alive, and its health check says so', async () => {
    expect((await ask({ url }, '/healthz')).body).toEqual({ status: 'alive' });
    expect(await execute(...image.healthcheck)).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  test('takes events in and finds them, with a key only', async () => {
    expect((await ingest({ url }, eventLine({ url: '/in-the-image' }), accesskey)).body).toMatchObject({ accepted: 1 });
    expect((await search({ url }, lastHour())).status).toBe(401);
    expect((await search({ url }, lastHour({ query: 'in-the-image' }), accesskey)).body).toMatchObject({ total: 1 });
  });

  test.each(FEED_FORMAT_NAMES)('feeds events on as %s', async (format) => {
    const { status, text: lines } = await ask({ url }, `/shield/event-logs/7/feed?format=${format}`, { headers: accesskey });
    expect([status, lines]).toEqual([200, expect.stringContaining('/in-the-image')]);
  });

  test.each(['/', '/docs/', '/openapi.json'])('serves %s', async (path) => {
    expect((await ask({ url }, path, { headers: accesskey })).status).toBe(200);
  });

  test('serves all files of the page, which it bundles by itself', async () => {
    const { text: html } = await ask({ url }, '/');
    const paths = [...html.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, path = '']) => new URL(path, `${url}/`).pathname);
    expect(paths.length).toBeGreaterThan(4);
    for (const path of paths) expect([path, (await ask({ url }, path)).status]).toEqual([path, 200]);
  });

  test.each(EXAMPLE_REQUESTS.filter(({ number }) => number !== 14))('answers operation $number: $method $path', async (request) => {
    expect((await send(url, request, accesskey)).status).toBeLessThan(500);
  });

  test('makes tokens by the command shieldlog, which the running program takes at once', async () => {
    const { status, stdout } = await execute('shieldlog', 'tokens', 'generate');
    expect(status).toBe(0);
    const [kind, token = ''] = stdout.split('\n', 1)[0]?.split('\t') ?? [];
    expect(kind).toBe('full-access');
    const { body } = await ask({ url }, '/v2/pipeline', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ requests: [{ type: 'execute', stmt: { sql: 'SELECT 6 * 7' } }] }),
    });
    expect(body.results[0].response.result.rows).toEqual([[{ type: 'integer', value: '42' }]]);
    expect((await execute('shieldlog', 'tokens', 'list')).stdout.split('\n')).toHaveLength(3);
  });

  test('has the presets of mappings', async () => {
    const { status, stdout } = await execute('shieldlog', 'mappings', 'show', 'aws-waf');
    expect([status, stdout]).toEqual([0, expect.stringContaining('timestamp:')]);
  });

  test('runs every command that docs/configuration.md shows for the container', async () => {
    const document = readFileSync(join(checkout, 'docs/configuration.md'), 'utf8');
    const commands = [...document.matchAll(/docker compose exec shieldlog ([^`\n#]+)/g)].map(([, command = '']) => command.trim());
    expect(commands.length).toBeGreaterThan(0);
    for (const command of commands) expect([command, (await execute(...command.split(/\s+/))).status]).toEqual([command, 0]);
  });

  test('cannot write into its code', async () => {
    const { status, stderr } = await execute('touch', 'src/written');
    expect([status, stderr]).toEqual([1, expect.stringContaining('Permission denied')]);
  });

  test('carries its license', async () => {
    expect((await execute('cat', 'LICENSE')).stdout).toContain('Apache License');
  });

  // The last one: it ends the program.
  test('stops with status 0 when it is told to', async () => {
    stop();
    expect(await ended).toBe(0);
  });
});
