import { hash } from 'node:crypto';
import type { Predicate } from '../../../query/predicate.ts';

/** 64 hex digits by which predicates are told apart: one can have thousands of values. */
export function digestOf(where: Predicate): string {
  return hash(
    'sha256',
    JSON.stringify(where, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
  );
}
