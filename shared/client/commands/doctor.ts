import type { Command } from "commander";
import type { CommandContext } from "#shared/client/context.ts";
import { examine } from "#shared/client/doctor/examine.ts";
import type { Finding } from "#shared/client/doctor/finding.ts";
import { addSettingFlags, withFlags } from "#shared/client/flags.ts";
import { SETTING_ROWS } from "#shared/settings/settings-parse.ts";

/** Adds `deploy/vantage doctor`, which prints one line per check and exits with status 1 if a check failed. */
export function addDoctor(program: Command, context: CommandContext): void {
  const doctor = program
    .command("doctor")
    .description(
      "check settings, disk, memory, database, permissions, DNS, mail server, clock, Chromium, TLS, ports, and the proxy in front of a running service",
    )
    .option("--settings", "list every setting with its default and its allowed values");
  addSettingFlags(doctor, SETTING_ROWS).action(async (flags: Record<string, unknown>) => {
    if (flags["settings"] === true) {
      for (const row of SETTING_ROWS) {
        context.say(
          `${row.name} (${row.process}): ${row.meaning}; must be ${row.kind.allowed}; default: ${row.default ?? row.absent}`,
        );
      }
      return;
    }
    const report = ({ level, subject, message, todo }: Finding) =>
      context.say(`${level.padEnd(4)}  ${subject}: ${message}${todo === undefined ? "" : ` -> ${todo}`}`);
    const environment = withFlags(context.environment, SETTING_ROWS, flags);
    const findings = await examine({ environment, directory: context.directory, now: context.now, report });
    if (findings.some((finding) => finding.level === "fail")) context.exit(1);
  });
}
