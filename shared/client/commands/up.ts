import type { Command } from "commander";
import type { CommandContext } from "#shared/client/context.ts";
import { addSettingFlags, withFlags } from "#shared/client/flags.ts";
import { PROGRAMS } from "#shared/client/programs.ts";
import { onNpmGone } from "#shared/client/npm-parent.ts";
import { runUp } from "#shared/client/up/run.ts";
import { SETTING_ROWS } from "#shared/settings/settings-parse.ts";

/** Adds `deploy/vantage up`, which runs everything on this machine; `npm start` calls it. */
export function addUp(program: Command, context: CommandContext): void {
  const up = program
    .command("up")
    .description("run PostgreSQL (unless DATABASE_URL is set), the control plane and a local agent on this machine");
  addSettingFlags(up, SETTING_ROWS).action(async (flags: Record<string, unknown>) => {
    const stop = new AbortController();
    // Under npm, Ctrl-C arrives twice; a second abort has no effect.
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop.abort());
    onNpmGone(context.environment, () => stop.abort());
    const status = await runUp({
      environment: withFlags(context.environment, SETTING_ROWS, flags),
      directory: context.directory,
      entries: PROGRAMS,
      say: context.say,
      isTerminal: context.output.isTerminal,
      complain: context.complain,
      stop: stop.signal,
    });
    context.exit(status);
  });
}
