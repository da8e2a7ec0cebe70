import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { failWith } from "#shared/client/connection.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { runWithPings } from "#shared/client/heartbeat.ts";

/** The variable with the address of a heartbeat: its token is a secret, and other users can see flags. */
const URL_VARIABLE = "VTG_HEARTBEAT_URL";

/** Adds `deploy/vantage heartbeat run`, which reports a job of cron to its heartbeat. It needs no API key. */
export function addHeartbeat(program: Command, context: CommandContext): void {
  const heartbeat = program
    .command("heartbeat")
    .description("report the runs of a job to its heartbeat")
    .enablePositionalOptions();
  heartbeat
    .command("run")
    .argument("<command>", "command to run; write -- before it")
    .argument("[arguments...]", "its arguments")
    .description(
      "run a command, ping its start and its exit code with the end of its output, and end as it did. The command runs also if the service is away",
    )
    .summary("run a command and report it")
    .option(
      "--url <url>",
      `heartbeat_url of the monitor; other users of this machine can see flags: prefer ${URL_VARIABLE}`,
    )
    .option("--no-output", "do not send the last 10 KB of the output with the ping")
    // Flags behind the command are its own, also without --.
    .passThroughOptions()
    .action(
      async (command: string, words: readonly string[], flags: { readonly url?: string; readonly output: boolean }) => {
        const given = (flags.url ?? context.environment[URL_VARIABLE] ?? "").trim();
        const url = URL.parse(given);
        if (url === null || !/^https?:$/.test(url.protocol)) {
          const line = `${given === "" ? "no address" : "not an address of a heartbeat"}: give heartbeat_url of the monitor with --url, or set ${URL_VARIABLE}`;
          return failWith(context, "heartbeat run", { line });
        }
        if (command === "") return failWith(context, "heartbeat run", { line: "the command must not be empty" });
        const { input, stdout, stderr, complain } = context;
        const run = { heartbeat: url, command, words, rid: randomUUID(), sendsOutput: flags.output };
        context.exit(await runWithPings({ ...run, isTerminal: input.isTerminal, stdout, stderr, complain }));
      },
    );
}
