import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readDelivered, replaceParts } from './delivered-file.ts';
import type { ProxySetting, StartedProxy } from './proxied.ts';
import { startProxyProcess } from './proxy-process.ts';

/** Debian's Caddy with `deploy/caddy`, in front of two processes. */

const FILES = { root: 'Caddyfile', path: 'Caddyfile.below-a-path' } as const;

export async function startCaddy(setting: ProxySetting): Promise<StartedProxy> {
  const { variant, directory, httpPort, httpsPort, certificate, upstreamPorts } = setting;
  const { certificateFile, keyFile } = certificate;
  const write = async (
    file: string,
    replacements: readonly (readonly [from: string, to: string])[],
  ): Promise<string> => {
    const target = path.join(directory, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, replaceParts(file, readDelivered(`caddy/${file}`), replacements));
    return target;
  };
  // Each Caddy of a machine has another port for its administration, unless that is off.
  const options = ['admin off', `http_port ${httpPort}`, `https_port ${httpsPort}`];
  await write('slipway/options.caddy', [['\tservers {', `\t${options.join('\n\t')}\n\tservers {`]]);
  await write('slipway/snippets.caddy', [
    ['127.0.0.1:8080', `127.0.0.1:${upstreamPorts[0]}`],
    ['127.0.0.1:8081', `127.0.0.1:${upstreamPorts[1]}`],
    ['/var/lib/slipway/objects', setting.objects ?? '/var/lib/slipway/objects'],
  ]);
  const main = await write(FILES[variant.basePath === '' ? 'root' : 'path'], [
    [
      '# tls /etc/ssl/slipway/fullchain.pem /etc/ssl/slipway/privkey.pem',
      `tls ${certificateFile} ${keyFile}`,
    ],
  ]);
  const caddy = await startProxyProcess(
    'caddy',
    ['run', '--config', main, '--adapter', 'caddyfile'],
    // Caddy writes below these.
    {
      port: httpsPort,
      env: { HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory },
    },
  );
  return { ...caddy, logged: async () => caddy.output() };
}
