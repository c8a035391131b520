import { installedText, updateText } from '../../releases/forecast/clients-text.ts';
import type { ForeseenUpdate } from '../../releases/forecast/foresee-updates.ts';
import { printTable } from '../output.ts';
import type { Terminal } from '../terminal.ts';

/** How commands describe groups of clients, and what these are offered. */

/** Prints one line for each group. */
export function printClientTable(terminal: Terminal, clients: readonly ForeseenUpdate[]): void {
  printTable(
    terminal,
    ['channel', 'target', 'installed', 'gets'],
    clients.map((group) => [group.channel, group.target, installedText(group), updateText(group)]),
  );
}
