import { answered } from '../state/answers.ts';
import { explorer } from '../state/explorer.ts';
import { countText } from '../widgets/format.ts';
import { html } from '../widgets/html.ts';
import { Value } from '../widgets/value-menu.ts';

/** The events counted by the fields that are chosen. */
export function GroupsPanel() {
  const { groupBy } = explorer.value;
  const groups = answered.value?.answer.groups ?? [];
  return html`<section class="groups" aria-label="Groups">
    <table>
      <tbody>
        ${groups.map(
          ({ key, count }) => html`<tr>
            ${groupBy.map((field) => html`<td><${Value} field=${field} value=${key[field] ?? ''} /></td>`)}
            <td>${countText(count)}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </section>`;
}
