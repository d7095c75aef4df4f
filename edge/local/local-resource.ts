import type { DatabaseSync } from 'node:sqlite';
import type { FastifyInstance } from 'fastify';
import type { GuardianCounts } from './guardian-counts.ts';
import type { ProgramView } from './program-view.ts';

export interface EdgeLogger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** What the resources of the local control plane have to work with. */
export interface LocalContext {
  /** The control plane's state; write inside `inTransaction`. */
  readonly db: DatabaseSync;
  /** Unix ms UTC. */
  readonly now: () => number;
  readonly logger: EdgeLogger;
  readonly program: ProgramView;
  readonly guardianCounts: GuardianCounts;
  readonly dataDir: string;
}

/**
 * One kind of thing the local control plane keeps. Its routes are those of the operation table, by method and path: their input has been
 * validated against the operation's schemas before a handler runs, and what a handler throws is answered in the operation's error shape.
 */
export interface LocalResource {
  readonly name: string;
  /** SQL; version n of the resource's tables is made by the first n of them. Never changed once released: only added to. */
  readonly migrations: readonly string[];
  /** Fills tables that were made just now, inside the transaction that made them. */
  seed?(context: LocalContext): void;
  routes(app: FastifyInstance, context: LocalContext): void;
}
