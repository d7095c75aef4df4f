import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { afterAll } from 'vitest';
import { CANONICAL_FIELDS } from '../../query/event-fields.ts';
import { readJournalStatement } from '../../sql/journal-statements.ts';
import { runStatement, startEngine } from '../../store/duckdb-engine.ts';
import type { EventBatch } from '../../store/event-store.ts';

/** An event as DuckDB has it after loading; columns that are NULL are left out, `log` is parsed. */
export type LoadedEvent = Readonly<Record<string, unknown>>;

export interface EventLoader {
  /** Loads the batch's lines as the store does. Throws if a line becomes a row of NULLs or is not exactly the canonical columns. */
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
  const content = Buffer.concat(batch.lines);
  checkLines(content, batch.eventCount);
  writeFileSync(path, content);
  await runStatement(connection, readJournalStatement('arrived', path));
  const names = CANONICAL_FIELDS.map((name) => `"${name}"`).join(', ');
  const rows = await runStatement(connection, { text: `SELECT ${names} FROM arrived`, params: [] });
  if (rows.length !== batch.eventCount) {
    throw new Error(`${batch.eventCount} lines became ${rows.length} rows`);
  }
  return rows.map((values, place) => {
    const event = Object.fromEntries(CANONICAL_FIELDS.map((name, column) => [name, values[column]]).filter(([, value]) => value !== null));
    if (event['shieldZoneId'] === undefined) {
      throw new Error(`line ${place} became NULLs: ${content.toString('utf8').split('\n')[place]}`);
    }
    return { ...event, log: JSON.parse(String(event['log'])) };
  });
}

function checkLines(content: Buffer, eventCount: number): void {
  const lines = content.toString('utf8').split('\n');
  if (lines.length !== eventCount + 1 || lines.at(-1) !== '') {
    throw new Error(`${lines.length - 1} whole lines for ${eventCount} events, then ${lines.at(-1)}`);
  }
  for (const line of lines.slice(0, -1)) {
    const strange = Object.keys(JSON.parse(line) as object).filter((name) => !(CANONICAL_FIELDS as readonly string[]).includes(name));
    if (strange.length > 0) {
      throw new Error(`a canonical line has other members (${strange.join(', ')}): ${line}`);
    }
  }
}
