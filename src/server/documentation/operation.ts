import { z } from 'zod';
import type { JsonSchema } from '../../updaters/dialect-address.ts';

/**
 * An operation of an OpenAPI document that is not a route of its own: one route answers the addresses of all dialects,
 * but a generated client needs an address with named parameters for each kind of request.
 */
export interface Operation {
  readonly method: 'get' | 'post';
  /** From the root of the service; braces name the parameters. */
  readonly path: string;
  /** The name in generated clients. It is unique among all operations, and never changes. */
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string | undefined;
  /** The tag decides which document the operation is in. */
  readonly tag: string;
  readonly parameters: readonly Parameter[];
  readonly body?: { readonly types: readonly string[]; readonly example: string } | undefined;
  readonly responses: Readonly<Record<number, Response>>;
}

interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly description?: string | undefined;
  readonly example?: string | number | undefined;
  /** Default: any text. */
  readonly schema?: JsonSchema;
  /** Default: only a part of the path is required. */
  readonly isRequired?: boolean;
}

interface Response {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema | z.ZodType }>>;
}

declare module 'fastify' {
  interface FastifySchema {
    /** The documents have these operations in the place of the route. */
    readonly operations?: readonly Operation[];
  }
}

/** Makes parameters of the same kind from their descriptions, by name. */
export function parametersIn(
  place: Parameter['in'],
  described: Readonly<Record<string, Omit<Parameter, 'in' | 'name'>>> = {},
): readonly Parameter[] {
  return Object.entries(described).map(([name, parameter]) => ({ ...parameter, in: place, name }));
}

/** The answer of a file's address, and of a download: the address of the bytes is in a header. */
export const REDIRECT: Response = { description: 'A file: Location is a presigned URL.' };
export const NOT_MODIFIED: Response = {
  description: 'Not changed since the ETag in If-None-Match.',
};

const BYTES: JsonSchema = { type: 'string', format: 'binary' };
const OCTETS = 'application/octet-stream';

/** The bytes of a file, which the service sends itself. */
export const FILE_RESPONSES = {
  200: { description: 'The whole file.', content: { [OCTETS]: { schema: BYTES } } },
  206: {
    description: 'Ranges of a file; several of them as multipart/byteranges, in the order asked.',
    content: { [OCTETS]: { schema: BYTES }, 'multipart/byteranges': { schema: BYTES } },
  },
  304: NOT_MODIFIED,
} as const satisfies Operation['responses'];

/** These headers are only for the documents: the service ignores a malformed one (RFC 9110, section 14.2). */
export const RANGE_HEADERS = parametersIn('header', {
  range: {
    description: '`bytes=…`, one range or several (RFC 9110, section 14). GET only.',
    example: 'bytes=0-1023, 4096-',
  },
  'if-range': { description: 'An ETag or a date.' },
});

/** Writes the operation as OpenAPI 3.1 has it. */
export function describeOperation(operation: Operation): object {
  const { operationId, summary, description, tag, parameters, body, responses } = operation;
  return {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    parameters: parameters.map(describeParameter),
    ...(body === undefined ? {} : { requestBody: describeBody(body) }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [status, describeResponse(response)]),
    ),
  };
}

function describeParameter(parameter: Parameter): object {
  const { in: place, name, description, example, schema = { type: 'string' } } = parameter;
  return {
    in: place,
    name,
    required: parameter.isRequired ?? place === 'path',
    schema,
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { example }),
  };
}

function describeBody({ types, example }: NonNullable<Operation['body']>): object {
  const content = { schema: { type: 'string' }, example };
  return { required: true, content: Object.fromEntries(types.map((type) => [type, content])) };
}

function describeResponse({ description, content = {} }: Response): object {
  const types = Object.entries(content).map(([type, { schema }]) => [
    type,
    { schema: schema instanceof z.ZodType ? jsonSchemaOf(schema) : schema },
  ]);
  return types.length === 0 ? { description } : { description, content: Object.fromEntries(types) };
}

function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'output' });
  return rest;
}
