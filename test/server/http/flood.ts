import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Clients that send more than they read, over bare sockets. */

/** Connects and sends the bytes; reads nothing until the caller resumes it. */
export async function openSilent(port: number, bytes: string | Buffer = ''): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.pause();
  if (bytes.length > 0) socket.write(bytes);
  return socket;
}

/** Opens `count` of them, a hundred at a time. */
export async function openMany(
  port: number,
  count: number,
  bytes: string | Buffer = '',
): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const length = Math.min(100, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length }, () => openSilent(port, bytes)))));
  }
  return sockets;
}

export function closeAll(sockets: readonly Socket[]): void {
  for (const socket of sockets) socket.destroy();
}

/** One request as text, for repeating it. */
export function requestText(method: string, path: string, body = ''): string {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: x'];
  if (body !== '') {
    lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
