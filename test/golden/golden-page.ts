import type { SearchPlan } from '../../query/plan/search-plan.ts';
import type { SqlParam, SqlStatement } from '../../sql/statement.ts';
import type { GoldenCase } from './golden-case.ts';

/** A case as it is kept for review: request, plan, and each statement with what is bound to it. */
export function goldenText({ name, request }: GoldenCase, plan: SearchPlan, statements: readonly SqlStatement[]): string {
  const sql = statements.map((statement) => `${brokenIntoLines(statement.text)}\n${statement.params.map(paramLine).join('\n')}`);
  return [`# ${name}`, `request ${JSON.stringify(request)}`, `plan ${planText(plan)}`, ...sql].join('\n\n');
}

/** JSON with addresses as hexadecimal numbers. */
function planText(plan: SearchPlan): string {
  const hexadecimal = (_: string, value: unknown) => (typeof value === 'bigint' ? `0x${value.toString(16)}` : value);
  return JSON.stringify(plan, hexadecimal);
}

/** No value is ever part of the text, so it can be broken at its words. */
function brokenIntoLines(text: string): string {
  return text.replace(/(?<!BETWEEN \$\d+) (FROM|JOIN|WHERE|AND|OR|GROUP BY|ORDER BY|LIMIT) /g, '\n  $1 ');
}

function paramLine({ type, value }: SqlParam, index: number): string {
  return `  $${index + 1} ${type} ${typeof value === 'string' ? JSON.stringify(value) : String(value)}`;
}
