import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";

/** A recorded call of a tool and its result, with long lists and texts cut. */
interface Example {
  readonly params: Readonly<Record<string, string | number | boolean>>;
  /** As `data` of an answer. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Folder of the examples: one file for each tool, in the folder of its toolset. */
const FOLDER = new URL("examples/", import.meta.url);
const EXAMPLES = readAll();

/** Returns the example of a tool; null if none is recorded (test/examples/update.ts records them). */
export function exampleOf(tool: string): Example | null {
  return EXAMPLES.get(tool) ?? null;
}

/** Reads all examples, once at the start of the process: the files are part of the release. */
function readAll(): ReadonlyMap<string, Example> {
  const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".json"));
  return new Map(
    files.map((file) => {
      const text = readFileSync(new URL(file, FOLDER), "utf8");
      return [basename(file, ".json"), JSON.parse(text) as Example] as const;
    }),
  );
}
