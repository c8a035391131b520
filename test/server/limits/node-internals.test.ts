import { createServer, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { internalsOf, nodeInternals } from '../../../src/server/limits/node-internals.ts';

describe('the undocumented parts of Node', () => {
  it('are used in the versions that the tests run with, and in no newer one', () => {
    expect(nodeInternals).toBe(internalsOf('22.19.0'));
    expect(internalsOf('26.99.0')).toBe(nodeInternals);
    for (const newer of ['27.0.0', '28.1.0', '100.0.0-nightly', 'unknown']) {
      expect(internalsOf(newer), newer).not.toBe(nodeInternals);
    }
  });

  it('change nothing without them', () => {
    const documented = internalsOf('99.0.0');
    const server = createServer();
    const socket = new Socket();
    documented.answerHalfOpen(server);
    documented.stopWithinRead(
      socket,
      () => false,
      () => expect.unreachable(),
    );
    expect(documented.bytesHandedOver(socket)).toBeUndefined();
    expect(server).not.toMatchObject({ httpAllowHalfOpen: true });
  });

  it.each([{ _handle: null }, { _handle: {} }, { _handle: { bytesWritten: 1 } }])(
    'are not used where Node lacks them: a socket with %j',
    (state) => {
      const socket = Object.assign(Object.create(Socket.prototype), state);
      expect(nodeInternals.bytesHandedOver(socket)).toBeUndefined();
    },
  );

  it.each([null, undefined, {}, { onIncoming: null }])(
    'are not used where Node lacks them: a parser that is %j',
    (parser) => {
      const socket = Object.assign(Object.create(Socket.prototype), { parser });
      const stop = () =>
        nodeInternals.stopWithinRead(
          socket,
          () => false,
          () => expect.unreachable(),
        );
      expect(stop).not.toThrow();
      expect(socket.parser).toBe(parser);
    },
  );

  it('are not used where Node lacks them: a response without a text of headers', () => {
    const response = Object.create(ServerResponse.prototype);
    expect(nodeInternals.writeHeadText(response, 200, '')).toBe(false);
  });
});
