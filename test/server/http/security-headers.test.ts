import type { IncomingMessage, ServerResponse } from 'node:http';
import helmet from 'helmet';
import { expect, it } from 'vitest';
import {
  DATA_SECURITY_HEADERS,
  SECURITY_HEADERS,
} from '../../../src/server/http/security-headers.ts';

/** The headers whose values differ from helmet's, each with the reason. */
const DIFFERENT: Readonly<Record<string, string>> = {
  'content-security-policy':
    'helmet allows what a page of an application needs, and an answer here needs nothing',
  'cross-origin-resource-policy': 'websites of other origins load releases, pictures and elements',
};

function readHelmet(): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  const recorder = {
    setHeader: (name: string, value: string) => {
      headers[name.toLowerCase()] = value;
    },
    removeHeader: () => {},
  };
  helmet()({} as IncomingMessage, recorder as unknown as ServerResponse, (error) => {
    if (error !== undefined) throw error;
  });
  return headers;
}

it('every header that helmet sets is set, with the same value but for the named differences', () => {
  const expected = readHelmet();
  expect(Object.keys(SECURITY_HEADERS).sort()).toEqual(Object.keys(expected).sort());
  const differing = Object.keys(expected).filter(
    (name) => SECURITY_HEADERS[name] !== expected[name],
  );
  expect(differing.sort()).toEqual(Object.keys(DIFFERENT).sort());
});

it('headers of data are among those of pages', () => {
  expect(SECURITY_HEADERS).toMatchObject(DATA_SECURITY_HEADERS);
  expect(Object.keys(DATA_SECURITY_HEADERS)).toEqual([
    'content-security-policy',
    'cross-origin-resource-policy',
    'referrer-policy',
    'strict-transport-security',
    'x-content-type-options',
  ]);
});
