import { MAX_ALERTS } from '../../alerts/alert-book.ts';
import { KEPT_BYTES } from '../../alerts/alert-group.ts';
import { MAX_ENTRIES, MAX_ENTRY_BYTES } from '../../alerts/entry-budget.ts';
import { USUAL_MAX_GROUPS } from '../../alerts/rule.ts';
import { RULE_LIMITS, readRule } from '../../alerts/rule-file.ts';
import { WrongYaml } from '../../ingest/mapping/yaml-tree.ts';
import { GROUP_DIMENSIONS } from '../../query/event-fields.ts';
import { BACKTEST_LIMITS, RULE_BYTES } from '../../src/alerts/backtest.ts';
import { bytes, count, describeLimits, milliseconds } from './limit-table.ts';

const RULE: Readonly<Record<string, unknown>> = { name: 'a', zones: 'all', kind: 'count', at_least: 1, window: '5m' };

/** What becomes of a rule with these members, which are JSON and so YAML. */
async function rule(members: Readonly<Record<string, unknown>>): Promise<string> {
  try {
    readRule(JSON.stringify({ ...RULE, ...members }));
    return 'ok';
  } catch (error) {
    if (!(error instanceof WrongYaml)) throw error;
    return 'status 1';
  }
}

const seconds = (ms: number) => `${ms / 1_000}s`;
const named = (length: number) => Array.from({ length }, (_, nth) => `name-${nth}`);
const { window, quiet, late, hold, maxGroups, maxAge, atLeast, distinctValues, by, labels, receivers } = RULE_LIMITS;
const { share, times, before, newFor, silentFor, zones } = RULE_LIMITS;
const NEW_VALUE = { kind: 'new_value', field: 'ip', at_least: undefined, window: undefined };
const SILENCE = { kind: 'silence', at_least: undefined, window: undefined };

/** A whole second more or less is the first time that is refused. */
const above = ({ max }: { readonly max: number }) => ({ is: milliseconds(max), past: max + 1_000 });
const below = ({ min }: { readonly min: number }) => ({ is: milliseconds(min), past: min - 1_000 });

const OF_A_BACKTEST = 'a backtest > gives up the oldest window where it has more than it may, and says so';
const OF_ALL_RULES = 'where all rules together have more than they may, no hit of any is false, in whatever pages they are read';

describeLimits('Rules of alerts', import.meta.filename, {
  '`at_least` of `count`': { is: count(atLeast.max), ask: (at_least) => rule({ at_least }) },
  '`at_least` of `distinct`': { is: count(distinctValues.max), ask: (at_least) => rule({ at_least, kind: 'distinct', field: 'ip' }) },
  '`share` of `ratio`': {
    is: count(share.max / 100),
    ask: (percent) => rule({ kind: 'ratio', part: 'action:blocked', share: `${percent}%` }),
  },
  '`times` of `more_than_before`': { is: count(times.max / 100), ask: (number) => rule({ kind: 'more_than_before', times: number }) },
  '`before` of `more_than_before`': {
    is: count(before.max),
    ask: (windows) => rule({ kind: 'more_than_before', times: 2, before: windows }),
  },
  '`for` of `new_value`, at least': { ...below(newFor), ask: (ms) => rule({ ...NEW_VALUE, for: seconds(ms) }) },
  '`for` of `new_value`': { ...above(newFor), ask: (ms) => rule({ ...NEW_VALUE, for: seconds(ms) }) },
  '`for` of `silence`, at least': { ...below(silentFor), ask: (ms) => rule({ ...SILENCE, for: seconds(ms) }) },
  '`for` of `silence`': { ...above(silentFor), ask: (ms) => rule({ ...SILENCE, for: seconds(ms) }) },
  '`window`, at least': { ...below(window), ask: (ms) => rule({ window: seconds(ms) }) },
  '`window`': { ...above(window), ask: (ms) => rule({ window: seconds(ms) }) },
  '`quiet`, at least': { ...below(quiet), ask: (ms) => rule({ quiet: seconds(ms) }) },
  '`quiet`': { ...above(quiet), ask: (ms) => rule({ quiet: seconds(ms) }) },
  '`late`': { ...above(late), ask: (ms) => rule({ late: seconds(ms) }) },
  '`max_age`, at least': { ...below(maxAge), ask: (ms) => rule({ max_age: seconds(ms) }) },
  '`max_age`': { ...above(maxAge), ask: (ms) => rule({ max_age: seconds(ms) }) },
  '`hold`': { is: count(hold.max), ask: (hits) => rule({ hold: hits }) },
  '`max_groups`': { is: count(maxGroups.max), ask: (max_groups) => rule({ max_groups }) },
  '`zones`': { is: count(zones), ask: (length) => rule({ zones: Array.from({ length }, (_, zone) => zone) }) },
  'dimensions of `by`': { is: count(by), ask: (dimensions) => rule({ by: GROUP_DIMENSIONS.slice(0, dimensions) }) },
  '`labels`': { is: count(labels), ask: (length) => rule({ labels: Object.fromEntries(named(length).map((name) => [name, 'a'])) }) },
  '`receivers`': { is: count(receivers), ask: (length) => rule({ receivers: named(length) }) },
  'windows of groups that a rule counts at a time, without `max_groups`': {
    is: count(USUAL_MAX_GROUPS),
    elsewhere: 'a rule with more than it may have > closes its oldest window first',
  },
  'windows of groups, and values that are remembered, of all rules': { is: count(MAX_ENTRIES), elsewhere: OF_ALL_RULES },
  'bytes of these, about': { is: bytes(MAX_ENTRY_BYTES), elsewhere: OF_ALL_RULES },
  'backtests at a time': { is: count(1), elsewhere: 'a backtest > runs alone: a second one is refused until the first has ended' },
  'bytes of the rule of a backtest': { is: bytes(RULE_BYTES), elsewhere: 'a backtest > of a longer rule than may be is refused' },
  'windows of groups, and values that are remembered, of a backtest': { is: count(BACKTEST_LIMITS.entries), elsewhere: OF_A_BACKTEST },
  'bytes of these, about, of a backtest': { is: bytes(BACKTEST_LIMITS.bytes), elsewhere: OF_A_BACKTEST },
  'alerts that a backtest keeps': { is: count(BACKTEST_LIMITS.maxAlerts), elsewhere: OF_A_BACKTEST },
  'alerts that a rule keeps': {
    is: count(MAX_ALERTS),
    elsewhere: 'a rule with more than it may have > forgets its oldest resolved alerts, and without one resolves the oldest of all early',
  },
  "bytes of a group's value that are kept, with a hash of the whole": {
    is: bytes(KEPT_BYTES),
    elsewhere: 'of a value that is %s so much is kept',
  },
});
