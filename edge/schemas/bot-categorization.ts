import { exactly, INT32, input, TEXT, YES_OR_NO } from './object-schema.ts';
import { shieldEnvelope } from './shield-envelope.ts';

const ACTION = { type: 'integer', enum: [0, 1, 2, 3], description: '0 None, which clears it; 1 Block, 2 Allow, 3 Ignore' };

export const BOT_ACTION_INPUT = input({ action: ACTION }, ['action']);

export const BOT_CATEGORIZATION = shieldEnvelope(
  exactly({ botId: INT32, userAgentMatch: TEXT, isVerifiable: YES_OR_NO, category: TEXT, action: ACTION }),
);
