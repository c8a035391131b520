import { AppError } from '../../core/errors.ts';
import { isRecord } from '../../core/json-record.ts';
import { escapeXml, parseXml, type XmlElement } from '../../core/xml.ts';
import type { Artifact } from '../../domain/release.ts';
import type { ProtocolResponse } from '../protocol.ts';

/**
 * Reads Omaha 3 requests and renders the answers: 3.0 in XML and 3.1 in JSON, which have the same tree. `omaha.ts` says
 * what the requests and answers mean.
 */

export interface OmahaRequest {
  /** The answer has the form of the question. */
  readonly form: 'xml' | 'json';
  /** `3.0` or `3.1`. */
  readonly protocol: string;
  /** An id of the installation; empty: none. A client sends an id only when its user agreed. */
  readonly userId: string;
  readonly system: OmahaSystem;
  readonly apps: readonly OmahaApp[];
}

/** The system as the client states it. An empty text: not stated. */
export interface OmahaSystem {
  readonly platform: string;
  readonly version: string;
  /** A service pack on Windows; on macOS the version with the architecture, such as `10.5.6_i486`. */
  readonly servicePack: string;
  readonly arch: string;
}

export interface OmahaApp {
  /** Empty when the client states no id, which is an error of the client. */
  readonly id: string;
  readonly version: string;
  /** Undefined: the client only reports something. */
  readonly check: OmahaCheck | undefined;
  readonly hasPing: boolean;
  readonly eventCount: number;
}

interface OmahaCheck {
  /** True when the client says that it will ignore an update. */
  readonly isDisabled: boolean;
  readonly allowsDowngrade: boolean;
  /** True when a user asked for the check. */
  readonly isManual: boolean;
  /** Numbers that the version of an update must begin with, such as `1.2`; empty: any version. */
  readonly versionPrefix: string;
}

/** The common view of an XML element and of a JSON object. */
interface Node {
  /** An attribute or member; empty when it is absent. */
  value(name: string): string;
  all(name: string): readonly Node[];
}

/**
 * @throws AppError `malformed_json`, `invalid_request` for XML that is not well-formed or has a document type
 *   declaration, for text that is no Omaha 3 request, and for other versions of the protocol
 */
export function parseOmahaRequest(body: string): OmahaRequest {
  const text = body.replace(/^\uFEFF/, '').trim();
  // When the service reads UTF-16 as UTF-8, the text begins with a broken byte order mark, or has a NUL beside each
  // letter.
  if (/^\uFFFD{2}|^.?\0/.test(text)) {
    throw new AppError('invalid_request', 'The body is in UTF-16. This address accepts UTF-8.');
  }
  const form = text.startsWith('{') ? 'json' : 'xml';
  const request = form === 'json' ? jsonRequest(text) : xmlRequest(text);
  const stated = request.value('protocol');
  const protocol = stated === '' ? USUAL_PROTOCOL[form] : stated;
  if (!/^3\.[01]$/.test(protocol)) {
    const detail = `The protocol is ${JSON.stringify(protocol.slice(0, 40))}. This address answers Omaha 3.0 and 3.1.`;
    throw new AppError('invalid_request', detail);
  }
  const [os] = request.all('os');
  return {
    form,
    protocol,
    userId: request.value('userid'),
    system: {
      // Older versions of Chrome state the platform in an attribute of the request, and not in the list.
      platform: os?.value('platform') || request.value('@os'),
      version: os?.value('version') ?? '',
      servicePack: os?.value('sp') ?? '',
      arch: os?.value('arch') ?? '',
    },
    apps: request.all('app').map((app) => parseApp(app, request.value('installsource'))),
  };
}

const USUAL_PROTOCOL = { xml: '3.0', json: '3.1' } as const;

function parseApp(app: Node, installSource: string): OmahaApp {
  const [check] = app.all('updatecheck');
  const source = app.value('installsource') || installSource;
  return {
    id: app.value('appid'),
    version: app.value('version'),
    check: check && {
      isDisabled: isTrue(check.value('updatedisabled')),
      allowsDowngrade: isTrue(check.value('rollback_allowed')),
      isManual: source === 'ondemand',
      versionPrefix: check.value('targetversionprefix'),
    },
    hasPing: app.all('ping').length > 0,
    eventCount: app.all('event').length,
  };
}

function isTrue(word: string): boolean {
  return word === 'true' || word === '1';
}

function xmlRequest(text: string): Node {
  const root = parseXml(text);
  if (localName(root.name) === 'request') return xmlNode(root);
  const detail = `The root element is <${root.name.slice(0, 40)}>, and Omaha 3 has <request>.`;
  throw new AppError('invalid_request', detail);
}

function xmlNode({ attributes, children }: XmlElement): Node {
  return {
    value: (name) => (Object.hasOwn(attributes, name) ? (attributes[name] ?? '') : ''),
    all: (name) => children.filter((child) => localName(child.name) === name).map(xmlNode),
  };
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

function jsonRequest(text: string): Node {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw new AppError('malformed_json', 'The body is not JSON.', { cause: error });
  }
  const [request] = jsonNode(document).all('request');
  if (request !== undefined) return request;
  throw new AppError('invalid_request', 'The JSON has no object "request".');
}

function jsonNode(value: unknown): Node {
  const member = (name: string): unknown =>
    isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return {
    value: (name) => {
      const found = member(name);
      return ['string', 'number', 'boolean'].includes(typeof found) ? String(found) : '';
    },
    all: (name) => {
      const found = member(name);
      return (Array.isArray(found) ? found : [found]).filter(isRecord).map(jsonNode);
    },
  };
}

/** The answer to one application of the request. */
interface AppAnswer {
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

/**
 * An element of the answer: its values, and its children by name. The values become attributes in XML, and members in
 * JSON. A list of children becomes a repeated element.
 */
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

/** Omaha counts days from 1 January 2007. */
const FIRST_DAY_MS = Date.UTC(2007, 0, 1);
const DAY_MS = 24 * 3_600_000;

/**
 * The day and the time of the day in UTC. A clock before 2007 counts as the first day of 2007, because clients expect
 * no negative number.
 */
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
  // The name is percent-encoded as in the address, because clients append the name to `codebase`. Clients save the file
  // under this name.
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
