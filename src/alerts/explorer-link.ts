import type { Alert } from '../../alerts/alert-book.ts';
import type { AlertRule } from '../../alerts/rule.ts';
import { type LineClause, searchLineOf } from '../../query/search-line.ts';

/**
 * Where the explorer shows the events of an alert, with times that stay as they are. A group's zone is the zone of the link. A value of
 * which only the beginning is kept, and a missing one, is left out, so that more events may be shown.
 */
export function explorerLink(publicUrl: string, { by, zones, search }: Pick<AlertRule, 'by' | 'zones' | 'search'>, alert: Alert): string {
  const parameters = new URLSearchParams();
  const ofGroup = by.flatMap((field, nth): readonly LineClause[] => {
    const { text = '', sha256 } = alert.group[nth] ?? {};
    return field === 'shieldZoneId' || text === '' || sha256 !== undefined ? [] : [{ field, op: 'eq', value: [text] }];
  });
  const zone = alert.group[by.indexOf('shieldZoneId')]?.text ?? (zones === 'all' ? zones : zones.join(','));
  if (zone !== 'all') parameters.set('zone', zone);
  parameters.set('from', new Date(alert.fromMs).toISOString());
  parameters.set('to', new Date(alert.toMs).toISOString());
  const whole = { ...search, filters: [...search.filters, ...ofGroup] };
  const line = searchLineOf(whole);
  if (line === null) parameters.set('search', JSON.stringify(whole));
  else if (line !== '') parameters.set('q', line);
  return `${publicUrl}/?${parameters}`;
}
