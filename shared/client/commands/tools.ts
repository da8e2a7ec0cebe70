import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { isatty } from "node:tty";
import type { Command } from "commander";
import { addConnectionFlags } from "#shared/client/connection.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { addToolOptions, type Flags } from "#shared/client/tools/options.ts";
import { LAUNCHER } from "#shared/settings/launcher.ts";
import type { Contract } from "#shared/tools/define.ts";

/** Adds `deploy/vantage <tool> <target>` of a tool, which calls the API of a running control plane. */
export function addTool(program: Command, context: CommandContext, contract: Contract): void {
  const { name, summary } = contract;
  const command = program
    .command(name)
    .description(summary)
    .helpGroup("Tools (need an API key):")
    .showHelpAfterError(`(${LAUNCHER} ${name} --help lists its options)`);
  // The open tier's name works here, too.
  if (contract.open?.name !== undefined) command.alias(contract.open.name);
  addToolOptions(command, contract);
  addConnectionFlags(command).action(async (value: string, flags: Flags) => {
    // Before the listener of Ctrl-C, which could not run while standard input is awaited.
    const text = readValue(value, context);
    const stop = new AbortController();
    // The second Ctrl-C finds no listener, and ends the process.
    const interrupt = () => stop.abort();
    process.once("SIGINT", interrupt);
    const { runTool } = await import("#shared/client/tools/run-tool.ts");
    await runTool(context, contract, { value, text, flags, stop: stop.signal });
    process.off("SIGINT", interrupt);
  });
}

function readValue(value: string, { directory }: CommandContext): string | null {
  if (!value.startsWith("@")) return value;
  try {
    // Node has set a terminal to answer EAGAIN while nothing is typed. Opened again, it waits.
    const input = isatty(0) ? "/dev/stdin" : 0;
    return readFileSync(value === "@-" ? input : resolve(directory, value.slice(1)), "utf8");
  } catch {
    return null;
  }
}
