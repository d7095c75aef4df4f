import type { Route, Run } from '../server/breakable-proxy.ts';
import type { StatementRequest } from '../server/statement-request.ts';
import { isOnCluster, isSync, statementOfNode } from './node-statement.ts';

interface Node {
  readonly server: URL;
  readonly shard: number;
  isAway: boolean;
  /** What it has to run once it is back. */
  readonly missed: StatementRequest[];
}

/** What a server answers where not all nodes have run a statement in time. */
const TIMEOUT = {
  code: 159,
  name: 'TIMEOUT_EXCEEDED',
  message: 'Distributed DDL task is not finished on 1 of 2 hosts. They are going to execute the query in background',
};

/** What a server runs where there is nothing to do. */
const NOTHING = 'SELECT 1 WHERE false';

/** Answers what nodes have done, and fails for none that is late. */
const WITHOUT_LATE = 'null_status_on_timeout';

/** The table with the milliseconds by which the clock of a node is ahead of its process's, as differences that add up. */
export const CLOCK_TABLE = 'node_clock.steps';

const CLOCK = `(now64(6) + toIntervalMillisecond((SELECT sum(ms) FROM ${CLOCK_TABLE})))`;

/**
 * Runs statements on the nodes of a cluster, which are processes that know nothing of ON CLUSTER. As where Keeper has a list of them, a
 * node that is away runs what it has missed when it is back.
 */
export class NodeRoutes {
  readonly #nodes: readonly Node[];
  readonly #hasClocks: boolean;

  /**
   * @param processes the HTTP interface of each node's process, in the order of the shards
   * @param hasClocks whether each node has a clock of its own, in {@link CLOCK_TABLE}
   */
  constructor(processes: readonly string[], hasClocks = false) {
    this.#nodes = processes.map((url, index) => ({ server: new URL(url), shard: index + 1, isAway: false, missed: [] }));
    this.#hasClocks = hasClocks;
  }

  /** What is done about a statement that a node is asked for. */
  of(shard: number, asked: StatementRequest): Route {
    const { statement } = asked;
    const { server } = this.#nodeOf(shard);
    if (!isOnCluster(statement)) {
      const ofProcess = isSync(statement) ? NOTHING : this.#hasClocks ? statement.replaceAll('now64(6)', CLOCK) : statement;
      return { before: [], last: { server, statement: ofProcess } };
    }
    const away = this.#nodes.filter(({ isAway }) => isAway);
    const isLate = away.length > 0 && asked.setting('distributed_ddl_output_mode') !== WITHOUT_LATE;
    if (isSync(statement)) return { before: [], last: isLate ? TIMEOUT : { server, statement: NOTHING } };
    const ofNode = (node: Node): string => statementOfNode(statement, node.shard);
    for (const node of away) node.missed.push(asked.with(ofNode(node)));
    const present = this.#nodes.filter(({ isAway }) => !isAway);
    const runs = present.map((node) => ({ server: node.server, statement: ofNode(node) }));
    const last = runs.at(-1) as Run;
    return isLate ? { before: runs, last: TIMEOUT } : { before: runs.slice(0, -1), last };
  }

  leave(shard: number): void {
    this.#nodeOf(shard).isAway = true;
  }

  /** Has the node run what it has missed. */
  async comeBack(shard: number): Promise<void> {
    const node = this.#nodeOf(shard);
    for (const { raw } of node.missed.splice(0)) {
      const answer = await fetch(new URL(raw.path, node.server), { method: 'POST', body: raw.body });
      if (!answer.ok) throw new Error(await answer.text());
    }
    node.isAway = false;
  }

  #nodeOf(shard: number): Node {
    return this.#nodes[shard - 1] as Node;
  }
}
