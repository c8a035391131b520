import { addAppCommands } from '../cli/apps/commands.ts';
import { addChannelCommands } from '../cli/channels/commands.ts';
import { addCompletionCommand } from '../cli/completion/commands.ts';
import { addFeedsCommand } from '../cli/feeds/commands.ts';
import { addInspectCommands } from '../cli/inspect/commands.ts';
import { addGcCommand, addVerifyCommand } from '../cli/maintain/commands.ts';
import { addPublishCommands } from '../cli/publish/commands.ts';
import type { AddCommands } from '../cli/runner.ts';
import { addStatsCommand } from '../cli/stats/commands.ts';
import type { Roles } from '../cli/terminal.ts';
import { addWithdrawCommands } from '../cli/withdraw/commands.ts';
import { addContactCommands } from './contact/commands.ts';
import { addCopyCommand } from './copy/commands.ts';
import { addDoctorCommand } from './doctor/commands.ts';
import { addExplainCommands } from './explain/commands.ts';
import { addImportCommand } from './import/commands.ts';
import { addInitCommand } from './init/commands.ts';
import { addSimulateCommand } from './simulate/commands.ts';
import { addSkillCommand } from './skill/commands.ts';
import { addTrustCommands } from './trust/commands.ts';

/** The commands of the publisher in one file and of the complete package, in the order of the help. */

export const FIRST_COMMANDS: readonly AddCommands[] = [
  addInitCommand,
  addPublishCommands,
  addImportCommand,
  addWithdrawCommands,
  addTrustCommands,
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
export const LAST_COMMANDS: readonly AddCommands[] = [
  addContactCommands,
  addCompletionCommand,
  addSkillCommand,
];

export const ROLES: Roles = {
  facts: async () => (await import('./command-facts.ts')).COMMAND_FACTS,
  signDraft: async () => (await import('./trust/run-sign.ts')).signDraft,
};
