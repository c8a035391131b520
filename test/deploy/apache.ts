import { chmod, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readDelivered, replaceParts } from './delivered-file.ts';
import type { ProxySetting, StartedProxy } from './proxied.ts';
import { startProxyProcess } from './proxy-process.ts';

/** Debian's Apache with `deploy/apache`, in front of two processes. */

const OFFLOAD = 'apache/offload.conf';
const MODULES = [
  ...['mpm_event', 'authz_core', 'ssl', 'socache_shmcb', 'xsendfile'],
  ...['proxy', 'proxy_http', 'proxy_balancer', 'lbmethod_byrequests', 'slotmem_shm'],
];

export async function startApache(setting: ProxySetting): Promise<StartedProxy> {
  const { directory, httpsPort, objects = '/var/lib/slipway/objects' } = setting;
  // As root, Apache gives its processes another user, who may not enter a temporary directory.
  for (let place = objects; place.startsWith(tmpdir() + path.sep); place = path.dirname(place)) {
    await chmod(place, 0o711);
  }
  const main = path.join(directory, 'apache.conf');
  const offload = replaceParts(OFFLOAD, readDelivered(OFFLOAD), [
    ['/var/lib/slipway/objects', objects],
  ]);
  await writeFile(main, configure(setting, offload));
  const apache = await startProxyProcess('apache2', ['-f', main, '-DFOREGROUND'], {
    port: httpsPort,
  });
  return { ...apache, logged: async () => apache.output() };
}

/** In place of Debian's /etc/apache2/apache2.conf, and of the virtual host that an operator has. */
function configure(setting: ProxySetting, offload: string): string {
  const { directory, httpsPort, certificate, upstreamPorts } = setting;
  return [
    `ServerRoot ${directory}`,
    'ServerName localhost',
    `PidFile ${directory}/apache.pid`,
    `DefaultRuntimeDir ${directory}`,
    `ErrorLog ${directory}/error.log`,
    `Listen 127.0.0.1:${httpsPort}`,
    ...MODULES.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
    `<VirtualHost 127.0.0.1:${httpsPort}>`,
    'SSLEngine on',
    `SSLCertificateFile ${certificate.certificateFile}`,
    `SSLCertificateKeyFile ${certificate.keyFile}`,
    'ProxyPreserveHost On',
    'AllowEncodedSlashes NoDecode',
    '<Proxy balancer://slipway>',
    ...upstreamPorts.map((port) => `BalancerMember http://127.0.0.1:${port}`),
    '</Proxy>',
    'ProxyPass / balancer://slipway/ nocanon',
    offload,
    '</VirtualHost>',
    '',
  ].join('\n');
}
