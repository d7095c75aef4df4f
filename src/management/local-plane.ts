import type { FastifyBaseLogger } from 'fastify';
import { httpChallengeResolver } from '../../edge/local/certificates/http-challenge.ts';
import { type ControlPlane, localResources, startControlPlane } from '../../edge/local/control-plane.ts';
import { openTokenStore, requireToken } from '../../edge/local/database/access-tokens.ts';
import type { EventStore } from '../../store/event-store.ts';
import type { Config } from '../config/config.ts';
import type { LocalPlane } from '../config/edge-config.ts';
import { guardianDays } from './guardian-counts.ts';
import { machineReadings, type ProgramHistory, startProgramHistory } from './program-history.ts';

const CHALLENGE_DEADLINE_MS = 10_000;

interface EdgeOptions {
  readonly config: Pick<Config, 'dataDir' | 'queryDeadlineMs' | 'challengeResolverUrl'>;
  readonly store: EventStore;
  /** Unix ms UTC. */
  readonly now: () => number;
  readonly logger: FastifyBaseLogger;
}

/** The local control plane, and the history of the program that it shows. */
export interface Edge {
  readonly plane: ControlPlane & LocalPlane;
  readonly history: ProgramHistory;
  stop(): Promise<void>;
}

/** Starts the local control plane. Rejects where its state cannot be opened or is that of a newer program. */
export async function startEdge({ config, store, now, logger }: EdgeOptions): Promise<Edge> {
  const { dataDir, queryDeadlineMs: deadlineMs, challengeResolverUrl: url } = config;
  const tokens = openTokenStore(dataDir, now);
  const history = startProgramHistory(now, machineReadings(dataDir), logger);
  try {
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
    const stop = async (): Promise<void> => {
      history.stop();
      tokens.close();
      await plane.stop();
    };
    return { plane: { ...plane, requireDatabaseToken: (authorization) => void requireToken(authorization, tokens) }, history, stop };
  } catch (error) {
    history.stop();
    tokens.close();
    throw error;
  }
}
