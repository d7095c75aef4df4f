import { freePorts } from '../../broker/free-port.ts';
import { serverFolder } from '../engine.ts';
import { startServer } from '../server/server-process.ts';
import { nodeConfig } from './cluster-config.ts';
import { NativeRelay } from './native-relay.ts';

export interface ClusterProcess {
  /** The HTTP interface of each node's process, a shard each, in their order. A process knows nothing of ON CLUSTER. */
  readonly processes: readonly string[];
  /** The ways to the first name of each node. Without one, other nodes find the second name, which is another replica to them. */
  readonly relays: readonly NativeRelay[];
  /** Ends the processes, and removes their folders. */
  stop(): Promise<void>;
}

const SHARDS = 2;

/** Starts the processes of a cluster. They end with this process. */
export async function startCluster(): Promise<ClusterProcess> {
  const tcpPorts = await freePorts(SHARDS);
  const [relays, others] = [await relaysTo(tcpPorts), await relaysTo(tcpPorts)];
  const names = relays.map(({ port }, index) => [port, others[index]?.port ?? 0] as const);
  const closeRelays = (): void => {
    for (const relay of [...relays, ...others]) relay.goAway();
  };
  const processes = await Promise.all(
    tcpPorts.map((tcpPort, index) => startServer(serverFolder(), { tcpPort, config: nodeConfig(index + 1, names) })),
  ).catch((error: unknown) => {
    closeRelays();
    throw error;
  });
  return {
    processes: processes.map(({ url }) => url),
    relays,
    stop: async () => {
      await Promise.all(processes.map((one) => one.stop()));
      closeRelays();
    },
  };
}

function relaysTo(ports: readonly number[]): Promise<readonly NativeRelay[]> {
  return Promise.all(ports.map((port) => NativeRelay.open(port)));
}
