import { ALERT_ZONE_QUEUE } from '../../alerts/evaluation/outbox.ts';
import { takeInEvents } from '../../ingest/upload/event-intake.ts';
import { countsText } from '../../ingest/upload/intake-report.ts';
import type { EventStore } from '../../store/event-store.ts';
import { StoreError } from '../../store/store-error.ts';
import { DeliveryError } from '../sinks/sink.ts';
import type { Destination, Parcel } from './message-queue.ts';
import { type AlertMessage, sentenceText, type ToldAlert } from './told-alerts.ts';
import { alertJson } from './webhook-message.ts';

export interface AlertZoneOptions {
  readonly store: EventStore;
  readonly zoneId: number;
  readonly retentionMs: number;
  /** Unix ms UTC. */
  readonly now: () => number;
}

/**
 * Makes events of alerts in a zone of their own. An alert has the id of its event, so that the store keeps one that comes again once; its
 * resolution has that id with `-resolved` behind it.
 */
export class AlertZone implements Destination {
  readonly queue = ALERT_ZONE_QUEUE;
  readonly shownAs: string;
  readonly paceMs = 0;
  readonly limit = 500;
  readonly hasFacts = false;
  readonly #options: AlertZoneOptions;

  constructor(options: AlertZoneOptions) {
    this.#options = options;
    this.shownAs = `zone ${options.zoneId} of ALERT_ZONE`;
  }

  parcels({ messages, lastSeq }: Parameters<Destination['parcels']>[0]): readonly Parcel[] {
    return [{ messages, more: 0, upToSeq: messages.at(-1)?.seq ?? lastSeq }];
  }

  async deliver({ rule, alerts }: AlertMessage, signal: AbortSignal): Promise<string> {
    const { store, now, retentionMs } = this.#options;
    const lines = alerts.map((alert) => `${JSON.stringify(this.#eventOf(alert, rule))}\n`).join('');
    try {
      const report = await takeInEvents(inOneChunk(lines), { store, source: 'http', now, retentionMs, signal });
      const [rejected] = report.rejected;
      if (rejected === undefined) return countsText(report);
      throw new DeliveryError('refused', `${this.shownAs}: ${countsText(report)}: ${rejected.reason}`);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      throw new DeliveryError('unavailable', `${this.shownAs}: ${error.message}`, { cause: error });
    }
  }

  close(): void {}

  #eventOf(alert: ToldAlert, rule: AlertMessage['rule']): object {
    const { id, state, completedAtMs, resolvedAtMs, sentence, toMs } = alert;
    const isTold = state === 'told';
    return {
      logId: isTold ? id : `${id}-resolved`,
      shieldZoneId: this.#options.zoneId,
      timestamp: (isTold ? completedAtMs : resolvedAtMs) ?? toMs,
      feature: 'alert',
      ruleId: rule.name,
      ruleName: sentenceText(sentence),
      action: 'logged',
      log: { rule: rule.name, version: rule.version, ...alertJson(alert, rule) },
    };
  }
}

async function* inOneChunk(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
