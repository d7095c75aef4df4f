import type { DatabaseSync } from 'node:sqlite';

/** A hostname of a pull zone; its name in lower case and ASCII. */
export interface FoundHostname {
  readonly pullZoneId: number;
  readonly name: string;
}

/** The pull zones' hostnames, as far as their certificates need them. */
export interface HostnameDirectory {
  /** The hostname as it is kept, whatever case it was asked in; null: no pull zone has it. */
  findHostname(db: DatabaseSync, name: string): FoundHostname | null;
  /** Notes that the hostname has a certificate until then (Unix ms). Called inside a transaction. */
  setCertificate(db: DatabaseSync, hostname: FoundHostname, notAfterMs: number): void;
}
