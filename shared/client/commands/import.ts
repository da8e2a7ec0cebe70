import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { InvalidArgumentError, Option, type Command } from "commander";
import { writeYaml, type YamlComment } from "#shared/json/yaml.ts";
import { failWith, type ClientFlags } from "#shared/client/connection.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { readBounded, STDIN } from "#shared/client/input-file.ts";
import { quoted } from "#shared/text/quoted.ts";
import { convertBackup } from "#shared/client/uptime-kuma/convert.ts";
import { LARGEST_FILE, readBackup } from "#shared/client/uptime-kuma/read-backup.ts";
import type { Variable } from "#shared/client/uptime-kuma/secrets.ts";
import { describeError } from "#shared/contracts/error-code.ts";
import { LAUNCHER } from "#shared/settings/launcher.ts";

const NAME = "import uptime-kuma";
/** The document can have secrets: its owner alone reads it. */
const PRIVATE_FILE = 0o600;
const LONGEST_INTERVAL = 1_440;

/** Adds `deploy/vantage import uptime-kuma`, which needs no service: what it writes is for an apply. */
export function addImport(program: Command, context: CommandContext): void {
  const importing = program
    .command("import")
    .helpGroup("Moving from another product (needs no API key):")
    .description("convert what another product exports to a document for apply");
  importing
    .command("uptime-kuma")
    .argument("<file>", "JSON of Settings > Backup, or of the monitorList of release 2; - is standard input")
    .description("convert the monitors of Uptime Kuma; nothing is sent to a service: read the document, then apply it")
    .option("-o, --output <file>", "file to write (default: standard output)")
    .addOption(new Option("--out <file>").hideHelp())
    .option("--private", "take over targets beyond the public internet too; the service refuses them by default")
    .option("--include-secrets", "write secrets into the document, not variables of the environment in their place")
    .option("--min-interval <minutes>", "shortest interval of your plan (default: 1)", readMinutes)
    .action(async (file: string, flags: ClientFlags) => {
      const bytes = await readBounded(context, file, LARGEST_FILE);
      if (!bytes.ok) return failWith(context, NAME, { line: bytes.line });
      const read = readBackup(bytes.value);
      if (!read.ok) return failWith(context, NAME, { line: `${file} is no backup of Uptime Kuma: ${read.why}` });
      const converted = convertBackup(read.backup, {
        includeSecrets: flags["includeSecrets"] === true,
        includePrivate: flags["private"] === true,
        shortestIntervalMinutes: Number(flags["minInterval"] ?? 1),
      });
      const { document, descriptions, variables, lines } = converted;
      const text = writeYaml(document, [
        { path: [], lines: headOf(read.backup.version, variables) },
        ...descriptions.flatMap((line, index): readonly YamlComment[] =>
          line === "" ? [] : [{ path: ["monitors", index], lines: [line] }],
        ),
      ]);
      const output = flags["output"] ?? flags["out"];
      const isFile = typeof output === "string" && output !== STDIN;
      if (isFile) {
        try {
          writeFileSync(resolve(context.directory, output), text, { mode: PRIVATE_FILE });
        } catch (error) {
          return failWith(context, NAME, { line: `${output} cannot be written (${describeError(error)})` });
        }
      } else context.say(text.trimEnd());
      for (const line of lines) context.complain(line);
      if (isFile) context.complain(`Read ${output}, then run ${LAUNCHER} apply -f ${quoted(output)} --dry-run`);
    });
}

/** Returns the comment at the head of the document: where it is from, and what an apply of it needs. */
function headOf(version: string, variables: readonly Variable[]): readonly string[] {
  const head = `From a backup of Uptime Kuma${version === "" ? "" : ` ${version}`}.`;
  if (variables.length === 0) return [head];
  return [
    `${head} Set these variables before an apply:`,
    ...variables.map(
      ({ name, monitor, field, hint }) => `  ${name}: ${field} of ${monitor}${hint === null ? "" : ` (${hint})`}`,
    ),
  ];
}

function readMinutes(text: string): number {
  const minutes = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (minutes >= 1 && minutes <= LONGEST_INTERVAL) return minutes;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${LONGEST_INTERVAL}.`);
}
