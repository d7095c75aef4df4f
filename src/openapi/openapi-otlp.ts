import { exactly, listOf } from '../../edge/operations/json-schema.ts';
import { otlpStatus } from '../http/otlp-answers.ts';
import { DOOR_BODY, DOOR_KEY, DOOR_MAPPING, doorErrors, SHOWN_EVENT } from './openapi-door-words.ts';
import { content, int64Schema, ref, textSchema } from './openapi-elements.ts';

/** The schemas of the door of OTLP. */
export const OTLP_SCHEMAS = {
  OtlpRequest: {
    type: 'object',
    properties: {
      resourceLogs: listOf({
        type: 'object',
        properties: { scopeLogs: listOf({ type: 'object', properties: { logRecords: listOf({ type: 'object' }) } }) },
      }),
    },
    description: 'An ExportLogsServiceRequest. The record of a log record is its body, or else its attributes',
  },
  OtlpAnswer: exactly(
    {
      partialSuccess: exactly({
        rejectedLogRecords: { ...textSchema, pattern: '^[1-9][0-9]*$', description: 'So many are dead letters' },
        errorMessage: { ...textSchema, description: 'What is wrong with the first of them' },
      }),
    },
    ['partialSuccess'],
  ),
  OtlpStatus: exactly({ code: { ...int64Schema, description: 'A google.rpc.Code' }, message: textSchema }),
} as const;

/** A message of protobuf. */
const BINARY = { type: 'string', format: 'binary' };

/** A field of protobuf that is a text or a message of fewer than 128 bytes. */
const protobufField = (number: number, value: string): string => String.fromCharCode(number * 8 + 2, value.length) + value;

const OTLP_BODIES = {
  ...content(['application/x-protobuf'], BINARY, {
    one: {
      summary: 'One event',
      value: protobufField(1, protobufField(2, protobufField(2, protobufField(5, protobufField(1, SHOWN_EVENT))))),
    },
  }),
  ...content(['application/json'], ref('OtlpRequest'), {
    one: { summary: 'One event', value: { resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: SHOWN_EVENT } }] }] }] } },
  }),
};

function otlpError(status: number, description: string, message: string) {
  const inJson: unknown = JSON.parse(String(otlpStatus('application/json', status, message)));
  const inProtobuf = String(otlpStatus('application/x-protobuf', status, message));
  return {
    description: `${description}: a google.rpc.Status`,
    content: {
      ...content(['application/json'], ref('OtlpStatus'), { told: { summary: message, value: inJson } }),
      ...content(['application/x-protobuf'], BINARY, { told: { summary: message, value: inProtobuf } }),
    },
  };
}

/** The door of OTLP, one of those of `openapi-doors.ts`. */
export const OTLP_PATHS = {
  '/v1/logs': {
    post: {
      operationId: 'sendOtlpLogs',
      summary: 'Take in log records of OTLP',
      description: `An answer has the type of its request. ${DOOR_BODY} ${DOOR_MAPPING} ${DOOR_KEY}`,
      requestBody: { required: true, content: OTLP_BODIES },
      responses: {
        200: {
          description: 'All are on the disk, as events or dead letters: an ExportLogsServiceResponse',
          content: {
            ...content(['application/json'], ref('OtlpAnswer'), {
              stored: { summary: 'All are events', value: {} },
              partly: {
                summary: 'One is none',
                value: { partialSuccess: { rejectedLogRecords: '1', errorMessage: 'timestamp is missing' } },
              },
            }),
            ...content(['application/x-protobuf'], BINARY, { stored: { summary: 'All are events', value: '' } }),
          },
        },
        ...doorErrors(otlpError),
      },
    },
  },
} as const;
