import type { DatabaseSync } from 'node:sqlite';
import { EdgeError } from '../../edge-error.ts';
import type { LocalResource } from '../local-resource.ts';
import { inTransaction } from '../state.ts';
import { type NewRecord, type NewZone, readZoneRequest } from './zone-request.ts';

const MIGRATION = `
  CREATE TABLE dns_zone (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    domain TEXT NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE dns_record (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    zone_id INTEGER NOT NULL REFERENCES dns_zone (id) ON DELETE CASCADE,
    -- What the interface shows of it beside its Id, as JSON.
    fields TEXT NOT NULL
  ) STRICT;
  CREATE INDEX dns_record_by_zone ON dns_record (zone_id);
`;

/** Nobody delegates to the local control plane; the names are of the kind that resolves nowhere (RFC 6761). */
const NAMESERVERS = ['ns1.shieldlog.invalid', 'ns2.shieldlog.invalid'] as const;
const NAMESERVER_CHECK_MS = 3_600_000;

interface StoredZone {
  readonly id: number;
  readonly createdMs: number;
  readonly records: readonly (NewRecord & { readonly Id: number })[];
}

function insertZone(db: DatabaseSync, zone: NewZone, nowMs: number): StoredZone {
  const taken = db.prepare('SELECT id FROM dns_zone WHERE domain = ?').get(zone.domain);
  if (taken !== undefined) {
    throw new EdgeError(400, 'dnszone.name_taken', `Domain: there is a zone of ${zone.domain} already`, { field: 'Domain' });
  }
  const id = Number(db.prepare('INSERT INTO dns_zone (domain, created_ms) VALUES (?, ?)').run(zone.domain, nowMs).lastInsertRowid);
  const insert = db.prepare('INSERT INTO dns_record (zone_id, fields) VALUES (?, ?)');
  const records = zone.records.map((record) => ({ Id: Number(insert.run(id, JSON.stringify(record)).lastInsertRowid), ...record }));
  return { id, createdMs: nowMs, records };
}

function zoneAnswer(zone: NewZone, { id, createdMs, records }: StoredZone): unknown {
  const created = new Date(createdMs).toISOString();
  return {
    Id: id,
    Domain: zone.domain,
    Records: records,
    DateModified: created,
    DateCreated: created,
    NameserversDetected: false,
    CustomNameserversEnabled: false,
    Nameserver1: NAMESERVERS[0],
    Nameserver2: NAMESERVERS[1],
    SoaEmail: `hostmaster@${zone.domain}`,
    NameserversNextCheck: new Date(createdMs + NAMESERVER_CHECK_MS).toISOString(),
    LoggingEnabled: false,
    LoggingIPAnonymizationEnabled: true,
    LogAnonymizationType: 0,
    DnsSecEnabled: false,
    CertificateKeyType: 0,
  };
}

/** Zones and their records. A zone is made once, with all of its records or not at all. */
export const dnsZones: LocalResource = {
  name: 'dns-zones',
  migrations: [MIGRATION],
  routes(app, { db, now }) {
    app.post('/dnszone', (request, reply) => {
      const zone = readZoneRequest(request.body);
      const stored = inTransaction(db, () => insertZone(db, zone, now()));
      return reply.code(201).send(zoneAnswer(zone, stored));
    });
  },
};
