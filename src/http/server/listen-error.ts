import { AppError } from '../../errors.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The settings that name them. */
  readonly settings: { readonly host: string; readonly port: string };
}

/** Says what to do about an address that cannot be listened on; any other error as it is. */
export function explainListenError(error: unknown, address: ListenAddress): unknown {
  const { host, port, settings } = address;
  const sentence = {
    EADDRINUSE: `Port ${port} on ${host} is in use by another program. Stop that program, or set ${settings.port} to another port; 0 takes a free one.`,
    EACCES: `This user may not listen on port ${port}. Set ${settings.port} to a port from 1024 on.`,
    EADDRNOTAVAIL: `This machine does not have the address ${host}. Set ${settings.host} to one that it has; 0.0.0.0 is all of them.`,
    ENOTFOUND: `${host} is not the name of an address. Set ${settings.host} to an address of this machine; 0.0.0.0 is all of them.`,
  }[String((error as NodeJS.ErrnoException).code)];
  if (sentence === undefined) return error;
  return new AppError('invalid_configuration', sentence, { cause: error });
}
