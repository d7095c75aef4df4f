import { MAX_PER_ANSWER } from '../../query/search-limits.ts';
import { RequestFailed } from '../api/client.ts';
import { askExplorer } from '../api/explore.ts';
import type { Answered } from '../state/answers.ts';
import { say } from '../widgets/toast.ts';
import { marked } from './byte-order-mark.ts';
import { type FileFormat, fileName, groupsFile } from './group-lines.ts';
import { downloadText } from './save-file.ts';

/** What the file of an answer's groups is called: it has as many groups as one answer may. */
export function groupFileWords(total: number): string {
  return total > MAX_PER_ANSWER ? `The first ${MAX_PER_ANSWER} of ${total} groups` : `All ${total} groups`;
}

/**
 * Stores the groups of an answer. Where they are more than it has, they are asked for once more, in one answer, so that they are of one
 * moment. What goes wrong is said on the page.
 */
export async function storeGroups({ question, answer }: Answered, format: FileFormat): Promise<void> {
  const { groupBy = [], selection: _selection, histogram: _histogram, facets: _facets, ...asked } = question.body;
  let groups = answer.groups ?? [];
  try {
    if (groups.length < answer.total) {
      const whole = { ...asked, groupBy, page: 0, pageSize: MAX_PER_ANSWER };
      groups = (await askExplorer(question.zones, whole, new AbortController().signal)).groups ?? [];
    }
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    say(`The groups are not stored: ${error.failure.message}`);
    return;
  }
  downloadText(marked(groupsFile(groups, groupBy, format), format), fileName('groups', question, format));
}
