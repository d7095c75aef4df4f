import { createHash } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Dispatcher, EnvHttpProxyAgent, fetch, RetryAgent } from 'undici';

// An import of these CommonJS modules means different things to Node and to vitest.
const require = createRequire(import.meta.url);
const { default: artifactUrl } = require('mvn-artifact-url') as typeof import('mvn-artifact-url');
const { default: parseName } = require('mvn-artifact-name-parser') as typeof import('mvn-artifact-name-parser');

interface LockedArtifact {
  readonly coordinates: string;
  readonly sha256: string;
}

const LINE = /^([0-9a-f]{64}) {2}([^:\s]+:[^:\s]+:[^:\s]+)$/;
const CONNECTIONS = 6;

/**
 * Downloads the Maven artifacts that a lock file lists into a folder, those that are not there yet. Returns their paths, in the order of
 * the lock file, whose lines are `<SHA-256 in hexadecimal>  <group>:<artifact>:<version>`.
 *
 * @param repository the address that all paths follow; Maven Central by default
 * @throws where a line cannot be read, a download fails or has another SHA-256; the message names the line or the artifact and its address
 */
export async function fetchLockedArtifacts(lockFile: string, folder: string, repository?: string): Promise<string[]> {
  const artifacts = readLockFile(lockFile, await readFile(lockFile, 'utf8'));
  const located = await Promise.all(artifacts.map(async (artifact) => ({ ...artifact, url: await addressOf(artifact, repository) })));
  const wanted = located.map((artifact) => ({ ...artifact, path: join(folder, basename(artifact.url.href)) }));
  const missing = wanted.filter(({ path }) => !existsSync(path));
  if (missing.length > 0) {
    await mkdir(folder, { recursive: true });
    const agent = new RetryAgent(new EnvHttpProxyAgent({ connections: CONNECTIONS }));
    try {
      await Promise.all(missing.map(({ coordinates, sha256, url, path }) => download(agent, { coordinates, sha256 }, url, path)));
    } finally {
      await agent.destroy();
    }
  }
  return wanted.map(({ path }) => path);
}

function readLockFile(name: string, text: string): LockedArtifact[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line, index) => {
      const [, sha256, coordinates] = LINE.exec(line) ?? [];
      if (sha256 === undefined || coordinates === undefined) {
        throw new Error(`${name}, line ${index + 1} is "${line}"; allowed: <SHA-256>  <group>:<artifact>:<version>`);
      }
      return { coordinates, sha256 };
    });
}

async function addressOf({ coordinates }: LockedArtifact, repository: string | undefined): Promise<URL> {
  const prefix = repository === undefined ? undefined : `${repository.replace(/\/+$/, '')}/`;
  return new URL(await artifactUrl(parseName(coordinates), prefix));
}

/** The file appears under its name once it is whole and is what the lock file says. */
async function download(dispatcher: Dispatcher, { coordinates, sha256 }: LockedArtifact, url: URL, path: string): Promise<void> {
  const arriving = `${path}.${process.pid}`;
  try {
    const hash = createHash('sha256');
    // fetch refuses addresses that hold a password.
    const { username, password } = url;
    url.username = '';
    url.password = '';
    const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
    const response = await fetch(url, { dispatcher, headers: username === '' ? {} : { authorization: `Basic ${credentials}` } });
    if (!response.ok || response.body === null) {
      throw new Error(`the answer is ${response.status}`);
    }
    const hashed = async function* (chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    };
    await pipeline(response.body, hashed, createWriteStream(arriving));
    const found = hash.digest('hex');
    if (found !== sha256) {
      throw new Error(`its SHA-256 is ${found}, not ${sha256}`);
    }
    await rename(arriving, path);
  } catch (cause) {
    await rm(arriving, { force: true });
    throw new Error(`${coordinates} cannot be downloaded from ${url}: ${reasonOf(cause)}`, { cause });
  }
}

/** fetch says no more than "fetch failed"; its cause says why. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message;
}
