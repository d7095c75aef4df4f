import { describe, expect, test } from 'vitest';
import { FIRST_NODE } from './cluster-config.ts';
import { isOnCluster, isSync, statementOfNode } from './node-statement.ts';

describe('a node runs', () => {
  test.each([
    ["CREATE DATABASE IF NOT EXISTS `d` ON CLUSTER 'c'", 'CREATE DATABASE IF NOT EXISTS `d`'],
    ["CREATE FUNCTION IF NOT EXISTS f ON CLUSTER 'c' AS (x) -> ' ON CLUSTER '", "CREATE FUNCTION IF NOT EXISTS f AS (x) -> ' ON CLUSTER '"],
    ["ALTER TABLE t ON CLUSTER 'c' DROP PARTITION 20000", 'ALTER TABLE t DROP PARTITION 20000'],
    ["SYSTEM STOP MERGES ON CLUSTER 'c' d.t", 'SYSTEM STOP MERGES d.t'],
    [
      `CREATE TABLE IF NOT EXISTS "e" ON CLUSTER 'c' (a Int64) ENGINE = Distributed('c', 'd', 't', a) COMMENT '1,1'`,
      `CREATE TABLE IF NOT EXISTS "e" (a Int64) ENGINE = Distributed('c', 'd', 't', a) COMMENT '1,1'`,
    ],
    [
      "CREATE TABLE IF NOT EXISTS t ON CLUSTER 'c' (a Int64) ENGINE = ReplicatedMergeTree('/c/tables/{shard}/d/t', '{replica}') ORDER BY a",
      'CREATE TABLE IF NOT EXISTS t (a Int64) ENGINE = MergeTree() ORDER BY a',
    ],
    [
      `CREATE TABLE IF NOT EXISTS "t" ON CLUSTER 'c' (a Int64)
ENGINE = ReplicatedReplacingMergeTree('/c/tables/{shard}/d/t', '{replica}', "a") ORDER BY a`,
      `CREATE TABLE IF NOT EXISTS "t" (a Int64)
ENGINE = ReplacingMergeTree("a") ORDER BY a`,
    ],
  ])('%s without the cluster', (statement, ofNode) => {
    expect(isOnCluster(statement)).toBe(true);
    expect([1, 2].map((shard) => statementOfNode(statement, shard))).toEqual([ofNode, ofNode]);
  });

  const path = "'/c/tables/all/d/t', '{shard}-{replica}'";

  test.each([
    [`ReplicatedMergeTree(${path})`, 'MergeTree()'],
    [`ReplicatedReplacingMergeTree(${path}, a)`, 'ReplacingMergeTree(a)'],
  ])('%s on the first node, and asks that one on the others', (engine, plain) => {
    const statement = `CREATE TABLE IF NOT EXISTS t ON CLUSTER 'c' (a Int64) ENGINE = ${engine} ORDER BY a SETTINGS fsync_after_insert = 1`;
    expect([1, 2, 3].map((shard) => statementOfNode(statement, shard))).toEqual([
      `CREATE TABLE IF NOT EXISTS t (a Int64) ENGINE = ${plain} ORDER BY a SETTINGS fsync_after_insert = 1`,
      `CREATE TABLE IF NOT EXISTS t AS cluster('${FIRST_NODE}', 'd', 't')`,
      `CREATE TABLE IF NOT EXISTS t AS cluster('${FIRST_NODE}', 'd', 't')`,
    ]);
  });
});

test.each([
  "SELECT ' ON CLUSTER '",
  "SELECT count() FROM cluster('c', view(SELECT 1))",
  "INSERT INTO t SELECT ' ON CLUSTER ''c'''",
  "CREATE TABLE t (a String DEFAULT ' ON CLUSTER ''c''') ENGINE = Memory",
])('only the node that is asked runs %s', (statement) => {
  expect(isOnCluster(statement)).toBe(false);
});

test.each([
  ["SYSTEM SYNC REPLICA ON CLUSTER 'c' d.t LIGHTWEIGHT", true],
  ['SYSTEM SYNC REPLICA `t` LIGHTWEIGHT', true],
  ["SYSTEM STOP MERGES ON CLUSTER 'c' d.t", false],
])('whether %s waits for replicas: %s', (statement, waits) => {
  expect(isSync(statement)).toBe(waits);
});

test('a replicated table that is made in another way is refused, rather than made where it is not looked for', () => {
  const statement = "CREATE OR REPLACE TABLE t ON CLUSTER 'c' (a Int64) ENGINE = ReplicatedMergeTree('/c/tables/all/d/t', '1') ORDER BY a";
  expect(() => statementOfNode(statement, 2)).toThrow('A replicated table is made in another way');
});
