import kafkajs from 'kafkajs';
import { type SecuredBroker, USERS } from './secured-broker.ts';
import { PASSPHRASE } from './test-authority.ts';
import { createTopic, uniqueName, withAdmin } from './test-topic.ts';

export type Settings = Readonly<Record<string, string>>;

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs;

/** Named for what the users may do with them; `group` begins the names of the groups that all but bob may read. */
export const topics = { open: uniqueName('open'), closed: uniqueName('closed'), describeOnly: uniqueName('described') };
export const group = uniqueName('group');

type Right = readonly [principal: string, kind: 'TOPIC' | 'GROUP', name: string, operations: readonly ('READ' | 'DESCRIBE')[]];

const rulesOf = ([principal, kind, name, operations]: Right) =>
  operations.map((operation) => ({
    principal,
    host: '*',
    resourceType: AclResourceTypes[kind],
    resourceName: name,
    resourcePatternType: kind === 'GROUP' ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
    operation: AclOperationTypes[operation],
    permissionType: AclPermissionTypes.ALLOW,
  }));

export async function allow(broker: SecuredBroker, ...right: Right): Promise<void> {
  await withAdmin(broker.address, (admin) => admin.createAcls({ acl: rulesOf(right) }));
}

/** Takes back what `allow` gave. */
export async function disallow(broker: SecuredBroker, ...right: Right): Promise<void> {
  await withAdmin(broker.address, (admin) => admin.deleteAcls({ filters: rulesOf(right) }));
}

/** Makes the topics and gives the rights; the settings that read the open topic, by how they sign in. */
export async function waysToSignIn(broker: SecuredBroker): Promise<Readonly<Record<string, Settings>>> {
  const ways: Record<string, Settings> = {};
  for (const topic of Object.values(topics)) await createTopic(broker.address, topic, 1);
  for (const principal of ['User:alice', 'User:CN=client', 'User:service']) {
    await allow(broker, principal, 'TOPIC', topics.open, ['READ', 'DESCRIBE']);
    await allow(broker, principal, 'TOPIC', topics.describeOnly, ['DESCRIBE']);
    await allow(broker, principal, 'GROUP', group, ['READ']);
  }
  await allow(broker, 'User:bob', 'TOPIC', topics.open, ['READ', 'DESCRIBE']);
  const client = await broker.authority.issue('CN=client');
  const base = {
    KAFKA_TLS: 'true',
    KAFKA_TLS_CA_FILE: broker.file('ca.pem', broker.authority.cert),
    KAFKA_TOPICS: topics.open,
    KAFKA_GROUP_ID: group,
  };
  const password = { ...base, KAFKA_BROKERS: broker.listeners.SIGNIN, KAFKA_SASL_USERNAME: 'alice', KAFKA_SASL_PASSWORD: USERS.alice };
  const mutual = { ...base, KAFKA_BROKERS: broker.listeners.MUTUAL, KAFKA_TLS_CERT_FILE: broker.file('client.pem', client.cert) };
  ways['plain'] = { ...password, KAFKA_SASL_MECHANISM: 'plain' };
  ways['scram-sha-256'] = { ...password, KAFKA_SASL_MECHANISM: 'scram-sha-256' };
  ways['mutual TLS'] = { ...mutual, KAFKA_TLS_KEY_FILE: broker.file('client.key', client.key) };
  ways['mutual TLS with an encrypted key'] = {
    ...mutual,
    KAFKA_TLS_KEY_FILE: broker.file('encrypted.key', client.encryptedKey),
    KAFKA_TLS_KEY_PASSPHRASE_FILE: broker.file('passphrase', `${PASSPHRASE}\n`),
  };
  return ways;
}
