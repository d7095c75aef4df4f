import { dockerAnswers, startDockerBroker } from './docker-broker.ts';
import { startJarBroker } from './jar-broker.ts';
import { findKafka } from './kafka-distribution.ts';

/** A real Kafka broker that the tests may also kill. */
export interface KafkaBroker {
  /** `host:port`. */
  readonly address: string;
  /** Kills it without notice (SIGKILL). */
  crash(): Promise<void>;
  /** Starts it again after `crash` at the same address, on the data it left. */
  revive(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

/**
 * Starts a broker of one's own: in Docker where an engine answers, otherwise on a Java runtime. Throws one line where neither can be had.
 */
export async function startBroker(): Promise<KafkaBroker> {
  if (await dockerAnswers()) {
    return await startDockerBroker();
  }
  const kafka = await findKafka().catch((cause: Error) => {
    throw new Error(
      `no Kafka broker can be had: no Docker engine answers; ${cause.message}; ` +
        'a Docker engine would do, too, or for most tests KAFKA_BROKERS=host:port of a broker that runs',
      { cause },
    );
  });
  return await startJarBroker(kafka);
}
