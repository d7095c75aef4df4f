import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRule } from '../../alerts/rule-file.ts';
import { ALERTS_A_MESSAGE, ALERTS_AN_ARRAY, MOST_WAITING, PACE_MS, TRIED_FOR_MS } from '../../src/alerts/alert-delivery.ts';
import { FACTS_A_MINUTE, FACTS_DEADLINE_MS } from '../../src/alerts/alert-facts.ts';
import {
  LONGEST_SILENCE_MS,
  MAX_LISTED_ALERTS,
  MAX_SILENCE_REASON_LENGTH,
  MAX_SILENCES,
  readSilence,
} from '../../src/alerts/alerts-json.ts';
import { MESSAGE_LIMITS } from '../../src/alerts/receiver-client.ts';
import { MOST_RECEIVERS, readReceivers } from '../../src/alerts/receiver-file.ts';
import { SHOWN_CHARACTERS } from '../../src/alerts/told-alerts.ts';
import { ConfigError } from '../../src/config/config.ts';
import { readQuery, wholeNumberParameter } from '../../src/http/request-parameters.ts';
import { NOW } from '../fixtures/present.ts';
import { temporaryFolder } from '../fixtures/temporary-store.ts';
import { count, describeLimits, milliseconds, refusalOf } from './limit-table.ts';

const RULE = readRule('name: a\nzones: all\nkind: count\nat_least: 1\nwindow: 5m\n');

const RULE_OF_SILENCE = { rule: 'a' };

async function receivers(length: number): Promise<string> {
  const file = join(temporaryFolder(), 'receivers.yaml');
  writeFileSync(file, Array.from({ length }, (_, nth) => `r${nth}: { kind: webhook, url: https://soc.example }\n`).join(''));
  try {
    readReceivers(file, {});
    return 'ok';
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return 'status 2';
  }
}

function silence(changed: object, others = 0): Promise<string> {
  const body = Buffer.from(JSON.stringify({ rule: 'a', from: NOW, to: NOW + 1, reason: 'test', ...changed }));
  return refusalOf(() => readSilence(body, { ruleNamed: () => RULE, silences: Array(others).fill(RULE_OF_SILENCE), nowMs: NOW }));
}

describeLimits('Messages about alerts', import.meta.filename, {
  'receivers in the file of ALERT_RECEIVERS': { is: count(MOST_RECEIVERS), ask: receivers },
  'alerts that a message names': {
    is: count(ALERTS_A_MESSAGE),
    elsewhere: 'a rule is told at once and then once a minute: twenty alerts, and how many there are more',
  },
  'alerts in an array for an Alertmanager': {
    is: count(ALERTS_AN_ARRAY),
    elsewhere: 'who keeps alerts open gets every one of them: an Alertmanager in arrays, PagerDuty each by itself',
  },
  'time between two messages of a rule': {
    is: milliseconds(PACE_MS),
    elsewhere: 'a rule is told at once and then once a minute: twenty alerts, and how many there are more',
  },
  'characters of a value that are shown': {
    is: count(SHOWN_CHARACTERS),
    elsewhere: 'no value of an event reaches people as more than a text of 256 characters',
  },
  'time that a receiver may be silent': {
    is: milliseconds(MESSAGE_LIMITS.silenceMs),
    elsewhere: 'a receiver of the kind %s > %s is worth another attempt',
  },
  'time that a message is tried': {
    is: milliseconds(TRIED_FOR_MS),
    elsewhere: 'what waits for too long is given up and told, and so is the oldest of too many',
  },
  'messages that wait for a receiver': {
    is: count(MOST_WAITING),
    elsewhere: 'what waits for too long is given up and told, and so is the oldest of too many',
  },
  'alerts a minute of which is asked what their events have': {
    is: count(FACTS_A_MINUTE),
    elsewhere: 'what the events of an alert have > is not asked for of more than twenty alerts a minute, and of the same alert once',
  },
  'time of such a question': {
    is: milliseconds(FACTS_DEADLINE_MS),
    elsewhere:
      'what the events of an alert have > is missing where a value is kept in part, where the search takes too long, and where it fails',
  },
  '`limit` of `GET /alerts`': {
    is: count(MAX_LISTED_ALERTS),
    ask: (limit) => refusalOf(() => readQuery({ limit: String(limit) }, { limit: wholeNumberParameter(1, MAX_LISTED_ALERTS) })),
  },
  'length of a silence': { is: milliseconds(LONGEST_SILENCE_MS), ask: (ms) => silence({ to: NOW + ms }) },
  'silences of a rule, with those that ended within the retention': {
    is: count(MAX_SILENCES),
    ask: (silences) => silence({}, silences - 1),
  },
  'characters of the reason of a silence': {
    is: count(MAX_SILENCE_REASON_LENGTH),
    ask: (length) => silence({ reason: 'a'.repeat(length) }),
  },
});
