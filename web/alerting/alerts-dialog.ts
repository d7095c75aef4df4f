import { useState } from 'preact/hooks';
import { HOUR_MS } from '../../query/durations.ts';
import {
  type AlertList,
  addSilence,
  alertList,
  endSilence,
  type ListedAlert,
  type MessageDelivery,
  type ShownSilence,
} from '../api/alerts.ts';
import { RequestFailed } from '../api/client.ts';
import { programNow } from '../api/program-clock.ts';
import { apply, explorer } from '../state/explorer.ts';
import { useFurtherAnswer } from '../state/further-answer.ts';
import { Dialog } from '../widgets/dialog.ts';
import { Failed } from '../widgets/failed.ts';
import { countText, durationText, numberOf, shareText, timeText, valueOrNone } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';

/** Alerts that are listed. */
const LISTED = 100;
/** For how many hours an alert can be silenced. */
const SILENCE_HOURS = [1, 4, 24, 7 * 24];

interface AlertsDialogProps {
  readonly onClose: () => void;
}

/** The rules that the program follows, what they told, and silences. */
export function AlertsDialog({ onClose }: AlertsDialogProps) {
  const [turn, setTurn] = useState(0);
  const [fault, setFault] = useState('');
  const answer = useFurtherAnswer(`alerts ${turn}`, (signal) => alertList(LISTED, signal));
  // Until the next list is there, the last one is.
  const [last, setLast] = useState<AlertList | null>(null);
  if (answer.kind === 'found' && answer.found !== last) setLast(answer.found);
  const change = async (make: (signal: AbortSignal) => Promise<unknown>): Promise<void> => {
    try {
      await make(new AbortController().signal);
      setFault('');
      setTurn(turn + 1);
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      setFault(error.message);
    }
  };
  return html`<${Dialog} title="Alerts" class="alerts" onClose=${onClose}>
    ${answer.kind === 'failed' ? html`<${Failed} what="Alerts are not known:" ...${answer} />` : null}
    <p class="fault" role="alert">${fault}</p>
    ${
      last === null
        ? html`<p role="status">${answer.kind === 'asking' ? 'Loading…' : ''}</p>`
        : html`<${Rules} list=${last} />
            <${Alerts} list=${last} change=${change} onClose=${onClose} />
            <${Silences} list=${last} change=${change} />`
    }
  <//>`;
}

type Change = (make: (signal: AbortSignal) => Promise<unknown>) => Promise<void>;

interface ListProps {
  readonly list: AlertList;
  readonly change: Change;
}

/** Why rules could not go on from what was kept. */
const REFUSED = {
  ahead: 'the store had lost its last events',
  unknown: 'the store was another one, or an older copy',
  expired: 'events had expired',
  damaged: 'the state was damaged',
  lost: 'the state was gone',
} as const;

function refusalWords(refusals: AlertList['refusals']): string {
  const causes = Object.entries(REFUSED).map(([name, words]) => [words, refusals[name as keyof typeof REFUSED]] as const);
  const found = causes.filter(([, times]) => times > 0).map(([words, times]) => `${words} (${numberOf(times, 'time')})`);
  return found.length === 0 ? '' : `Rules could not go on from what was kept: ${found.join(', ')}.`;
}

function Rules({ list: { rules, refusals } }: Pick<ListProps, 'list'>) {
  if (rules.length === 0) return html`<p>The program follows no rules of alerts that this key may see.</p>`;
  return html`<section>
    <h3>Rules</h3>
    <p class="fault">${refusalWords(refusals)}</p>
    <ul>
      ${rules.map((rule) => {
        const { read, counted, tooLate, bounded, unreadable } = rule;
        const facts = [
          rule.severity,
          `${countText(rule.open)} open`,
          rule.readsBack ? 'reads what was there before it' : `${durationText(rule.lagMs)} behind`,
          ...(read > 0 ? [`${shareText(counted, read)} of ${numberOf(read)} read`] : []),
          ...(tooLate > 0 ? [`${countText(tooLate)} times too late`] : []),
          ...(bounded > 0 ? [`hits may be missing, bounded ${countText(bounded)} times`] : []),
          ...(unreadable > 0 ? [`lacks up to ${numberOf(unreadable)}`] : []),
        ];
        return html`<li key=${rule.rule}><strong>${rule.rule}</strong> <span class="dim">${facts.join(', ')}</span></li>`;
      })}
    </ul>
  </section>`;
}

/** `ip 192.0.2.7, country NL`; empty where a rule has no groups. */
function groupWords(group: ListedAlert['group']): string {
  return Object.entries(group)
    .map(([field, value]) => `${field} ${valueOrNone(value)}`)
    .join(', ');
}

const KEPT = { silenced: 'silenced, so not sent', too_old: 'too old to be sent' } as const;
const EARLY = { rule_changed: ', because the rule changed', rule_gone: ', because the rule is gone' } as const;
const OUTCOMES = { waiting: 'waits', delivered: 'delivered', refused: 'refused', given_up: 'given up' } as const;

/** A message that becomes an event has the name of no receiver. */
function receiverName(queue: string): string {
  return queue === '$zone' ? 'ALERT_ZONE' : queue;
}

function Alerts({ list: { alerts, deliveries }, change, onClose }: ListProps & AlertsDialogProps) {
  if (alerts.length === 0) return html`<p>No alert was told.</p>`;
  return html`<section>
    <h3>Told, the newest first</h3>
    <ul>
      ${alerts.map((alert) => {
        const own = deliveries.filter(({ alertId }) => alertId === alert.id);
        return html`<${Alert} key=${alert.id} alert=${alert} deliveries=${own} change=${change} onClose=${onClose} />`;
      })}
    </ul>
  </section>`;
}

interface AlertProps extends AlertsDialogProps {
  readonly alert: ListedAlert;
  readonly deliveries: readonly MessageDelivery[];
  readonly change: Change;
}

function Alert({ alert, deliveries, change, onClose }: AlertProps) {
  const { clock } = explorer.value;
  const { rule, group, from, to, hits, resolvedAt, earlyEnd, kept, bounded, receivers } = alert;
  const show = (): void => {
    onClose();
    apply({ range: { kind: 'between', from, to: Math.min(to, programNow()) }, zones: alert.zones, comparison: null });
  };
  const state = resolvedAt === null ? 'open' : `resolved ${timeText(resolvedAt, clock)}${earlyEnd === null ? '' : EARLY[earlyEnd]}`;
  const messages = deliveries.map(({ receiver, state: told, outcome, at, answer }) => {
    const why = answer === null || outcome === 'delivered' ? '' : ` (${answer})`;
    return `${receiverName(receiver)} ${told}: ${OUTCOMES[outcome]}${at === null ? '' : ` ${timeText(at, clock)}`}${why}`;
  });
  const facts = [
    alert.severity,
    numberOf(hits, 'hit'),
    state,
    ...(kept === null ? [] : [KEPT[kept]]),
    ...(bounded ? ['hits may be missing'] : []),
    ...(receivers.length === 0 ? [] : [`to ${receivers.map(receiverName).join(', ')}`]),
    ...messages,
  ];
  const label = `${rule} ${groupWords(group)}`.trim();
  return html`<li>
    <p>
      <strong>${label}</strong> <span class="number">${timeText(from, clock)}</span> to
      ${' '}<span class="number">${timeText(to, clock)}</span>
    </p>
    <p class="dim">${facts.join('; ')}</p>
    <button class="small" aria-label=${`Show its time: ${label}`} onClick=${show}>Show its time</button>
    <${SilenceForm} alert=${alert} label=${label} change=${change} />
  </li>`;
}

interface SilenceFormProps extends Pick<AlertProps, 'alert' | 'change'> {
  readonly label: string;
}

function SilenceForm({ alert: { rule, group }, label, change }: SilenceFormProps) {
  const hasGroups = Object.keys(group).length > 0;
  const submit = (event: Event): void => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    const to = programNow() + Number(given.get('hours')) * HOUR_MS;
    const silence = { rule, group: given.get('whole') === 'on' || !hasGroups ? null : group, to, reason: String(given.get('reason')) };
    void change((signal) => addSilence(silence, signal));
  };
  return html`<details>
    <summary aria-label=${`Silence ${label}`}>Silence…</summary>
    <form class="row" onSubmit=${submit}>
      <label>for <select name="hours">${SILENCE_HOURS.map((hours) => html`<option value=${hours}>${hours}h</option>`)}</select></label>
      <label>because <input name="reason" required maxlength="500" autocomplete="off" /></label>
      ${hasGroups ? html`<label><input type="checkbox" name="whole" /> all groups of the rule</label>` : null}
      <button type="submit">Silence</button>
    </form>
  </details>`;
}

function Silences({ list: { silences }, change }: ListProps) {
  const { clock } = explorer.value;
  if (silences.length === 0) return null;
  return html`<section>
    <h3>Silences</h3>
    <ul>
      ${silences.map(({ id, rule, group, from, to, reason }: ShownSilence) => {
        const label = `${rule} ${group === null ? '' : groupWords(group)}`.trim();
        return html`<li key=${id}>
          <p>
            <strong>${label}</strong> ${timeText(from, clock)} to ${timeText(to, clock)}: ${reason}
          </p>
          <button
            class="small"
            aria-label=${`End the silence of ${label}`}
            onClick=${() => void change((signal) => endSilence(id, signal))}
          >
            End
          </button>
        </li>`;
      })}
    </ul>
  </section>`;
}
