import { print, type Terminal } from '../../cli/terminal.ts';
import { AppError } from '../../core/errors.ts';
import { createSigningKeys, rotateSigningKeys } from './access-tokens/signing-keys.ts';
import type { AccountSettings } from './settings.ts';

export async function keys(
  terminal: Terminal,
  options: { add: boolean; switch: boolean; retire: boolean },
): Promise<void> {
  const steps = (['add', 'switch', 'retire'] as const).filter((step) => options[step]);
  const [step] = steps;
  if (step === undefined) return print(terminal, await createSigningKeys());
  if (steps.length > 1) {
    throw new AppError(
      'invalid_request',
      'Give one step at a time: --add, then --switch, then --retire.',
    );
  }
  const { loadConfig } = await terminal.facts();
  const { accounts } = loadConfig<AccountSettings>(terminal.environment(), 'command');
  const { accessTokenKeys } = accounts;
  if (accessTokenKeys === undefined) {
    throw new AppError(
      'invalid_configuration',
      `--${step} needs the current keys. Set ACCESS_TOKEN_KEYS to them. Without keys yet, "slipway keys" prints the first.`,
    );
  }
  print(terminal, await rotateSigningKeys(accessTokenKeys.reveal(), step));
}
