import { exactly, ID, input, NULLABLE_TEXT, TEXT, YES_OR_NO } from './json-schema.ts';
import { defineOperation, type OperationGroup } from './operation.ts';

const SCRIPT_VARIABLE_INPUT = input(
  {
    Name: { type: 'string', minLength: 1, maxLength: 256 },
    Required: YES_OR_NO,
    DefaultValue: { type: ['string', 'null'], maxLength: 4096 },
  },
  ['Name'],
);

const SCRIPT_VARIABLE = exactly({ Id: ID, Name: TEXT, Required: YES_OR_NO, DefaultValue: NULLABLE_TEXT });

export const SCRIPTS: OperationGroup = {
  tag: 'Scripts',
  about: 'Variables of edge scripts',
  schemas: { ScriptVariableRequest: SCRIPT_VARIABLE_INPUT, ScriptVariable: SCRIPT_VARIABLE },
  operations: [
    defineOperation({
      number: 2,
      name: 'upsertScriptVariable',
      summary: 'Add a variable to an edge script, or change the one of that name',
      method: 'PUT',
      path: '/compute/script/:id/variables',
      key: 'access',
      errorShape: 'legacy',
      params: { id: ID },
      body: SCRIPT_VARIABLE_INPUT,
      answer: SCRIPT_VARIABLE,
      errors: {
        404: { key: 'script.not_found', field: 'id', message: 'There is no script 9999', request: { params: { id: 9999 } } },
      },
      idempotent: true,
      example: {
        params: { id: 1 },
        body: { Name: 'LOG_LEVEL', Required: true, DefaultValue: 'info' },
        answer: { Id: 2, Name: 'LOG_LEVEL', Required: true, DefaultValue: 'info' },
      },
    }),
  ],
};
