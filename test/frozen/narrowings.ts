/** The part of JSON Schema that the generated schemas use. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly pattern?: string;
  readonly format?: string;
  readonly [bound: string]: unknown;
}

const UPPER = ['maximum', 'maxLength', 'maxItems'];
const LOWER = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'];

/**
 * The places where a schema refuses what an earlier one accepted. A later version must read every document that an
 * earlier version wrote, so a schema may only grow: new optional properties, new values, wider bounds.
 */
export function narrowings(before: Schema, after: Schema, at = ''): readonly string[] {
  const old = alternatives(before);
  const now = alternatives(after);
  if (old !== undefined || now !== undefined) {
    const candidates = now ?? [after];
    return (old ?? [before]).flatMap((each) => {
      const tries = candidates.map((candidate) => narrowings(each, candidate, at));
      return tries.some((found) => found.length === 0) ? [] : [tries.flat()[0] ?? `${at} is gone`];
    });
  }
  return [
    ...values(before, after, at),
    ...UPPER.filter(
      (bound) => Number(after[bound] ?? Infinity) < Number(before[bound] ?? Infinity),
    ).map((bound) => `${at} has a smaller ${bound}`),
    ...LOWER.filter(
      (bound) => Number(after[bound] ?? -Infinity) > Number(before[bound] ?? -Infinity),
    ).map((bound) => `${at} has a larger ${bound}`),
    ...(['pattern', 'format'] as const)
      .filter((rule) => after[rule] !== undefined && after[rule] !== before[rule])
      .map((rule) => `${at} has another ${rule}`),
    ...properties(before, after, at),
    ...inner('items', before.items, after.items, `${at}[]`),
    ...inner('propertyNames', before.propertyNames, after.propertyNames, `${at} (names)`),
  ];
}

const alternatives = ({ anyOf, oneOf }: Schema): readonly Schema[] | undefined => anyOf ?? oneOf;

function values(before: Schema, after: Schema, at: string): readonly string[] {
  const accepted = after.const === undefined ? after.enum : [after.const];
  const written = before.const === undefined ? before.enum : [before.const];
  if (accepted !== undefined) {
    const refused = written?.filter((value) => !accepted.includes(value)) ?? ['other values'];
    if (refused.length > 0) return [`${at} no longer accepts ${refused.join(', ')}`];
  }
  const types = [after.type ?? before.type ?? []].flat();
  const gone = [before.type ?? []]
    .flat()
    .filter((type) => !types.includes(type) && !(type === 'integer' && types.includes('number')));
  return gone.length === 0 ? [] : [`${at} is no longer ${gone.join(', ')}`];
}

function properties(before: Schema, after: Schema, at: string): readonly string[] {
  const required = (after.required ?? []).filter((name) => !before.required?.includes(name));
  return [
    ...required.map((name) => `${at}.${name} is required`),
    ...Object.entries(before.properties ?? {}).flatMap(([name, old]) => {
      const now = after.properties?.[name];
      return now === undefined ? [`${at}.${name} is gone`] : narrowings(old, now, `${at}.${name}`);
    }),
    ...(typeof after.additionalProperties === 'object'
      ? inner(
          'values',
          asSchema(before.additionalProperties),
          after.additionalProperties,
          `${at}.*`,
        )
      : []),
    ...(after.additionalProperties === false && before.additionalProperties !== false
      ? [`${at} accepts no further properties`]
      : []),
  ];
}

const asSchema = (given: Schema | boolean | undefined): Schema | undefined =>
  typeof given === 'object' ? given : undefined;

function inner(
  what: string,
  before: Schema | undefined,
  after: Schema | undefined,
  at: string,
): readonly string[] {
  if (after === undefined) return [];
  return before === undefined ? [`${at} has rules for ${what}`] : narrowings(before, after, at);
}
