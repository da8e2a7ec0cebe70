import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { RuleData } from "#probe-agent/analysis/page/tech/rule.ts";
import type { Opened } from "#probe-agent/data/opened.ts";

type Entries = [string, unknown][];

const BUILT_IN = fileURLToPath(new URL("tech/", import.meta.url));
const SETTING = "VANTAGE_TECH_RULES_DIR";
/** Maximum size of all rules in bytes. The largest public set has 4 MB. */
const MAX_BYTES = 64 * 1024 * 1024;
/** JSON files in the folder that contain no rules. */
const NO_RULES = new Set(["categories.json", "groups.json"]);

/** A file that cannot be used. The message is for the operator. */
class Unusable extends Error {}

/**
 * Reads technology rules in Wappalyzer's format: categories.json, and the rules in technologies/*.json or, without that
 * folder, in the other *.json files of the directory. Expressions are checked later, when they are compiled.
 */
export function openTechRules(directory: string | null): Opened<RuleData> {
  const root = directory ?? BUILT_IN;
  try {
    return { ok: true, data: readRules(root) };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return { ok: false, line: `${SETTING} ${root}: ${words.replaceAll(/\s+/g, " ").slice(0, 300)}` };
  }
}

function readRules(root: string): RuleData {
  const folder = join(root, "technologies");
  const nested = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  const place = nested ? folder : root;
  const files = readdirSync(place)
    .filter((name) => name.endsWith(".json") && !NO_RULES.has(name))
    .toSorted();
  if (files.length === 0) throw new Unusable("it has no technologies/*.json and no other *.json with rules");
  const budget = { bytes: MAX_BYTES };
  const categories = readEntries(join(root, "categories.json"), budget);
  // If two technologies have the same name, the last one is used.
  const technologies = new Map(files.flatMap((name) => readEntries(join(place, name), budget)));
  if (technologies.size === 0) throw new Unusable("its files contain no technology");
  return { technologies: [...technologies], categories };
}

function readEntries(path: string, budget: { bytes: number }): Entries {
  const text = readFileSync(path, "utf8");
  budget.bytes -= text.length;
  if (budget.bytes < 0) throw new Unusable(`more than ${MAX_BYTES / 1024 / 1024} MiB of rules`);
  const value = parse(path, text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Unusable(`${path} is not a JSON object`);
  }
  const entries = Object.entries(value);
  const wrong = entries.find(([, fields]) => typeof fields !== "object" || fields === null || Array.isArray(fields));
  if (wrong !== undefined) throw new Unusable(`${path}: ${JSON.stringify(wrong[0])} is not a JSON object`);
  return entries;
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new Unusable(`${path} is not JSON: ${error instanceof Error ? error.message : ""}`, { cause: error });
  }
}
