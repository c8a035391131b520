import { z } from 'zod';
import type { ErrorCode } from '../../core/errors.ts';
import { type ErrorStatus, statusOf } from './problem.ts';

/** The error codes of a route, as the error responses of its schema and of the OpenAPI document. */

const issueSchema = z.object({
  pointer: z.string().describe('JSON Pointer (RFC 6901).'),
  detail: z.string(),
});

export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string().describe('Stable; branch on this.'),
    request_id: z.string(),
    errors: z.array(issueSchema).optional(),
  })
  .describe('RFC 9457 problem document (application/problem+json).');

/** The codes of every route that answers from the catalog. Such a route adds its own codes. */
export const FROM_CATALOG = [
  'catalog_unavailable',
  'store_unavailable',
  'store_denied',
  'overloaded',
] as const satisfies readonly ErrorCode[];

interface ErrorResponse {
  /** The codes, separated by commas. */
  readonly description: string;
  readonly content: { readonly 'application/problem+json': { readonly schema: z.ZodType } };
}

type ErrorResponses = { readonly [Status in ErrorStatus]?: ErrorResponse };

/**
 * For a route's `response`: one entry per HTTP status, whose schema lists the codes of that status.
 *
 * A test must produce every code: the error-code tests compare the codes that they produced with the document.
 */
export function errorResponses(...codes: readonly ErrorCode[]): ErrorResponses {
  const responses: { [Status in ErrorStatus]?: ErrorResponse } = {};
  for (const status of new Set(codes.map(statusOf))) {
    const own = [...new Set(codes.filter((code) => statusOf(code) === status))];
    const code = z.enum(own).describe('Stable; branch on this.');
    const schema = problemSchema.extend({ code }).describe(`${problemSchema.description}`);
    responses[status] = {
      description: own.join(', '),
      content: { 'application/problem+json': { schema } },
    };
  }
  return responses;
}
