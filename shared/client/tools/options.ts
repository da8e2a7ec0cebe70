import { Option, type Command } from "commander";
import { FAIL_ON, type FailOn } from "#shared/client/exit-codes.ts";
import { mainParam, nameParam } from "#shared/tools/command-params.ts";
import type { Contract } from "#shared/tools/define.ts";

/** Options of a command as commander passes them. */
export type Flags = Readonly<Record<string, string | boolean | undefined>>;

/** Stepped values that help lists. */
const MOST_CHOICES = 10;

/** How a result is printed: for people, their timings alone, or for programs. */
type Format = "text" | "latency" | "json" | "csv";

/** The parts of a schema that help shows. */
interface Shown {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly { readonly const?: unknown }[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
  readonly "x-kind"?: string;
  readonly "x-items"?: Shown;
}

/** Adds the argument, the parameters and the options of every tool to a tool's command. */
export function addToolOptions(command: Command, contract: Contract): void {
  const main = mainParam(contract);
  const { [main]: about, ...others } = contract.params.properties as Readonly<Record<string, Shown>>;
  command
    .argument(`<${main}>`, `${describe(about)}; @file reads the value from a file, @- from standard input`)
    .optionsGroup("Parameters:");
  for (const [name, schema] of Object.entries(others)) {
    command.option(`${nameParam(contract, name)} <${placeholder(schema)}>`, describe(schema));
  }
  command
    .optionsGroup("Locations:")
    .option(
      "--from <places>",
      "regions, countries, cities, networks (AS64500) or all; see the guide (default: one probe)",
    )
    .addOption(new Option("--locations <places>", "the same as --from").conflicts("from"))
    .option(
      "--limit <n>",
      "number of probes over all places of --from, or the nearest ones (default: one of each place)",
    )
    .optionsGroup("Output (for people on a terminal, else JSON):")
    .addOption(format("text", "print for people, also into a pipe"))
    .addOption(format("json", "print the response as JSON"))
    .addOption(format("csv", "print the response as CSV: key,value"))
    .addOption(format("latency", "print only timings, a line for each location"))
    .option("--full", "print all of a long result, and with more than three locations that of each one, too")
    .option("--share", "publish the result for a week, and print its link on standard error")
    .addOption(
      new Option("--fail-on <verdict>", "what ends with status 1: a bad result, also a warning, or nothing")
        .choices(FAIL_ON)
        .default("critical" satisfies FailOn),
    )
    .optionsGroup("Connection:");
}

const FORMATS = ["text", "json", "csv", "latency"] as const;

function format(name: Format, description: string): Option {
  return new Option(`--${name}`, description).conflicts(FORMATS.filter((other) => other !== name));
}

/** Returns the format that the options ask for. */
export function formatOf(flags: Flags, isTerminal: boolean): Format {
  return FORMATS.find((name) => flags[name] === true) ?? (isTerminal ? "text" : "json");
}

/** The body of a call, or the option that is wrong. */
type ReadBody = { readonly ok: true; readonly body: object } | { readonly ok: false; readonly line: string };

/** Returns the body of a call with `value` for the tool's main parameter. The service checks the values. */
export function readBody(contract: Contract, value: string, flags: Flags): ReadBody {
  const given = Object.keys(contract.params.properties).flatMap((name) => {
    const flag = flags[name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())];
    return typeof flag === "string" ? [[name, flag] as const] : [];
  });
  const places = readPlaces(flags);
  if (!places.ok) return places;
  return {
    ok: true,
    body: {
      ...Object.fromEntries(given),
      [mainParam(contract)]: value,
      ...(places.locations === null ? {} : { locations: places.locations }),
      ...(flags["share"] === true ? { share: "1" } : {}),
    },
  };
}

type ReadPlaces =
  | { readonly ok: true; readonly locations: string | null }
  | { readonly ok: false; readonly line: string };

/** Returns the locations of a call: those of --from, with their share of --limit; null if one probe is enough. */
function readPlaces({ from, locations = from, limit }: Flags): ReadPlaces {
  const places = typeof locations === "string" ? locations : null;
  if (typeof limit !== "string") return { ok: true, locations: places };
  if (!/^[1-9][0-9]{0,3}$/.test(limit)) return { ok: false, line: "--limit must be a number from 1 to 9999" };
  if (places === null) return { ok: true, locations: `nearest:${limit}` };
  const items = places.split(",").map((item) => item.trim());
  const chosen = items.filter((item) => !item.startsWith("!") || /[+\s]/.test(item));
  const fixed = chosen.find((item) => /^all$|^probe:|:\d+$/i.test(item));
  if (fixed !== undefined) {
    return {
      ok: false,
      line: `--limit needs places without a number of their own, and ${fixed} has one: leave one out`,
    };
  }
  const removed = items.filter((item) => !chosen.includes(item));
  const counted = chosen.flatMap((item, index) => {
    const count = Math.floor(Number(limit) / chosen.length) + (index < Number(limit) % chosen.length ? 1 : 0);
    return count === 0 ? [] : [`${item}:${count}`];
  });
  return { ok: true, locations: [...counted, ...removed].join(",") };
}

/** Returns a line of help: what the parameter means, which values it takes, and its default. */
function describe(schema: Shown = {}): string {
  const items = schema["x-items"] ?? schema;
  const choices = schema["x-kind"] === "flag" ? [] : choicesOf(items);
  const notes = [
    choices.length === 0 ? rangeOf(items) : `choices: ${choices.join(", ")}`,
    schema.default === undefined ? "" : `default: ${writeDefault(schema.default)}`,
  ].filter((note) => note !== "");
  return `${schema.description ?? ""}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`;
}

/** Returns the values that a parameter can have, if they are a few. */
function choicesOf({ enum: words, anyOf = [], minimum, maximum, multipleOf }: Shown): readonly unknown[] {
  if (words !== undefined) return words;
  if (anyOf.length > 0 && anyOf.every((one) => one.const !== undefined)) return anyOf.map((one) => one.const);
  if (minimum === undefined || maximum === undefined || multipleOf === undefined) return [];
  const steps = Math.floor((maximum - minimum) / multipleOf) + 1;
  return steps > MOST_CHOICES ? [] : Array.from({ length: steps }, (_, step) => minimum + step * multipleOf);
}

function rangeOf({ minimum, maximum }: Shown): string {
  return minimum === undefined || maximum === undefined ? "" : `${minimum} to ${maximum}`;
}

function writeDefault(value: unknown): string {
  if (typeof value === "boolean") return value ? "1" : "0";
  return Array.isArray(value) ? value.join(",") : String(value);
}

function placeholder(schema: Shown): string {
  if (schema["x-kind"] === "flag") return "0|1";
  if (schema["x-kind"] === "list") return "list";
  return schema.type === "integer" || schema.type === "number" ? "n" : "value";
}
