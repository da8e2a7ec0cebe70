import { Option, type Command } from "commander";
import { EXPORTER_MEMORY, withMemory } from "#shared/client/process-memory.ts";
import { runProgram } from "#shared/client/commands/processes.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { PROGRAMS } from "#shared/client/programs.ts";
import { EXPORTER_SETTINGS as SETTINGS } from "#shared/settings/exporter.ts";
import type { Setting } from "#shared/settings/row.ts";
import { SETTINGS as ALL } from "#shared/settings/settings.ts";

/** A flag of blackbox_exporter and the setting that it is; `toSetting` converts its value. */
interface Flag {
  readonly name: string;
  readonly value: string;
  readonly setting: Setting<unknown>;
  readonly toSetting?: (value: string) => string;
}

/** Flags with the names of blackbox_exporter's, so that its unit files and manifests keep theirs. */
const FLAGS: readonly Flag[] = [
  { name: "config.file", value: "file", setting: SETTINGS.exporterConfigFile },
  { name: "web.listen-address", value: "address", setting: SETTINGS.exporter },
  { name: "web.config.file", value: "file", setting: SETTINGS.exporterWebConfigFile },
  { name: "web.external-url", value: "url", setting: SETTINGS.exporterExternalUrl },
  { name: "web.route-prefix", value: "path", setting: SETTINGS.exporterRoutePrefix },
  {
    name: "timeout-offset",
    value: "seconds",
    setting: SETTINGS.exporterTimeoutOffset,
    toSetting: (value) => (/^[\d.]+$/.test(value) ? `${value}s` : value),
  },
  { name: "history.limit", value: "number", setting: SETTINGS.exporterHistoryLimit },
  { name: "log.level", value: "level", setting: ALL.logLevel },
];

/** Threads of the process for the look-ups of names, which the system's resolver keeps for as long as they take. */
const LOOKUP_THREADS = "16";

/** Adds `vantage exporter`: the blackbox exporter for Prometheus, without a control plane. */
export function addExporter(program: Command, context: CommandContext): void {
  const command = program
    .command("exporter")
    .description("serve Prometheus' blackbox exporter without a control plane");
  for (const { name, value, setting } of FLAGS) {
    const otherwise = setting.default ?? setting.absent ?? "none";
    const option = new Option(`--${name} <${value}>`, `${setting.meaning} (${setting.name}; default: ${otherwise})`);
    command.addOption(option.argParser(collect));
  }
  command.option("--config.check", "check the file of modules and exit");
  command.action(async (flags: Readonly<Record<string, readonly string[] | true | undefined>>) => {
    const given = FLAGS.flatMap(({ name, setting, toSetting = (value) => value }) => {
      const values = flags[attributeOf(name)];
      return Array.isArray(values) ? [[setting.name, values.map((value: string) => toSetting(value)).join(",")]] : [];
    });
    const environment = { UV_THREADPOOL_SIZE: LOOKUP_THREADS, ...context.environment, ...Object.fromEntries(given) };
    const words = flags[attributeOf("config.check")] === true ? ["check"] : [];
    context.exit(await runProgram(PROGRAMS.exporter, words, withMemory(environment, EXPORTER_MEMORY)));
  });
}

/** Returns the name under which commander has a flag. */
function attributeOf(name: string): string {
  return new Option(`--${name}`).attributeName();
}

/** Gathers the values of a flag that can be repeated. */
function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}
