import { describe, expect, it } from 'vitest';
import { errorResponses } from '../../../src/server/http/error-responses.ts';

describe('the error responses of a route', () => {
  it('have one entry per status, which lists each of its codes once', () => {
    const responses = errorResponses(
      'not_signed_in',
      'invalid_request',
      'store_unavailable',
      'malformed_json',
      'store_denied',
      'store_unavailable',
    );
    const listed = Object.entries(responses).map(([status, { description }]) => [
      status,
      description,
    ]);
    expect(listed).toEqual([
      ['400', 'invalid_request, malformed_json'],
      ['401', 'not_signed_in'],
      ['503', 'store_unavailable, store_denied'],
    ]);
  });

  it('accept a problem with one of their codes, and no other', () => {
    const schema =
      errorResponses('unknown_version')[404]?.content['application/problem+json'].schema;
    const problem = {
      type: 'urn:slipway:problem:unknown_version',
      title: 'Not Found',
      status: 404,
      detail: 'There is no version 9.9.9.',
      code: 'unknown_version',
      request_id: '1',
    };
    expect(schema?.safeParse(problem).success).toBe(true);
    expect(schema?.safeParse({ ...problem, code: 'unknown_file' }).success).toBe(false);
  });
});
