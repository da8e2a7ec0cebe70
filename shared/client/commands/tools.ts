import { withoutControls } from "#shared/text/plain-line.ts";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Option, type Command } from "commander";
import { ADMIN_ROWS } from "#shared/client/admin.ts";
import { callService, explainNoAnswer } from "#shared/client/call.ts";
import type { CommandContext } from "#shared/client/context.ts";
import { addSettingFlags, withFlags } from "#shared/client/flags.ts";
import { exitCodeOfResult, readToolAnswer, type ToolAnswer } from "#shared/client/tools/answer.ts";
import { FAIL_ON, FORBIDDEN, NO_SERVICE, USAGE, type FailOn } from "#shared/client/exit-codes.ts";
import { flatten } from "#shared/render.ts";
import { listenerUrl } from "#shared/settings/address.ts";
import { readSettings } from "#shared/settings-parse.ts";
import { CONTRACTS } from "#shared/tools/index.ts";
import type { Contract } from "#shared/tools/define.ts";

/** The variable with the API key. It is not a setting, because every process reads all settings. */
const KEY_VARIABLE = "VTG_API_KEY";
/** Time for the network in addition to the tool's deadline, milliseconds. */
const PATIENCE_MS = 10_000;
const PLACE_ROWS = ADMIN_ROWS.filter(({ name }) => name === "VANTAGE_BASE_URL" || name === "VANTAGE_HTTP_ADDR");

type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** Adds `deploy/vantage <tool> <target>` for every tool; the commands call the API of a running control plane. */
export function addTools(program: Command, context: CommandContext): void {
  for (const contract of CONTRACTS) addTool(program, context, contract);
}

function addTool(program: Command, context: CommandContext, contract: Contract): void {
  const { name, summary, params } = contract;
  const { required = [] } = params as { readonly required?: readonly string[] };
  const main = contract.target?.param ?? required[0] ?? "value";
  const command = program.command(name).description(summary).helpGroup("Tools (need an API key):");
  command.argument(
    `<${main}>`,
    `${describe(params.properties[main])}; @file reads the value from a file, @- from standard input`,
  );
  for (const [field_, schema] of Object.entries(params.properties)) {
    if (field_ !== main) command.option(`--${field_.replaceAll("_", "-")} <value>`, describe(schema));
  }
  command
    .option("--from <places>", "regions, countries, cities or probes to run on, comma-separated")
    .option("--key <key>", `API key; other users of this machine can see flags: prefer ${KEY_VARIABLE}`)
    .option("--json", "print the response as JSON")
    .addOption(
      new Option("--fail-on <verdict>", "what ends with status 1: a bad verdict, also a warning, or nothing")
        .choices(FAIL_ON)
        .default("critical"),
    );
  addSettingFlags(command, PLACE_ROWS).action(async (value: string, flags: Flags) => {
    const refuse = (exit: number, line: string) => {
      context.complain(`vantage ${name}: ${line}`);
      context.exit(exit);
    };
    const text = readValue(value, context);
    if (text === null) return refuse(USAGE, `${value.slice(1)} cannot be read`);
    const given = Object.keys(params.properties).flatMap((one) => {
      const flag =
        one === main ? text : flags[one.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())];
      return typeof flag === "string" ? [[one, flag] as const] : [];
    });
    const places = typeof flags["from"] === "string" ? { locations: flags["from"] } : {};
    const answer = await ask(context, contract, flags, { ...Object.fromEntries(given), ...places });
    if (!answer.ok) return refuse(answer.exit, answer.line);
    const { document } = answer.result;
    context.say(flags["json"] === true ? JSON.stringify(document, null, 2) : linesOf(document));
    context.exit(exitCodeOfResult(answer.result, contract, context.now(), flags["failOn"] as FailOn));
  });
}

async function ask(context: CommandContext, contract: Contract, flags: Flags, json: object): Promise<ToolAnswer> {
  const read = readSettings(withFlags(context.environment, PLACE_ROWS, flags), "control-plane");
  if (!read.ok) return { ok: false, exit: USAGE, line: read.line };
  const key = typeof flags["key"] === "string" ? flags["key"] : context.environment[KEY_VARIABLE];
  if (key === undefined || key === "") {
    return { ok: false, exit: FORBIDDEN, line: `no API key: set ${KEY_VARIABLE}, or pass --key` };
  }
  const { baseUrl, httpAddr, tlsCert } = read.settings;
  const base = baseUrl ?? listenerUrl(httpAddr, tlsCert !== null);
  const url = `${base}/api/v4/${contract.name}`;
  try {
    const timeoutMs = LONGEST_MS + PATIENCE_MS;
    const { status, body } = await callService(url, { method: "POST", json, key, timeoutMs, own: baseUrl === null });
    return readToolAnswer(status, body, base);
  } catch (error) {
    return { ok: false, exit: NO_SERVICE, line: explainNoAnswer(base, error) };
  }
}

/** The longest deadline of a tool, milliseconds. */
const LONGEST_MS = 90_000;

/** Formats lines as the open tier does, without the source line. */
function linesOf(data: unknown): string {
  return flatten(data)
    .map(([path, value]) => `${path}: ${withoutControls(value)}`)
    .join("\n");
}

function readValue(value: string, { directory }: CommandContext): string | null {
  if (!value.startsWith("@")) return value;
  try {
    return readFileSync(value === "@-" ? 0 : resolve(directory, value.slice(1)), "utf8");
  } catch {
    return null;
  }
}

function describe(schema: unknown): string {
  return (schema as { readonly description?: string } | undefined)?.description ?? "";
}
