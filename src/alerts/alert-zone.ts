import { Readable } from 'node:stream';
import { ALERT_ZONE_QUEUE, type ToldRule } from '../../alerts/evaluation/outbox.ts';
import { type IntakeOptions, takeInEvents } from '../../ingest/upload/event-intake.ts';
import { countsText } from '../../ingest/upload/intake-report.ts';
import { StoreError } from '../../store/store-error.ts';
import { DeliveryError } from '../sinks/sink.ts';
import type { Destination } from './alert-delivery.ts';
import { alertJson, type ToldAlert } from './told-alerts.ts';

/**
 * Makes events of alerts in a zone of their own. An alert has the id of its event, so that the store keeps one that comes again once; its
 * resolution has that id with `-resolved` behind it.
 */
export function alertZone(zoneId: number, intake: Pick<IntakeOptions, 'store' | 'now' | 'retentionMs'>): Destination {
  const shownAs = `zone ${zoneId} of ALERT_ZONE`;
  return {
    queue: ALERT_ZONE_QUEUE,
    shownAs,
    telling: 'stored',
    async deliver({ rule, alerts }, signal) {
      const lines = alerts.map((alert) => `${JSON.stringify(eventOf(alert, rule, zoneId))}\n`).join('');
      try {
        const report = await takeInEvents(Readable.from(Buffer.from(lines)), { ...intake, source: 'http', signal });
        const [rejected] = report.rejected;
        if (rejected === undefined) return countsText(report);
        throw new DeliveryError('refused', `${shownAs}: ${countsText(report)}: ${rejected.reason}`);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        throw new DeliveryError('unavailable', `${shownAs}: ${error.message}`, { cause: error });
      }
    },
    close: () => {},
  };
}

function eventOf(alert: ToldAlert, rule: ToldRule, zoneId: number): object {
  const { id, state, completedAtMs, resolvedAtMs, sentence, toMs } = alert;
  const isTold = state === 'told';
  return {
    logId: isTold ? id : `${id}-resolved`,
    shieldZoneId: zoneId,
    timestamp: (isTold ? completedAtMs : resolvedAtMs) ?? toMs,
    feature: 'alert',
    ruleId: rule.name,
    ruleName: sentence(),
    action: 'logged',
    log: { rule: rule.name, version: rule.version, ...alertJson(alert, rule) },
  };
}
