import { createRequire } from 'node:module';
import type { Admin, PartitionMetadata } from 'kafkajs';

const require = createRequire(import.meta.url);

/** A version of Metadata that tells the ids of topics (KIP-516). Brokers have it since Kafka 3. */
export const TOPIC_ID_VERSION = 12;

const METADATA_KEY = 3;
const ID_BYTES = 16;
const NO_ID = Buffer.alloc(ID_BYTES);

/** The part of kafkajs's `protocol/encoder` that is used. */
interface Encoder {
  writeUVarInt(value: number): this;
  writeUVarIntString(value: string): this;
  writeBuffer(bytes: Buffer): this;
  writeBoolean(value: boolean): this;
  readonly buffer: Buffer;
}

/** The part of kafkajs's `protocol/decoder` that is used. */
interface Decoder {
  readInt16(): number;
  readInt32(): number;
  readBoolean(): boolean;
  readBytes(size: number): Buffer;
  readUVarInt(): number;
  readUVarIntString(): string | null;
  /** Null where the answer has none. */
  readUVarIntArray<T>(read: (decoder: Decoder) => T): T[] | null;
}

const EncoderClass = require('kafkajs/src/protocol/encoder') as new () => Encoder;
const DecoderClass = require('kafkajs/src/protocol/decoder') as new (bytes: Buffer) => Decoder;

/** What kafkajs asks the metadata of. No topics: all. */
export interface MetadataRequest {
  readonly topics: readonly string[];
  readonly allowAutoTopicCreation?: boolean;
}

/** A partition of a topic, which carries the id of its topic, because kafkajs passes on nothing else of a topic. */
interface PartitionWithTopicId extends PartitionMetadata {
  readonly topicId?: string;
}

/** The request for metadata as kafkajs sends it. */
export function metadataRequest({ topics, allowAutoTopicCreation = true }: MetadataRequest): object {
  const encode = async (): Promise<Encoder> => {
    const encoder = new EncoderClass();
    // The header of such a version ends with tagged fields, of which there are none, as behind each structure.
    encoder.writeUVarInt(0);
    encoder.writeUVarInt(topics.length === 0 ? 0 : topics.length + 1);
    for (const topic of topics) encoder.writeBuffer(NO_ID).writeUVarIntString(topic).writeUVarInt(0);
    // Nobody asks for the operations that are allowed.
    return encoder.writeBoolean(allowAutoTopicCreation).writeBoolean(false).writeUVarInt(0);
  };
  return { apiKey: METADATA_KEY, apiVersion: TOPIC_ID_VERSION, apiName: 'Metadata', encode };
}

/** Decodes an answer into what kafkajs makes of the earlier versions. */
export function decodeMetadata(bytes: Buffer) {
  const decoder = new DecoderClass(bytes);
  passTaggedFields(decoder);
  const clientSideThrottleTime = decoder.readInt32();
  const brokers = arrayOf(decoder, () => {
    const broker = { nodeId: decoder.readInt32(), host: decoder.readUVarIntString(), port: decoder.readInt32() };
    const rack = decoder.readUVarIntString();
    passTaggedFields(decoder);
    return { ...broker, rack };
  });
  const cluster = { clusterId: decoder.readUVarIntString(), controllerId: decoder.readInt32() };
  return { throttleTime: 0, clientSideThrottleTime, brokers, ...cluster, topicMetadata: arrayOf(decoder, topicMetadata) };
}

function topicMetadata(decoder: Decoder) {
  const topicErrorCode = decoder.readInt16();
  const topic = decoder.readUVarIntString();
  const id = decoder.readBytes(ID_BYTES);
  const topicId = id.equals(NO_ID) ? {} : { topicId: id.toString('base64url') };
  const isInternal = decoder.readBoolean();
  const partitionMetadata = arrayOf(decoder, () => ({ ...partitionOf(decoder), ...topicId }));
  // The operations that are allowed.
  decoder.readInt32();
  passTaggedFields(decoder);
  return { topicErrorCode, topic, isInternal, partitionMetadata };
}

function partitionOf(decoder: Decoder): PartitionMetadata {
  const partition = { partitionErrorCode: decoder.readInt16(), partitionId: decoder.readInt32(), leader: decoder.readInt32() };
  // The epoch of the leader.
  decoder.readInt32();
  const nodes = (): number[] => arrayOf(decoder, () => decoder.readInt32());
  const copies = { replicas: nodes(), isr: nodes(), offlineReplicas: nodes() };
  passTaggedFields(decoder);
  return { ...partition, ...copies };
}

function arrayOf<T>(decoder: Decoder, read: (decoder: Decoder) => T): T[] {
  return decoder.readUVarIntArray(read) ?? [];
}

/** kafkajs's own function ends one byte early at each field. */
function passTaggedFields(decoder: Decoder): void {
  for (let left = decoder.readUVarInt(); left > 0; left--) {
    decoder.readUVarInt();
    decoder.readBytes(decoder.readUVarInt());
  }
}

/** The names of all topics, each with its id as Kafka writes it; undefined from brokers that tell none. */
export async function listTopics(admin: Pick<Admin, 'fetchTopicMetadata'>): Promise<ReadonlyMap<string, string | undefined>> {
  const { topics } = await admin.fetchTopicMetadata();
  return new Map(topics.map(({ name, partitions }) => [name, (partitions[0] as PartitionWithTopicId | undefined)?.topicId]));
}
