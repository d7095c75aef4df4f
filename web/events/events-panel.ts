import { answered } from '../state/answers.ts';
import { explorer } from '../state/explorer.ts';
import { timeText } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { Value } from '../widgets/value-menu.ts';

/** The latest events. */
export function EventsPanel() {
  const { clock } = explorer.value;
  const rows = answered.value?.answer.rows ?? [];
  return html`<section class="events" aria-label="Events">
    <table>
      <tbody>
        ${rows.map(
          ({ timestamp, fields }) => html`<tr>
            <td>${timeText(timestamp, clock)}</td>
            <td><${Value} field="ip" value=${fields['ip'] ?? ''} /></td>
            <td><${Value} field="url" value=${fields['url'] ?? ''} /></td>
          </tr>`,
        )}
      </tbody>
    </table>
  </section>`;
}
