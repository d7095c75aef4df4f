import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const CACHE = join(import.meta.dirname, '../../.cache/kafka');
const POM = join(import.meta.dirname, 'pom.xml');
const JARS = join(CACHE, 'libs-4.3.1');

/** The folder of the broker's jars; Maven fetches them (44 MB) the first time. Throws where Java or Maven is missing. */
export async function findJars(): Promise<string> {
  await mustRun('java', ['-version'], 'Java 17 or later');
  if (existsSync(JARS)) {
    return JARS;
  }
  await mustRun('mvn', ['-version'], 'Maven');
  console.error('fetching the jars of Apache Kafka with Maven, once');
  const arriving = join(CACHE, `arriving-${process.pid}`);
  await mkdir(CACHE, { recursive: true });
  await run('mvn', [
    ...['-q', '-B', '-ntp', '-f', POM],
    ...['dependency:copy-dependencies', `-DoutputDirectory=${arriving}`, '-DincludeScope=runtime'],
  ]);
  // Another run may have been faster; its jars are the same.
  await rename(arriving, JARS).catch(async (error: Error) => {
    if (!existsSync(JARS)) {
      throw error;
    }
    await rm(arriving, { recursive: true });
  });
  return JARS;
}

async function mustRun(command: string, args: readonly string[], name: string): Promise<void> {
  await run(command, args).catch((cause: Error) => {
    throw new Error(`${name} is not there: \`${command} ${args.join(' ')}\` failed (${cause.message.trim()})`, { cause });
  });
}
