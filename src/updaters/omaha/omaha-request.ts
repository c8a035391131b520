import { AppError } from '../../core/errors.ts';
import { isRecord } from '../../core/json-record.ts';
import { parseXml, type XmlElement } from '../../core/xml.ts';

/** Reads Omaha 3 requests: 3.0 in XML and 3.1 in JSON, which have the same tree. */

export interface OmahaRequest {
  /** The answer has the form of the question. */
  readonly form: 'xml' | 'json';
  /** `3.0` or `3.1`. */
  readonly protocol: string;
  /** An id of the installation; only clients whose users agreed send one. Empty: none. */
  readonly userId: string;
  readonly system: OmahaSystem;
  readonly apps: readonly OmahaApp[];
}

/** As the client states it; empty texts are not stated. */
export interface OmahaSystem {
  readonly platform: string;
  readonly version: string;
  /** A service pack on Windows; on macOS the version with the architecture, such as `10.5.6_i486`. */
  readonly servicePack: string;
  readonly arch: string;
}

export interface OmahaApp {
  /** Empty when the client states none, which is an error of the client. */
  readonly id: string;
  readonly version: string;
  /** Undefined: the client only reports something. */
  readonly check: OmahaCheck | undefined;
  readonly hasPing: boolean;
  readonly eventCount: number;
}

interface OmahaCheck {
  /** Whether the client says that it will ignore an update. */
  readonly isDisabled: boolean;
  readonly allowsDowngrade: boolean;
  /** Whether a user asked for the check. */
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
  // Read as UTF-8, UTF-16 begins with its mark or has a NUL beside each letter.
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
      // Chrome's older requests have the system beside the list.
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
