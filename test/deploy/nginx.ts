import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DEPLOY, readDelivered, replaceParts } from './delivered-file.ts';
import type { ProxySetting, StartedProxy } from './proxied.ts';
import { startProxyProcess } from './proxy-process.ts';

/** Debian's nginx with `deploy/nginx`, in front of two processes. */

const FILES = { root: 'slipway.conf', path: 'slipway-below-a-path.conf' } as const;
const UPSTREAM = 'nginx/slipway/upstream.conf';
const OFFLOAD = 'nginx/slipway/offload.conf';

export async function startNginx(setting: ProxySetting): Promise<StartedProxy> {
  const { variant, directory, httpPort, httpsPort, certificate, upstreamPorts } = setting;
  const file = FILES[variant.basePath === '' ? 'root' : 'path'];
  await mkdir(path.join(directory, 'temp'), { recursive: true });
  await cp(path.join(DEPLOY, 'nginx/slipway'), path.join(directory, 'slipway'), {
    recursive: true,
  });
  const upstream = replaceParts(UPSTREAM, readDelivered(UPSTREAM), [
    ['127.0.0.1:8080', `127.0.0.1:${upstreamPorts[0]}`],
    ['127.0.0.1:8081', `127.0.0.1:${upstreamPorts[1]}`],
  ]);
  await writeFile(path.join(directory, 'slipway/upstream.conf'), upstream);
  const offload = replaceParts(OFFLOAD, readDelivered(OFFLOAD), [
    ['/var/lib/slipway/objects', setting.objects ?? '/var/lib/slipway/objects'],
  ]);
  await writeFile(path.join(directory, 'slipway/offload.conf'), offload);
  const site = replaceParts(`nginx/${file}`, readDelivered(`nginx/${file}`), [
    ['listen 80;', `listen 127.0.0.1:${httpPort};`],
    ['listen [::]:80;', ''],
    ['listen 443 ssl http2;', `listen 127.0.0.1:${httpsPort} ssl http2;`],
    ['listen [::]:443 ssl http2;', ''],
    ['/etc/ssl/slipway/fullchain.pem', certificate.certificateFile],
    ['/etc/ssl/slipway/privkey.pem', certificate.keyFile],
    ['/var/log/nginx/', `${directory}/`],
  ]);
  await writeFile(path.join(directory, 'site.conf'), site);
  const main = path.join(directory, 'nginx.conf');
  await writeFile(main, mainOf(directory));
  const args = ['-c', main, '-p', directory, '-e', 'stderr'];
  const nginx = await startProxyProcess('nginx', args, { port: httpsPort });
  const logs = ['slipway.log', 'slipway-error.log'].map((name) => path.join(directory, name));
  return {
    ...nginx,
    logged: async () => {
      const texts = await Promise.all(logs.map((log) => readFile(log, 'utf8').catch(() => '')));
      return [...texts, nginx.output()].join('\n');
    },
  };
}

/** In place of Debian's /etc/nginx/nginx.conf, whose paths need root. */
function mainOf(directory: string): string {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return [
    // As root, nginx would give its processes another user, who may not enter the temporary directory.
    ...(process.getuid?.() === 0 ? ['user root;'] : []),
    'daemon off;',
    'worker_processes 2;',
    `pid ${directory}/nginx.pid;`,
    'error_log stderr warn;',
    'events { worker_connections 1024; }',
    'http {',
    ...kinds.map((kind) => `  ${kind}_temp_path ${directory}/temp/${kind};`),
    `  include ${directory}/site.conf;`,
    '}',
    '',
  ].join('\n');
}
