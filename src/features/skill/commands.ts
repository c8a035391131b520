import type { Command } from 'commander';
import { describeCommand } from '../../cli/description.ts';
import type { Runner } from '../../cli/runner.ts';

/** The command that tells tools which write applications how to use Slipway. */
export function addSkillCommand(program: Command, run: Runner): void {
  program.commandsGroup('Use this command line:');
  describeCommand(program.command('skill'), {
    summary: 'print instructions for tools that write applications',
    does: 'Prints SKILL.md, the instructions for coding agents and other tools: how to set up a project, publish, roll out, stop and explain, with the exact commands and exit codes. The format is the Agent Skills format (agentskills.io): save the output as slipway/SKILL.md in the skills folder of your agent.',
    effect: 'none. The command only prints.',
    examples: ['skill'],
  }).action(run(async () => (await import('./run.ts')).printSkill));
}
