import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify';
import { z } from 'zod';
import { AppError, type FieldIssue, isAppError } from '../../core/errors.ts';
import { WORD_LENGTH_MAX } from '../../domain/update-query.ts';
import { describeIssue, summarizeIssues } from './issue-sentence.ts';

/** Parses requests with the zod schemas from which the service also makes the OpenAPI documents. */

const PARTS: Readonly<Record<string, string>> = {
  body: 'The body is',
  headers: 'The headers are',
  querystring: 'The query is',
};

/** For Fastify: reports all invalid fields at once, each with its JSON Pointer. */
export const compileValidator: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  return (data) => {
    const parsed = schema.safeParse(data, { error: describeIssue });
    if (parsed.success) return { value: parsed.data };
    const issues = parsed.error.issues.map((issue) => ({
      pointer: issue.path.map((step) => `/${escapePointer(String(step))}`).join(''),
      detail: issue.message,
    }));
    const sentence = summarizeIssues(PARTS[httpPart ?? ''] ?? 'The address is', issues);
    return { error: new AppError('invalid_request', sentence, { issues }) };
  };
};

/**
 * For Fastify: answers are type-checked, and tests compare them with their schemas; so no check at run time is
 * needed.
 */
export const compileSerializer: FastifySerializerCompiler<unknown> = () => (data) =>
  JSON.stringify(data);

/** RFC 6901, section 3. */
function escapePointer(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1');
}

/**
 * Runs several parsers and reports all their issues in one error. A single error keeps its own code.
 *
 * @throws AppError the only error, or `invalid_request` for several
 */
export function parseAll<T extends Record<string, () => unknown>>(
  parsers: T,
): { [K in keyof T]: ReturnType<T[K]> } {
  const parsed: Record<string, unknown> = {};
  const errors: AppError[] = [];
  for (const name in parsers) {
    try {
      parsed[name] = parsers[name]?.();
    } catch (error) {
      if (!isAppError(error)) throw error;
      errors.push(error);
    }
  }
  const [first, ...others] = errors;
  if (first === undefined) return parsed as { [K in keyof T]: ReturnType<T[K]> };
  if (others.length === 0) throw first;
  const issues: FieldIssue[] = errors.flatMap((error) => error.issues);
  // Each detail is a whole sentence and contains the value.
  const sentences = issues.map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`);
  const detail = `Several fields are not valid. ${sentences.join(' ')}`;
  throw new AppError('invalid_request', detail, { issues });
}

/** Parses an optional field; null when it is absent. */
export function optional<T>(text: string | undefined, parse: (text: string) => T): T | null {
  return text === undefined ? null : parse(text);
}

/** The error when the query parameter `app` names an application that does not exist. */
export function unknownApplication(name: string): AppError {
  const detail = `There is no application ${JSON.stringify(name)}.`;
  return new AppError('unknown_application', detail, { issues: [{ pointer: '/app', detail }] });
}

/** A short text in a request: a name, a version, a word of a vocabulary. */
export const word = z.string().min(1).max(WORD_LENGTH_MAX);

/** The message for a name that `isDisplayName` refuses. */
export const NOT_A_NAME = 'must be one line, without control or invisible characters';
