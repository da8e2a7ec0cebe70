import { nearestName } from "#shared/nearest-name.ts";
import { TOOLSETS, type Toolset } from "#shared/tools/define.ts";

/** The toolsets that a request selects, or why its `toolset` is invalid. */
type AskedToolsets =
  | { readonly ok: true; readonly toolsets: ReadonlySet<Toolset> }
  | { readonly ok: false; readonly message: string };

const EVERY_TOOLSET: AskedToolsets = { ok: true, toolsets: new Set(TOOLSETS) };
const LONGEST_NAME = 50;

/** Parses the `toolset` query parameter: a comma list, case-insensitive; default: all toolsets. */
export function readToolsets(raw: unknown): AskedToolsets {
  if (raw === undefined) return EVERY_TOOLSET;
  if (typeof raw !== "string") return refuse("toolset was given twice; join the names with commas.");
  const asked = new Set<Toolset>();
  for (const part of raw.split(",", TOOLSETS.length * 2)) {
    const name = part.trim().toLowerCase();
    const toolset = TOOLSETS.find((one) => one === name);
    if (toolset === undefined) return refuse(describeUnknown(name));
    asked.add(toolset);
  }
  return { ok: true, toolsets: asked };
}

function describeUnknown(name: string): string {
  const nearest = nearestName(name, TOOLSETS);
  const hint = nearest === null ? "" : ` Did you mean ${nearest}?`;
  return `No toolset has the name ${JSON.stringify(name.slice(0, LONGEST_NAME))}.${hint} Toolsets: ${TOOLSETS.join(", ")}.`;
}

function refuse(message: string): AskedToolsets {
  return { ok: false, message };
}
