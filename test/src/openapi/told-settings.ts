import type { DrivenAnswer } from './driven-answer.ts';

/** A line of the program's log. */
export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly reqId?: string;
  readonly [member: string]: unknown;
}

/** The hosts of URLs and the secrets of access keys in variables as in the environment. */
export function secretsIn(env: Readonly<Record<string, string>>): readonly string[] {
  const hosts = Object.values(env).flatMap((value) => (/^https?:/.test(value) ? [new URL(value).host] : []));
  const keys = (env['ACCESS_KEYS'] ?? '').split(',').flatMap((key) => key.split(':')[1] ?? []);
  return [...hosts, ...keys];
}

/** They tell operators in words what they have to look at. */
const FOR_OPERATORS: readonly string[] = ['checkFiles', 'isReady'];

/**
 * What an answer of the operation tells of the settings, and whether its 5xx lacks the id of a line of the log. `sent` is the id that its
 * caller has sent, which has no part in it.
 */
export function toldBy(
  operation: string,
  answer: DrivenAnswer,
  hidden: readonly string[],
  log: readonly LogLine[],
  sent = '',
): readonly string[] {
  const text = `${[...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n')}\n${answer.text}`;
  const told = FOR_OPERATORS.includes(operation) ? [] : hidden.filter((each) => text.includes(each)).map((each) => `it tells ${each}`);
  if (answer.status < 500) return told;
  const id = answer.headers.get('x-request-id');
  if (id === null || id === sent) return [...told, `its X-Request-Id is ${id}`];
  return log.some(({ reqId }) => reqId === id) ? told : [...told, `the log has no line of the request ${id}`];
}
