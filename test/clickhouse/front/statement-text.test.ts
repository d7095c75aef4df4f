import { describe, expect, test } from 'vitest';
import { asSeenBy, insertFromFile, quoted, type ServerView, statementFacts, withoutNodes } from './statement-text.ts';

const OTHER: ServerView = {
  hostName: 'front-2',
  processes: 'f.processes_2',
  queryId: 'idOf(x)',
  clockOffsetMs: 7,
  cluster: () => undefined,
};
const VIEW: ServerView = {
  hostName: 'front-1',
  processes: 'f.processes_1',
  queryId: 'idOf(x)',
  clockOffsetMs: 0,
  cluster: (name) => (name === 'all' ? [VIEW, OTHER] : undefined),
};

describe('a statement', () => {
  test.each([
    { statement: 'SELECT 1', verb: 'SELECT', format: undefined, reads: true, streams: true },
    { statement: '-- c\n/* ; */ select 1 Format JSONCompact ', verb: 'SELECT', format: 'JSONCompact', reads: true, streams: false },
    {
      statement: "WITH 'FORMAT x; y' AS a SELECT a FORMAT JSONCompactEachRow;",
      verb: 'WITH',
      format: 'JSONCompactEachRow',
      reads: true,
      streams: true,
    },
    {
      statement: 'INSERT INTO t (a) FORMAT JSONEachRow {"a": "; FORMAT"}',
      verb: 'INSERT',
      format: 'JSONEachRow',
      reads: false,
      streams: false,
    },
    { statement: "INSERT INTO t SELECT 'FORMAT a'", verb: 'INSERT', format: undefined, reads: false, streams: false },
    { statement: '', verb: '', format: undefined, reads: false, streams: false },
  ])('$statement is told by its words', ({ statement, ...facts }) => {
    expect(statementFacts(statement)).toEqual({ ...facts, isSeveral: false });
  });

  test('is not alone if another one follows', () => {
    expect(statementFacts("SELECT ';'; SELECT 2").isSeveral).toBe(true);
  });
});

describe('an INSERT reads its data from a file', () => {
  test.each([
    { statement: 'INSERT INTO t FORMAT JSONEachRow', from: "INSERT INTO t  FROM INFILE '/f' FORMAT JSONEachRow" },
    {
      statement: 'INSERT INTO "format" (a, `settings`) SETTINGS x = 1 FORMAT CSV',
      from: 'INSERT INTO "format" (a, `settings`)  FROM INFILE \'/f\' SETTINGS x = 1 FORMAT CSV',
    },
    {
      statement: "INSERT INTO t SELECT a, lower(b) FROM input('a Int64, b String') AS i WHERE (a > 1) FORMAT Parquet",
      from: "INSERT INTO t SELECT a, lower(b) FROM file('/f', 'Parquet', 'a Int64, b String') AS i WHERE (a > 1) ",
    },
  ])('$statement', ({ statement, from }) => {
    expect(insertFromFile(statement, '/f', 'Parquet')).toBe(from);
  });

  test('or a part of it', () => {
    expect(insertFromFile("INSERT INTO t SELECT a FROM input('a Int64') FORMAT Parquet", '/f', 'Parquet', 'a < 3')).toBe(
      "INSERT INTO t SELECT a FROM (SELECT * FROM file('/f', 'Parquet', 'a Int64') WHERE a < 3) ",
    );
  });
});

describe('a server sees', () => {
  test.each([
    {
      statement: "SELECT 'system.processes', query_id FROM system.processes",
      seen: "SELECT 'system.processes', query_id FROM f.processes_1",
    },
    { statement: "KILL QUERY WHERE query_id = 'query_id' SYNC", seen: "KILL QUERY WHERE idOf(x) = 'query_id' ASYNC" },
    {
      statement: "SELECT a FROM clusterAllReplicas('all', system.processes) AS p",
      seen: 'SELECT a FROM (SELECT * FROM (SELECT * FROM f.processes_1) UNION ALL SELECT * FROM (SELECT * FROM f.processes_2)) AS p',
    },
    {
      statement: "SELECT h FROM clusterAllReplicas('all', view(SELECT hostName() AS h, now64(6) AS n))",
      seen: [
        "SELECT h FROM (SELECT * FROM (SELECT 'front-1' AS h, now64(6) AS n)",
        " UNION ALL SELECT * FROM (SELECT 'front-2' AS h, (now64(6) + toIntervalMillisecond(7)) AS n))",
      ].join(''),
    },
    {
      statement: "SELECT a FROM cluster('all', view(SELECT hostName() AS a))",
      seen: "SELECT a FROM (SELECT * FROM (SELECT 'front-1' AS a))",
    },
    { statement: "SELECT a FROM clusterAllReplicas('some', t)", seen: "SELECT a FROM clusterAllReplicas('some', t)" },
    { statement: 'SELECT processes, now64(6) FROM t', seen: 'SELECT processes, now64(6) FROM t' },
  ])('$statement as its own', ({ statement, seen }) => {
    expect(asSeenBy(VIEW, statement)).toBe(seen);
  });

  test('its own time', () => {
    expect(asSeenBy({ ...VIEW, clockOffsetMs: -5 }, "SELECT toInt64(now64(6)), 'now64(6)' FROM system.processes")).toBe(
      "SELECT toInt64((now64(6) + toIntervalMillisecond(-5))), 'now64(6)' FROM f.processes_1",
    );
  });
});

describe('without the nodes of a cluster', () => {
  test.each([
    { statement: `SELECT "a ON CLUSTER 'c'" FROM t`, alone: `SELECT "a ON CLUSTER 'c'" FROM t` },
    { statement: "ALTER TABLE t ON CLUSTER 'c' DROP PARTITION 1", alone: 'ALTER TABLE t DROP PARTITION 1' },
    {
      statement: `CREATE TABLE t ON CLUSTER 'c' (a Int8) ENGINE = ReplicatedReplacingMergeTree('/{shard}/t', '{replica}', "a") ORDER BY a`,
      alone: 'CREATE TABLE t (a Int8) ENGINE = ReplacingMergeTree("a") ORDER BY a',
    },
    {
      statement: "CREATE TABLE t ON CLUSTER 'c' (a Int8) ENGINE = ReplicatedMergeTree('/all/t', '{shard}-{replica}') ORDER BY a",
      alone: 'CREATE TABLE t (a Int8) ENGINE = MergeTree() ORDER BY a',
    },
    { statement: "SYSTEM SYNC REPLICA ON CLUSTER 'c' d.t LIGHTWEIGHT", alone: undefined },
    { statement: 'SYSTEM SYNC REPLICA `t` LIGHTWEIGHT', alone: 'SYSTEM SYNC REPLICA `t` LIGHTWEIGHT' },
  ])('$statement is another one', ({ statement, alone }) => {
    expect(withoutNodes(statement)).toBe(alone);
  });
});

test('a text is a literal with its marks escaped', () => {
  expect(quoted("a'b\\c\0\n")).toBe("'a\\'b\\\\c\\0\n'");
});
