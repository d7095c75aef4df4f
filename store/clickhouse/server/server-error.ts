import { ClickHouseError } from '@clickhouse/client';
import { StoreError } from '../../store-error.ts';

/** A statement answers more than its reader takes, or than the program has memory for. */
export class AnswerTooLarge extends StoreError {
  constructor(message: string, options?: ErrorOptions) {
    super('overloaded', message, options);
    this.name = 'AnswerTooLarge';
  }
}

/** No server answers. */
export class ServerUnreachable extends StoreError {
  constructor(message: string) {
    super('unavailable', message);
  }
}

/**
 * What ClickHouse's numbers of errors mean to this program: https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp.
 * Their names stand at the end of a message, but words of the message may look like one.
 */
type Meaning = 'signedOut' | 'denied' | 'gone' | 'tooLarge' | 'busy' | 'unwritable' | 'cutOff' | 'otherStore' | 'defect';

const MEANINGS: Readonly<Record<Meaning, readonly number[]>> = {
  // UNKNOWN_USER, WRONG_PASSWORD, REQUIRED_PASSWORD, AUTHENTICATION_FAILED
  signedOut: [192, 193, 194, 516],
  // READONLY, DATABASE_ACCESS_DENIED, ACCESS_DENIED
  denied: [164, 291, 497],
  // UNKNOWN_FUNCTION, UNKNOWN_TABLE, UNKNOWN_DATABASE
  gone: [46, 60, 81],
  // TOO_MANY_ROWS, which is also said of groups, TOO_MANY_ROWS_OR_BYTES
  tooLarge: [158, 396],
  // TIMEOUT_EXCEEDED, TOO_SLOW, CANNOT_ALLOCATE_MEMORY, QUOTA_EXCEEDED, TOO_MANY_SIMULTANEOUS_QUERIES, MEMORY_LIMIT_EXCEEDED,
  // TOO_MANY_PARTS, QUERY_WAS_CANCELLED, CANNOT_SCHEDULE_TASK, SERVER_OVERLOADED
  busy: [159, 160, 173, 201, 202, 241, 252, 394, 439, 745],
  // CANNOT_WRITE_TO_FILE_DESCRIPTOR, TABLE_IS_READ_ONLY, NOT_ENOUGH_SPACE, TABLE_IS_PERMANENTLY_READ_ONLY
  unwritable: [75, 242, 243, 774],
  // SOCKET_TIMEOUT, NETWORK_ERROR, NO_ZOOKEEPER, ABORTED, ALL_CONNECTION_TRIES_FAILED, TOO_FEW_LIVE_REPLICAS,
  // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE, UNKNOWN_STATUS_OF_INSERT, ALL_REPLICAS_ARE_STALE, KEEPER_EXCEPTION
  cutOff: [209, 210, 225, 236, 279, 285, 286, 319, 369, 999],
  // FUNCTION_THROW_IF_VALUE_IS_NON_ZERO, by `inStore` of sql/clickhouse/store-tables.ts
  otherStore: [395],
  // BAD_ARGUMENTS, NUMBER_OF_ARGUMENTS_DOESNT_MATCH, ILLEGAL_TYPE_OF_ARGUMENT, TYPE_MISMATCH, SYNTAX_ERROR, UNKNOWN_QUERY_PARAMETER: only
  // the text of a statement decides on these. Any other number may come of the server, of its tables or of the way to it.
  defect: [36, 42, 43, 53, 62, 456],
};

function meaningOf({ code }: ClickHouseError): Meaning | undefined {
  return (Object.keys(MEANINGS) as Meaning[]).find((meaning) => MEANINGS[meaning].includes(Number(code)));
}

/** Whether another replica may do what this one could not. */
export function isOfOneReplica(error: ClickHouseError): boolean {
  const meaning = meaningOf(error);
  return meaning === 'cutOff' || meaning === 'unwritable' || meaning === 'otherStore';
}

const ALL_CONNECTION_TRIES_FAILED = 279;

/** Whether a statement of all nodes of a cluster failed because one of them is away. */
export function isNodeAway(error: unknown): boolean {
  const { cause } = error as Error;
  return cause instanceof ClickHouseError && Number(cause.code) === ALL_CONNECTION_TRIES_FAILED;
}

const MEMORY_LIMIT_EXCEEDED = 241;

/** Whether a statement may succeed that asks for less. */
export function isTooMuchAtOnce(error: unknown): boolean {
  const { cause } = error as Error;
  return error instanceof AnswerTooLarge || (cause instanceof ClickHouseError && Number(cause.code) === MEMORY_LIMIT_EXCEEDED);
}

/** Whether the server lets nobody in with this user and password: nothing can be asked of it. */
export function isSignedOut(error: ClickHouseError): boolean {
  return meaningOf(error) === 'signedOut';
}

/** Whether the server has not the database or a table. */
export function isGone(error: ClickHouseError): boolean {
  return meaningOf(error) === 'gone';
}

/**
 * The store's error for one of the server: `unavailable` where somebody has to look at ClickHouse, which an unknown number counts as,
 * `overloaded` where it may go on by itself, {@link AnswerTooLarge}, or an error that is a defect of this program.
 */
export function storeErrorOf(error: ClickHouseError, { user, database }: { readonly user: string; readonly database: string }): Error {
  const message = error.message.trim();
  const cause = { cause: error };
  switch (meaningOf(error)) {
    case 'signedOut':
      return new StoreError('unavailable', `ClickHouse refuses CLICKHOUSE_USER=${user} with its password: ${message}`, cause);
    case 'denied':
      return new StoreError(
        'unavailable',
        `ClickHouse refuses CLICKHOUSE_USER=${user} a right that it needs in CLICKHOUSE_DATABASE=${database}: ${message}`,
        cause,
      );
    case 'gone':
      return new StoreError(
        'unavailable',
        `the tables in CLICKHOUSE_DATABASE=${database}, or their function, are not there: ${message}`,
        cause,
      );
    case 'tooLarge':
      return new AnswerTooLarge(message, cause);
    case 'busy':
      return new StoreError('overloaded', `ClickHouse has too much to do: ${message}`, cause);
    case 'unwritable':
      return new StoreError('overloaded', `ClickHouse cannot write: ${message}`, cause);
    case 'cutOff':
      return new StoreError('unavailable', `ClickHouse cannot reach its other parts: ${message}`, cause);
    case 'otherStore':
      return new StoreError('unavailable', `ClickHouse has another store in CLICKHOUSE_DATABASE=${database}: ${message}`, cause);
    case 'defect':
      return new Error(`ClickHouse cannot run a statement of this program: ${message}`, cause);
    case undefined:
      return new StoreError('unavailable', `ClickHouse cannot run a statement: ${message}`, cause);
  }
}

/** Whether the connection ended before an answer began. */
export function isLostConnection(error: unknown): boolean {
  const { message, code } = error as NodeJS.ErrnoException;
  return code === 'ECONNRESET' || code === 'EPIPE' || message === 'socket hang up';
}
