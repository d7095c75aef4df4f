import { RULE_SEVERITIES } from '../../alerts/rule.ts';
import { exactly, listOf, mapOf, nullable } from '../../edge/operations/json-schema.ts';
import { GROUP_DIMENSIONS } from '../../query/event-fields.ts';
import { type BacktestLine, RULE_TYPES } from '../alerts/backtest.ts';
import { answer, content, count, type DescribedGroup, integerIn, ref, textSchema, time } from './openapi-elements.ts';
import { AVAILABILITY_PROBLEMS, KEY_PROBLEMS } from './openapi-problems.ts';

const kind = (name: BacktestLine['kind']) => ({ const: name });
const instant = (description: string) => ({ type: 'string', format: 'date-time', description });

const RULE = `name: logins
zones: [7]
search: url:~login action:blocked
by: ip
kind: count
at_least: 100
window: 5m
`;

const TOLD: BacktestLine = {
  kind: 'alert',
  alert: {
    state: 'told',
    id: '3f1b0c9d2e4a5f60718293a4b5c6d7e8',
    rule: 'logins',
    severity: 'high',
    group: { ip: '192.0.2.7' },
    from: '2026-11-28T18:20:00.000Z',
    to: '2026-11-28T18:25:00.000Z',
    hits: 1,
    toldAt: '2026-11-28T18:22:10.412Z',
    resolvedAt: null,
    labels: { team: 'edge' },
    receivers: ['soc'],
  },
};

const SUMMARY: BacktestLine = {
  kind: 'summary',
  rule: 'logins',
  version: '0b7e…',
  readFrom: 1_795_890_000_000,
  readTo: 1_796_149_200_000,
  lookedAt: 1_204_000,
  counted: 5_120,
  hits: 4,
  told: 1,
  heldBack: 3,
  tooLate: 0,
  bounded: 0,
  unreadable: 0,
};

/** How a rule of alerts is tried on stored events over HTTP. */
export const BACKTEST_GROUP = {
  tag: 'Streams',
  paths: {
    '/alerts/test': {
      post: {
        operationId: 'testAlertRule',
        summary: 'Say which alerts a rule would have made of the stored events, without delivering any',
        description:
          'Folds the events in the order in which they were taken in, as the program does that follows the rule. Answers a line for each ' +
          'alert that is told, and for each that is resolved, lines that say how far it is, and a summary at the end: an answer without ' +
          'it is not whole. One backtest runs at a time. Needs a key of all zones of the rule. A rule of the kind silence has none.',
        parameters: [
          integerIn('query', 'from', { format: 'int64', minimum: 0 }, 'When the rule begins, Unix ms UTC; absent: with the oldest events'),
        ],
        requestBody: {
          required: true,
          description: 'The file of the rule, YAML, at most 64 KiB',
          content: content(RULE_TYPES, textSchema, { rule: { summary: 'Many blocked logins of an address', value: RULE } }),
        },
        responses: {
          200: answer(
            'Alerts, progress, and the summary',
            'BacktestLine',
            {
              alert: { summary: 'An alert that is told', value: TOLD },
              progress: { summary: 'Some events are read', value: { kind: 'progress', lookedAt: 4_096, completeTo: 1_795_890_600_000 } },
              summary: { summary: 'All of them are read', value: SUMMARY },
            },
            ['application/x-ndjson'],
          ),
        },
        problems: [
          'request.invalid',
          ...KEY_PROBLEMS,
          'access.zone_denied',
          'accept.none',
          'request.timeout',
          'backtest.refused',
          'body.too_large',
          'body.unsupported_type',
          ...AVAILABILITY_PROBLEMS,
        ],
      },
    },
  },
  schemas: {
    BacktestLine: { oneOf: [ref('BacktestAlert'), ref('BacktestProgress'), ref('BacktestSummary')] },
    BacktestAlert: exactly({ kind: kind('alert'), alert: ref('TriedAlert') }),
    TriedAlert: exactly({
      state: { enum: ['told', 'resolved'] },
      id: textSchema,
      rule: { ...textSchema, description: 'Its name' },
      severity: { enum: RULE_SEVERITIES },
      group: { ...mapOf(textSchema), propertyNames: { enum: GROUP_DIMENSIONS }, description: 'The values of its group' },
      from: instant('The begin of its first window'),
      to: instant('The end of its last window'),
      hits: count('Windows that met the condition so far'),
      toldAt: nullable(instant('When it was told, by the intake; null: it was not')),
      resolvedAt: nullable(instant('When it was resolved; null: it is told')),
      labels: mapOf(textSchema),
      receivers: listOf(textSchema),
    }),
    BacktestProgress: exactly({
      kind: kind('progress'),
      lookedAt: count('Events that were looked at'),
      completeTo: time('All events that were taken in before it are read'),
    }),
    BacktestSummary: exactly({
      kind: kind('summary'),
      rule: { ...textSchema, description: 'Its name' },
      version: { ...textSchema, description: 'A hash of what decides which alerts there are' },
      readFrom: time('The intake from which on events were read'),
      readTo: time('The intake up to which events were read'),
      lookedAt: count('Events that were looked at'),
      counted: count('Of these, those that the rule is about'),
      hits: count('Windows that met the condition'),
      told: count('Alerts that were told'),
      heldBack: count('Hits that belong to an alert that was there already, because they came within quiet'),
      tooLate: count('How often an event came after a window of it had closed'),
      bounded: count('How often something was given up, because the rule had too much; hits may be missing then'),
      unreadable: count('At most so many events cannot be read'),
    }),
  },
} as const satisfies DescribedGroup;
