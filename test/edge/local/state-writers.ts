import type { DatabaseSync } from 'node:sqlite';
import { exampleOf } from '../example-requests.ts';

export interface WriterCall {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** Someone who changes one resource again and again; change `n` is made of `calls(n)`, one after the other. */
export interface StateWriter {
  readonly resource: string;
  /** Puts there what the calls need, before the program starts. */
  prepare?(db: DatabaseSync): void;
  calls(n: number): readonly WriterCall[];
  /** Returns the numbers of the changes that are in the state as a whole. Throws if there is half of one. */
  kept(db: DatabaseSync): readonly number[];
  /** `each`: every change is there by its number. `last`: only the last change is there. `counted`: changes have no numbers. */
  readonly keeps: 'each' | 'last' | 'counted';
}

const RECORDS = 40;
const SCRIPT = 2;
const HOSTNAME = 'cdn.example.com';

function numbers(db: DatabaseSync, sql: string): readonly number[] {
  return db
    .prepare(sql)
    .all()
    .map((row) => Number(row['n']));
}

function requireNone(db: DatabaseSync, what: string, sql: string): void {
  const half = db.prepare(sql).all();
  if (half.length > 0) throw new Error(`${what}: ${JSON.stringify(half.slice(0, 3))}`);
}

function specification(n: number): string {
  const get = {
    summary: `${n}`,
    responses: { 200: { description: 'ok', content: { 'application/json': { schema: { type: 'integer', maximum: n } } } } },
  };
  const paths = Object.fromEntries(['/a', '/b', '/c'].map((path) => [path, { get }]));
  return JSON.stringify({ openapi: '3.0.3', info: { title: `${n}`, version: '1' }, paths });
}

export const STATE_WRITERS: readonly StateWriter[] = [
  {
    resource: 'script variables',
    keeps: 'last',
    calls: (n) => [
      {
        method: 'PUT',
        path: `/compute/script/${SCRIPT}/variables`,
        body: { Name: 'COUNT', Required: n % 2 === 1, DefaultValue: String(n) },
      },
    ],
    kept(db) {
      requireNone(
        db,
        'half a variable',
        "SELECT * FROM script_variable WHERE name = 'COUNT' AND required <> CAST(default_value AS INTEGER) % 2",
      );
      return numbers(db, "SELECT CAST(default_value AS INTEGER) AS n FROM script_variable WHERE name = 'COUNT'");
    },
  },
  {
    resource: 'API Guardian',
    keeps: 'last',
    calls: (n) => [{ method: 'PATCH', path: '/shield/shield-zone/7/api-guardian/spec', body: { content: specification(n) } }],
    kept(db) {
      requireNone(
        db,
        'endpoints of another specification',
        `SELECT title, facts FROM guardian_configuration AS c JOIN guardian_endpoint AS e ON e.zone_id = c.zone_id
         WHERE e.facts NOT LIKE '%maximum: ' || c.title || '\\n%'`,
      );
      requireNone(db, 'endpoints that are missing', 'SELECT zone_id FROM guardian_endpoint GROUP BY zone_id HAVING count(*) <> 3');
      return numbers(db, 'SELECT CAST(title AS INTEGER) AS n FROM guardian_configuration');
    },
  },
  {
    resource: 'DNS zones',
    keeps: 'each',
    calls: (n) => [
      {
        method: 'POST',
        path: '/dnszone',
        body: {
          Domain: `z${n}.example`,
          Records: Array.from({ length: RECORDS }, (_, index) => ({ Name: `h${index}`, Value: '192.0.2.1' })),
        },
      },
    ],
    kept(db) {
      requireNone(
        db,
        'half a zone',
        `SELECT z.domain, count(r.id) FROM dns_zone AS z LEFT JOIN dns_record AS r ON r.zone_id = z.id
         GROUP BY z.id HAVING count(r.id) <> ${RECORDS}`,
      );
      return numbers(db, "SELECT CAST(substr(domain, 2) AS INTEGER) AS n FROM dns_zone WHERE domain LIKE 'z%.example'");
    },
  },
  {
    resource: 'actions of bots',
    keeps: 'each',
    calls: (n) => [{ method: 'PUT', path: `/shield/shield-zone/${n}/bot-categorization/bots/1`, body: { action: 1 + (n % 3) } }],
    kept(db) {
      requireNone(db, 'another action', 'SELECT * FROM bot_action WHERE action <> 1 + shield_zone_id % 3');
      return numbers(db, 'SELECT shield_zone_id AS n FROM bot_action');
    },
  },
  {
    resource: 'hostnames',
    keeps: 'each',
    prepare(db) {
      const insert = db.prepare('INSERT OR IGNORE INTO hostname (name, pull_zone_id, is_system) VALUES (?, 1, 0)');
      for (let n = 0; n < 5_000; n += 1) insert.run(`n${n}.example.com`);
    },
    calls: (n) => [{ method: exampleOf(8).method, path: '/pullzone/1/removeHostname', body: { Hostname: `n${n}.example.com` } }],
    kept(db) {
      const left = new Set(numbers(db, "SELECT CAST(substr(name, 2) AS INTEGER) AS n FROM hostname WHERE name GLOB 'n[0-9]*.example.com'"));
      return Array.from({ length: 5_000 }, (_, n) => n).filter((n) => !left.has(n));
    },
  },
  {
    resource: 'certificates',
    keeps: 'counted',
    calls: () =>
      ['request', 'complete'].map((verb) => ({
        method: 'POST',
        path: `/pullzone/${verb}ExternalHttpCertificate`,
        body: { Hostname: HOSTNAME },
      })),
    kept(db) {
      requireNone(
        db,
        'a certificate that its hostname does not know of',
        `SELECT max(not_after_ms) FROM issued_certificate
         HAVING max(not_after_ms) <> (SELECT certificate_not_after_ms FROM hostname WHERE name = '${HOSTNAME}')`,
      );
      const issued = Number(db.prepare('SELECT count(*) AS n FROM issued_certificate').get()?.['n']);
      return Array.from({ length: issued }, (_, n) => n);
    },
  },
];
