import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { allows, type NeededRight, type Policy } from './s3-policy.ts';

/**
 * A store with a policy: a proxy in front of a store that refuses what AWS would refuse. Ceph RGW 16.2 does not know
 * the condition keys of conditional writes.
 */
export interface PolicyProxy {
  readonly endpoint: string;
  /** Later requests need the rights of this policy. */
  setPolicy(policy: Policy): void;
  /** What was refused, such as `s3:PutObject apps/desktop/catalog/0000000001.json`. */
  readonly refused: string[];
  close(): Promise<void>;
}

export async function startPolicyProxy(target: string): Promise<PolicyProxy> {
  const { hostname, port } = new URL(target);
  const refused: string[] = [];
  let policy: Policy = [];
  const server = createServer((incoming, outgoing) => {
    const rights = rightsOf(incoming);
    const denied = rights?.find((right) => !allows(policy, right));
    if (rights === undefined || denied !== undefined) {
      refused.push(`${denied?.action ?? incoming.method} ${denied?.key ?? incoming.url}`);
      return deny(incoming, outgoing);
    }
    const { method, url, headers } = incoming;
    const upstream = request({ hostname, port, method, path: url, headers, agent: false });
    upstream.on('response', (answer) => {
      const [{ action, bucket } = { action: '', bucket: '' }] = rights;
      const isMissing = answer.statusCode === 404 && action === 's3:GetObject';
      if (isMissing && !allows(policy, { action: 's3:ListBucket', bucket, key: '' })) {
        answer.resume();
        refused.push(`s3:ListBucket, for the missing ${url}`);
        return deny(incoming, outgoing);
      }
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    upstream.on('error', () => incoming.socket.destroy());
    incoming.on('close', () => {
      if (!incoming.complete) upstream.destroy();
    });
    incoming.pipe(upstream);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused,
    setPolicy: (next) => {
      policy = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Parameters that select no other action: the SDK's name of the command, the parts of a presigned URL, and names. */
const HARMLESS = /^(x-id|x-amz-.*|response-.*|partnumber|uploadid|list-type|prefix|start-after)$/;
const HARMLESS_TOO =
  /^(continuation-token|delimiter|max-keys|encoding-type|fetch-owner|key-marker)$/;

/** The rights that a request needs; undefined for a request that no program of the project sends. */
function rightsOf({ method = '', url = '', headers }: IncomingMessage): NeededRight[] | undefined {
  const { pathname, searchParams: query } = new URL(url, 'http://store');
  const isSigned = headers.authorization !== undefined || query.has('X-Amz-Signature');
  if (!isSigned) return undefined;
  const [, bucket = '', rest = ''] = /^\/([^/]+)\/?(.*)$/s.exec(pathname) ?? [];
  const key = decodeURIComponent(rest);
  const others = [...query.keys()].filter(
    (name) => !HARMLESS.test(name.toLowerCase()) && !HARMLESS_TOO.test(name.toLowerCase()),
  );
  const part = query.has('uploadId');
  const right = (action: string, context = {}): NeededRight => ({ action, bucket, key, context });
  const condition = headers['if-none-match'];
  const put = (isCreation: boolean): NeededRight =>
    right('s3:PutObject', {
      's3:ObjectCreationOperation': String(isCreation),
      ...(condition === undefined ? {} : { 's3:if-none-match': condition }),
    });
  switch (`${method} ${key === '' ? 'bucket' : 'object'} ${others.join()}`) {
    case 'GET object ':
    case 'HEAD object ':
      return part ? undefined : [right('s3:GetObject')];
    case 'DELETE object ':
      return [right(part ? 's3:AbortMultipartUpload' : 's3:DeleteObject')];
    case 'PUT object ':
      return [...copied(headers['x-amz-copy-source']), put(!part)];
    case 'POST object uploads':
      return [put(false)];
    case 'POST object ':
      return part ? [put(true)] : undefined;
    case 'GET bucket ':
    case 'HEAD bucket ':
      return [right('s3:ListBucket', { 's3:prefix': query.get('prefix') ?? '' })];
    case 'GET bucket uploads':
      return [right('s3:ListBucketMultipartUploads')];
    case 'GET bucket versioning':
      return [right('s3:GetBucketVersioning')];
    default:
      return undefined;
  }
}

function copied(source: string | string[] | undefined): NeededRight[] {
  if (source === undefined) return [];
  const [, bucket = '', key = ''] =
    /^\/?([^/]+)\/(.*)$/s.exec(decodeURIComponent(`${source}`)) ?? [];
  return [{ action: 's3:GetObject', bucket, key }];
}

function deny(incoming: IncomingMessage, outgoing: ServerResponse): void {
  incoming.resume();
  outgoing.writeHead(403, { 'content-type': 'application/xml', 'x-amz-request-id': 'policy' });
  const body = '<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>';
  outgoing.end(incoming.method === 'HEAD' ? undefined : body);
}
