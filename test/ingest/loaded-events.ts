import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { afterAll } from 'vitest';
import { CANONICAL_FIELDS } from '../../query/event-fields.ts';
import { readJournalStatement } from '../../sql/journal-statements.ts';
import { runStatement, startEngine } from '../../store/duckdb-engine.ts';
import type { EventBatch } from '../../store/event-store.ts';
import { unpacked } from './plain-packing.ts';

/** An event as DuckDB has it after loading, and its log, unpacked and parsed; columns that are NULL are left out. */
export type LoadedEvent = Readonly<Record<string, unknown>>;

export interface EventLoader {
  /** Loads the batch's lines as the store does. Throws if a line becomes a row of NULLs or is not exactly the canonical columns, and if a log is not one line. */
  load(batch: EventBatch): Promise<LoadedEvent[]>;
}

/** A real DuckDB and a folder of its own, gone when the tests of the file are done. */
export async function eventLoader(): Promise<EventLoader> {
  const folder = mkdtempSync(join(tmpdir(), 'shieldlog-load-'));
  const engine = await startEngine({ memoryLimitMb: 512, spillFolder: join(folder, 'spill'), threads: 2 });
  const connection = await engine.connect();
  afterAll(() => {
    connection.closeSync();
    engine.closeSync();
    rmSync(folder, { recursive: true });
  });
  return { load: (batch) => loadWith(connection, join(folder, 'batch.ndjson'), batch) };
}

async function loadWith(connection: DuckDBConnection, path: string, batch: EventBatch): Promise<LoadedEvent[]> {
  const lines = checkedLines(batch.lines, batch.eventCount);
  const logs = checkedLines(batch.logs, batch.eventCount);
  checkMembers(lines);
  writeFileSync(path, Buffer.concat(batch.lines));
  await runStatement(connection, readJournalStatement('arrived', path));
  const names = CANONICAL_FIELDS.map((name) => `"${name}"`).join(', ');
  const rows = await runStatement(connection, { text: `SELECT ${names} FROM arrived`, params: [] });
  if (rows.length !== batch.eventCount) {
    throw new Error(`${batch.eventCount} lines became ${rows.length} rows`);
  }
  return rows.map((values, place) => {
    const event = Object.fromEntries(CANONICAL_FIELDS.map((name, column) => [name, values[column]]).filter(([, value]) => value !== null));
    if (event['shieldZoneId'] === undefined) {
      throw new Error(`line ${place} became NULLs: ${lines[place]}`);
    }
    return { ...event, log: JSON.parse(unpacked(logs[place] ?? '', event)) };
  });
}

function checkedLines(chunks: readonly Uint8Array[], eventCount: number): string[] {
  const lines = Buffer.concat(chunks).toString('utf8').split('\n');
  if (lines.length !== eventCount + 1 || lines.at(-1) !== '') {
    throw new Error(`${lines.length - 1} whole lines for ${eventCount} events, then ${lines.at(-1)}`);
  }
  return lines.slice(0, -1);
}

function checkMembers(lines: readonly string[]): void {
  for (const line of lines) {
    const strange = Object.keys(JSON.parse(line) as object).filter((name) => !(CANONICAL_FIELDS as readonly string[]).includes(name));
    if (strange.length > 0) {
      throw new Error(`a canonical line has other members (${strange.join(', ')}): ${line}`);
    }
  }
}
