import schema from './schemas/ocsf-1.8.0.json' with { type: 'json' };

interface ObjectRules {
  readonly attributes: Readonly<Record<string, string>>;
  readonly enums?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly atLeastOne?: readonly string[];
}
interface TypeRules {
  readonly base: string;
  readonly maxLength?: number;
  readonly range?: readonly number[];
  readonly regex?: string;
}

const OBJECTS: Readonly<Record<string, ObjectRules>> = schema.objects;
const TYPES: Readonly<Record<string, TypeRules>> = schema.types;

/** Returns the faults of an event by the rules of OCSF for HTTP Activity, with attribute and value. */
export function ocsfFaults(event: Readonly<Record<string, unknown>>): readonly string[] {
  const groups = schema.event.atLeastOneOfEach.filter((names) => !names.some((name) => event[name] !== undefined));
  const { class_uid: classUid, activity_id: activityId, type_uid: typeUid } = event;
  const typeFault =
    typeUid === Number(classUid) * 100 + Number(activityId) ? [] : [`type_uid ${typeUid} does not follow from class and activity`];
  return [...groups.map((names) => `one of ${names.join(', ')} is due`), ...typeFault, ...objectFaults('', schema.event, event)];
}

function objectFaults(path: string, rules: ObjectRules, value: object): readonly string[] {
  const members = value as Readonly<Record<string, unknown>>;
  const missing = Object.entries(rules.attributes).filter(([name, rule]) => rule.endsWith(' required') && members[name] === undefined);
  const isBare = rules.atLeastOne !== undefined && !rules.atLeastOne.some((name) => members[name] !== undefined);
  return [
    ...missing.map(([name]) => `${path}${name} is missing`),
    ...(isBare ? [`${path} has none of ${rules.atLeastOne?.join(', ')}`] : []),
    ...Object.entries(members).flatMap(([name, inner]) => attributeFaults(path, name, rules, inner, members)),
  ];
}

function attributeFaults(
  path: string,
  name: string,
  rules: ObjectRules,
  value: unknown,
  siblings: Readonly<Record<string, unknown>>,
): readonly string[] {
  const attribute = `${path}${name}`;
  const rule = rules.attributes[name];
  if (rule === undefined) {
    return [`${attribute} is not an attribute of OCSF`];
  }
  const type = rule.split(' ')[0] ?? '';
  const isList = type.endsWith('[]');
  if (isList !== Array.isArray(value) || (isList && (value as unknown[]).length === 0)) {
    return [`${attribute} is ${JSON.stringify(value)}, and ${isList ? 'a list' : 'one value'} is due`];
  }
  const values: readonly unknown[] = isList ? (value as unknown[]) : [value];
  return [
    ...values.flatMap((one) => valueFaults(attribute, type.replace('[]', ''), one)),
    ...enumFaults(attribute, rules.enums?.[name], value, siblings[siblingOf(name)]),
  ];
}

/** The attribute that has the caption of an enumerated one. */
function siblingOf(name: string): string {
  const captions: Readonly<Record<string, string>> = {
    activity_id: 'activity_name',
    category_uid: 'category_name',
    class_uid: 'class_name',
    type_uid: 'type_name',
  };
  return captions[name] ?? name.replace(/_id$/, '');
}

/** The caption of a known number is the published one; of 99 it is the source's own. */
function enumFaults(
  attribute: string,
  captions: Readonly<Record<string, string>> | undefined,
  value: unknown,
  sibling: unknown,
): readonly string[] {
  if (captions === undefined) {
    return [];
  }
  const caption = captions[String(value)];
  if (caption === undefined) {
    return [`${attribute} is ${JSON.stringify(value)}, which the enumeration does not have`];
  }
  return sibling === undefined || sibling === caption || value === 99
    ? []
    : [`${attribute} is ${value}, whose caption is ${caption}, not ${sibling}`];
}

function valueFaults(attribute: string, type: string, value: unknown): readonly string[] {
  const inner = OBJECTS[type];
  if (inner !== undefined || type === 'object') {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject
      ? inner === undefined
        ? []
        : objectFaults(`${attribute}.`, inner, value)
      : [`${attribute} is ${JSON.stringify(value)}: an object is due`];
  }
  const rules = TYPES[type];
  if (rules === undefined) {
    throw new Error(`the rules have a type ${type} that this does not know`);
  }
  return isScalar(rules, value) ? [] : [`${attribute} is ${JSON.stringify(value)}: no ${type}`];
}

function isScalar({ base, maxLength, range, regex }: TypeRules, value: unknown): boolean {
  switch (base) {
    case 'string_t':
      return (
        typeof value === 'string' &&
        value.length <= (maxLength ?? Number.POSITIVE_INFINITY) &&
        (regex === undefined || new RegExp(`^(?:${regex})$`).test(value))
      );
    case 'integer_t':
    case 'long_t': {
      const [low = -(2 ** 63), high = 2 ** 63] = range ?? [];
      return typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high;
    }
    case 'boolean_t':
      return typeof value === 'boolean';
    default:
      throw new Error(`the rules have a type ${base} that this does not know`);
  }
}
