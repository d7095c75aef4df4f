import { areNamed, type FeedZones } from '../../../query/plan/feed-zones.ts';
import { SHARDED_EVENTS } from '../../../sql/clickhouse/cluster.ts';

/** Values of ClickHouse's settings, by name. */
export type ClickhouseSettings = Readonly<Record<string, string | number>>;

/** An answer has all of its rows and no others, whatever the server's own settings say. */
export const WHOLE_ANSWER: ClickhouseSettings = {
  limit: 0,
  offset: 0,
  // There are no rows of extremes behind its own.
  extremes: 0,
  // A count of nothing is a row.
  empty_result_for_aggregation_by_empty_set: 0,
};

/** What every statement is sent with, so that it means the same whatever the server's own settings are. */
export const STATEMENT_SETTINGS: ClickhouseSettings = {
  ...WHOLE_ANSWER,
  // Missing values as SQL has them: a cast, an outer join and a grouping set keep and make NULL.
  cast_keep_nullable: 1,
  join_use_nulls: 1,
  group_by_use_nulls: 1,
  transform_null_in: 0,
  // A count of nothing is 0.
  aggregate_functions_null_for_empty: 0,
  // A column is as its table says.
  data_type_default_nullable: 0,
  // The older analyzer does not find the columns that a table computes.
  allow_experimental_analyzer: 1,
  // A name means the column also where an expression of the SELECT list has the same name.
  prefer_column_name_to_alias: 1,
  // Node's numbers have 53 bits.
  output_format_json_quote_64bit_integers: 1,
  output_format_json_escape_forward_slashes: 0,
  // The largest requests of docs/limits.md need no more, which a profile of the server may lower. Long lists stand in the statement's text.
  max_query_size: 16 * 1024 * 1024,
  max_ast_elements: 50_000,
  max_expanded_ast_elements: 500_000,
  max_parser_depth: 1_000,
  // Of copies the first wins before a condition is tried on it, so that a later copy never matches in its place.
  optimize_move_to_prewhere_if_final: 0,
  // Except for conditions on the sequence, which say what a statement sees.
  apply_prewhere_after_final: 0,
  // An answer is whole and of this moment, or it is an error. A limit of a profile may also leave the rest out without a word.
  wait_end_of_query: 1,
  use_query_cache: 0,
  read_overflow_mode: 'throw',
  read_overflow_mode_leaf: 'throw',
  group_by_overflow_mode: 'throw',
  sort_overflow_mode: 'throw',
  distinct_overflow_mode: 'throw',
  set_overflow_mode: 'throw',
  join_overflow_mode: 'throw',
  transfer_overflow_mode: 'throw',
  result_overflow_mode: 'throw',
  timeout_overflow_mode: 'throw',
  timeout_overflow_mode_leaf: 'throw',
};

/** What a statement that reads is sent with besides. */
export const READ_SETTINGS: ClickhouseSettings = {
  // A statement whose reader hangs up before it has begun cannot be killed by its id. The server itself ends those that only read.
  cancel_http_readonly_queries_on_client_close: 1,
  readonly: 2,
};

/** What an INSERT is sent with besides. */
export const INSERT_SETTINGS: ClickhouseSettings = {
  // Events of all days of the retention may come in one block.
  max_partitions_per_insert_block: 0,
  // The answer to an INSERT says that its rows are stored and visible; servers of 26.9 and later answer before that by default.
  async_insert: 0,
};

/** For statements whose rows before the limit are counted. */
export const WITH_TOTAL = { exact_rows_before_limit: 1 } as const;

/** Errors of a replica are counted up to this, unless somebody has set it otherwise (`distributed_replica_error_cap`). */
const COUNTED_ERRORS = 1_000;

/** What every statement is sent with on a cluster. */
export const CLUSTER_SETTINGS: ClickhouseSettings = {
  // An answer has the rows of all shards, and groups of them once.
  skip_unavailable_shards: 0,
  distributed_group_by_no_merge: 0,
  // An insert has reached its shards before it is acknowledged.
  distributed_foreground_insert: 1,
  // Every statement keeps to the first replica of a shard that can be reached, whichever node it is asked of: what one program was told to
  // be stored is found by the others. So no replica is preferred for being near, for its errors before, or for being faster.
  load_balancing: 'in_order',
  prefer_localhost_replica: 0,
  distributed_replica_max_ignored_errors: COUNTED_ERRORS,
  use_hedged_requests: 0,
  max_parallel_replicas: 1,
  distributed_insert_skip_read_only_replicas: 1,
  // A replica that was away is left for another until it lacks no more than what came in the last second.
  max_replica_delay_for_distributed_queries: 1,
  // The copies of an event are on one shard, and so are both sides of an IN.
  distributed_product_mode: 'local',
};

/** What is to run on all nodes runs later on those that are away, which does not fail it. */
export const WITHOUT_AWAY: ClickhouseSettings = { distributed_ddl_output_mode: 'null_status_on_timeout', distributed_ddl_task_timeout: 30 };

/** ClickHouse stores one INSERT with a token, and leaves others with it out: of programs that send it at once one is the first. */
export function insertedOnce(token: string): ClickhouseSettings {
  return {
    insert_deduplication_token: token,
    insert_deduplicate: 1,
    deduplicate_insert: 'enable',
    deduplicate_insert_select: 'force_enable',
  };
}

/** So many zones may be named by a statement that asks their shards alone. */
const NAMED_ZONES = 1_000_000;

/** For statements about these zones of a table of events: of that of several shards they ask none without one of the zones, or fail. */
export function settingsOfZones(table: string, zones: FeedZones): ClickhouseSettings {
  return table === SHARDED_EVENTS && areNamed(zones) && zones.length > 0
    ? { optimize_skip_unused_shards: 1, force_optimize_skip_unused_shards: 1, optimize_skip_unused_shards_limit: NAMED_ZONES }
    : {};
}
