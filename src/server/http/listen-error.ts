import { AppError, systemCode } from '../../core/errors.ts';

interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The names of the settings that configure the host and the port. */
  readonly settings: { readonly host: string; readonly port: string };
}

/** Explains why the server cannot listen on an address, and what to do. @returns any other error unchanged */
export function explainListenError(error: unknown, address: ListenAddress): unknown {
  const { host, port, settings } = address;
  const sentence = {
    EADDRINUSE: `Port ${port} on ${host} is in use by another program. Stop that program, or set ${settings.port} to another port; 0 selects a free one.`,
    EACCES: `This user may not listen on port ${port}. Set ${settings.port} to 1024 or higher.`,
    EADDRNOTAVAIL: `This machine does not have the address ${host}. Set ${settings.host} to an address of this machine, or to 0.0.0.0 for all of them.`,
    ENOTFOUND: `The host name ${host} cannot be resolved. Set ${settings.host} to an address of this machine, or to 0.0.0.0 for all of them.`,
  }[systemCode(error) ?? ''];
  if (sentence === undefined) return error;
  return new AppError('invalid_configuration', sentence, { cause: error });
}
