import { REFUSALS, type Refusal, type RefusalCounts, type Silence } from '../../alerts/evaluation/alert-state.ts';
import type { AlertsOverview } from '../../alerts/evaluation/alerts-overview.ts';
import type { ToldRule } from '../../alerts/evaluation/outbox.ts';
import type { AlertRule } from '../../alerts/rule.ts';
import { DAY_MS } from '../../query/durations.ts';
import type { GroupDimension } from '../../query/event-fields.ts';
import type { JsonLimits } from '../../query/exact-json.ts';
import type { JsonValue } from '../../query/json-value.ts';
import { BODY, ErrorList, propertyPath } from '../../query/request/request-errors.ts';
import { readInteger, readJson, readObject, readText } from '../../query/request/wire-readers.ts';
import type { Caller } from '../auth/access.ts';
import { invalidRequest } from '../http/problem.ts';

export const DEFAULT_LISTED_ALERTS = 100;
export const MAX_LISTED_ALERTS = 1_000;
export const LONGEST_SILENCE_MS = 90 * DAY_MS;
export const MAX_SILENCE_REASON_LENGTH = 500;
/** The most silences of a rule, with those that ended within the retention. */
export const MAX_SILENCES = 200;

const SILENCE_LIMITS: JsonLimits = { depth: 4, values: 20 };
const TIMES = { min: 0n, max: BigInt(Number.MAX_SAFE_INTEGER) };

type Zones = Pick<Caller, 'opensZone' | 'opensEveryZone'>;

/** Whether a caller sees a rule: it opens all of its zones. */
export function seesRule({ opensZone, opensEveryZone }: Zones, { zones }: Pick<AlertRule, 'zones'>): boolean {
  return zones === 'all' ? opensEveryZone : zones.every((zone) => opensZone(zone));
}

function groupJson(by: readonly GroupDimension[], values: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(by.map((dimension, nth) => [dimension, values[nth] ?? '']));
}

function ruleJson({ name, version, zones, severity, labels }: ToldRule) {
  return { rule: name, version, zones, severity, labels };
}

export function silenceJson({ group, ...silence }: Silence, rule: Pick<AlertRule, 'by'> | undefined) {
  const { id, zones, fromMs, toMs, reason } = silence;
  return {
    id,
    rule: silence.rule,
    zones,
    group: group === null || rule === undefined ? null : groupJson(rule.by, group),
    from: fromMs,
    to: toMs,
    reason,
  };
}

/** How often rules could not go on from what was kept, and why the last time; null: never. */
export function refusalsJson(counts: RefusalCounts) {
  const ofEach = Object.fromEntries(REFUSALS.map((refusal) => [refusal, counts[refusal] ?? 0])) as Record<Refusal, number>;
  return { ...ofEach, last: counts.last ?? null };
}

/** What a caller sees of alerts: at most `limit` alerts and as many deliveries, the newest first. */
export function alertsJson(overview: AlertsOverview, caller: Zones, { limit, nowMs }: { readonly limit: number; readonly nowMs: number }) {
  const isSeen = (rule: Pick<AlertRule, 'zones'>): boolean => seesRule(caller, rule);
  const rules = overview.rules.filter(({ rule }) => isSeen(rule));
  return {
    rules: rules.map(({ rule, version, hasJoined, timeMs, read, counted, tooLate, bounded, unreadable, open }) => ({
      rule: rule.name,
      version,
      zones: rule.zones,
      kind: rule.kind.kind,
      severity: rule.severity,
      receivers: rule.receivers,
      readsBack: !hasJoined,
      lagMs: Math.max(0, nowMs - timeMs),
      read,
      counted,
      tooLate,
      bounded,
      unreadable,
      open,
    })),
    alerts: overview.alerts
      .filter(({ told }) => isSeen(told.rule))
      .slice(0, limit)
      .map(({ alert, told, earlyEnd }) => ({
        id: alert.id,
        ...ruleJson(told.rule),
        group: groupJson(
          told.rule.by,
          alert.group.map(({ text }) => text),
        ),
        from: alert.fromMs,
        to: alert.toMs,
        hits: alert.hits,
        toldAt: alert.toldAtMs,
        resolvedAt: alert.resolvedAtMs,
        earlyEnd,
        bounded: alert.isBounded,
        receivers: told.queues,
        kept: told.kept,
      })),
    deliveries: overview.deliveries
      .filter(({ rule }) => isSeen(rule))
      .slice(0, limit)
      .map(({ queue, rule, alertId, state, outcome }) => ({
        receiver: queue,
        rule: rule.name,
        alertId,
        state,
        outcome: outcome?.kind ?? 'waiting',
        at: outcome?.atMs ?? null,
        // It may have an address, which is for those who run the program.
        answer: (caller.opensEveryZone ? outcome?.answer : null) ?? null,
      })),
    silences: overview.silences.filter(isSeen).map((silence) => {
      return silenceJson(silence, rules.find(({ name }) => name === silence.rule)?.rule);
    }),
    refusals: refusalsJson(overview.facts.refusals),
  };
}

export interface SilenceContext {
  /** The rule in force of a name that the caller sees. */
  readonly ruleNamed: (name: string) => AlertRule | undefined;
  readonly silences: readonly Pick<Silence, 'rule'>[];
  /** Unix ms UTC. */
  readonly nowMs: number;
}

/** Reads a silence: without `from` it begins now, without `group` it is for all groups. Throws RequestProblem `request.invalid`. */
export function readSilence(body: Uint8Array, { ruleNamed, silences, nowMs }: SilenceContext): Omit<Silence, 'id'> {
  const errors = new ErrorList();
  const parsed = readJson(body, SILENCE_LIMITS, errors);
  const object = parsed === undefined ? undefined : readObject(parsed, BODY, ['rule', 'group', 'from', 'to', 'reason'], errors);
  if (object === undefined) throw invalidRequest(errors.toArray());
  const member = (name: string): JsonValue => object.get(name) ?? null;
  const name = readText(member('rule'), 'rule', errors);
  const rule = name === undefined ? undefined : ruleNamed(name);
  if (name !== undefined && rule === undefined) errors.add('rule', `must be the name of a rule, not ${JSON.stringify(name)}`);
  const others = silences.filter((silence) => silence.rule === rule?.name).length;
  if (others >= MAX_SILENCES) errors.add('rule', `must have at most ${MAX_SILENCES} silences, and ${name} has ${others}`);
  const from = member('from') === null ? BigInt(nowMs) : readInteger(member('from'), 'from', TIMES, errors);
  const to = readInteger(member('to'), 'to', TIMES, errors);
  const reason = readText(member('reason'), 'reason', errors);
  if (reason !== undefined && (reason.trim() === '' || reason.length > MAX_SILENCE_REASON_LENGTH)) {
    errors.add('reason', `must have 1 to ${MAX_SILENCE_REASON_LENGTH} characters, not ${reason.length}`);
  }
  if (from !== undefined && to !== undefined) checkTimes(Number(from), Number(to), nowMs, errors);
  const group = rule === undefined || member('group') === null ? null : readGroup(member('group'), rule, errors);
  if (!errors.isEmpty || rule === undefined || from === undefined || to === undefined || reason === undefined || group === undefined) {
    throw invalidRequest(errors.toArray());
  }
  return { rule: rule.name, zones: rule.zones, group, fromMs: Number(from), toMs: Number(to), reason };
}

function checkTimes(fromMs: number, toMs: number, nowMs: number, errors: ErrorList): void {
  if (toMs <= fromMs) errors.add('to', `must be greater than from (${fromMs}), not ${toMs}`);
  else if (toMs <= nowMs) errors.add('to', `must be greater than now (${nowMs}), not ${toMs}`);
  else if (toMs - fromMs > LONGEST_SILENCE_MS) errors.add('to', `must be at most ${LONGEST_SILENCE_MS / DAY_MS} days after from`);
}

/** The values of a group in the order of the rule's `by`. */
function readGroup(value: JsonValue, { by }: AlertRule, errors: ErrorList): readonly string[] | undefined {
  const object = readObject(value, 'group', by, errors);
  const values = by.map((dimension) => object && readText(object.get(dimension) ?? null, propertyPath('group', dimension), errors));
  return values.every((text) => text !== undefined) ? values : undefined;
}

/** Reads which silence ends. Throws RequestProblem `request.invalid`. */
export function readSilenceId(body: Uint8Array): number {
  const errors = new ErrorList();
  const parsed = readJson(body, SILENCE_LIMITS, errors);
  const object = parsed === undefined ? undefined : readObject(parsed, BODY, ['id'], errors);
  const id = object && readInteger(object.get('id'), 'id', TIMES, errors);
  if (!errors.isEmpty || id === undefined) throw invalidRequest(errors.toArray());
  return Number(id);
}
