import type { ZoneSelection } from '../../query/plan/search-plan.ts';
import type { Alert } from '../fold-state.ts';
import type { EvaluationProgress, StoredRule } from './alert-state.ts';
import type { NewMessage, Outcome, Told, ToldRule } from './outbox.ts';

/** The last time of a `Date`, Unix ms. */
const LAST_MS = 8.64e15;

/**
 * A text in a table of the state is not as it was written: SQLite has no checksums, and gives it out as it is. The message has nothing of
 * the text, because callers see it.
 */
export class DamagedText extends Error {
  override readonly name = 'DamagedText';
}

/** A column with JSON of which `isWhole` says whether it has what readers go into. Throws DamagedText where it has not, or is no JSON. */
function keptText<T>(isWhole: (value: T) => boolean): (column: unknown) => T {
  return (column) => {
    try {
      const value: T = JSON.parse(String(column));
      if (isWhole(value)) return value;
    } catch (error) {
      throw new DamagedText('a text in it cannot be read', { cause: error });
    }
    throw new DamagedText('a text in it lacks what every one has');
  };
}

function areZones(zones: ZoneSelection): boolean {
  return zones === 'all' || Array.isArray(zones);
}

function isTime(ms: number | null): boolean {
  return ms === null || Math.abs(ms) <= LAST_MS;
}

function isCount(count: number): boolean {
  return Number.isSafeInteger(count) && count >= 0;
}

function isAlert({ group, fromMs, toMs, toldAtMs, completedAtMs, resolvedAtMs }: Alert): boolean {
  return Array.isArray(group) && [fromMs, toMs, toldAtMs, completedAtMs, resolvedAtMs].every(isTime);
}

function isRule({ name, zones, by, labels }: ToldRule): boolean {
  return typeof name === 'string' && areZones(zones) && Array.isArray(by) && labels instanceof Object;
}

function isProgress({ cursor, completeToMs, told, refusals }: EvaluationProgress): boolean {
  return (cursor === null || typeof cursor === 'string') && isTime(completeToMs) && isCount(told) && refusals instanceof Object;
}

function isStoredRule({ name, version, file, text, begunAtMs, after, unreadable }: Omit<StoredRule, 'id'>): boolean {
  const hasPlace = after === null || ('cursor' in after ? typeof after.cursor === 'string' : isTime(after.atMs));
  const hasTexts = [name, version, file, text].every((one) => typeof one === 'string');
  return hasPlace && hasTexts && isTime(begunAtMs) && isCount(unreadable);
}

function isOutcome(outcome: Outcome | null): boolean {
  return outcome === null || (typeof outcome.kind === 'string' && isTime(outcome.atMs));
}

// Each throws DamagedText.
export const readProgress = keptText<EvaluationProgress>(isProgress);
export const readStoredRule = keptText<Omit<StoredRule, 'id'>>(isStoredRule);
export const readAlert = keptText<Alert>(isAlert);
export const readTold = keptText<Told>(({ rule, queues }) => isRule(rule) && Array.isArray(queues));
export const readMessage = keptText<Omit<NewMessage, 'queuedAtMs'>>(({ rule, alert }) => isRule(rule) && isAlert(alert));
/** Null: the message waits. */
export const readOutcome = keptText<Outcome | null>(isOutcome);
export const readSilencedZones = keptText<ZoneSelection>(areZones);
/** The values of a group; null: of all groups. */
export const readSilencedGroup = keptText<readonly string[] | null>((values) => values === null || Array.isArray(values));
