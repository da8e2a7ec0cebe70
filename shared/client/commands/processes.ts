import type { Command } from "commander";
import type { CommandContext } from "#shared/client/context.ts";
import { addSettingFlags, settingsOf, withFlags } from "#shared/client/flags.ts";
import { AGENT_MEMORY, CONTROL_PLANE_MEMORY, withMemory } from "#shared/client/process-memory.ts";
import { PROGRAMS } from "#shared/client/programs.ts";
import { runProgram } from "#shared/client/run-program.ts";

/** Adds `deploy/vantage control-plane`, `agent` and `migrate`, each of which runs one process in the foreground. */
export function addProcesses(program: Command, context: CommandContext): void {
  const commands = [
    { name: "control-plane", does: "run a control-plane replica", entry: PROGRAMS.controlPlane, words: [] },
    { name: "agent", does: "run a probe agent", entry: PROGRAMS.agent, words: [] },
    {
      name: "migrate",
      does: "apply database migrations and exit",
      entry: PROGRAMS.controlPlane,
      words: ["migrate"],
    },
  ];
  for (const { name, does, entry, words } of commands) {
    const rows = settingsOf(name === "agent" ? "agent" : "control-plane");
    const memory = name === "agent" ? AGENT_MEMORY : CONTROL_PLANE_MEMORY;
    addSettingFlags(program.command(name).description(does), rows).action(async (flags: Record<string, unknown>) => {
      const environment = withFlags(context.environment, rows, flags);
      context.exit(await runProgram(entry, words, withMemory(environment, memory)));
    });
  }
}
