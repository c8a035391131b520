import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The S3 policies of the documentation, and what AWS would decide by them. */

type Values = string | readonly string[];

export interface Statement {
  readonly Effect: 'Allow' | 'Deny';
  readonly Action: Values;
  readonly Resource: Values;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, Values>>>>;
}
export type Policy = readonly Statement[];

/** One right that a request needs. */
export interface NeededRight {
  readonly action: string;
  /** Empty for the bucket itself. */
  readonly key: string;
  readonly bucket: string;
  /** The condition keys that the request has. */
  readonly context?: Readonly<Record<string, string>>;
}

const PAGE = path.join(import.meta.dirname, '../../docs/operations/s3-policies.md');
const ARN = 'arn:aws:s3:::';

/** The policies of the page by the heading above them. */
export function readPolicies(): ReadonlyMap<string, Policy> {
  const policies = new Map<string, Policy>();
  for (const section of readFileSync(PAGE, 'utf8').split(/^#+ /m)) {
    const [, text] = /```json\n([\s\S]*?)```/.exec(section) ?? [];
    if (text === undefined) continue;
    const { Statement } = JSON.parse(text) as { Statement: Policy };
    policies.set(section.slice(0, section.indexOf('\n')), Statement);
  }
  return policies;
}

/** A policy for another bucket or application than the page names. */
export function renamed(policy: Policy, from: string, to: string): Policy {
  const text = JSON.stringify(policy);
  return JSON.parse(text.replaceAll(`${from}/`, `${to}/`).replaceAll(`${from}"`, `${to}"`));
}

/** A statement that denies outweighs every statement that allows. A request that no statement allows is denied. */
export function allows(policy: Policy, right: NeededRight): boolean {
  const matching = policy.filter((statement) => matches(statement, right));
  return (
    matching.some(({ Effect }) => Effect === 'Allow') &&
    !matching.some(({ Effect }) => Effect === 'Deny')
  );
}

function matches({ Action, Resource, Condition = {} }: Statement, right: NeededRight): boolean {
  const { action, bucket, key, context = {} } = right;
  const resource = key === '' ? `${ARN}${bucket}` : `${ARN}${bucket}/${key}`;
  return (
    listOf(Action).some((pattern) => isLike(pattern, action)) &&
    listOf(Resource).some((pattern) => isLike(pattern, resource)) &&
    Object.entries(Condition).every(([operator, wanted]) =>
      Object.entries(wanted).every(([name, values]) =>
        isMet(operator, listOf(values), context[name]),
      ),
    )
  );
}

/** By the rules of IAM, a key that the request lacks meets a negated operator, and no other operator. */
function isMet(operator: string, wanted: readonly string[], given: string | undefined): boolean {
  switch (operator) {
    case 'StringEquals':
    case 'Bool':
      return given !== undefined && wanted.includes(given);
    case 'StringNotEquals':
      return given === undefined || !wanted.includes(given);
    case 'Null':
      return wanted.includes(String(given === undefined));
    default:
      throw new Error(`The tests do not know the operator ${operator}.`);
  }
}

const listOf = (values: Values): readonly string[] => [values].flat();

function isLike(pattern: string, text: string): boolean {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 's').test(text);
}
