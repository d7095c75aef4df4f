import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from './free-port.ts';
import type { KafkaBroker } from './kafka-broker.ts';
import type { KafkaDistribution } from './kafka-distribution.ts';
import { until } from './until.ts';

const CLUSTER_ID = 'MkU3OEVBNTcwNTJENDM2Qg';

/** A broker of tests is small and short-lived: the first compiler alone starts faster. */
const JVM_OPTIONS = ['-Xms128m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

export type BrokerSettings = (port: number, controllerPort: number) => Readonly<Record<string, string>>;

export interface JarBrokerOptions {
  /** Makes entries of server.properties, which win over the usual ones, from the port of the listener and that of the controller. */
  readonly settings?: BrokerSettings;
  /** Further arguments of `kafka-storage format`, such as the users that the broker knows from its beginning. */
  readonly formatArgs?: readonly string[];
  readonly jvmOptions?: readonly string[];
}

/** Starts a broker as a program of this machine, on free loopback ports, with its data in a temporary folder. */
export async function startJarBroker(
  kafka: KafkaDistribution,
  { settings = () => ({}), formatArgs = [], jvmOptions = [] }: JarBrokerOptions = {},
): Promise<KafkaBroker> {
  const folder = await mkdtemp(join(tmpdir(), 'shieldlog-kafka-'));
  const [port = 0, controllerPort = 0] = await freePorts(2);
  const properties = join(folder, 'server.properties');
  const entries = { ...usualSettings(join(folder, 'data'), port, controllerPort), ...settings(port, controllerPort) };
  await writeFile(properties, propertiesText(entries));
  await promisify(execFile)(kafka.java, [
    ...JVM_OPTIONS,
    ...['-cp', kafka.classPath, 'kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c', properties, ...formatArgs],
  ]);
  let broker = await launch(kafka, folder, port, jvmOptions);
  return {
    address: `127.0.0.1:${port}`,
    crash: () => end(broker, 'SIGKILL'),
    revive: async () => {
      broker = await launch(kafka, folder, port, jvmOptions);
    },
    stop: async () => {
      await end(broker, 'SIGTERM');
      await rm(folder, { recursive: true });
    },
  };
}

async function launch(kafka: KafkaDistribution, folder: string, port: number, jvmOptions: readonly string[]): Promise<ChildProcess> {
  const logPath = join(folder, 'broker.txt');
  const log = await open(logPath, 'a');
  const args = [...JVM_OPTIONS, ...jvmOptions, '-cp', kafka.classPath, 'kafka.Kafka', join(folder, 'server.properties')];
  const broker = spawn(kafka.java, args, { stdio: ['ignore', log.fd, log.fd] });
  await log.close();
  // A broker that was left behind by a run that broke off would be there for ever.
  const killWithUs = (): boolean => broker.kill('SIGKILL');
  process.once('exit', killWithUs);
  broker.once('exit', () => process.off('exit', killWithUs));
  const state = await until(
    'the broker to listen',
    async () => (broker.exitCode === null ? ((await accepts(port)) ? 'listens' : 'starting') : 'ended'),
    (answer) => answer !== 'starting',
  );
  if (state === 'ended') {
    throw new Error(`the broker ended while it started:\n${(await readFile(logPath, 'utf8')).slice(-4000)}`);
  }
  return broker;
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    // Refused: not up yet.
    return false;
  } finally {
    socket.destroy();
  }
}

async function end(broker: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  if (broker.exitCode === null && broker.signalCode === null) {
    const exit = once(broker, 'exit');
    broker.kill(signal);
    await exit;
  }
}

function usualSettings(data: string, port: number, controllerPort: number): Record<string, string> {
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'log.dirs': data,
    'auto.create.topics.enable': 'false',
    'offsets.topic.num.partitions': '1',
    'offsets.topic.replication.factor': '1',
    'transaction.state.log.num.partitions': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'share.coordinator.state.topic.num.partitions': '1',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    'group.initial.rebalance.delay.ms': '0',
    'log.cleaner.dedupe.buffer.size': '4194304',
    'log.retention.check.interval.ms': '1000',
    'num.network.threads': '2',
    'num.io.threads': '2',
  };
}

/** A Java properties file; a backslash and the end of a line would mean something in a value. */
function propertiesText(entries: Readonly<Record<string, string>>): string {
  const escaped = (value: string): string => value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return Object.entries(entries)
    .map(([name, value]) => `${name}=${escaped(value)}\n`)
    .join('');
}
