import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/**
 * True when the kernel spreads connections over processes that listen on one port. Elsewhere, the primary process
 * accepts connections and hands them to the workers, which takes more time for each connection.
 */
export const KERNEL_SHARES_PORTS = process.platform === 'linux';

/**
 * Returns the port that the workers listen on: `port`, or a free port for 0. Checks that no other program listens on
 * it: the workers share their port, so they would not notice.
 *
 * @throws the system's error when this process cannot listen there
 */
export async function reservePort(host: string, port: number): Promise<number> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  const { port: found } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return found;
}
