import { mkdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { raceHtml } from './page/race-html.ts';
import type { RaceResult } from './race-result.ts';

const RESULTS = fileURLToPath(new URL('../results/', import.meta.url));

/** Writes the result as `results/<date>/<machine>.json` and as a page beside it. Resolves with the paths. */
export async function writeResult(result: RaceResult): Promise<string[]> {
  const folder = join(RESULTS, result.circumstances.startedAt.slice(0, 10));
  await mkdir(folder, { recursive: true });
  const name = hostname().replaceAll(/[^A-Za-z0-9._-]/g, '-');
  const [json, html] = [join(folder, `${name}.json`), join(folder, `${name}.html`)];
  await writeFile(json, `${JSON.stringify(result, null, 2)}\n`);
  await writeFile(html, raceHtml(result));
  return [json, html];
}
