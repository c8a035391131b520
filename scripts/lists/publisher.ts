import { addAppCommands } from '../../src/cli/apps/commands.ts';
import { addChannelCommands } from '../../src/cli/channels/commands.ts';
import { addCompletionCommand } from '../../src/cli/completion/commands.ts';
import { addFeedsCommand } from '../../src/cli/feeds/commands.ts';
import { addInspectCommands } from '../../src/cli/inspect/commands.ts';
import { addGcCommand, addVerifyCommand } from '../../src/cli/maintain/commands.ts';
import { addPublishCommands } from '../../src/cli/publish/commands.ts';
import type { AddCommands } from '../../src/cli/runner.ts';
import { addStatsCommand } from '../../src/cli/stats/commands.ts';
import type { Roles } from '../../src/cli/terminal.ts';
import { addWithdrawCommands } from '../../src/cli/withdraw/commands.ts';
import { addContactCommands } from '../cli/contact-commands.ts';
import { addCopyCommand } from '../cli/copy-command.ts';
import { addDoctorCommand } from '../cli/doctor-command.ts';
import { addExplainCommands } from '../cli/explain-commands.ts';
import { addImportCommand } from '../cli/import-command.ts';
import { addInitCommand } from '../cli/init-command.ts';
import { addSimulateCommand } from '../cli/simulate-commands.ts';

/** What the publisher in one file and the complete package have. Commands are in the order of the help. */

export const FIRST_COMMANDS: readonly AddCommands[] = [
  addInitCommand,
  addPublishCommands,
  addImportCommand,
  addWithdrawCommands,
  addInspectCommands,
  addFeedsCommand,
  addExplainCommands,
  addStatsCommand,
  addSimulateCommand,
  addAppCommands,
  addChannelCommands,
  addVerifyCommand,
  addDoctorCommand,
  addCopyCommand,
  addGcCommand,
];

/** The complete package lists its own commands before these. */
export const LAST_COMMANDS: readonly AddCommands[] = [addContactCommands, addCompletionCommand];

export const ROLES: Roles = {
  facts: async () => (await import('./facts.ts')).FACTS,
};
