import { dockerAnswers, startDockerBroker } from './docker-broker.ts';
import { startJarBroker } from './jar-broker.ts';
import { findJars } from './kafka-jars.ts';

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

/** Starts a broker of one's own: in Docker where an engine answers, otherwise from Maven's jars. Throws, naming the ways, when neither can be had. */
export async function startBroker(): Promise<KafkaBroker> {
  if (await dockerAnswers()) {
    return await startDockerBroker();
  }
  try {
    return await startJarBroker(await findJars());
  } catch (cause) {
    throw new Error(
      `no Kafka broker can be had: ${(cause as Error).message}\n` +
        'These tests need a real one. Any of these will do:\n' +
        '  1. set KAFKA_BROKERS=host:port of a running broker, for all tests but those that kill a broker\n' +
        '  2. start a Docker engine (the tests run the image apache/kafka)\n' +
        '  3. install Java 17 or later and Maven (the tests fetch and run the jars of Apache Kafka)',
      { cause },
    );
  }
}
