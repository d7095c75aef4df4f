import type { DuckDBValue } from '@duckdb/node-api';
import type { GroupsOutput } from '../../../query/search-plan.ts';
import { DETAIL_ROWS } from '../../../sql/group-facts.ts';
import { type GroupPage, isDirect } from '../../../sql/group-statements.ts';
import { unmarkText } from '../../../sql/marked-text.ts';
import { GroupFacts } from './group-facts.ts';

/** Sorts rows of `factRows` to the groups they are about. Adds them to `facts`, which are those of the page's keys. */
export function collectFacts(
  details: readonly DuckDBValue[][],
  { keys, isWhole }: GroupPage,
  output: GroupsOutput,
  facts: readonly GroupFacts[] = keys.map(() => new GroupFacts(output.buckets)),
): readonly GroupFacts[] {
  const positions = isDirect(output, isWhole) ? new Map(keys.map(([key], position) => [key, position])) : undefined;
  for (const [index, absent, country, asn, action, feature, events, firstSeen, lastSeen, listed] of details) {
    const position = positions === undefined ? Number(index) : positions.get(textOf(index) ?? '');
    const group = facts[position as number] as GroupFacts;
    switch (Number(absent)) {
      case DETAIL_ROWS.origin:
        group.addOrigin(textOf(country), textOf(asn), Number(events));
        break;
      case DETAIL_ROWS.verdict:
        group.addSpan(Number(events), Number(firstSeen), Number(lastSeen));
        group.addVerdict(textOf(action), textOf(feature), Number(events));
        break;
      case DETAIL_ROWS.buckets:
        for (const pair of listOf(listed)) {
          const [bucket, inBucket] = pair.split(':');
          group.addBucket(Number(bucket), Number(inBucket));
        }
        break;
      default:
        group.addRules(listOf(listed));
    }
  }
  return facts;
}

function listOf(listed: DuckDBValue | undefined): string[] {
  return typeof listed === 'string' ? JSON.parse(listed) : [];
}

function textOf(marked: DuckDBValue | undefined): string | null {
  return typeof marked === 'string' ? unmarkText(marked) : null;
}
