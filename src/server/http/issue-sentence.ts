import type { z } from 'zod';
import type { FieldIssue } from '../../core/errors.ts';

/** Describes the problem of a field in terms of HTTP and JSON; zod's messages are for TypeScript programmers. */

type RawIssue = Parameters<z.core.$ZodErrorMap>[0];

/** A phrase after the field's name: `is required`, `must be a string`. A message in the schema takes precedence. */
export function describeIssue(issue: RawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      // A list in a body, or a repeated query parameter.
      if (issue.expected === 'string' && Array.isArray(issue.input))
        return 'must be a single string';
      return `must be ${KINDS[issue.expected] ?? `of type ${issue.expected}`}`;
    case 'invalid_value':
      return issue.input === undefined
        ? 'is required'
        : `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`;
    case 'too_small':
      if (Number(issue.minimum) === 1 && issue.origin !== 'number') return 'must not be empty';
      return `must ${HAVE[issue.origin] ?? 'be'} at least ${issue.minimum}${UNITS[issue.origin] ?? ''}`;
    case 'too_big':
      return `must ${HAVE[issue.origin] ?? 'be'} at most ${issue.maximum}${UNITS[issue.origin] ?? ''}`;
    case 'invalid_format':
      return `must be ${FORMATS[issue.format] ?? `a valid ${issue.format}`}`;
    default:
      return 'is not valid';
  }
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a JSON object',
  record: 'a JSON object',
};
const HAVE: Readonly<Record<string, string>> = { string: 'have', array: 'have' };
const UNITS: Readonly<Record<string, string>> = { string: ' characters', array: ' entries' };
const FORMATS: Readonly<Record<string, string>> = {
  email: 'a mail address, such as ada@example.com',
  date: 'a day, such as 2026-01-31',
  datetime: 'a time, such as 2026-01-31T12:00:00Z',
};

const NAMED_MAX = 3;

/** One sentence: `The body is not valid: device.name is required.` @param what `The body is` */
export function summarizeIssues(what: string, issues: readonly FieldIssue[]): string {
  const named = issues.slice(0, NAMED_MAX).map(({ pointer, detail }) => {
    const name = pointer.slice(1).replaceAll('/', '.');
    return name === '' ? `it ${detail}` : `${name} ${detail}`;
  });
  const more = issues.length > NAMED_MAX ? `; and ${issues.length - NAMED_MAX} more` : '';
  return `${what} not valid: ${named.join('; ')}${more}.`;
}
