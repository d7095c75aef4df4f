import { readdir, readFile } from 'node:fs/promises';

/** One request of operation 1, as a file of the folder `workloads`. */
export interface Workload {
  /** The file's name without `.json`. */
  readonly name: string;
  readonly title: string;
  readonly zone: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const FOLDER = new URL('workloads/', import.meta.url);

/** All workloads in the order of their names. */
export async function loadWorkloads(): Promise<Workload[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.json')).sort();
  return await Promise.all(
    files.map(async (file) => ({ name: file.slice(0, -'.json'.length), ...JSON.parse(await readFile(new URL(file, FOLDER), 'utf8')) })),
  );
}
