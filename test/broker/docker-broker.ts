import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers';
import { freePorts } from './free-port.ts';
import type { KafkaBroker } from './kafka-broker.ts';

const IMAGE = 'apache/kafka:4.1.1';
const STARTED = /Kafka Server started/;

/** Whether a container engine answers. */
export async function dockerAnswers(): Promise<boolean> {
  try {
    await getContainerRuntimeClient();
    return true;
  } catch {
    // testcontainers found no engine anywhere it looks.
    return false;
  }
}

/** Starts a broker in a container. The port is fixed from the start, so that the broker can be revived at its address. */
export async function startDockerBroker(): Promise<KafkaBroker> {
  const [port = 0] = await freePorts(1);
  const container = await new GenericContainer(IMAGE)
    .withExposedPorts({ container: 9092, host: port })
    .withEnvironment({
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_NODE_ID: '1',
      KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
      KAFKA_LISTENERS: 'PLAINTEXT://:9092,CONTROLLER://:9093',
      KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${port}`,
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
      KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS: '1',
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
      KAFKA_LOG_RETENTION_CHECK_INTERVAL_MS: '1000',
    })
    .withWaitStrategy(Wait.forLogMessage(STARTED))
    .start();
  const { container: engine } = await getContainerRuntimeClient();
  const handle = engine.getById(container.getId());
  return {
    address: `127.0.0.1:${port}`,
    crash: async () => {
      await handle.kill();
    },
    revive: async () => {
      await handle.start();
    },
    stop: async () => {
      await container.stop();
    },
  };
}
