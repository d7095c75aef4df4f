/**
 * The parameters of one statement, by SQLite's rules for numbering them (https://sqlite.org/lang_expr.html#varparam): element n is the name
 * of parameter n+1 as written (`:a`, `@a`, `$a`, `?7`), null for `?` and for numbers that nothing uses. node:sqlite does not tell them.
 */
export function sqlParameters(sql: string): readonly (string | null)[] {
  const names: (string | null)[] = [];
  const add = (index: number, name: string | null): void => {
    while (names.length < index) names.push(null);
    names[index - 1] ??= name;
  };
  for (const [token] of sql.matchAll(TOKEN)) {
    if (token === '?') add(names.length + 1, null);
    else if (token.startsWith('?')) add(Number(token.slice(1)), token);
    else if (/^[:@$]/.test(token) && !names.includes(token)) add(names.length + 1, token);
  }
  return names;
}

/** Everything that could hide a parameter's first character, then the parameters. Words come whole: `$` may stand inside one. */
const TOKEN = new RegExp(
  [
    /--[^\n]*/,
    /\/\*[\s\S]*?(?:\*\/|$)/,
    /'(?:[^']|'')*'/,
    /"(?:[^"]|"")*"/,
    /`(?:[^`]|``)*`/,
    /\[[^\]]*\]/,
    /[A-Za-z_0-9\u0080-\uffff][A-Za-z_0-9$\u0080-\uffff]*/,
    /\?\d*/,
    /[:@][A-Za-z_0-9$\u0080-\uffff]+/,
    /\$[A-Za-z_0-9$\u0080-\uffff]+(?:::[A-Za-z_0-9$\u0080-\uffff]+)*(?:\([^\s)]*\))?/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);
