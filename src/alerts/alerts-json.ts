import { REFUSALS, type Silence, type StoredAlert } from '../../alerts/evaluation/alert-state.ts';
import type { AlertsOverview, EvaluationFacts, RuleOverview } from '../../alerts/evaluation/alerts-overview.ts';
import type { ListedDelivery } from '../../alerts/evaluation/outbox.ts';
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

/** Whether a caller sees what is of some zones, such as a rule: it opens all of them. */
export function seesZones({ opensZone, opensEveryZone }: Zones, { zones }: Pick<AlertRule, 'zones'>): boolean {
  return zones === 'all' ? opensEveryZone : zones.every((zone) => opensZone(zone));
}

/** `seesZones` of a caller, which looks at a list that many share once. */
function seeing(caller: Zones): (one: Pick<AlertRule, 'zones'>) => boolean {
  const known = new Map<AlertRule['zones'], boolean>();
  return ({ zones }) => {
    const seen = known.get(zones) ?? seesZones(caller, { zones });
    known.set(zones, seen);
    return seen;
  };
}

function groupJson(by: readonly GroupDimension[], values: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(by.map((dimension, nth) => [dimension, values[nth] ?? '']));
}

/** `by` is that of its rule; absent where there is no rule of the name any more. */
export function silenceJson({ id, rule, zones, group, fromMs, toMs, reason }: Silence, by?: readonly GroupDimension[]) {
  return { id, rule, zones, group: group && by ? groupJson(by, group) : null, from: fromMs, to: toMs, reason };
}

function ruleJson({ rule, version, hasJoined, timeMs, read, counted, tooLate, bounded, unreadable, open }: RuleOverview, nowMs: number) {
  const { name, zones, kind, severity, receivers } = rule;
  const progress = { readsBack: !hasJoined, lagMs: Math.max(0, nowMs - timeMs), read, counted, tooLate, bounded, unreadable, open };
  return { rule: name, version, zones, kind: kind.kind, severity, receivers, ...progress };
}

function listedAlertJson({ alert, told, earlyEnd }: StoredAlert) {
  const { id, group, fromMs, toMs, hits, toldAtMs, resolvedAtMs, isBounded } = alert;
  const { name, version, zones, severity, labels, by } = told.rule;
  const values = group.map(({ text }) => text);
  const what = { id, rule: name, version, zones, severity, labels, group: groupJson(by, values) };
  const times = { from: fromMs, to: toMs, hits, toldAt: toldAtMs, resolvedAt: resolvedAtMs, earlyEnd, bounded: isBounded };
  return { ...what, ...times, receivers: told.queues, kept: told.kept };
}

function deliveryJson({ queue, rule, alertId, state, outcome }: ListedDelivery, { opensEveryZone }: Zones) {
  // It may have an address, which is for those who run the program.
  const answer = (opensEveryZone ? outcome?.answer : null) ?? null;
  return { receiver: queue, rule: rule.name, alertId, state, outcome: outcome?.kind ?? 'waiting', at: outcome?.atMs ?? null, answer };
}

interface ListedOverview extends Pick<AlertsOverview, 'rules' | 'alerts' | 'deliveries' | 'silences'> {
  readonly facts: Pick<EvaluationFacts, 'refusals'>;
}

/** What a caller sees of alerts: at most `limit` alerts and as many deliveries, the newest first. */
export function alertsJson(overview: ListedOverview, caller: Zones, { limit, nowMs }: { readonly limit: number; readonly nowMs: number }) {
  const sees = seeing(caller);
  const rules = overview.rules.filter(({ rule }) => sees(rule));
  const alerts = overview.alerts.filter(({ told }) => sees(told.rule)).slice(0, limit);
  const deliveries = overview.deliveries.filter(({ rule }) => sees(rule)).slice(0, limit);
  const silences = overview.silences.filter(sees);
  const { refusals } = overview.facts;
  return {
    rules: rules.map((one) => ruleJson(one, nowMs)),
    alerts: alerts.map(listedAlertJson),
    deliveries: deliveries.map((one) => deliveryJson(one, caller)),
    silences: silences.map((silence) => silenceJson(silence, rules.find(({ rule }) => rule.name === silence.rule)?.rule.by)),
    refusals: { ...Object.fromEntries(REFUSALS.map((refusal) => [refusal, refusals[refusal] ?? 0])), last: refusals.last ?? null },
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
  const member = membersIn(body, ['rule', 'group', 'from', 'to', 'reason'], errors);
  const name = readText(member('rule'), 'rule', errors);
  const rule = name === undefined ? undefined : ruleNamed(name);
  if (name !== undefined && rule === undefined) errors.add('rule', `must be the name of a rule, not ${JSON.stringify(name)}`);
  const others = silences.filter((silence) => silence.rule === rule?.name).length;
  if (others >= MAX_SILENCES) errors.add('rule', `must have at most ${MAX_SILENCES} silences, and ${name} has ${others}`);
  const fromMs = member('from') === null ? nowMs : readTime(member('from'), 'from', errors);
  const toMs = readTime(member('to'), 'to', errors);
  const reason = readText(member('reason'), 'reason', errors);
  if (reason !== undefined && (reason.trim() === '' || reason.length > MAX_SILENCE_REASON_LENGTH)) {
    errors.add('reason', `must have 1 to ${MAX_SILENCE_REASON_LENGTH} characters, not ${reason.length}`);
  }
  if (toMs <= fromMs) errors.add('to', `must be greater than from (${fromMs}), not ${toMs}`);
  else if (toMs <= nowMs) errors.add('to', `must be greater than now (${nowMs}), not ${toMs}`);
  else if (toMs - fromMs > LONGEST_SILENCE_MS) errors.add('to', `must be at most ${LONGEST_SILENCE_MS / DAY_MS} days after from`);
  const group = rule === undefined || member('group') === null ? null : readGroup(member('group'), rule, errors);
  if (!errors.isEmpty || rule === undefined || reason === undefined) throw invalidRequest(errors.toArray());
  return { rule: rule.name, zones: rule.zones, group, fromMs, toMs, reason };
}

/** Unix ms; NaN, which is greater and less than nothing, where it is told to be wrong. */
function readTime(value: JsonValue, path: string, errors: ErrorList): number {
  return Number(readInteger(value, path, TIMES, errors) ?? Number.NaN);
}

/** The values of a group in the order of the rule's `by`. */
function readGroup(value: JsonValue, { by }: AlertRule, errors: ErrorList): readonly string[] {
  const object = readObject(value, 'group', by, errors);
  return object === undefined ? [] : by.map((field) => readText(object.get(field) ?? null, propertyPath('group', field), errors) ?? '');
}

/** The members of a body, null where they are absent. Throws RequestProblem `request.invalid` where it is no object. */
function membersIn(body: Uint8Array, names: readonly string[], errors: ErrorList): (name: string) => JsonValue {
  const object = readObject(readJson(body, SILENCE_LIMITS, errors), BODY, names, errors);
  if (object === undefined) throw invalidRequest(errors.toArray());
  return (name) => object.get(name) ?? null;
}

/** Reads which silence ends. Throws RequestProblem `request.invalid`. */
export function readSilenceId(body: Uint8Array): number {
  const errors = new ErrorList();
  const id = readInteger(membersIn(body, ['id'], errors)('id'), 'id', TIMES, errors);
  if (!errors.isEmpty) throw invalidRequest(errors.toArray());
  return Number(id);
}
