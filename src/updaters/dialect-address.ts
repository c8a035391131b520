import type { ErrorCode } from '../core/errors.ts';

/**
 * The addresses of a dialect for the OpenAPI document. Each address becomes an operation, which generated clients can
 * call: they send the name of a parameter such as `*` unchanged.
 */
export interface DialectAddress {
  /** The name of the operation in generated clients: `getTauriUpdate`. It never changes. */
  readonly operation: string;
  readonly summary: string;
  readonly description?: string;
  /** The path after the dialect's name. Braces name the parts that clients choose: `{target}/{arch}`. */
  readonly path: string;
  /** The parts in braces, by name. */
  readonly parameters?: Readonly<Record<string, AddressParameter>>;
  /** The parameters of the query that this dialect reads; clients may leave out each of them. */
  readonly query?: Readonly<Record<string, AddressParameter>>;
  /** The headers that this dialect reads. */
  readonly headers?: Readonly<Record<string, AddressParameter>>;
  /** Present for a question by POST. */
  readonly body?: AddressBody;
  /** The documents of the answer 200 by media type, without a charset; absent: the address redirects to a file. */
  readonly documents?: Readonly<Record<string, JsonSchema>>;
  /** True when 204 means "no update". */
  readonly hasNoUpdate?: boolean;
  /** The error codes that only some addresses can answer. */
  readonly errors: readonly ErrorCode[];
}

interface AddressParameter {
  readonly description?: string;
  readonly example: string;
}

interface AddressBody {
  /** The documentation page sends the first type. */
  readonly types: readonly string[];
  readonly example: string;
}

/** A schema of JSON Schema 2020-12. It is plain data, because every command loads the dialects, and zod takes time. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A document that is no JSON. */
export const TEXT: JsonSchema = { type: 'string' };

/** An object of JSON with members that are always there, and members that may be. */
export function jsonObject(
  properties: Readonly<Record<string, JsonSchema>>,
  optional: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  return {
    type: 'object',
    required: Object.keys(properties),
    properties: { ...properties, ...optional },
  };
}

/** The document of Squirrel.Mac, which MSIX clients read as well. */
export const SQUIRREL_UPDATE: JsonSchema = jsonObject(
  {
    url: { type: 'string', format: 'uri' },
    name: TEXT,
    notes: TEXT,
    pub_date: { type: 'string', format: 'date-time' },
  },
  {
    delta: jsonObject({
      from_version: TEXT,
      url: { type: 'string', format: 'uri' },
      sha256: TEXT,
      size: { type: 'integer' },
    }),
  },
);

const VERSION_EXAMPLE = '1.0.0';

/** The version that the client has. */
export const CURRENT_VERSION: AddressParameter = {
  description: "The client's version.",
  example: VERSION_EXAMPLE,
};

export const ARCH: AddressParameter = {
  description: "The client's architecture: x64, arm64, ia32, armv7, or an alias.",
  example: 'x64',
};
