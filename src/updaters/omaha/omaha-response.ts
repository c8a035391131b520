import { escapeXml } from '../../core/xml.ts';
import type { Artifact } from '../../domain/release.ts';
import type { ProtocolResponse } from '../protocol.ts';
import type { OmahaRequest } from './omaha-request.ts';

/** Renders Omaha 3 responses, from one tree: XML with attributes, or JSON with members. */

/** What the answer says about one application of the request. */
export interface AppAnswer {
  readonly id: string;
  readonly status: 'ok' | 'error-unknownApplication' | 'error-invalidAppId';
  readonly hasPing: boolean;
  readonly eventCount: number;
  /** Undefined: the client did not ask for an update, or its application is unknown. */
  readonly check: CheckAnswer | undefined;
}

export type CheckAnswer =
  | { readonly status: 'ok'; readonly update: OmahaUpdate }
  | { readonly status: 'noupdate' | 'error-osnotsupported' };

interface OmahaUpdate extends Pick<Artifact, 'format' | 'size' | 'sha256'> {
  readonly version: string;
  /** The absolute address of the file. */
  readonly url: string;
}

type Value = string | number | boolean;
type Values = Readonly<Record<string, Value>>;

/** An element: its attributes, and its children by name. Children in a list are repeated. */
interface Tree {
  readonly values: Values;
  readonly children: readonly (readonly [name: string, child: Tree | readonly Tree[]])[];
}

/** @param receivedAt when the request arrived, in milliseconds since the Unix epoch */
export function renderOmaha(
  { form, protocol }: Pick<OmahaRequest, 'form' | 'protocol'>,
  apps: readonly AppAnswer[],
  receivedAt: number,
): ProtocolResponse {
  const response = tree({ protocol, server: 'prod' }, [
    ['daystart', tree(dayOf(receivedAt))],
    ['app', apps.map(appTree)],
  ]);
  return form === 'xml'
    ? {
        status: 200,
        headers: { 'content-type': 'text/xml; charset=utf-8' },
        body: `<?xml version="1.0" encoding="UTF-8"?>\n${xmlOf('response', response)}`,
      }
    : {
        status: 200,
        headers: { 'content-type': 'application/json; charset=utf-8' },
        // The first line keeps a page of another origin from running the answer as a script.
        body: `)]}'\n${JSON.stringify({ response: jsonOf(response) })}`,
      };
}

/** 1 January 2007, from which Omaha counts days. */
const FIRST_DAY_MS = Date.UTC(2007, 0, 1);
const DAY_MS = 24 * 3_600_000;

/** The day and the time of the day in UTC. A clock before 2007 counts as its first day: clients expect no sign. */
function dayOf(receivedAt: number): Values {
  const elapsed = Math.max(0, receivedAt - FIRST_DAY_MS);
  return {
    elapsed_days: Math.floor(elapsed / DAY_MS),
    elapsed_seconds: Math.floor((elapsed % DAY_MS) / 1000),
  };
}

function tree(values: Values, children: Tree['children'] = []): Tree {
  return { values, children };
}

function appTree({ id, status, hasPing, eventCount, check }: AppAnswer): Tree {
  const ok = tree({ status: 'ok' });
  return tree({ appid: id, status }, [
    ...(hasPing ? [['ping', ok] as const] : []),
    ...(eventCount > 0 ? [['event', Array.from({ length: eventCount }, () => ok)] as const] : []),
    ...(check === undefined ? [] : [['updatecheck', checkTree(check)] as const]),
  ]);
}

function checkTree(check: CheckAnswer): Tree {
  if (check.status !== 'ok') return tree({ status: check.status });
  const { version, url, format, size, sha256 } = check.update;
  const nameAt = url.lastIndexOf('/') + 1;
  // Percent-encoded as in the address, because clients append it to `codebase`. They save the file under this name.
  const name = url.slice(nameAt);
  const run = { run: name, ...(format === 'nsis' ? { arguments: SILENT } : {}) };
  return tree({ status: 'ok' }, [
    ['urls', tree({}, [['url', [tree({ codebase: url.slice(0, nameAt) })]]])],
    [
      'manifest',
      tree({ version, ...run }, [
        [
          'actions',
          tree({}, [
            ['action', [tree({ event: 'install', ...run }), tree({ event: 'postinstall' })]],
          ]),
        ],
        [
          'packages',
          tree({}, [
            [
              'package',
              [tree({ name, size, hash_sha256: sha256, fp: `1.${sha256}`, required: true })],
            ],
          ]),
        ],
      ]),
    ],
  ]);
}

/** Omaha runs installers in the background, where no user can answer their questions. */
const SILENT = '/S';

function xmlOf(name: string, { values, children }: Tree): string {
  const attributes = Object.entries(values)
    .map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`)
    .join('');
  const inside = children.flatMap(([child, one]) => listOf(one).map((each) => xmlOf(child, each)));
  return inside.length === 0
    ? `<${name}${attributes}/>`
    : `<${name}${attributes}>${inside.join('')}</${name}>`;
}

function jsonOf({ values, children }: Tree): object {
  const members = children.map(([name, one]) => [
    name,
    isList(one) ? one.map(jsonOf) : jsonOf(one),
  ]);
  return { ...values, ...Object.fromEntries(members) };
}

function listOf(one: Tree | readonly Tree[]): readonly Tree[] {
  return isList(one) ? one : [one];
}

function isList(one: Tree | readonly Tree[]): one is readonly Tree[] {
  return Array.isArray(one);
}
