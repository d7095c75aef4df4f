import type { DatabaseSync } from 'node:sqlite';
import { EdgeError } from '../edge-error.ts';
import { shown } from '../shown-value.ts';
import { inPlaneTransaction } from './control-plane-state.ts';
import type { LocalResource } from './local-resource.ts';

const MIGRATION = `
  CREATE TABLE script (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL) STRICT;
  CREATE TABLE script_variable (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    script_id INTEGER NOT NULL REFERENCES script (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    required INTEGER NOT NULL,
    default_value TEXT,
    UNIQUE (script_id, name)
  ) STRICT;
`;

export const MAX_SCRIPT_VARIABLES = 128;

interface VariableInput {
  readonly Name: string;
  readonly Required?: boolean;
  readonly DefaultValue?: string | null;
}

function insert(db: DatabaseSync, scriptId: number, { Name, Required = false, DefaultValue = null }: VariableInput): void {
  const count = Number(db.prepare('SELECT count(*) AS n FROM script_variable WHERE script_id = ?').get(scriptId)?.['n']);
  if (count >= MAX_SCRIPT_VARIABLES) {
    const message = `Script ${scriptId} has ${count} variables, ${shown(Name)} would be one more; allowed: ${MAX_SCRIPT_VARIABLES}`;
    throw new EdgeError(400, 'script.too_many_variables', message, { field: 'Name' });
  }
  const sql = 'INSERT INTO script_variable (script_id, name, required, default_value) VALUES (?, ?, ?, ?)';
  db.prepare(sql).run(scriptId, Name, Required ? 1 : 0, DefaultValue);
}

/** UTF-8 cannot hold half of a surrogate pair, so another text would be kept. */
function requireUnicode(input: VariableInput): void {
  for (const field of ['Name', 'DefaultValue'] as const) {
    const text = input[field] ?? '';
    if (!text.isWellFormed()) {
      throw new EdgeError(400, 'request.invalid', `${field}: ${shown(text)} has half of a surrogate pair; allowed: Unicode text`, {
        field,
      });
    }
  }
}

/** Adds the variable or changes the one of that name. Fields that the input leaves out stay. */
function upsert(db: DatabaseSync, scriptId: number, input: VariableInput): unknown {
  requireUnicode(input);
  if (db.prepare('SELECT id FROM script WHERE id = ?').get(scriptId) === undefined) {
    throw new EdgeError(404, 'script.not_found', `There is no script ${scriptId}`, { field: 'id' });
  }
  const find = db.prepare('SELECT id, required, default_value FROM script_variable WHERE script_id = ? AND name = ?');
  const before = find.get(scriptId, input.Name);
  if (before === undefined) insert(db, scriptId, input);
  else {
    const required = input.Required ?? before['required'] === 1;
    const value = input.DefaultValue === undefined ? (before['default_value'] as string | null) : input.DefaultValue;
    const sql = 'UPDATE script_variable SET required = ?, default_value = ? WHERE id = ?';
    db.prepare(sql).run(required ? 1 : 0, value, Number(before['id']));
  }
  const row = find.get(scriptId, input.Name);
  return { Id: row?.['id'], Name: input.Name, Required: row?.['required'] === 1, DefaultValue: row?.['default_value'] };
}

/** Answers operation 2: edge scripts and their variables. */
export const scriptVariables: LocalResource = {
  name: 'script-variables',
  migrations: [MIGRATION],
  seed({ db }) {
    for (const name of ['image-resizer', 'geo-redirect', 'security-headers']) db.prepare('INSERT INTO script (name) VALUES (?)').run(name);
    upsert(db, 1, { Name: 'MAX_WIDTH', Required: true, DefaultValue: '2048' });
  },
  routes(app, { db }) {
    app.put<{ Params: { id: number }; Body: VariableInput }>('/compute/script/:id/variables', ({ params, body }, reply) =>
      reply.send(inPlaneTransaction(db, () => upsert(db, params.id, body))),
    );
  },
};
