import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

/**
 * Compares answers with an OpenAPI document: status, media type, and body. The schemas of OpenAPI 3.1 are JSON Schema
 * 2020-12, so the validator is ajv. Fastify itself depends on ajv and on its formats, so they are kept up, and they are
 * not the library that made the schemas.
 */

export interface OpenapiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly parameters?: readonly {
    readonly in: string;
    readonly name: string;
    readonly required: boolean;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, object>> };
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}

interface DocumentedResponse {
  readonly headers?: Readonly<Record<string, { readonly example?: unknown }>>;
  readonly content?: Readonly<
    Record<string, { readonly schema: Schema; readonly example?: unknown }>
  >;
}

type Schema = Readonly<Record<string, unknown>>;

export interface FoundOperation extends DocumentedOperation {
  readonly method: string;
  readonly path: string;
}

export interface ReceivedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The operations of documents, by their ids. @throws when two operations have the same id, or an operation has none */
export function operationsOf(
  documents: readonly OpenapiDocument[],
): ReadonlyMap<string, FoundOperation> {
  const found = new Map<string, FoundOperation>();
  for (const { paths } of documents) {
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const id = operation.operationId;
        if (id === undefined || found.has(id))
          throw new Error(`${method} ${path} has the id ${id}`);
        found.set(id, { ...operation, method, path });
      }
    }
  }
  return found;
}

export const typeOf = (headers: ReceivedAnswer['headers']): string =>
  (headers['content-type'] ?? '').split(';')[0] ?? '';

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
// A name of this project: any text is valid.
ajv.addFormat('yaml', true);
const compiled = new WeakMap<object, ValidateFunction>();

/** What contradicts the schema; empty when nothing does. */
export function findFaults(schema: Schema, value: unknown): string {
  const validate = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, validate);
  return validate(value) ? '' : ajv.errorsText(validate.errors);
}

/** What in an answer contradicts its operation; undefined when nothing does. */
export function contradiction(
  { operationId, responses }: FoundOperation,
  { status, headers, body }: ReceivedAnswer,
): string | undefined {
  const said = `${operationId} answered ${status}`;
  const response = responses[status];
  if (response === undefined) return `${said}, which is not documented`;
  if (status === 302) {
    const location = response.headers?.location as { readonly schema: Schema } | undefined;
    const faults = location && findFaults(location.schema, headers.location);
    return faults === '' ? undefined : `${said} with the location ${headers.location}`;
  }
  const content = response.content ?? {};
  const type = typeOf(headers);
  if (type === '' && body.length === 0) {
    return Object.keys(content).length === 0 ? undefined : `${said} without a body`;
  }
  const schema = content[type]?.schema;
  if (schema === undefined) return `${said} with ${type}, which is not documented`;
  const isText = schema.type === 'string';
  const value: unknown = isText ? body.toString() : JSON.parse(body.toString());
  const faults = findFaults(schema, value);
  return faults === '' ? undefined : `${said} with a body that is not as documented: ${faults}`;
}
