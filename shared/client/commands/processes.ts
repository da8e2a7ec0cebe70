import type { Command } from "commander";
import type { CommandContext } from "#shared/client/context.ts";
import { NO_SERVICE } from "#shared/client/exit-codes.ts";
import { addSettingFlags, settingsOf, withFlags } from "#shared/client/flags.ts";
import { AGENT_MEMORY, CONTROL_PLANE_MEMORY, withMemory } from "#shared/client/process-memory.ts";
import { explainMissing, PROGRAMS, END_WITH_PARENT } from "#shared/client/programs.ts";
import { become } from "#shared/client/become.ts";
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { onNpmGone } from "#shared/client/npm-parent.ts";
import type { Environment } from "#shared/settings/settings-parse.ts";

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
      const missing = explainMissing(entry);
      if (missing !== null) {
        context.complain(`vantage: ${missing}`);
        return context.exit(NO_SERVICE);
      }
      const environment = withFlags(context.environment, rows, flags);
      context.exit(await runProgram(entry, words, withMemory(environment, memory)));
    });
  }
}

/**
 * Runs one of the programs in the foreground: this process becomes it, so that no second one waits beside it. Under npm,
 * whose end only a process beside the program can see, it is a child. Returns the status of a child.
 */
export function runProgram(entry: string, words: readonly string[], environment: Environment): Promise<number> {
  if (environment["npm_lifecycle_event"] === undefined) become(entry, words, environment);
  return runChild(entry, words, environment);
}

/**
 * Runs one of the programs as a child with this process's standard streams, to which signals are forwarded and which ends
 * with this process, also after SIGKILL. Returns its status as a shell does: the program's own, or 128 plus the number of the
 * signal that killed it.
 */
export function runChild(entry: string, words: readonly string[], environment: Environment): Promise<number> {
  const child = spawn(process.execPath, [`--import=${END_WITH_PARENT}`, entry, ...words], {
    env: { ...environment },
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  onNpmGone(environment, () => child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}
