import { exactly, ID, input, NULLABLE_TEXT, TEXT, YES_OR_NO } from './object-schema.ts';

export const SCRIPT_VARIABLE_INPUT = input(
  {
    Name: { type: 'string', minLength: 1, maxLength: 256 },
    Required: YES_OR_NO,
    DefaultValue: { type: ['string', 'null'], maxLength: 4096 },
  },
  ['Name'],
);

export const SCRIPT_VARIABLE = exactly({ Id: ID, Name: TEXT, Required: YES_OR_NO, DefaultValue: NULLABLE_TEXT });
