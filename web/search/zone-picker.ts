import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { accessKey } from '../api/access-key.ts';
import { failure } from '../state/answers.ts';
import { apply, explorer } from '../state/explorer.ts';
import { type Zones, zonesText } from '../state/explorer-state.ts';
import { readZones } from '../state/link.ts';
import { shortCount, timeText } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { Popover } from '../widgets/popover.ts';
import { knownZones, loadZones } from './zone-list.ts';

/** The zones that are searched. */
export function ZonePicker() {
  const { zones } = explorer.value;
  const words = zonesWords(zones);
  const isDenied = failure.value?.key === 'access.zone_denied';
  return html`<${Popover}
    label=${`Zones: ${words}`}
    title=${isDenied ? failure.value?.message : 'Zones (z)'}
    shortcut="z"
    isInvalid=${isDenied}
    content=${(close: () => void) => html`<${ZoneForm} close=${close} />`}
  >
    ${words}
  <//>`;
}

export function zonesWords(zones: Zones): string {
  if (zones === 'all') return 'All zones';
  return zones.length === 1
    ? `Zone ${zones[0]}`
    : `Zones ${zones.slice(0, 3).join(', ')}${zones.length > 3 ? ` and ${zones.length - 3} more` : ''}`;
}

interface ZoneFormProps {
  readonly close: () => void;
}

function ZoneForm({ close }: ZoneFormProps) {
  const { zones, clock } = explorer.value;
  const typed = useSignal(zones === 'all' ? '' : zonesText(zones));
  useEffect(() => void loadZones(), [accessKey.value, explorer.value.range]);
  const list = knownZones.value;
  const read = typed.value.trim() === '' ? 'all' : readZones(typed.value.replaceAll(/\s/g, ''));
  const choose = (next: Zones): void => {
    apply({ zones: next });
    close();
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (read !== null) choose(read);
  };
  const chosen = read === null || read === 'all' ? [] : read;
  const toggle = (zone: number): void => {
    typed.value = (chosen.includes(zone) ? chosen.filter((one) => one !== zone) : [...chosen, zone]).join(',');
  };
  return html`<form class="zone-form" onSubmit=${submit}>
    <label>
      Zones, with commas; empty: all
      <input
        name="zones"
        inputmode="numeric"
        autocomplete="off"
        value=${typed.value}
        aria-invalid=${read === null || undefined}
        onInput=${({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
          typed.value = currentTarget.value;
        }}
      />
    </label>
    ${read === null ? html`<p class="fault" role="status">Zones are whole numbers of 32 bits, such as 1,7</p>` : null}
    <button type="submit" class="primary" disabled=${read === null}>Search ${read === null ? '' : zonesWords(read).toLowerCase()}</button>
    <p class="dim">${listWords(list.kind)}</p>
    ${list.kind === 'failed' ? html`<p class="fault" role="alert">${list.message}</p>` : null}
    ${
      list.kind === 'known'
        ? html`<ul class="zone-list">
            ${list.zones.map(
              ({ shieldZoneId: zone, count, last }) => html`<li key=${zone} class="row">
                <input type="checkbox" aria-label=${`Zone ${zone}`} checked=${chosen.includes(zone)} onChange=${() => toggle(zone)} />
                <button class="quiet" onClick=${() => choose([zone])}>Zone ${zone}</button>
                <span class="dim number">${shortCount(count)} ${count === 1 ? 'event' : 'events'}, last ${timeText(last, clock)}</span>
              </li>`,
            )}
          </ul>`
        : null
    }
  </form>`;
}

function listWords(kind: 'unknown' | 'known' | 'failed'): string {
  if (kind === 'unknown') return 'Looking for zones with events…';
  return kind === 'known' ? 'Zones with events in this time:' : '';
}
