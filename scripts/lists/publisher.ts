import { addAppCommands } from '../cli/app-commands.ts';
import { addChannelCommands } from '../cli/channel-commands.ts';
import { addCompletionCommand } from '../cli/completion-command.ts';
import { addContactCommands } from '../cli/contact-commands.ts';
import { addCopyCommand } from '../cli/copy-command.ts';
import { addDoctorCommand } from '../cli/doctor-command.ts';
import { addExplainCommands } from '../cli/explain-commands.ts';
import { addFeedsCommand } from '../cli/feeds-commands.ts';
import { addImportCommand } from '../cli/import-command.ts';
import { addInitCommand } from '../cli/init-command.ts';
import { addInspectCommands } from '../cli/inspect-commands.ts';
import { addGcCommand, addVerifyCommand } from '../cli/maintain-commands.ts';
import { addPublishCommands } from '../cli/publish-commands.ts';
import type { AddCommands } from '../cli/runner.ts';
import { addSimulateCommand } from '../cli/simulate-commands.ts';
import { addStatsCommand } from '../cli/stats-commands.ts';
import type { Roles } from '../cli/terminal.ts';
import { addWithdrawCommands } from '../cli/withdraw-commands.ts';

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
