import { join } from 'node:path';
import type { FastifyBaseLogger } from 'fastify';
import { EdgeError } from '../../edge/edge-error.ts';
import { httpChallengeResolver } from '../../edge/local/certificates/http-challenge.ts';
import { type ControlPlane, localResources, startControlPlane } from '../../edge/local/control-plane.ts';
import { damagedState, NewerState, STATE_FILE } from '../../edge/local/control-plane-state.ts';
import { openTokenStore, requireToken, type TokenStore } from '../../edge/local/database/access-tokens.ts';
import { DATABASE_FILE } from '../../edge/local/database/database-resource.ts';
import type { EventStore } from '../../store/event-store.ts';
import { isUnusable } from '../../store/sqlite-transaction.ts';
import { IncompatibleStore, StoreError } from '../../store/store-error.ts';
import type { Config } from '../config/config.ts';
import type { LocalPlane } from '../config/edge-config.ts';
import { guardianDays } from './guardian-counts.ts';
import { machineReadings, type ProgramHistory, startProgramHistory } from './program-history.ts';

const CHALLENGE_DEADLINE_MS = 10_000;

interface EdgeOptions {
  readonly config: Pick<Config, 'dataDir' | 'queryDeadlineMs' | 'challengeResolverUrl'>;
  readonly store: Pick<EventStore, 'search'>;
  /** Unix ms UTC. */
  readonly now: () => number;
  readonly logger: FastifyBaseLogger;
}

/** The local control plane, and the history of the program that it shows. */
export interface Edge {
  /** Throws EdgeError 503 `state.damaged` where its state was damaged at the start. */
  readonly plane: () => LocalPlane;
  readonly history: ProgramHistory;
  /** The paths of its SQLite files, which may not be there. */
  readonly stateFiles: readonly string[];
  /** Says for people what they have to look at. */
  notes(): readonly string[];
  stop(): Promise<void>;
}

/** The control plane with its tokens, both of which are in one file. */
interface OpenPlane {
  readonly plane: ControlPlane & LocalPlane;
  stop(): Promise<void>;
}

/**
 * Starts the local control plane. Rejects with StoreError (`folder_unusable`) where its files cannot be used, as on a full disk, and with
 * IncompatibleStore where its state is that of a newer program.
 */
export async function startEdge(options: EdgeOptions): Promise<Edge> {
  const { config, now, logger } = options;
  const history = startProgramHistory(now, machineReadings(config.dataDir), logger);
  try {
    const opened = await openPlane(options, history);
    const stop = async (): Promise<void> => {
      history.stop();
      await (opened instanceof EdgeError ? undefined : opened.stop());
    };
    return {
      plane: () => {
        if (opened instanceof EdgeError) throw opened;
        return opened.plane;
      },
      notes: () => (opened instanceof EdgeError ? [opened.message] : []),
      stateFiles: [STATE_FILE, DATABASE_FILE].map((name) => join(config.dataDir, name)),
      history,
      stop,
    };
  } catch (error) {
    history.stop();
    if (error instanceof NewerState) throw new IncompatibleStore(`DATA_DIR: ${JSON.stringify(config.dataDir)}: ${error.message}`);
    // A transaction that finds the disk full says so by an EdgeError.
    if (!isUnusable(error) && !(error instanceof EdgeError)) throw error;
    const what = `the files of the control plane in ${JSON.stringify(config.dataDir)} cannot be opened: ${(error as Error).message}`;
    throw new StoreError('folder_unusable', `DATA_DIR: ${what}`, { cause: error });
  }
}

/** Returns EdgeError 503 `state.damaged` where the state is damaged: searches and intake do not need it. */
async function openPlane({ config, store, now, logger }: EdgeOptions, history: ProgramHistory): Promise<OpenPlane | EdgeError> {
  const { dataDir, queryDeadlineMs: deadlineMs, challengeResolverUrl: url } = config;
  let tokens: TokenStore | undefined;
  try {
    tokens = openTokenStore(dataDir, now);
    const plane = await startControlPlane({
      dataDir,
      now,
      logger,
      program: history.view,
      guardianCounts: (zoneId) => guardianDays({ store, now, deadlineMs }, zoneId),
      resources: localResources({
        challengeResolver: url === null ? null : httpChallengeResolver({ url, deadlineMs: CHALLENGE_DEADLINE_MS }),
      }),
    });
    const open = tokens;
    const requireDatabaseToken = (authorization: string | undefined): void => void requireToken(authorization, open);
    const stop = async (): Promise<void> => {
      open.close();
      await plane.stop();
    };
    return { plane: { ...plane, requireDatabaseToken }, stop };
  } catch (error) {
    tokens?.close();
    const damaged = damagedState(error);
    if (damaged === null) throw error;
    logger.error({ err: error }, damaged.message);
    return damaged;
  }
}
