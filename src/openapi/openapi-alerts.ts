import { REFUSALS } from '../../alerts/evaluation/alert-state.ts';
import { RULE_SEVERITIES } from '../../alerts/rule.ts';
import { exactly, listOf, mapOf } from '../../edge/operations/json-schema.ts';
import { DAY_MS } from '../../query/durations.ts';
import { GROUP_DIMENSIONS } from '../../query/event-fields.ts';
import { DEFAULT_LISTED_ALERTS, LONGEST_SILENCE_MS, MAX_LISTED_ALERTS, MAX_SILENCE_REASON_LENGTH } from '../alerts/alerts-json.ts';
import { JSON_TYPES } from '../http/content-negotiation.ts';
import {
  answer,
  content,
  count,
  type DescribedGroup,
  int32Schema,
  int64Schema,
  integerIn,
  nullableText,
  ref,
  textSchema,
  time,
} from './openapi-elements.ts';
import { KEY_PROBLEMS } from './openapi-problems.ts';

const nullableTime = (description: string) => ({ type: ['integer', 'null'], format: 'int64', description: `${description}, Unix ms UTC` });

const ZONES = { anyOf: [listOf(int32Schema), { const: 'all' }] };
const GROUP = {
  ...mapOf(textSchema),
  propertyNames: { enum: GROUP_DIMENSIONS },
  description: 'The values of its group; an event without one has the empty text',
};
const RULE = { ...textSchema, description: 'The name of the rule' };
const VERSION = { ...textSchema, description: 'A hash of what decides which alerts there are' };
const SEVERITY = { enum: RULE_SEVERITIES };
const STATE = { enum: ['told', 'resolved'] };

const SILENCE = {
  id: { ...int64Schema, minimum: 1 },
  rule: RULE,
  zones: ZONES,
  group: { ...GROUP, type: ['object', 'null'], description: 'Null: all groups' },
  from: time('Its begin, by the intake'),
  to: time('Its end'),
  reason: textSchema,
};

/** Behind the time at which the document is read, for which the times of its examples are moved. */
const A_LITTLE_LATER = 1_767_229_900_000;

const SILENCE_EXAMPLE = {
  id: 1,
  rule: 'credential-stuffing',
  zones: [7],
  group: { ip: '192.0.2.7' },
  from: 1_767_225_600_000,
  to: 1_767_229_200_000,
  reason: 'a load test',
};

const ALERTS_EXAMPLE = {
  rules: [
    {
      rule: 'credential-stuffing',
      version: '5f0d',
      zones: [7],
      kind: 'distinct',
      severity: 'high',
      receivers: ['soc'],
      readsBack: false,
      lagMs: 180,
      read: 41_000,
      counted: 120,
      tooLate: 0,
      bounded: 0,
      unreadable: 0,
      open: 1,
    },
  ],
  alerts: [
    {
      id: '0a3f5c1be0a86b2f6e5d3c4b2a190807',
      rule: 'credential-stuffing',
      version: '5f0d',
      zones: [7],
      severity: 'high',
      labels: { team: 'edge' },
      group: { ip: '192.0.2.7' },
      from: 1_767_225_600_000,
      to: 1_767_229_200_000,
      hits: 1,
      toldAt: 1_767_225_780_000,
      resolvedAt: null,
      earlyEnd: null,
      bounded: false,
      receivers: ['soc'],
      kept: null,
    },
  ],
  deliveries: [
    {
      receiver: 'soc',
      rule: 'credential-stuffing',
      alertId: '0a3f5c1be0a86b2f6e5d3c4b2a190807',
      state: 'told',
      outcome: 'refused',
      at: 1_767_225_781_000,
      answer: 'receiver soc: POST https://soc.example answered 400: no such channel',
    },
  ],
  silences: [SILENCE_EXAMPLE],
  refusals: { ahead: 0, unknown: 0, expired: 1, damaged: 0, lost: 0, last: 'expired' },
};

const CHANGE_PROBLEMS = [
  'request.malformed',
  'request.invalid',
  ...KEY_PROBLEMS,
  'access.scope_denied',
  'request.timeout',
  'body.too_large',
  'body.unsupported_type',
  'store.busy',
  'store.unavailable',
  'program.stopping',
] as const;

/** The rules of alerts, their alerts, and silences. */
export const ALERTS_GROUP = {
  tag: 'Alerts',
  about: 'Rules that make alerts of events, what they told, and silences',
  paths: {
    '/alerts': {
      get: {
        operationId: 'listAlerts',
        summary: 'List rules, alerts, deliveries, and silences',
        description: 'A rule is listed, and so is what is about it, where the access key opens all of its zones.',
        parameters: [
          integerIn(
            'query',
            'limit',
            { ...int32Schema, minimum: 1, maximum: MAX_LISTED_ALERTS, default: DEFAULT_LISTED_ALERTS },
            'How many alerts and deliveries are listed at most, of each the newest first, of deliveries those first that are not made',
          ),
        ],
        responses: {
          200: answer('Rules, alerts, deliveries and silences', 'AlertList', { alerts: { summary: 'One of each', value: ALERTS_EXAMPLE } }),
        },
        problems: ['request.invalid', ...KEY_PROBLEMS, 'access.scope_denied', 'store.unavailable', 'program.stopping'],
      },
    },
    '/alerts/silences': {
      post: {
        operationId: 'addSilence',
        summary: 'Keep the alerts of a rule from being sent for some time',
        description: 'Alerts are kept and listed meanwhile, and receivers are not told that they are resolved either.',
        requestBody: {
          required: true,
          content: content(JSON_TYPES, ref('SilenceRequest'), {
            group: {
              summary: 'For a group, from now on',
              value: { rule: 'credential-stuffing', group: { ip: '192.0.2.7' }, to: A_LITTLE_LATER, reason: 'a load test' },
            },
          }),
        },
        responses: {
          200: answer('The silence', 'Silence', { silence: { summary: 'Of a group', value: SILENCE_EXAMPLE } }),
        },
        problems: [...CHANGE_PROBLEMS],
      },
    },
    '/alerts/silences/remove': {
      post: {
        operationId: 'removeSilence',
        summary: 'End a silence',
        requestBody: {
          required: true,
          content: content(JSON_TYPES, ref('SilenceRemoval'), { silence: { summary: 'By its id', value: { id: 1 } } }),
        },
        responses: {
          200: answer('Whether there was one', 'SilenceRemoved', { removed: { summary: 'Removed', value: { removed: true } } }),
        },
        problems: [...CHANGE_PROBLEMS],
      },
    },
  },
  schemas: {
    AlertList: exactly({
      rules: listOf(
        exactly({
          rule: RULE,
          version: VERSION,
          zones: ZONES,
          kind: textSchema,
          severity: SEVERITY,
          receivers: listOf(textSchema),
          readsBack: { type: 'boolean', description: 'Whether it still reads what was stored before it began' },
          lagMs: count('For how long events have been there that it has not counted, in milliseconds'),
          read: count('About how many events of its zones were read, for this rule or others'),
          counted: count('How many of them the rule is about'),
          tooLate: count('How often an event came after a window of it had closed'),
          bounded: count('How often it gave up windows or groups, because there were too many'),
          unreadable: count('The most events that it lacks, because they could not be read'),
          open: count('Its alerts that are not resolved'),
        }),
      ),
      alerts: listOf(
        exactly({
          id: textSchema,
          rule: RULE,
          version: VERSION,
          zones: ZONES,
          severity: SEVERITY,
          labels: mapOf(textSchema),
          group: GROUP,
          from: time('The begin of its first window'),
          to: time('The end of its last window'),
          hits: count('How many windows met the condition'),
          toldAt: nullableTime('When it was told, by the intake'),
          resolvedAt: nullableTime('When it was resolved, by the intake'),
          earlyEnd: { enum: ['rule_changed', 'rule_gone', null], description: 'Why it was resolved before it was quiet' },
          bounded: { type: 'boolean', description: 'Whether hits may be missing' },
          receivers: listOf(textSchema),
          kept: { enum: ['silenced', 'too_old', null], description: 'Why it was not sent to receivers' },
        }),
      ),
      deliveries: listOf(
        exactly({
          receiver: { ...textSchema, description: '`$zone`: an event of ALERT_ZONE' },
          rule: RULE,
          alertId: textSchema,
          state: STATE,
          outcome: { enum: ['waiting', 'delivered', 'refused', 'given_up'] },
          at: nullableTime('When it was delivered, refused or given up'),
          answer: {
            ...nullableText,
            description: 'What the receiver said, or why it was not asked any more; null for a key of some zones',
          },
        }),
      ),
      silences: listOf(ref('Silence')),
      refusals: {
        ...exactly({
          ahead: count('The store had lost events that alerts had read; they went on with what came since'),
          unknown: count('The store was another one, or an older copy; rules began as new ones'),
          expired: count('Events expired that alerts had not read; they went on with what was left'),
          damaged: count('The state of alerts was damaged and set aside; rules began as new ones'),
          lost: count('The state of alerts was gone; rules began as new ones'),
          last: { enum: [...REFUSALS, null], description: 'The last of these; null: there was none' },
        }),
        description: 'How often rules could not go on from what was kept',
      },
    }),
    Silence: exactly(SILENCE),
    SilenceRequest: exactly(
      {
        rule: RULE,
        group: {
          ...GROUP,
          type: ['object', 'null'],
          description: 'A value for each dimension that the rule groups by; absent: all groups',
        },
        from: {
          type: ['integer', 'null'],
          format: 'int64',
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'Unix ms UTC; absent: now',
        },
        to: {
          ...int64Schema,
          minimum: 0,
          maximum: Number.MAX_SAFE_INTEGER,
          description: `Unix ms UTC: after now, and at most ${LONGEST_SILENCE_MS / DAY_MS} days after from`,
        },
        reason: { ...textSchema, minLength: 1, maxLength: MAX_SILENCE_REASON_LENGTH },
      },
      ['group', 'from'],
    ),
    SilenceRemoval: exactly({ id: { ...int64Schema, minimum: 0, maximum: Number.MAX_SAFE_INTEGER } }),
    SilenceRemoved: exactly({ removed: { type: 'boolean' } }),
  },
} as const satisfies DescribedGroup;
