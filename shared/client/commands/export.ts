import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { readSchema } from "#shared/client/apply/schema.ts";
import { readState, type Step } from "#shared/client/apply/service.ts";
import { writeYaml } from "#shared/client/apply/yaml.ts";
import { GROUP, STDIN } from "#shared/client/commands/apply.ts";
import {
  addConnectionFlags,
  failWith,
  readConnection,
  readPlace,
  type ClientFlags,
} from "#shared/client/connection.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { USAGE } from "#shared/client/exit-codes.ts";
import { isRecord } from "#shared/is-record.ts";
import { describeError } from "#shared/error-code.ts";

/** Adds `deploy/vantage export`. */
export function addExport(program: Command, context: CommandContext): void {
  const exporting = program
    .command("export")
    .helpGroup(GROUP)
    .description("write monitors, status pages and maintenance of your account as YAML, without secrets")
    .option("-o, --output <file>", "file to write (default: standard output)")
    .option("--schema", "write the JSON Schema of such files, by which editors check them; needs no key");
  addConnectionFlags(exporting).action(async (flags: ClientFlags) => {
    const read = flags["schema"] === true ? await schemaText(context, flags) : await stateText(context, flags);
    if (!read.ok) return failWith(context, "export", read);
    const { output } = flags;
    if (typeof output !== "string" || output === STDIN) return context.say(read.value.trimEnd());
    try {
      writeFileSync(resolve(context.directory, output), read.value);
    } catch (error) {
      failWith(context, "export", { line: `${output} cannot be written (${describeError(error)})` });
    }
  });
}

async function stateText(context: CommandContext, flags: ClientFlags): Promise<Step<string>> {
  const connection = readConnection(context, flags);
  if (!connection.ok) return { exit: USAGE, ...connection };
  const state = await readState(connection);
  return state.ok ? { ok: true, value: writeYaml(nameFirst(state.value)) } : state;
}

/** Puts the members that tell rows apart before the others. */
function nameFirst(state: Readonly<Record<string, unknown>>): unknown {
  const rows = (list: unknown): unknown =>
    Array.isArray(list)
      ? list.map((row: unknown) => {
          if (!isRecord(row)) return row;
          const first = FIRST.filter((name) => Object.hasOwn(row, name)).map((name) => [name, row[name]]);
          return { ...Object.fromEntries(first), ...row };
        })
      : list;
  return Object.fromEntries(Object.entries(state).map(([name, list]) => [name, rows(list)]));
}

const FIRST = ["name", "title", "slug", "check_type", "url"];

async function schemaText(context: CommandContext, flags: ClientFlags): Promise<Step<string>> {
  const connection = readConnection(context, flags);
  const place = connection.ok ? connection : readPlace(context, flags);
  if (!place.ok) return { exit: USAGE, ...place };
  const schema = await readSchema(place);
  return schema.ok ? { ok: true, value: `${JSON.stringify(schema.value, null, 2)}\n` } : schema;
}
